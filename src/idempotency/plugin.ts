import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { isoTime } from '../domain/clock.js'
import { DomainError } from '../domain/errors.js'
import { requireEnvironment } from '../environments/plugin.js'
import type { Environment } from '../environments/service.js'
import { JSON_TYPE, setReasonHeader, storedErrorResponse } from '../http/errors.js'
import { logRejection } from '../http/log.js'
import { pathOf } from '../http/target.js'
import type { IdempotencyService, OperationResponse, Outcome } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The request's idempotency key. Undefined if the request has none or its operation doesn't use
     * keys.
     */
    idempotencyKey?: KeyInUse
  }
}

interface KeyInUse {
  key: string
  release(): void
  /** Keeps the key in use if the client disconnects before the returned function is called. */
  hold(): () => void
}

const MAX_LENGTH = 255

/**
 * Returns the hook for operations that use idempotency keys. The hook marks a request's key as in
 * use until the response is sent. It rejects the request with 409 if the key is already in use, and
 * with 400 if the key is malformed.
 */
export function claimKey(idempotency: IdempotencyService): onRequestHookHandler {
  return (request, reply, done) => {
    const environment = requireEnvironment(request)
    const key = readKey(request.headers['idempotency-key'], environment)
    if (key === undefined) {
      done()
      return
    }
    reply.header('Idempotency-Key', key)
    const end = idempotency.begin(environment, key)
    request.idempotencyKey = createKeyInUse(key, reply, end)
    done()
  }
}

/**
 * Returns a key that is released when the response is closed, even if the client aborts the
 * request.
 */
function createKeyInUse(key: string, { raw }: FastifyReply, end: () => void): KeyInUse {
  const release = () => {
    raw.removeListener('close', release)
    end()
  }
  const hold = () => {
    raw.removeListener('close', release)
    return () => {
      if (raw.closed) release()
      else raw.once('close', release)
    }
  }
  raw.once('close', release)
  return { key, release, hold }
}

/**
 * Runs the operation at most once per idempotency key. Sends the operation's response, or the
 * response that is already stored for the key. If the operation throws a `DomainError`, the error
 * is stored as a response too. A request without a key always runs the operation.
 */
export function withIdempotency(
  request: FastifyRequest,
  reply: FastifyReply,
  idempotency: IdempotencyService,
  operation: () => Buffer
): void {
  const { idempotencyKey, method, url, originalUrl } = request
  if (!idempotencyKey) {
    reply.type(JSON_TYPE).send(operation())
    return
  }
  const environment = requireEnvironment(request)
  const repeatable = { target: `${method} ${pathOf(url)}`, body: bodyOf(request) }
  let rejection: DomainError | undefined
  const respond = (): OperationResponse => {
    try {
      return { status: 200, body: operation() }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      rejection = error
      return storedErrorResponse(error, originalUrl, environment)
    }
  }
  let outcome: Outcome
  try {
    outcome = idempotency.once(environment, idempotencyKey.key, repeatable, respond)
  } finally {
    // Release the key before sending the response, because the client may repeat the request as
    // soon as it has the response.
    idempotencyKey.release()
  }
  explainOutcome(reply, outcome, rejection)
  reply.code(outcome.status).type(JSON_TYPE).send(outcome.body)
}

function explainOutcome(
  reply: FastifyReply,
  { status, replayOf }: Outcome,
  rejection: DomainError | undefined
): void {
  if (replayOf !== undefined) {
    reply.header('Idempotency-Replay', 'true')
    const time = isoTime(replayOf)
    setReasonHeader(
      reply,
      `replay of the response that was sent for this idempotency-key at ${time}`
    )
  } else if (rejection) {
    const { reason } = rejection.details
    setReasonHeader(reply, reason)
    logRejection(reply, status, reason)
  }
}

/**
 * Returns the request's key, or undefined if it is missing or empty. If the assumption
 * `idempotency-quotes` is `stripped`, removes the quotes around the key.
 */
function readKey(
  header: string | string[] | undefined,
  { assumptions }: Environment
): string | undefined {
  // `header` is a string in practice, because Node joins repeated headers with commas.
  const value = String(header ?? '')
  const isQuoted = assumptions['idempotency-quotes'] === 'stripped' && /^".*"$/s.test(value)
  const key = isQuoted ? value.slice(1, -1).replace(/\\(["\\])/g, '$1') : value
  if (key === '') return undefined
  const problem = problemWith(key)
  if (problem === undefined) return key
  const reason =
    `an idempotency-key must have 1 to ${MAX_LENGTH} characters ` +
    'and must not contain control characters'
  throw new DomainError('bad-request', `idempotencyKey "${key}" ${problem}`, { reason })
}

function problemWith(key: string): string | undefined {
  if (key.length > MAX_LENGTH) {
    return `has exceeded the maximum allowed length of ${MAX_LENGTH} characters`
  }
  return INVALID_CHARACTER.test(key) ? 'has control characters' : undefined
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches what a header can't contain
const INVALID_CHARACTER = /[\x00-\x1f\x7f]|[^\x00-\xff]/

/** Returns the unparsed body of the request. It may be empty. */
export function bodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
