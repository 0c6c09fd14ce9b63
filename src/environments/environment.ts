import { randomBytes, randomInt } from 'node:crypto'
import type { Db } from '../db/open.js'
import { type Assumptions, assume, type Profile } from '../domain/assumptions.js'
import { type Clock, readClock } from '../domain/clock.js'
import type { DatasetKind, ResetPart } from '../domain/enums.js'
import { DomainError } from '../domain/errors.js'
import { createRandom, type Random } from '../domain/random.js'
import type { NewStub } from '../domain/stub.js'
import { didYouMean, MAX_CANDIDATES } from '../domain/suggestions.js'
import {
  type DatasetKeys,
  EnvironmentRepository,
  type EnvironmentRow,
  type NewEnvironmentRow,
  type OwnerIds,
  perKind
} from './repository.js'

/**
 * An environment with its effective settings. There is one such object per environment. It always
 * matches the environment's row in the database.
 */
export interface Environment extends Readonly<Omit<EnvironmentRow, 'profile' | 'assumptions'>> {
  readonly profile: Profile
  readonly assumptions: Assumptions
  readonly datasets: DatasetKeys
  /**
   * For each dataset whose documents contain the ids of another environment, that environment's id
   * and organization id. `withEnvironmentIds` replaces both ids.
   */
  readonly foreignOwners: Readonly<Record<DatasetKind, OwnerIds | undefined>>
  readonly random: Random
  /** The seed of the random values if the environment has no `randomSeed`. */
  readonly randomStart: number
  readonly now: Clock
  /** The time that was last read from the environment's clock, in milliseconds since 1970. */
  lastReading: number
  /**
   * Becomes true when the environment is removed. Requests in progress may still hold the object,
   * so they check with `assertExists`.
   */
  readonly isRemoved: boolean
  /**
   * When the environment was last used, by the machine's clock, in milliseconds. Only updated if
   * the environment has a `ttl`.
   */
  lastUsed: number
  /** Number of requests in progress. Only counted if the environment has a `ttl`. */
  openRequests: number
}

/** Callbacks for services that keep state in memory per environment or dataset. */
export interface EnvironmentListener {
  /** Called before an environment is removed. */
  onRemove?(environment: Environment): void
  onRemoved?(environment: Environment): void
  /** Called when an expired environment could not be removed. The removal is tried again later. */
  onExpiryError?(error: unknown, environment: Environment): void
  /** Called after the environment was reset, or restored from a snapshot. */
  onReset?(environment: Environment, parts: readonly ResetPart[]): void
  /**
   * Called after a dataset is created, and before any dataset is written to. Called again if the
   * transaction is rolled back.
   */
  onWrite?(dataset: number): void
}

/** The profile and assumptions of environments that don't set their own. */
export interface EnvironmentDefaults {
  profile: Profile
  assumptions: Record<string, string>
  /** The stubs that every new environment has. Default: none. */
  stubSet?: readonly NewStub[] | undefined
}

export interface Dependencies {
  db: Db
  clock: Clock
  /**
   * The clock that measures `ttl`. It never jumps, and it keeps running when the server's clock is
   * fixed.
   */
  machineClock: Clock
  defaults: EnvironmentDefaults
}

