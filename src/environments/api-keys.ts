import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentStore } from './environment.js'

/** The keys of environments. They are stored as hashes; in memory are those that were named or used since the start. */
export function apiKeyService(db: Db, { repository, listeners, fromRow, touch }: EnvironmentStore) {
  const owners = new Map<string, Environment>()
  listeners.push({ onRemoved: forget })

  return {
    /** Whether a word is an API key of any environment. */
    isApiKey: (word: string): boolean => ownerOf(word) !== undefined,

    apiKeysOf,

    /** Returns the environment of an API key, or undefined when the key belongs to none. */
    resolve(apiKey: string): Environment | undefined {
      const environment = ownerOf(apiKey)
      return environment && touch(environment)
    },

    addApiKey(environment: Environment, apiKey: string): void {
      repository.insertApiKey({ hash: hashOfKey(apiKey), environment: environment.key })
      owners.set(apiKey, environment)
      db.onRollback(() => owners.delete(apiKey))
    },

    dropApiKeys(environment: Environment): void {
      repository.deleteApiKeys(environment.key)
      forget(environment)
    },

    /** Makes `apiKeysOf` return a key that an environment had before the server started. A key of none is left alone. */
    rememberApiKey: (apiKey: string): void => void ownerOf(apiKey)
  }

  /** Hashes a key only once: that would cost each request a twentieth. */
  function ownerOf(apiKey: string): Environment | undefined {
    const row = owners.has(apiKey) ? undefined : repository.findByKeyHash(hashOfKey(apiKey))
    if (row) owners.set(apiKey, fromRow(row))
    return owners.get(apiKey)
  }

  function forget(environment: Environment): void {
    // The last one first, as a rollback brings them back the other way round.
    for (const apiKey of apiKeysOf(environment).reverse()) {
      owners.delete(apiKey)
      db.onRollback(() => owners.set(apiKey, environment))
    }
  }

  /** Returns the environment's keys, as far as they were named or used since the server started. */
  function apiKeysOf(environment: Environment): string[] {
    return [...owners].flatMap(([apiKey, owner]) => (owner === environment ? apiKey : []))
  }
}

/** SHA-256: the only form in which a key is stored. */
export const hashOfKey = (apiKey: string): Buffer => hash('sha256', apiKey, 'buffer')

/** Returns a new key in the deployed service's form: 32 hex digits. */
export const newApiKey = (): string => randomBytes(16).toString('hex')
