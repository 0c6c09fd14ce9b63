import type { FastifyReply } from 'fastify'
import { attempt } from '../domain/errors.js'
import { redactedTarget } from './target.js'

/** What each line about a request has, so that it can be read by itself. Without secrets. */
function factsOf({ request, elapsedTime }: FastifyReply, statusCode?: number) {
  // Not there if it was refused before its key was looked at.
  const { environment } = request
  // Undefined of a path that can't be decoded, and if what is secret can't be told: the error has to be answered nevertheless.
  const redacted = (text: string) => attempt(() => request.redacted?.(text))
  return {
    reqId: request.id,
    method: request.method,
    url: redacted(redactedTarget(request.url)),
    environment: environment && redacted(environment.name),
    // Absent where there is no answer yet.
    ...(statusCode !== undefined && { statusCode }),
    // Since it arrived.
    ms: Math.round(elapsedTime * 1000) / 1000
  }
}

/** The replies whose status is in the log, with the reason. */
const reported = new WeakSet<FastifyReply>()

/** Logs that a request was answered, unless a line has said what came of it. */
export function logResponse(reply: FastifyReply): void {
  if (!reported.has(reply))
    reply.request.log.debug(factsOf(reply, reply.statusCode), 'request completed')
}

/** Logs that a request was refused. */
export function logRejection(reply: FastifyReply, statusCode: number, reason: string): void {
  const { request } = reply
  reported.add(reply)
  const told = request.redacted ? attempt(() => request.redacted?.(reason)) : reason
  request.log.info({ ...factsOf(reply, statusCode), reason: told }, 'request rejected')
}

/** Logs an error of the server itself, or of its disk; `failure` is the error, its id and the reason. */
export function logFailure(reply: FastifyReply, statusCode: number, failure: object): void {
  reported.add(reply)
  reply.request.log.error({ ...factsOf(reply, statusCode), ...failure }, 'request failed')
}

/** Logs that a fault was injected, by a rule of this id or by the header `x-mock-fault`: a status, or what else it did. */
export function logFault(
  reply: FastifyReply,
  fault: string,
  effect: number | string,
  errorId?: string
): void {
  const isAnswer = typeof effect === 'number'
  if (isAnswer) reported.add(reply)
  const facts = factsOf(reply, isAnswer ? effect : undefined)
  reply.request.log.info(
    { ...facts, fault, ...(errorId && { errorId }) },
    `fault ${fault}: ${effect}`
  )
}
