import type { FastifyReply, FastifyRequest } from 'fastify'
import { redactedTarget } from './target.js'

/** Returns the fields that every log line about a request has, without secrets. */
function requestFields({ request, elapsedTime }: FastifyReply, statusCode?: number) {
  // Absent if the request was rejected before its key was checked.
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
 * Returns the text without secrets, or undefined if they can't be determined. That must not fail
 * the response, so every error counts.
 */
function redact(request: FastifyRequest, text: string): string | undefined {
  try {
    return request.redacted?.(text)
  } catch {
    return undefined
  }
}

/** The replies that already have a log line with their status. */
const logged = new WeakSet<FastifyReply>()

/** Logs a sent response, unless another line already has its status. */
export function logResponse(reply: FastifyReply): void {
  if (logged.has(reply)) return
  reply.request.log.debug(requestFields(reply, reply.statusCode), 'request completed')
}

/** Logs that a request was rejected. */
export function logRejection(reply: FastifyReply, statusCode: number, reason: string): void {
  const { request } = reply
  logged.add(reply)
  const safeReason = request.redacted ? redact(request, reason) : reason
  request.log.info({ ...requestFields(reply, statusCode), reason: safeReason }, 'request rejected')
}

/** Logs an error of the server or its disk. */
export function logFailure(
  reply: FastifyReply,
  statusCode: number,
  failure: { err: unknown; errorId: string | undefined; reason: string }
): void {
  logged.add(reply)
  reply.request.log.error({ ...requestFields(reply, statusCode), ...failure }, 'request failed')
}

/**
 * Logs an injected fault. `fault` is the id of its rule or `x-mock-fault`, and `effect` the status
 * that it responded with or a description of what else it did.
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
