import { hash } from 'node:crypto'
import type { KeyScope } from '../core/enums.js'
import { DomainError } from '../core/errors.js'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { type IdempotencyKeyRow, idempotencyRepository } from './repository.js'

export interface Answer {
  status: number
  body: Buffer
}

/** What has to be the same for a request to be the same again; which of it counts is `idempotency-match`. */
export interface RequestFingerprint {
  method: string
  /** Without the query string. */
  path: string
  /** Empty when there was none. */
  body: Buffer
}

export interface Outcome extends Answer {
  /** When the answer was first given, in milliseconds since 1970; absent when it was given just now. */
  replayOf?: number
}

export type IdempotencyService = ReturnType<typeof idempotencyService>

interface Dependencies {
  db: Db
  environments: Pick<EnvironmentService, 'ensureOwned'>
}

const LIFETIME = 24 * 60 * 60 * 1000
const SWEEP_EVERY = 60 * 1000

/** Keeps the answers of the operations that are given an idempotency key, for 24 hours by the environment's clock. */
export function idempotencyService({ db, environments }: Dependencies) {
  const repository = idempotencyRepository(db)
  const running = new Set<string>()
  const swept = new Map<number, number>()

  return {
    /**
     * Marks a key as in use, until the returned function is called. Refuses with `key-in-use` while it already is.
     *
     * Kept in memory only: a process that dies leaves no key behind that would be refused for ever.
     */
    begin(environment: Environment, key: string): () => void {
      const mark = `${ownerOf(environment)} ${key}`
      if (running.has(mark)) {
        throw new DomainError(
          'key-in-use',
          `Request with key "${key}" is currently being processed. Please retry after 1 second`,
          { reason: 'the first request with this idempotency-key has not been answered yet' }
        )
      }
      running.add(mark)
      return () => void running.delete(mark)
    },

    /**
     * The stored answer of the key, or else that of `run`, stored. Claim, effect and stored answer are one
     * transaction: after a crash either all of them are there, or the key is new.
     *
     * `run` gives a refusal of the operation as its answer; what it throws is not stored and leaves nothing behind.
     * Refuses with `key-reused` a request that is not the one the key was first used for.
     */
    once(environment: Environment, key: string, request: RequestFingerprint, run: () => Answer): Outcome {
      const fingerprint = fingerprintOf(environment, request)
      return db.transaction(() => {
        const now = environment.now()
        const stored = find(environment, key)
        if (stored && now - stored.createdAt < LIFETIME) return replayed(stored, fingerprint)

        const answer = run()
        const dataset = environments.ensureOwned(environment, 'idempotency')
        sweep(environment.key, dataset, now)
        const scope = scopeOf(environment)
        if (stored) repository.deleteKey({ dataset, scope, key })
        repository.insertKey({ dataset, scope, key, fingerprint, ...answer, createdAt: now })
        return answer
      })
    }
  }

  function find(environment: Environment, key: string): IdempotencyKeyRow | undefined {
    const { datasets, organizationId } = environment
    return scopeOf(environment) === 'organization'
      ? repository.findKeyInOrganization({ organizationId, key })
      : repository.findKey({ dataset: datasets.idempotency, key })
  }

  function sweep(environment: number, dataset: number, now: number): void {
    const last = swept.get(environment)
    if (last !== undefined && Math.abs(now - last) < SWEEP_EVERY) return
    swept.set(environment, now)
    repository.deleteKeysUntil(dataset, now - LIFETIME)
  }
}

function scopeOf({ assumptions }: Environment): KeyScope {
  return assumptions['idempotency-match'] === 'body' ? 'organization' : 'environment'
}

function ownerOf(environment: Environment): string {
  const scope = scopeOf(environment)
  return `${scope} ${scope === 'organization' ? environment.organizationId : environment.id}`
}

function replayed(stored: IdempotencyKeyRow, fingerprint: Buffer): Outcome {
  if (!stored.fingerprint.equals(fingerprint)) {
    throw new DomainError('key-reused', `Request with key "${stored.key}" is being reused for a different body`, {
      reason: 'this idempotency-key was first used for another request: send a fresh key with each new request',
      errors: {}
    })
  }
  return { status: stored.status, body: stored.body, replayOf: stored.createdAt }
}

function fingerprintOf({ assumptions }: Environment, { method, path, body }: RequestFingerprint): Buffer {
  const target = assumptions['idempotency-match'] === 'request' ? `${method} ${path}\n` : ''
  const empty = body.length === 0 || isEmptyObject(body)
  return hash('sha256', empty ? target : Buffer.concat([Buffer.from(target), body]), 'buffer')
}

/** `{}` with any white space. */
function isEmptyObject(body: Buffer): boolean {
  return body.length < 64 && /^\s*\{\s*\}\s*$/.test(body.toString('latin1'))
}
