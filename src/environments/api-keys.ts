import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentStore } from './environment.js'

/** The keys of environments. They are stored as hashes; in memory are those that were named since the server started. */
export function apiKeyService(db: Db, { repository, fromRow }: EnvironmentStore) {
  /** By API key, once used: hashing the key each time would cost a request a twentieth. */
  const byApiKey = new Map<string, Environment>()
  /** Words that are no key: those of clients' headers come with each request, and a look takes a hash and a query. */
  const ordinary = new Set<string>()
  /** In plain, by environment. */
  const named = new Map<number, readonly string[]>()

  return {
    apiKeysOf,
    isTaken,

    /** Returns the environment of an API key, or undefined when the key belongs to none. */
    findByApiKey(apiKey: string): Environment | undefined {
      const known = byApiKey.get(apiKey)
      if (known) return known
      const row = repository.findByKeyHash(hashOfKey(apiKey))
      if (!row) return undefined
      const environment = fromRow(row)
      byApiKey.set(apiKey, environment)
      return environment
    },

    /** Whether a word is an API key. Quicker than to resolve it, as most words are none. */
    isApiKey(word: string): boolean {
      if (ordinary.has(word)) return false
      if (byApiKey.has(word) || isTaken(word)) return true
      if (word.length <= MAX_ORDINARY_LENGTH) {
        if (ordinary.size >= MAX_ORDINARY) ordinary.clear()
        ordinary.add(word)
      }
      return false
    },

    addApiKey(environment: Environment, apiKey: string): void {
      ordinary.clear()
      repository.insertApiKey({ hash: hashOfKey(apiKey), environment: environment.key })
      setNamed(environment, [...apiKeysOf(environment), apiKey])
    },

    dropApiKeys(environment: Environment): void {
      repository.deleteApiKeys(environment.key)
      byApiKey.clear()
      setNamed(environment, [])
    },

    /** Makes `apiKeysOf` return a key that an environment had before the server started. A key of none is left alone. */
    rememberApiKey(apiKey: string): void {
      const row = repository.findByKeyHash(hashOfKey(apiKey))
      if (row) setNamed(row, [...new Set([...apiKeysOf(row), apiKey])])
    },

    /** To be called when an environment has been removed. */
    forgetApiKeys({ key }: Environment): void {
      named.delete(key)
      byApiKey.clear()
    }
  }

  /** Returns the environment's keys, as far as they were named since the server started. */
  function apiKeysOf({ key }: Pick<Environment, 'key'>): readonly string[] {
    return named.get(key) ?? []
  }

  function setNamed({ key }: Pick<Environment, 'key'>, apiKeys: readonly string[]): void {
    const former = apiKeysOf({ key })
    named.set(key, apiKeys)
    db.onRollback(() => named.set(key, former))
  }

  function isTaken(apiKey: string): boolean {
    return repository.hasKeyHash(hashOfKey(apiKey))
  }
}

/** How many words are remembered to be no key, and how many characters each has at most. */
const MAX_ORDINARY = 1000
const MAX_ORDINARY_LENGTH = 200

/** SHA-256: the only form in which a key is stored. */
export const hashOfKey = (apiKey: string): Buffer => hash('sha256', apiKey, 'buffer')

/** Returns a new key in the deployed service's form: 32 hex digits. */
export const newApiKey = (): string => randomBytes(16).toString('hex')
