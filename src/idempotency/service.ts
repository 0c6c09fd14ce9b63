import { hash } from 'node:crypto'
import type { Db } from '../db/open.js'
import type { KeyScope } from '../domain/enums.js'
import { DomainError, type ErrorDetails } from '../domain/errors.js'
import {
  type Environment,
  type EnvironmentService,
  replaceOwnerIds,
  withEnvironmentIds
} from '../environments/service.js'
import { type IdempotencyKeyRow, idempotencyRepository } from './repository.js'

export interface Answer {
  status: number
  body: Buffer
}

/** What must be the same when a key comes again; whether the target, method and path, is assumption `idempotency-match`. */
type Repeatable = { target: string; body: Buffer }

/** `replayOf` says when a replayed answer was first given, in milliseconds since 1970. */
export type Outcome = Answer & { replayOf?: number }

export type IdempotencyService = ReturnType<typeof idempotencyService>

const LIFETIME = 24 * 60 * 60 * 1000

/** Stores the answers to requests with an idempotency key for 24 hours by the environment's clock. */
export function idempotencyService({
  db,
  environments
}: {
  db: Db
  environments: EnvironmentService
}) {
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
    once(environment: Environment, key: string, request: Repeatable, run: () => Answer): Outcome {
      const fingerprint = fingerprintOf(environment, request)
      return db.transaction(() => {
        const now = environment.now()
        const scope = scopeOf(environment)
        const stored = find(environment, scope, key)
        if (stored && now - stored.createdAt < LIFETIME)
          return replay(environment, stored, fingerprint)

        const answer = run()
        const dataset = environments.writableDataset(environment, 'idempotency')
        repository.deleteKeysUntil(dataset, now - LIFETIME)
        repository.insertKey({ dataset, scope, key, fingerprint, ...answer, createdAt: now })
        return answer
      })
    }
  }

  /** Returns what is stored, with the ids of the environment that has given the answer. */
  function find(
    environment: Environment,
    scope: KeyScope,
    key: string
  ): IdempotencyKeyRow | undefined {
    const { datasets, organizationId } = environment
    if (scope === 'environment') {
      const row = repository.findKey(datasets.idempotency, scope, key)
      return row && { ...row, body: withEnvironmentIds(environment, 'idempotency', row.body) }
    }
    const found = repository.findKeyInOrganization(environment, key)
    if (!found) return undefined
    const from = { id: found.homeId, organizationId: found.homeOrganizationId }
    const to = { id: found.ownerId, organizationId }
    return { ...found, body: replaceOwnerIds(found.body, from, to) }
  }
}

const scopeOf = ({ assumptions }: Environment): KeyScope =>
  assumptions['idempotency-match'] === 'body' ? 'organization' : 'environment'

function replay(environment: Environment, stored: IdempotencyKeyRow, fingerprint: Buffer): Outcome {
  const { key, status, body, createdAt } = stored
  if (stored.fingerprint.equals(fingerprint)) return { status, body, replayOf: createdAt }
  const message = `Request with key "${key}" is being reused for a different body`
  const reason =
    'this idempotency-key was first used for another request: send a fresh key with each new request'
  throw new DomainError('key-reused', message, {
    reason,
    ...(linkIn(environment) ?? { errors: {} })
  })
}

/** Returns the header of a refusal that is about a key, where the environment assumes one. */
const linkIn = ({ assumptions }: Environment): Pick<ErrorDetails, 'headers'> | undefined =>
  assumptions['idempotency-rejections'] === 'linked'
    ? { headers: { Link: DOCUMENTATION } }
    : undefined

/** Where the deployed service sends readers. */
const DOCUMENTATION = 'https://docs.novu.co/additional-resources/idempotency'

/** The operation takes no body: none, an empty one and `{}` are the same. */
function fingerprintOf({ assumptions }: Environment, { target, body }: Repeatable): Buffer {
  const head = assumptions['idempotency-match'] === 'request' ? `${target}\n` : ''
  const isEmpty = body.length === 0 || /^\s*\{\s*\}\s*$/.test(body.toString())
  return hash('sha256', isEmpty ? head : Buffer.concat([Buffer.from(head), body]), 'buffer')
}
