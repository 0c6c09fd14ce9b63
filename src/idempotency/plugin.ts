import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isoTime } from '../core/clock.js'
import { DomainError } from '../core/errors.js'
import { JSON_TYPE, storedErrorResponse } from '../http/errors.js'
import { giveReason } from '../http/reasons.js'
import { pathOf } from '../http/target.js'
import type { Answer, IdempotencyService, Outcome } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The `idempotency-key` of a POST, claimed for as long as the request runs. */
    idempotencyKey: ClaimedKey | undefined
  }
}

interface ClaimedKey {
  key: string
  release(): void
  /** Keeps the claim, though the client may go away meanwhile, until the returned function is called. */
  hold(): () => void
}

const LONGEST = 255
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/

/**
 * Claims the idempotency key of a POST from its first byte to its answer, so that the same key at the same time is
 * refused with `key-in-use`. Refuses with `bad-request` what can't be a key. GETs may carry one; it has no effect.
 */
export const idempotencyKeys = fp<{ idempotency: IdempotencyService }>(
  async (app, { idempotency }) => {
    app.decorateRequest('idempotencyKey', undefined)
    app.addHook('onRequest', (request, reply, done) => {
      if (request.method === 'POST') {
        const { headers } = request
        // The body counts as it comes; Fastify would refuse one whose type it can't make out.
        if (headers['content-type'] !== undefined && !MEDIA_TYPE.test(headers['content-type'])) {
          delete headers['content-type']
        }
        const key = readKey(headers['idempotency-key'])
        if (key !== undefined) claim(request, reply, key)
      }
      done()
    })

    function claim(request: FastifyRequest, reply: FastifyReply, key: string): void {
      reply.header('Idempotency-Key', key)
      const end = idempotency.begin(request.environment, key)
      const release = () => {
        reply.raw.removeListener('close', release)
        end()
      }
      const hold = () => {
        reply.raw.removeListener('close', release)
        return () => {
          if (reply.raw.closed) release()
          else reply.raw.once('close', release)
        }
      }
      request.idempotencyKey = { key, release, hold }
      // Also when it never comes to an answer.
      reply.raw.once('close', release)
    }
  },
  { name: 'idempotency-keys', dependencies: ['authentication'] }
)

/**
 * Runs the operation, at most once for its idempotency key, and sends its answer or the stored one. A refusal of the
 * operation is an answer too; a request without a key just runs.
 */
export function withIdempotency(
  request: FastifyRequest,
  reply: FastifyReply,
  idempotency: IdempotencyService,
  operation: () => Buffer
): void {
  const { environment, idempotencyKey: claim } = request
  if (!claim) {
    reply.type(JSON_TYPE).send(operation())
    return
  }

  let refusal: DomainError | undefined
  const mark = { method: request.method, path: pathOf(request.url), body: bodyOf(request) }
  const run = (): Answer => {
    try {
      return { status: 200, body: operation() }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      refusal = error
      return storedErrorResponse(error, request.url, environment.now())
    }
  }
  let outcome: Outcome
  try {
    outcome = idempotency.once(environment, claim.key, mark, run)
  } finally {
    // Not only when the answer has been sent: a client that has it may send the next request at once.
    claim.release()
  }
  const { status, body, replayOf } = outcome
  if (replayOf !== undefined) {
    reply.header('Idempotency-Replay', 'true')
    giveReason(reply, `replay of the answer given to this idempotency-key at ${isoTime(replayOf)}`)
  } else if (refusal) {
    giveReason(reply, refusal.details.reason)
    request.log.info({ statusCode: status, reason: refusal.details.reason }, 'request refused')
  }
  reply.code(status).type(JSON_TYPE).send(body)
}

/** The key as one value, whether bare or in double quotes. Undefined: there is none, or it is empty. */
function readKey(header: string | string[] | undefined): string | undefined {
  const text = (Array.isArray(header) ? header.join(', ') : (header ?? '')).trim()
  const key = /^".*"$/s.test(text) && text.length > 1 ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
  if (key === '') return undefined
  if (key.length > LONGEST) {
    throw badKey(key, `has exceeded the maximum allowed length of ${LONGEST} characters`)
  }
  if (UNSENDABLE.test(key)) throw badKey(key, 'has control characters')
  return key
}

/** Control characters, and what no header can carry. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSENDABLE = /[\x00-\x1f\x7f]|[^\x00-\xff]/

function badKey(key: string, complaint: string): DomainError {
  return new DomainError('bad-request', `idempotencyKey "${key}" ${complaint}`, {
    reason: `an idempotency-key is 1 to ${LONGEST} characters, none of them control characters`
  })
}

/** The body as it came; empty when there was none. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : NO_BODY
}

const NO_BODY = Buffer.alloc(0)
