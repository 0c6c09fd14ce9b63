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
import { IdempotencyRepository, type StoredKey } from './repository.js'

export interface OperationResponse {
  status: number
  body: Buffer
}

/**
 * The response to send. If it is a replay, `replayOf` is the time when the response was first sent,
 * in milliseconds since 1970.
 */
export type Outcome = OperationResponse & { replayOf?: number }

/**
 * The parts of a request that must be equal when a key is used again. The assumption
 * `idempotency-match` decides whether `target` is one of them.
 */
interface RepeatableRequest {
  /** Method and path. */
  target: string
  body: Buffer
}

const LIFETIME = 24 * 60 * 60 * 1000

/**
 * Stores the responses to requests with an idempotency key. The responses expire after 24 hours on
 * the environment's clock.
 */
export class IdempotencyService {
  readonly #db: Db
  readonly #environments: EnvironmentService
  readonly #repository: IdempotencyRepository
  /**
   * The keys of the requests in progress. They are kept only in memory, so that no key stays in use
   * after the process is killed.
   */
  readonly #keysInUse = new Set<string>()

  constructor({ db, environments }: { db: Db; environments: EnvironmentService }) {
    this.#db = db
    this.#environments = environments
    this.#repository = new IdempotencyRepository(db)
  }

  /**
   * Marks a key as in use until the returned function is called. Throws `key-in-use` if the key is
   * already in use.
   */
  begin(environment: Environment, key: string): () => void {
    const scope = scopeOf(environment)
    const owner = scope === 'organization' ? environment.organizationId : environment.id
    const scopedKey = `${scope} ${owner} ${key}`
    if (this.#keysInUse.has(scopedKey)) throw keyInUse(environment, key)
    this.#keysInUse.add(scopedKey)
    return () => {
      this.#keysInUse.delete(scopedKey)
    }
  }

  /**
   * Returns the response stored for a key. If there is none, runs the operation and stores its
   * response in the same transaction. Stores nothing if the operation throws. Throws `key-reused`
   * if the key was first used for a different request.
   */
  once(
    environment: Environment,
    key: string,
    request: RepeatableRequest,
    operation: () => OperationResponse
  ): Outcome {
    const fingerprint = fingerprintOf(environment, request)
    return this.#db.transaction(() => {
      const now = environment.now()
      const scope = scopeOf(environment)
      const stored = this.#find(environment, scope, key)
      if (stored && now - stored.createdAt < LIFETIME) {
        return replay(environment, stored, fingerprint)
      }
      const { status, body } = operation()
      const dataset = this.#environments.writableDataset(environment, 'idempotency')
      this.#repository.deleteUntil(dataset, now - LIFETIME)
      this.#repository.insert({ dataset, scope, key, fingerprint, status, body, createdAt: now })
      return { status, body }
    })
  }

  /**
   * Returns the response that is stored for a key. Because forks share stored responses, the ids of
   * the environment and organization in the body are replaced with those of the environment in
   * which the key was found.
   */
  #find(environment: Environment, scope: KeyScope, key: string): StoredKey | undefined {
    const { datasets, organizationId } = environment
    if (scope === 'environment') {
      const stored = this.#repository.find(datasets.idempotency, scope, key)
      return (
        stored && { ...stored, body: withEnvironmentIds(environment, 'idempotency', stored.body) }
      )
    }
    const shared = this.#repository.findInOrganization(environment, key)
    if (!shared) return undefined
    const sender = { id: shared.environmentId, organizationId }
    return { ...shared.key, body: replaceOwnerIds(shared.key.body, shared.owner, sender) }
  }
}

const scopeOf = ({ assumptions }: Environment): KeyScope =>
  assumptions['idempotency-match'] === 'body' ? 'organization' : 'environment'

function replay(environment: Environment, stored: StoredKey, fingerprint: Buffer): Outcome {
  const { key, status, body, createdAt } = stored
  if (!stored.fingerprint.equals(fingerprint)) throw keyReused(environment, key)
  return { status, body, replayOf: createdAt }
}

function keyInUse(environment: Environment, key: string): DomainError {
  const subject = `Request with key "${key}"`
  const message = `${subject} is currently being processed. Please retry after 1 second`
  const reason = 'the first request with this idempotency-key is still in progress'
  return new DomainError('key-in-use', message, { reason, ...linkHeader(environment) })
}

function keyReused(environment: Environment, key: string): DomainError {
  const message = `Request with key "${key}" is being reused for a different body`
  const reason =
    'this idempotency-key was first used for a different request; ' +
    'send a new key with every new request'
  const details = linkHeader(environment) ?? { errors: {} }
  return new DomainError('key-reused', message, { reason, ...details })
}

/** Returns the `Link` header for rejections, or undefined if the assumptions don't add one. */
const linkHeader = ({ assumptions }: Environment): Pick<ErrorDetails, 'headers'> | undefined =>
  assumptions['idempotency-rejections'] === 'linked'
    ? { headers: { Link: DOCUMENTATION } }
    : undefined

/** The URL in Novu's `Link` header. */
const DOCUMENTATION = 'https://docs.novu.co/additional-resources/idempotency'

/**
 * Hashes the parts of a request that must be equal. A missing body, an empty body and `{}` have the
 * same hash, because set-primary ignores the request's body.
 */
function fingerprintOf({ assumptions }: Environment, { target, body }: RepeatableRequest): Buffer {
  const head = assumptions['idempotency-match'] === 'request' ? `${target}\n` : ''
  const isEmpty = body.length === 0 || /^\s*\{\s*\}\s*$/.test(body.toString())
  return hash('sha256', isEmpty ? head : Buffer.concat([Buffer.from(head), body]), 'buffer')
}
