import type { FastifyReply } from 'fastify'

const LONGEST = 1000

/**
 * Says, in the header `x-mock-reason`, why the answer is what it is: which check refused and what would satisfy it.
 * For the person reading, never for a program: the words may change.
 */
export function giveReason(reply: FastifyReply, reason: string): void {
  reply.header('x-mock-reason', headerText(reason))
}

/** Text as a header can carry it: what is not printable ASCII is percent-encoded, and the length is bounded. */
export function headerText(text: string): string {
  const printable = text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
  return printable.length > LONGEST ? `${printable.slice(0, LONGEST - 3)}...` : printable
}
