import { randomBytes } from 'node:crypto'
import { assume } from '../core/assumptions.js'
import { advanced, steadyClock, WALL, wallClock } from '../core/clock.js'
import { DATASET_KINDS, type ResetPart } from '../core/enums.js'
import { DomainError, invalidFields } from '../core/errors.js'
import { idIn } from '../core/ids.js'
import { didYouMean } from '../core/suggest.js'
import { apiKeyService } from './api-keys.js'
import { datasetService, type HeldDatasets } from './datasets.js'
import { comparingStates } from './differences.js'
import { type Datasets, type Environment, type EnvironmentDependencies, environmentStore } from './environment.js'
import { expiryTimer } from './expiry.js'
import { environmentNames } from './names.js'
import { type EnvironmentRow, perKind } from './repository.js'
import type { SnapshotDifferences } from './schemas.js'
import { snapshotService } from './snapshots.js'

export type { HeldDatasets } from './datasets.js'
export type { Datasets, Environment, EnvironmentDefaults } from './environment.js'

export type Settings = Pick<
  EnvironmentRow,
  'organizationId' | 'name' | 'profile' | 'assumptions' | 'clock' | 'randomSeed'
>

type NewRow = Settings & Pick<EnvironmentRow, 'id' | 'createdAt' | 'ttl'>

export type NewEnvironment = Pick<Settings, 'organizationId' | 'name'> & Partial<Omit<NewRow, 'createdAt'>>

/** For what is kept in memory for environments. */
export interface EnvironmentListener {
  onRemoved?(environment: Environment): void
  /** Whether the environment is in use, so that it must not expire. */
  isBusy?(environment: Environment): boolean
  /** When an environment could not be removed at the end of its time. It is tried again later. */
  onExpiryError?(error: unknown, environment: Environment): void
  /** After a reset or restore. */
  onReset?(environment: Environment, parts: readonly ResetPart[]): void
  /** When a dataset is new or about to be written to, and when that is rolled back. */
  onWrite?(dataset: number): void
}

export type EnvironmentService = ReturnType<typeof environmentService>

