import type { FastifyReply, FastifyRequest } from 'fastify'
import { redactedTarget } from './target.js'

/** Returns the fields that every log line about a request contains. Secrets are removed. */
function requestFields({ request, elapsedTime }: FastifyReply, statusCode?: number) {
  // Undefined if the request was rejected before its API key was checked.
  const { environment } = request
  return {
    reqId: request.id,
    method: request.method,
    url: redact(request, redactedTarget(request.url)),
    environment: environment && redact(request, environment.name),
    ...(statusCode !== undefined && { statusCode }),
    ms: Math.round(elapsedTime * 1000) / 1000
  }
}

/**
 * Returns the text without secrets, or undefined if looking up the secrets fails. Catches all
 * errors, because logging must not make a response fail.
 */
function redact(request: FastifyRequest, text: string): string | undefined {
  try {
    return request.redacted?.(text)
  } catch {
    return undefined
  }
}

/** The replies that `logResponse` skips. */
const logged = new WeakSet<FastifyReply>()

/**
 * Prevents logging for this reply. Call this if the request is routed again, because then another
 * reply sends and logs the response.
 */
export function leaveUnlogged(reply: FastifyReply): void {
  logged.add(reply)
}

/** Logs that a response was sent, unless its status was already logged. */
export function logResponse(reply: FastifyReply): void {
  if (logged.has(reply)) return
  reply.request.log.debug(requestFields(reply, reply.statusCode), 'request completed')
}

/** Logs that a request was rejected. */
export function logRejection(
  reply: FastifyReply,
  statusCode: number,
  reason: string,
  level: 'info' | 'warn' = 'info'
): void {
  const { request } = reply
  logged.add(reply)
  const safeReason = request.redacted ? redact(request, reason) : reason
  request.log[level](
    { ...requestFields(reply, statusCode), reason: safeReason },
    'request rejected'
  )
}

/** Logs that the connection was closed in the middle of the response. */
export function logCut(reply: FastifyReply, reason: string): void {
  logged.add(reply)
  reply.request.log.warn({ ...requestFields(reply, reply.statusCode), reason }, 'response cut off')
}

/** Logs that a request failed because of an error in the server or on its disk. */
export function logFailure(
  reply: FastifyReply,
  statusCode: number,
  failure: { err: unknown; errorId: string | undefined; reason: string }
): void {
  logged.add(reply)
  reply.request.log.error({ ...requestFields(reply, statusCode), ...failure }, 'request failed')
}

/**
 * Logs an injected fault. `fault` is the id of the fault rule, or `x-mock-fault` if that header
 * requested the fault. `effect` is the status of the response, or a description if the fault sets
 * no status.
 */
export function logFault(
  reply: FastifyReply,
  fault: string,
  effect: number | string,
  errorId?: string
): void {
  const status = typeof effect === 'number' ? effect : undefined
  if (status !== undefined) logged.add(reply)
  const fields = { ...requestFields(reply, status), fault, ...(errorId && { errorId }) }
  reply.request.log.info(fields, `fault ${fault}: ${effect}`)
}
