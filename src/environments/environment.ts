import { clearInterval, setInterval } from 'node:timers'
import type { Db } from '../db/open.js'
import { type Assumptions, assume, type Profile } from '../domain/assumptions.js'
import { type Clock, timeBy, wallClock } from '../domain/clock.js'
import type { ResetPart } from '../domain/enums.js'
import { DomainError } from '../domain/errors.js'
import { createRandom, type Random } from '../domain/random.js'
import {
  type Datasets,
  type EnvironmentRow,
  environmentRepository,
  type Homes,
  perKind
} from './repository.js'

/** What a request acts in. There is one object per environment, and it always has the present state. */
export interface Environment extends Readonly<Omit<EnvironmentRow, 'profile' | 'assumptions'>> {
  readonly profile: Profile
  readonly assumptions: Assumptions
  /** Throws `unauthenticated` once the environment is removed: a request in flight ends as if it had come later. */
  readonly datasets: Datasets
  /** The homes of those datasets whose documents carry other ids than its own: see `withOwnIds`. */
  readonly otherHomes: Homes
  readonly random: Random
  readonly now: Clock
  /** When it was last asked for, by the clock of `ttl`, and how many requests with its key are open. Only with a `ttl`. */
  lastUsed: number
  openRequests: number
}

/** For what is kept in memory for environments. */
export interface EnvironmentListener {
  /** Before it is removed. */
  onRemove?(environment: Environment): void
  onRemoved?(environment: Environment): void
  /** When an environment could not be removed at the end of its time. It is tried again later. */
  onExpiryError?(error: unknown, environment: Environment): void
  /** After a reset or restore. */
  onReset?(environment: Environment, parts: readonly ResetPart[]): void
  /** When a dataset is new or about to be written to, and when that is rolled back. */
  onWrite?(dataset: number): void
}

/** The server's own settings, for environments that have none. */
export interface EnvironmentDefaults {
  profile: Profile
  assumptions: Record<string, string>
}

export interface Dependencies {
  db: Db
  clock: Clock
  /** The clock of `ttl`, which goes on where that of the server is fixed, and never jumps. */
  machineClock: Clock
  defaults: EnvironmentDefaults
}

export type EnvironmentStore = ReturnType<typeof environmentStore>

/** The `Environment` objects, each kept equal to its row, also when a change of the row is rolled back. */
export function environmentStore({ db, clock, machineClock, defaults }: Dependencies) {
  const repository = environmentRepository(db)
  const environments = new Map<number, Environment>()
  const listeners: EnvironmentListener[] = []
  // One object for all that have nothing of their own, as there may be thousands of forks.
  const shared = {
    document: assume('document', defaults.assumptions),
    live: assume('live', defaults.assumptions)
  }
  // Each second. It keeps no process alive.
  const timer = setInterval(removeExpired, 1000).unref()

  return {
    repository,
    listeners,
    fromRow,
    requireRow,
    touch,

    /** Those of the server, for what comes with the key of no environment. */
    defaultAssumptions: shared[defaults.profile],

    insert(row: Parameters<typeof repository.insertEnvironment>[0]): Environment {
      const inserted = repository.insertEnvironment(row)
      db.onRollback(() => environments.delete(inserted.key))
      return fromRow(inserted)
    },

    /** Changes the row, and deletes the datasets that nothing refers to any more. A random seed restarts the random numbers. */
    update(environment: Environment, fields: Partial<EnvironmentRow>): void {
      if (Object.keys(fields).length === 0) return
      // Throws if it has been removed.
      const { key, datasets } = environment
      db.transaction(() => {
        repository.updateEnvironment(key, fields)
        repository.deleteUnused(datasets)
        refresh(key)
        db.onRollback(() => refresh(key))
      })
      if (fields.randomSeed !== undefined)
        Object.assign(environment, { random: createRandom(fields.randomSeed) })
    },

    subscribe: (listener: EnvironmentListener): void => void listeners.push(listener),

    remove,
    removeExpired,

    /** Returns when the environment is removed unless it is used before, by the system's time; undefined without a `ttl`. */
    expiresAt({ ttl, lastUsed }: Environment): number | undefined {
      if (ttl === null) return undefined
      // In whole seconds, as the two clocks are read one after the other: so it stays the same while nobody uses it.
      const offset = Math.round((wallClock() - machineClock()) / 1000) * 1000
      return Math.round(lastUsed + ttl + offset)
    },

    /** Keeps the environment until the function that it returns is called, once; then its `ttl` begins again. */
    keepInUse(environment: Environment): () => void {
      environment.openRequests += 1
      return () => {
        environment.openRequests -= 1
        touch(environment)
      }
    },

    /** Stops the timer. */
    close: (): void => clearInterval(timer)
  }

  function refresh(key: number): void {
    const row = repository.findEnvironment(key)
    if (row) fromRow(row)
  }

  /** Begins the environment's `ttl` again, and returns it. */
  function touch(environment: Environment): Environment {
    if (environment.ttl !== null) environment.lastUsed = machineClock()
    return environment
  }

  /** Throws `unauthenticated` when the environment has been removed, perhaps while a request with its key was in flight. */
  function requireRow({ key, name }: Environment): EnvironmentRow {
    const row = repository.findEnvironment(key)
    if (row) return row
    const reason = `environment ${name} has been removed in the meantime, and its keys with it`
    throw new DomainError('unauthenticated', 'API Key not found', { reason })
  }

  /** Removes an environment with its rows, keys and snapshots. */
  function remove(environment: Environment): void {
    const row = requireRow(environment)
    for (const listener of listeners) listener.onRemove?.(environment)
    db.transaction(() => {
      const rows = [row, ...repository.listSnapshots(environment.key)]
      repository.deleteEnvironment(environment.key)
      for (const each of rows) repository.deleteUnused(each)
    })
    environments.delete(environment.key)
    // From now on it throws, as its row is gone.
    Object.defineProperty(environment, 'datasets', { get: () => requireRow(environment) })
    for (const listener of listeners) listener.onRemoved?.(environment)
  }

  /** Removes those that were not used for as long as their `ttl`. What can't be removed is tried again after as long. */
  function removeExpired(): void {
    const now = machineClock()
    for (const environment of environments.values()) {
      if (environment.ttl === null || now - environment.lastUsed < environment.ttl) continue
      environment.lastUsed = now
      if (environment.openRequests > 0) continue
      try {
        remove(environment)
      } catch (error) {
        for (const listener of listeners) listener.onExpiryError?.(error, environment)
      }
    }
  }

  /** Returns the environment's object, brought up to date with the row. */
  function fromRow(row: EnvironmentRow): Environment {
    const profile = row.profile ?? defaults.profile
    const isPlain = Object.keys(row.assumptions).length === 0
    const assumptions = isPlain
      ? shared[profile]
      : assume(profile, defaults.assumptions, row.assumptions)
    const datasets = perKind((kind) => row[kind])
    const state = { ...row, profile, assumptions, datasets, otherHomes: repository.otherHomes(row) }
    const existing = environments.get(row.key)
    if (existing) return Object.assign(existing, state)
    const memory = {
      random: createRandom(row.randomSeed),
      lastUsed: machineClock(),
      openRequests: 0
    }
    const environment: Environment = {
      ...state,
      ...memory,
      now: () => timeBy(environment.clock, clock)
    }
    environments.set(row.key, environment)
    return environment
  }
}
