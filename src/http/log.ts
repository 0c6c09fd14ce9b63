import type { FastifyReply, FastifyRequest } from 'fastify'
import { redactedTarget } from './target.js'

/** What each line about a request has, so that it can be read by itself. Without secrets. */
export interface RequestFacts {
  method: string
  /** Path and query; absent of a path that can't be decoded. */
  url: string | undefined
  /** The name of the environment whose key was sent. */
  environment: string | undefined
  /** Absent where there is no answer yet. */
  statusCode?: number
  /** Milliseconds since it arrived. */
  ms: number
}

export function factsOf(reply: FastifyReply, statusCode?: number): RequestFacts {
  const { request, elapsedTime } = reply
  // Not there if it was refused before its key was looked at.
  const { environment }: { environment?: { name: string } } = request
  return {
    method: request.method,
    url: request.redacted?.(redactedTarget(request.url)),
    environment: environment && request.redacted?.(environment.name),
    ...(statusCode !== undefined && { statusCode }),
    ms: Math.round(elapsedTime * 1000) / 1000
  }
}

/** Logs that a request was refused. */
export function logRefusal(reply: FastifyReply, statusCode: number, reason: string): void {
  if (!isLogged(reply.request)) return
  const { request } = reply
  request.log.info({ ...factsOf(reply, statusCode), reason: request.redacted?.(reason) ?? reason }, 'request refused')
}

/** Logs that a fault was injected, by a rule of this id or by the header `x-mock-fault`: a status, or what else it did. */
export function logFault(reply: FastifyReply, fault: string, effect: number | string, errorId?: string): void {
  if (!isLogged(reply.request)) return
  const facts = factsOf(reply, typeof effect === 'number' ? effect : undefined)
  reply.request.log.info({ ...facts, fault, ...(errorId && { errorId }) }, `fault ${fault}: ${effect}`)
}

function isLogged({ log }: FastifyRequest): boolean {
  return (log as unknown as { isLevelEnabled?(level: string): boolean }).isLevelEnabled?.('info') ?? true
}
