import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { isoTime } from '../domain/clock.js'
import { DomainError } from '../domain/errors.js'
import { requireEnvironment } from '../environments/plugin.js'
import type { Environment } from '../environments/service.js'
import { JSON_TYPE, setReasonHeader, storedErrorResponse } from '../http/errors.js'
import { logRejection } from '../http/log.js'
import { pathOf } from '../http/target.js'
import type { Answer, IdempotencyService, Outcome } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The idempotency key of a request that has one, where a key has an effect. */
    idempotencyKey?: KeyInUse
  }
}

interface KeyInUse {
  key: string
  release(): void
  /** Keeps the key in use until the returned function is called, even if the client disconnects before. */
  hold(): () => void
}

const MAX_LENGTH = 255

/**
 * Returns the hook of an operation that keeps the idempotency key of a request in use from its first byte to its answer.
 * Rejects with 409 when it already is, and with 400 when it is malformed.
 */
export function claimKey(idempotency: IdempotencyService): onRequestHookHandler {
  return (request, reply, done) => {
    const environment = requireEnvironment(request)
    const key = readKey(request.headers['idempotency-key'], environment)
    if (key === undefined) return done()
    reply.header('Idempotency-Key', key)
    const end = idempotency.begin(environment, key)
    const { raw } = reply
    const release = () => {
      raw.removeListener('close', release)
      end()
    }
    const hold = () => {
      raw.removeListener('close', release)
      return () => void (raw.closed ? release() : raw.once('close', release))
    }
    // Also when the request is aborted.
    raw.once('close', release)
    request.idempotencyKey = { key, release, hold }
    done()
  }
}

/**
 * Runs the operation at most once per idempotency key, and sends its answer or the stored one. Errors of the operation
 * are stored answers too. A request without a key just runs.
 */
export function withIdempotency(
  request: FastifyRequest,
  reply: FastifyReply,
  idempotency: IdempotencyService,
  operation: () => Buffer
): void {
  const environment = requireEnvironment(request)
  const { idempotencyKey, method, url } = request
  if (!idempotencyKey) {
    reply.type(JSON_TYPE).send(operation())
    return
  }

  let refusal: DomainError | undefined
  const repeatable = { target: `${method} ${pathOf(url)}`, body: bodyOf(request) }
  const run = (): Answer => {
    try {
      return { status: 200, body: operation() }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      refusal = error
      return storedErrorResponse(error, url, environment)
    }
  }
  let outcome: Outcome
  try {
    outcome = idempotency.once(environment, idempotencyKey.key, repeatable, run)
  } finally {
    // Before the answer is sent, as a client that has it may send the next request at once.
    idempotencyKey.release()
  }
  const { status, body, replayOf } = outcome
  if (replayOf !== undefined) {
    reply.header('Idempotency-Replay', 'true')
    setReasonHeader(
      reply,
      `replay of the answer given to this idempotency-key at ${isoTime(replayOf)}`
    )
  } else if (refusal) {
    setReasonHeader(reply, refusal.details.reason)
    logRejection(reply, status, refusal.details.reason)
  }
  reply.code(status).type(JSON_TYPE).send(body)
}

/** Returns the key, bare or in double quotes where these are not part of it; undefined when there is none or it is empty. */
function readKey(
  header: string | string[] | undefined,
  { assumptions }: Environment
): string | undefined {
  // Node joins several by commas, and sends on no spaces around them.
  const text = String(header ?? '')
  const isQuoted = assumptions['idempotency-quotes'] === 'stripped' && /^".*"$/s.test(text)
  const key = isQuoted ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
  if (key === '') return undefined
  const tooLong =
    key.length > MAX_LENGTH && `has exceeded the maximum allowed length of ${MAX_LENGTH} characters`
  const problem = tooLong || (INVALID.test(key) && 'has control characters')
  if (!problem) return key
  const reason = `an idempotency-key is 1 to ${MAX_LENGTH} characters, none of them control characters`
  throw new DomainError('bad-request', `idempotencyKey "${key}" ${problem}`, { reason })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these, and what no header can carry, are invalid
const INVALID = /[\x00-\x1f\x7f]|[^\x00-\xff]/

/** Returns the request's body as it was sent; empty when there was none. */
export function bodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
