import { type Assumptions, assume, type Profile } from '../core/assumptions.js'
import { type Clock, type ClockSetting, steadyClock, timeBy } from '../core/clock.js'
import { DATASET_KINDS, type DatasetKind } from '../core/enums.js'
import { DomainError } from '../core/errors.js'
import { createRandom, type Random } from '../core/random.js'
import type { Db } from '../db/open.js'
import { type EnvironmentRow, environmentRepository, perKind } from './repository.js'
import { unusedDatasets } from './unused-datasets.js'

/** The dataset of each kind that an environment refers to. */
export type Datasets = Readonly<Record<DatasetKind, number>>

/** What a request acts in. There is one object per environment, and it always has the present state. */
export interface Environment {
  readonly key: number
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly profile: Profile
  readonly assumptions: Assumptions
  /** Throws `unauthenticated` once the environment is removed: a request in flight ends as if it had come later. */
  readonly datasets: Datasets
  readonly clock: ClockSetting
  readonly randomSeed: number | null
  readonly random: Random
  readonly createdAt: number
  readonly now: Clock
  /** Milliseconds after its last use to remove it, or null. */
  readonly ttl: number | null
  /** When it was last asked for, by the clock of `ttl`; kept only where there is a `ttl`. */
  lastUsed: number
}

/** The server's own settings, for environments that have none. */
export interface EnvironmentDefaults {
  profile: Profile
  assumptions: Record<string, string>
}

export interface EnvironmentDependencies {
  db: Db
  clock: Clock
  /** The clock of `ttl`, which goes on where that of the server is fixed, and never jumps. */
  machineClock?: Clock
  defaults: EnvironmentDefaults
}

export type EnvironmentStore = ReturnType<typeof environmentStore>

/** The `Environment` objects, each kept equal to its row, also when a change of the row is rolled back. */
export function environmentStore({ db, clock, machineClock = steadyClock, defaults }: EnvironmentDependencies) {
  const repository = environmentRepository(db)
  const unused = unusedDatasets(db, repository)
  const environments = new Map<number, { -readonly [Field in keyof Environment]: Environment[Field] }>()

  return {
    repository,
    unused,
    fromRow,
    deleteUnused,

    /** Those with a `ttl` that were asked for since the start, or are there since then. */
    listExpiring: (): Environment[] => [...environments.values()].filter(({ ttl }) => ttl !== null),

    insert(row: Parameters<typeof repository.insertEnvironment>[0]): Environment {
      const inserted = repository.insertEnvironment(row)
      db.onRollback(() => environments.delete(inserted.key))
      return fromRow(inserted)
    },

    /** Throws `unauthenticated` when the environment has been removed. */
    requireRow(environment: Environment): EnvironmentRow {
      const row = repository.findEnvironment(environment.key)
      if (!row) throw removedError(environment)
      return row
    },

    /** Changes the row, and deletes the datasets that nothing refers to any more. */
    update(environment: Environment, fields: Partial<EnvironmentRow>): void {
      if (Object.keys(fields).length === 0) return
      const { key, datasets } = environment
      if (!repository.updateEnvironment(key, fields)) throw removedError(environment)
      deleteUnused(datasets)
      const refresh = () => {
        const row = repository.findEnvironment(key)
        if (row) fromRow(row)
      }
      refresh()
      db.onRollback(refresh)
    },

    restartRandom({ key, randomSeed }: Environment): void {
      const environment = environments.get(key)
      if (environment) environment.random = createRandom(randomSeed)
    },

    discard(environment: Environment): void {
      environments.delete(environment.key)
      const get = () => {
        throw removedError(environment)
      }
      Object.defineProperty(environment, 'datasets', { get })
    }
  }

  /** Deletes those of the datasets that nothing uses any more: large ones later, beside other work. */
  function deleteUnused(datasets: Datasets): void {
    for (const kind of DATASET_KINDS) {
      if (!repository.deleteUnused(kind, datasets[kind])) unused.add(datasets[kind])
    }
  }

  /** Returns the environment's object, brought up to date with the row. */
  function fromRow(row: EnvironmentRow): Environment {
    const { key, id, organizationId, name, clock: setting, randomSeed, createdAt, ttl } = row
    const profile = row.profile ?? defaults.profile
    const assumptions = assume(profile, defaults.assumptions, row.assumptions)
    const datasets = perKind((kind) => row[kind])
    const settings = { profile, assumptions, clock: setting, randomSeed }
    const state = { key, id, organizationId, name, createdAt, datasets, ttl, ...settings }
    const existing = environments.get(key)
    if (existing) return Object.assign(existing, state)
    const now: Clock = () => timeBy(environment.clock, clock)
    const environment = { ...state, random: createRandom(randomSeed), now, lastUsed: machineClock() }
    environments.set(key, environment)
    return environment
  }
}

/** The answer to a request whose environment was removed while it was in flight. */
export function removedError({ name }: Environment): DomainError {
  return new DomainError('unauthenticated', 'API Key not found', {
    reason: `environment ${name} has been removed in the meantime, and its keys with it`
  })
}
