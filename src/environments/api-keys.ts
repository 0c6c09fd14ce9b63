import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentStore } from './environment.js'

/**
 * Finds environments by API key. Keys are stored as hashes; the keys themselves are only remembered
 * in memory.
 */
export class ApiKeys {
  readonly #db: Db
  readonly #store: EnvironmentStore
  /** The environments of the keys that were added or used since the server started. */
  readonly #owners = new Map<string, Environment>()

  constructor(db: Db, store: EnvironmentStore) {
    this.#db = db
    this.#store = store
    store.listeners.push({ onRemoved: (environment) => this.#forget(environment) })
  }

  /**
   * Returns the environment of an API key. The key is hashed only once, since that is 5 % of a
   * request's time.
   */
  findOwner(apiKey: string): Environment | undefined {
    const owner = this.#owners.get(apiKey)
    if (owner) return owner
    const row = this.#store.repository.findByKeyHash(hashOfKey(apiKey))
    if (!row) return undefined
    const environment = this.#store.fromRow(row)
    this.#owners.set(apiKey, environment)
    return environment
  }

  /** Returns the environment's keys that were added or used since the server started. */
  keysOf(environment: Environment): string[] {
    const owned = [...this.#owners].filter(([, owner]) => owner === environment)
    return owned.map(([apiKey]) => apiKey)
  }

  add(environment: Environment, apiKey: string): void {
    this.#store.repository.insertApiKey(environment.key, hashOfKey(apiKey))
    this.#owners.set(apiKey, environment)
    this.#db.onRollback(() => this.#owners.delete(apiKey))
  }

  removeAll(environment: Environment): void {
    this.#store.repository.deleteApiKeys(environment.key)
    this.#forget(environment)
  }

  #forget(environment: Environment): void {
    // Last key first: a rollback runs in reverse order, which restores the original order of the
    // map.
    for (const apiKey of this.keysOf(environment).reverse()) {
      this.#owners.delete(apiKey)
      this.#db.onRollback(() => this.#owners.set(apiKey, environment))
    }
  }
}

/** Returns the SHA-256 of a key. Keys are only stored like this. */
export const hashOfKey = (apiKey: string): Buffer => hash('sha256', apiKey, 'buffer')

/** Returns a new key in Novu's format: 32 hex digits. */
export const newApiKey = (): string => randomBytes(16).toString('hex')