/** Keeps each `Environment` object equal to its row, even if a change to the row is rolled back. */
export class EnvironmentStore {
  readonly repository: EnvironmentRepository
  readonly listeners: EnvironmentListener[] = []
  readonly #dependencies: Dependencies
  readonly #environments = new Map<number, Environment>()
  /**
   * The assumptions of environments that don't set their own, by profile. The environments share
   * these objects to save memory, because there may be thousands of forks.
   */
  readonly #sharedAssumptions: Record<Profile, Assumptions>

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.repository = new EnvironmentRepository(dependencies.db)
    const { assumptions } = dependencies.defaults
    this.#sharedAssumptions = {
      document: assume('document', assumptions),
      live: assume('live', assumptions)
    }
  }

  get defaultAssumptions(): Assumptions {
    return this.#sharedAssumptions[this.#dependencies.defaults.profile]
  }

  /** Returns the environments that have been used since the server started. */
  loaded(): Iterable<Environment> {
    return this.#environments.values()
  }

  insert(row: NewEnvironmentRow): Environment {
    const inserted = this.repository.insertEnvironment(row)
    this.#dependencies.db.onRollback(() => this.#environments.delete(inserted.key))
    return this.fromRow(inserted)
  }

  /**
   * Updates the row and deletes datasets that became unused. Setting `randomSeed` restarts the
   * random values.
   */
  update(environment: Environment, fields: Partial<EnvironmentRow>): void {
    if (Object.keys(fields).length === 0) return
    this.assertExists(environment)
    const { key, datasets } = environment
    const { db } = this.#dependencies
    db.transaction(() => {
      this.repository.updateEnvironment(key, fields)
      this.repository.deleteUnused(datasets)
      this.#refresh(key)
      db.onRollback(() => this.#refresh(key))
    })
    if (fields.randomSeed !== undefined) {
      setRandomStart(environment, environment.randomStart)
    }
  }

  /** Removes an environment with its records, API keys and snapshots. */
  remove(environment: Environment): void {
    const row = this.requireRow(environment)
    const { key } = environment
    const { db } = this.#dependencies
    for (const listener of this.listeners) listener.onRemove?.(environment)
    db.transaction(() => this.repository.deleteWithSnapshots(row))
    this.#environments.delete(key)
    Object.assign(environment, { isRemoved: true })
    for (const listener of this.listeners) listener.onRemoved?.(environment)
  }

  /**
   * Throws `unauthenticated` if the environment was removed, for example while a request was in
   * progress.
   */
  assertExists(environment: Environment): void {
    if (environment.isRemoved) throw removed(environment)
  }

  /** Returns the row. Throws `unauthenticated` if the environment was removed. */
  requireRow(environment: Environment): EnvironmentRow {
    const row = this.repository.findByKey(environment.key)
    if (!row) throw removed(environment)
    return row
  }

  /** Returns the environment's object, created from the row or updated to match the row. */
  fromRow(row: EnvironmentRow): Environment {
    const { clock, machineClock } = this.#dependencies
    const loaded = this.#environments.get(row.key)
    if (loaded) return Object.assign(loaded, this.#stateOf(row))
    const randomStart = randomInt(2 ** 32)
    const environment: Environment = {
      ...this.#stateOf(row),
      random: createRandom(row.randomSeed ?? randomStart),
      randomStart,
      now() {
        environment.lastReading = readClock(environment.clock, clock)
        return environment.lastReading
      },
      lastReading: 0,
      isRemoved: false,
      lastUsed: machineClock(),
      openRequests: 0
    }
    this.#environments.set(row.key, environment)
    return environment
  }

  #refresh(key: number): void {
    const row = this.repository.findByKey(key)
    if (row) this.fromRow(row)
  }

  #stateOf(row: EnvironmentRow) {
    const { defaults } = this.#dependencies
    const profile = row.profile ?? defaults.profile
    const hasOwnAssumptions = Object.keys(row.assumptions).length > 0
    return {
      ...row,
      profile,
      assumptions: hasOwnAssumptions
        ? assume(profile, defaults.assumptions, row.assumptions)
        : this.#sharedAssumptions[profile],
      datasets: perKind((kind) => row[kind]),
      foreignOwners: this.foreignOwnersOf(row)
    }
  }

  foreignOwnersOf(row: EnvironmentRow): Environment['foreignOwners'] {
    const owners = this.repository.listOwners(row)
    const isForeign = (owner: OwnerIds) =>
      owner.id !== row.id || owner.organizationId !== row.organizationId
    return perKind((kind) => owners.find((owner) => owner.key === row[kind] && isForeign(owner)))
  }
}

/** Restarts the random values. Uses `start` only if the environment has no `randomSeed`. */
export function setRandomStart(environment: Environment, start: number): void {
  const random = createRandom(environment.randomSeed ?? start)
  Object.assign(environment, { randomStart: start, random })
}

export function ambiguousName(name: string, matches: number): DomainError {
  return new DomainError('bad-request', `There are ${matches} environments named ${name}`, {
    reason: 'use the id instead; GET /_mock/environments lists the ids'
  })
}

export function unknownEnvironment(idOrName: string, known: EnvironmentRow[]): DomainError {
  const names = known.slice(0, MAX_CANDIDATES).map(({ name }) => name)
  const reason =
    `no environment has the id or name ${idOrName}; ` +
    `GET /_mock/environments lists all environments${didYouMean(idOrName, names)}`
  return new DomainError('not-found', `Environment ${idOrName} not found`, { reason })
}

function removed({ name }: Environment): DomainError {
  const reason = `environment ${name} and its keys were removed while the request was in progress`
  return new DomainError('unauthenticated', 'API Key not found', { reason })
}

/**
 * Returns a new id in Novu's format: 24 hex digits. The first 8 are the time in seconds, and the
 * other 16 are random.
 */
export const newId = (): string =>
  Math.floor(Date.now() / 1000).toString(16) + randomBytes(8).toString('hex')
