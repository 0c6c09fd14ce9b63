import { hash } from 'node:crypto'
import type { KeyScope } from '../core/enums.js'
import { DomainError, type ErrorDetails } from '../core/errors.js'
import type { Db } from '../db/open.js'
import { type Environment, type EnvironmentService, withIdsOf, withOwnIds } from '../environments/service.js'
import { type IdempotencyKeyRow, idempotencyRepository } from './repository.js'

export interface Answer {
  status: number
  body: Buffer
}

/** What must be the same in a repeated request; whether the target counts is assumption `idempotency-match`. */
export interface RepeatableRequest {
  /** Method and path, without the query string. */
  target: string
  body: Buffer
}

export interface Outcome extends Answer {
  /** When a replayed answer was first given, in milliseconds since 1970. */
  replayOf?: number
}

export type IdempotencyService = ReturnType<typeof idempotencyService>

const LIFETIME = 24 * 60 * 60 * 1000

/** Stores the answers to requests with an idempotency key for 24 hours by the environment's clock. */
export function idempotencyService({ db, environments }: { db: Db; environments: EnvironmentService }) {
  const repository = idempotencyRepository(db)
  /** The keys in use. In memory, so that a process that dies leaves none. */
  const inUse = new Set<string>()

  return {
    /** Puts a key in use until the returned function is called. Throws `key-in-use` when it already is. */
    begin(environment: Environment, key: string): () => void {
      const scope = scopeOf(environment)
      const owner = scope === 'organization' ? environment.organizationId : environment.id
      const lockKey = `${scope} ${owner} ${key}`
      if (inUse.has(lockKey)) {
        const message = `Request with key "${key}" is currently being processed. Please retry after 1 second`
        const reason = 'the first request with this idempotency-key has not been answered yet'
        throw new DomainError('key-in-use', message, { reason, ...linkIn(environment) })
      }
      inUse.add(lockKey)
      return () => void inUse.delete(lockKey)
    },

    /**
     * Returns the stored answer of the key, or else that of `run`, and stores it, in one transaction with what `run`
     * writes. What `run` throws undoes both. Throws `key-reused` when the key was first used for another request.
     */
    once(environment: Environment, key: string, request: RepeatableRequest, run: () => Answer): Outcome {
      const fingerprint = fingerprintOf(environment, request)
      return db.transaction(() => {
        const now = environment.now()
        const scope = scopeOf(environment)
        const stored = scope === 'organization' ? findInOrganization(environment, key) : findOwn(environment, key)
        if (stored && now - stored.createdAt < LIFETIME) return replay(environment, stored, fingerprint)

        const answer = run()
        const dataset = environments.ensureOwned(environment, 'idempotency')
        repository.deleteKeysUntil(dataset, now - LIFETIME)
        repository.insertKey({ dataset, scope, key, fingerprint, ...answer, createdAt: now })
        return answer
      })
    }
  }

  function findOwn(environment: Environment, key: string): IdempotencyKeyRow | undefined {
    const row = repository.findKey(environment.datasets.idempotency, 'environment', key)
    return row && { ...row, body: withOwnIds(environment, 'idempotency', row.body) }
  }

  /** Returns the answer with the ids of the environment that has given it. */
  function findInOrganization(environment: Environment, key: string): IdempotencyKeyRow | undefined {
    const found = repository.findKeyInOrganization(environment, key)
    if (!found) return undefined
    const { ownerId, homeId, homeOrganizationId, ...row } = found
    const owner = { id: ownerId, organizationId: environment.organizationId }
    return { ...row, body: withIdsOf(owner, { id: homeId, organizationId: homeOrganizationId }, row.body) }
  }
}

function scopeOf({ assumptions }: Environment): KeyScope {
  return assumptions['idempotency-match'] === 'body' ? 'organization' : 'environment'
}

function replay(environment: Environment, stored: IdempotencyKeyRow, fingerprint: Buffer): Outcome {
  if (!stored.fingerprint.equals(fingerprint)) {
    throw new DomainError('key-reused', `Request with key "${stored.key}" is being reused for a different body`, {
      reason: 'this idempotency-key was first used for another request: send a fresh key with each new request',
      ...(linkIn(environment) ?? { errors: {} })
    })
  }
  return { status: stored.status, body: stored.body, replayOf: stored.createdAt }
}

/** Returns the header of a refusal that is about a key, where the environment assumes one. */
function linkIn({ assumptions }: Environment): Pick<ErrorDetails, 'headers'> | undefined {
  return assumptions['idempotency-refusals'] === 'linked' ? { headers: { Link: DOCUMENTATION } } : undefined
}

/** Where the deployed service sends readers. */
const DOCUMENTATION = 'https://docs.novu.co/additional-resources/idempotency'

/** The operation takes no body: none, an empty one and `{}` are the same. */
function fingerprintOf({ assumptions }: Environment, { target, body }: RepeatableRequest): Buffer {
  const head = assumptions['idempotency-match'] === 'request' ? `${target}\n` : ''
  const isEmpty = body.length === 0 || /^\s*\{\s*\}\s*$/.test(body.toString())
  return hash('sha256', isEmpty ? head : Buffer.concat([Buffer.from(head), body]), 'buffer')
}
