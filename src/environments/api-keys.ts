import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentStore } from './environment.js'

/**
 * Matches a key that is a single word. To find such keys in a text, each word of the text is looked
 * up.
 */
const WORD = /^[\w.~-]+$/

/**
 * Finds environments by API key. The database contains only hashes of the keys; the keys themselves
 * are kept in memory.
 */
export class ApiKeys {
  readonly #db: Db
  readonly #store: EnvironmentStore
  /** The keys that were added or used since the server started, with their environments. */
  readonly #owners = new Map<string, Environment>()
  /**
   * The hashes of all keys. Includes the keys of removed environments, because the journals of
   * other environments may still contain them.
   */
  readonly #hashes = new Set<string>()
  #areHashesLoaded = false
  /** The keys that aren't a single word. Finding them in a text takes one search per key. */
  readonly unusualKeys = new Set<string>()

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
    this.#remember(apiKey, environment)
    return environment
  }

  /**
   * Returns whether a word is an API key, or was one before its environment was removed. Queries
   * the database only on the first call, because a request may contain thousands of words to check.
   */
  isKey(word: string): boolean {
    if (this.#owners.has(word)) return true
    if (!this.#areHashesLoaded) {
      for (const keyHash of this.#store.repository.listKeyHashes()) {
        this.#hashes.add(keyHash.toString('base64'))
      }
      this.#areHashesLoaded = true
    }
    return this.#hashes.has(hash('sha256', word, 'base64'))
  }

  /** Returns the environment's keys that were added or used since the server started. */
  keysOf(environment: Environment): string[] {
    const owned = [...this.#owners].filter(([, owner]) => owner === environment)
    return owned.map(([apiKey]) => apiKey)
  }

  add(environment: Environment, apiKey: string): void {
    this.#store.repository.insertApiKey(environment.key, hashOfKey(apiKey))
    this.#hashes.add(hash('sha256', apiKey, 'base64'))
    this.#remember(apiKey, environment)
    this.#db.onRollback(() => this.#owners.delete(apiKey))
  }

  removeAll(environment: Environment): void {
    this.#store.repository.deleteApiKeys(environment.key)
    this.#forget(environment)
  }

  #remember(apiKey: string, environment: Environment): void {
    this.#owners.set(apiKey, environment)
    if (!WORD.test(apiKey)) this.unusualKeys.add(apiKey)
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
