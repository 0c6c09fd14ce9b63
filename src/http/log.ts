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

function factsOf(reply: FastifyReply, statusCode?: number): RequestFacts {
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

/** The replies whose status is in the log, with the reason. */
const reported = new WeakSet<FastifyReply>()

/** Logs that a request was answered, unless a line has said what came of it. */
export function logAnswer(reply: FastifyReply): void {
  if (!reported.has(reply)) reply.request.log.debug(factsOf(reply, reply.statusCode), 'request answered')
}

/** Logs that a request was refused. */
export function logRefusal(reply: FastifyReply, statusCode: number, reason: string): void {
  if (!isLogged(reply.request)) return
  const { request } = reply
  reported.add(reply)
  request.log.info({ ...factsOf(reply, statusCode), reason: request.redacted?.(reason) ?? reason }, 'request refused')
}

/** Logs an error of the server itself, or of its disk. */
export function logFailure(reply: FastifyReply, statusCode: number, failure: Failure): void {
  reported.add(reply)
  reply.request.log.error({ ...factsOf(reply, statusCode), ...failure }, 'request failed')
}

interface Failure {
  err: unknown
  errorId: string | undefined
  reason: string
}

/** Logs that a fault was injected, by a rule of this id or by the header `x-mock-fault`: a status, or what else it did. */
export function logFault(reply: FastifyReply, fault: string, effect: number | string, errorId?: string): void {
  if (!isLogged(reply.request)) return
  const isAnswer = typeof effect === 'number'
  if (isAnswer) reported.add(reply)
  const facts = factsOf(reply, isAnswer ? effect : undefined)
  reply.request.log.info({ ...facts, fault, ...(errorId && { errorId }) }, `fault ${fault}: ${effect}`)
}

function isLogged({ log }: FastifyRequest): boolean {
  return (log as unknown as { isLevelEnabled?(level: string): boolean }).isLevelEnabled?.('info') ?? true
}