/** Creates, changes and removes environments; it has the methods of `api-keys.ts`, `datasets.ts` and `snapshots.ts` too. */
export function environmentService({ db, clock, machineClock = steadyClock, defaults }: EnvironmentDependencies) {
  const store = environmentStore({ db, clock, machineClock, defaults })
  const { repository, fromRow, requireRow, update } = store
  const listeners: EnvironmentListener[] = []
  const names = environmentNames(repository)
  const expiry = expiryTimer(db, {
    machineClock,
    list: store.listExpiring,
    isBusy: (environment) => listeners.some((listener) => listener.isBusy?.(environment)),
    remove,
    onError(error, environment) {
      for (const listener of listeners) listener.onExpiryError?.(error, environment)
    }
  })
  const { create: createDataset, ...datasets } = datasetService(db, store, (dataset) => {
    for (const listener of listeners) listener.onWrite?.(dataset)
  })
  const { findByApiKey, forgetApiKeys, isTaken, ...apiKeys } = apiKeyService(db, store)
  const { requireSnapshot, ...snapshots } = snapshotService(db, store, (environment, parts) => {
    for (const listener of listeners) listener.onReset?.(environment, parts)
  })

  // Their time counts from now, as nobody could use them while the server was down.
  for (const row of repository.listExpiring()) expiry.watch(fromRow(row))

  return {
    ...datasets,
    ...snapshots,
    ...apiKeys,
    unusedName: names.unusedName,
    remove,
    removeExpired: expiry.removeExpired,
    keepInUse: expiry.keepInUse,

    /** Ends what would otherwise go on by a timer. */
    close: expiry.close,

    subscribe: (listener: EnvironmentListener): void => void listeners.push(listener),

    /** Those of the server, for what comes with the key of no environment. */
    defaultAssumptions: assume(defaults.profile, defaults.assumptions),

    /** Returns the environment of an API key, or undefined when the key belongs to none. */
    resolve(apiKey: string): Environment | undefined {
      const environment = findByApiKey(apiKey)
      return environment && used(environment)
    },

    /** Returns all environments in the order of their creation. */
    list: (): Environment[] => repository.listEnvironments().map(fromRow),

    /** Throws `not-found` when no environment has this id or name, `bad-request` when several have the name. */
    find(idOrName: string): Environment {
      const byId = repository.findById(idIn(idOrName) ?? idOrName)
      if (byId) return used(fromRow(byId))
      const [row, ...others] = repository.listEnvironments(idOrName)
      if (others.length > 0) throw ambiguousName(idOrName, others.length + 1)
      if (row) return used(fromRow(row))
      throw new DomainError('not-found', `Environment ${idOrName} not found`, {
        reason: `there is no environment ${idOrName}: GET /_mock/environments lists those there are${didYouMean(idOrName, repository.listNames())}`
      })
    },

    /** Returns when the environment is removed unless it is used before, by the system's time; undefined without a `ttl`. */
    expiresAt({ ttl, lastUsed }: Environment): number | undefined {
      if (ttl === null) return undefined
      // In whole seconds, as the two clocks are read one after the other: so it stays the same while nobody uses it.
      const offset = Math.round((wallClock() - machineClock()) / 1000) * 1000
      return Math.round(lastUsed + ttl + offset)
    },

    newRow,

    /**
     * Compares the present state with that of a snapshot, in steps. Throws `not-found` when there is no such snapshot.
     */
    *comparing(environment: Environment, snapshot: string): Generator<unknown, SnapshotDifferences> {
      const former = requireSnapshot(environment, snapshot)
      return yield* comparingStates(db, datasets.hold(), requireRow(environment), former)
    },

    /** Throws `exists` when another environment has the name or the API key, be it as its id. */
    requireUnused({ name, apiKey }: { name?: string; apiKey?: string }): void {
      if (name !== undefined && names.isTaken(name)) {
        throw new DomainError('exists', `There is an environment named ${name} already`, {
          reason: 'names are unique: choose another, or remove that one by DELETE /_mock/environments/{id}'
        })
      }
      if (apiKey !== undefined && isTaken(apiKey)) {
        throw new DomainError('exists', 'The API key is that of another environment', {
          reason: 'choose another apiKey, or leave it out to get one that is unused'
        })
      }
    },

    /** Creates an environment, empty unless datasets are given. An id that is given must be unused. */
    create(wanted: NewEnvironment, filled?: Datasets): Environment {
      const fill = () => filled ?? perKind(createDataset)
      const environment = db.transaction(() => store.insert({ ...newRow(wanted), ...fill() }))
      expiry.watch(environment)
      return environment
    },

    /**
     * Copies, in steps, all that an environment has, or had when the snapshot was taken, with the same ids; only the ids of
     * the owners are its own. Returns what to create the fork from. Throws `not-found` when there is no such snapshot.
     */
    *forking(
      origin: Environment,
      wanted: Omit<NewEnvironment, 'name'> & { name?: string },
      snapshot: string | undefined,
      held: HeldDatasets
    ): Generator<unknown, { row: NewRow; datasets: Datasets }> {
      const from = snapshot === undefined ? requireRow(origin) : requireSnapshot(origin, snapshot)
      held.keep(perKind((kind) => from[kind]))
      const { name, profile, clock: setting, randomSeed } = from
      const assumptions = { ...from.assumptions, ...wanted.assumptions }
      const row = newRow({ name: `${name} fork`, profile, clock: setting, randomSeed, ...wanted, assumptions })
      const copies = perKind((kind) => from[kind])
      for (const kind of DATASET_KINDS) {
        // The documents of workflows have no owner's id, so they can be shared.
        if (kind !== 'workflows') copies[kind] = yield* held.copying(kind, from[kind], { from, to: row })
      }
      return { row, datasets: copies }
    },

    /**
     * Changes settings. A profile of null is the server's; a random seed, also null, restarts the random numbers. Documents
     * that the environment already has keep the id of the former organization. Datasets that are given replace its own.
     */
    change(environment: Environment, settings: Partial<Settings>, filled: Partial<Datasets> = {}): void {
      update(environment, { ...settings, ...filled })
      if (settings.randomSeed !== undefined) store.restartRandom(environment)
    },

    /** Throws `invalid` when there is no such time. */
    advanceClock(environment: Environment, by: number): void {
      const setting = advanced(environment.clock, by, clock)
      if (!setting) throw invalidFields({ by: { messages: ['by leads past the last time there is'], value: by } })
      update(environment, { clock: setting })
    },

    /** Returns the environment's own settings, without what it has from the server. */
    settings(environment: Environment): Settings {
      const { organizationId, name, profile, assumptions, clock: setting, randomSeed } = requireRow(environment)
      return { organizationId, name, profile, assumptions, clock: setting, randomSeed }
    }
  }

  /** Removes an environment with its rows, keys and snapshots. */
  function remove(environment: Environment): void {
    db.transaction(() => {
      const rows = [requireRow(environment), ...repository.listSnapshots(environment.key)]
      repository.deleteEnvironment(environment.key)
      for (const row of rows) store.deleteUnused(row)
    })
    store.discard(environment)
    forgetApiKeys(environment)
    names.release(environment.name)
    for (const listener of listeners) listener.onRemoved?.(environment)
  }

  function used(environment: Environment): Environment {
    if (environment.ttl !== null) environment.lastUsed = machineClock()
    return environment
  }

  /** Returns an environment's row, complete but for its datasets. */
  function newRow({ id = newId(), organizationId, name, profile = null, ...wanted }: NewEnvironment): NewRow {
    const { assumptions = {}, clock: setting = WALL, randomSeed = null, ttl = null } = wanted
    return { id, organizationId, name, profile, assumptions, clock: setting, randomSeed, ttl, createdAt: clock() }
  }
}

/** Returns a new id as the deployed service makes them: 24 hex digits, the first 8 the time in seconds, then random. */
export const newId = (): string => Math.floor(Date.now() / 1000).toString(16) + randomBytes(8).toString('hex')

function ambiguousName(name: string, count: number): DomainError {
  return new DomainError('bad-request', `There are ${count} environments named ${name}`, {
    reason: `${count} environments are named ${name}: say which one by its id, GET /_mock/environments lists them`
  })
}
