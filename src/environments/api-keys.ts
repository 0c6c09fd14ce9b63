import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentStore } from './environment.js'

/**
 * Finds environments by API key. The database contains only hashes of the keys; the keys themselves
 * are kept in memory.
 */
export class ApiKeys {
  readonly #db: Db
  readonly #store: EnvironmentStore
  /** The keys that were added or used since the server started, with their environments. */
  readonly #owners = new Map<string, Environment>()

  constructor(db: Db, store: EnvironmentStore) {
    this.#db = db
    this.#store = store
    store.listeners.push({ onRemoved: (environment) => this.#forget(environment) })
  }

  /**
   * Returns the environment of an API key. Hashes a key only when it is first used, because hashing
   * takes 5 % of a request's time.
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
    // Delete the last key first. A rollback runs in reverse order, so it adds the keys back in
    // their original order.
    for (const apiKey of this.keysOf(environment).reverse()) {
      this.#owners.delete(apiKey)
      this.#db.onRollback(() => this.#owners.set(apiKey, environment))
    }
  }
}

/** Returns the SHA-256 hash of a key. The database contains only this hash. */
export const hashOfKey = (apiKey: string): Buffer => hash('sha256', apiKey, 'buffer')

/** Returns a new key in Novu's format: 32 hex digits. */
export const newApiKey = (): string => randomBytes(16).toString('hex')
