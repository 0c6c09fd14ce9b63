import { hash } from 'node:crypto'
import { type Assumptions, assume, type Profile } from '../assumptions.js'
import type { Clock } from '../clock.js'
import type { Db } from '../db/open.js'
import { type EnvironmentRow, environmentRepository } from './repository.js'

/** A world that requests act in, as its API key resolves to it. */
export interface Environment {
  /** Our own number for it, which all its rows carry. */
  readonly key: number
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly profile: Profile
  readonly assumptions: Assumptions
  readonly now: Clock
}

/** What environments have that do not say otherwise. */
export interface EnvironmentDefaults {
  profile: Profile
  assumptions: Record<string, string>
}

export type EnvironmentService = ReturnType<typeof environmentService>

export function environmentService({ db, clock, defaults }: { db: Db; clock: Clock; defaults: EnvironmentDefaults }) {
  const repository = environmentRepository(db)
  const known = new Map<string, Environment>()

  return {
    /** The environment that the key belongs to, or undefined for a key that nobody has. */
    resolve(apiKey: string): Environment | undefined {
      const digest = hashOfKey(apiKey)
      const name = digest.toString('latin1')
      const environment = known.get(name) ?? fromRow(repository.findByKeyHash(digest))
      if (environment) known.set(name, environment)
      return environment
    },

    /** All of them, in the order of their making. */
    list(): Environment[] {
      return repository.listEnvironments().flatMap((row) => fromRow(row) ?? [])
    },

    /** Forgets what it remembers: call it whenever environments or keys have changed. */
    refresh(): void {
      known.clear()
    }
  }

  function fromRow(row: EnvironmentRow | undefined): Environment | undefined {
    if (!row) return undefined
    const profile = (row.profile as Profile | null) ?? defaults.profile
    return Object.freeze({
      key: row.key,
      id: row.id,
      organizationId: row.organizationId,
      name: row.name,
      profile,
      assumptions: assume(profile, defaults.assumptions, row.assumptions),
      now: clock
    })
  }
}

/** SHA-256: the only form in which a key is kept. */
export function hashOfKey(apiKey: string): Buffer {
  return hash('sha256', apiKey, 'buffer')
}
