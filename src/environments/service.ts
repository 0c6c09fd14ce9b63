import { randomBytes } from 'node:crypto'
import { assume } from '../core/assumptions.js'
import { advanced, WALL } from '../core/clock.js'
import { DomainError, invalidFields } from '../core/errors.js'
import { idIn } from '../core/ids.js'
import { didYouMean, MAX_CANDIDATES } from '../core/suggest.js'
import { apiKeyService } from './api-keys.js'
import { datasetService } from './datasets.js'
import { type Dependencies, type Environment, environmentStore } from './environment.js'
import { type EnvironmentRow, perKind } from './repository.js'
import { snapshotService } from './snapshots.js'

export { withIdsOf, withOwnIds } from './datasets.js'
export type { Environment, EnvironmentDefaults } from './environment.js'

export type Settings = Pick<
  EnvironmentRow,
  'organizationId' | 'name' | 'profile' | 'assumptions' | 'clock' | 'randomSeed'
>

type NewRow = Settings & Pick<EnvironmentRow, 'id' | 'createdAt' | 'ttl'>

export type NewEnvironment = Pick<Settings, 'organizationId' | 'name'> & Partial<Omit<NewRow, 'createdAt'>>

/** Without a name it gets that of its origin. */
type NewFork = Omit<NewEnvironment, 'name'> & { name?: string }

export type EnvironmentService = ReturnType<typeof environmentService>

/** Creates, changes and removes environments; it has the methods of `api-keys.ts`, `datasets.ts` and `snapshots.ts` too. */
export function environmentService({ db, clock, machineClock, defaults }: Dependencies) {
  const store = environmentStore({ db, clock, machineClock, defaults })
  const { repository, listeners, fromRow, requireRow, touch, insert, update, ...lifetime } = store
  const { create: createDataset, ...datasets } = datasetService(db, store)
  const apiKeys = apiKeyService(db, store)
  const { requireSnapshot, ...snapshots } = snapshotService(db, store)

  repository.deleteUnreferenced()
  // Their time counts from now, as nobody could use them while the server was down.
  for (const row of repository.listEnvironments()) if (row.ttl !== null) fromRow(row)

  return {
    ...datasets,
    ...snapshots,
    ...apiKeys,
    ...lifetime,
    unusedName,

    defaults,

    /** Those of the server, for what comes with the key of no environment. */
    defaultAssumptions: assume(defaults.profile, defaults.assumptions),

    /** Returns all environments in the order of their creation. */
    list: (): Environment[] => repository.listEnvironments().map(fromRow),

    /** Throws `not-found` when no environment has this id or name, `bad-request` when several have the name. */
    find(idOrName: string): Environment {
      const byId = repository.findById(idIn(idOrName) ?? idOrName)
      if (byId) return touch(fromRow(byId))
      const [row, ...others] = repository.findByName(idOrName)
      if (others.length > 0) {
        throw new DomainError('bad-request', `There are ${others.length + 1} environments named ${idOrName}`, {
          reason: 'say which one by its id: GET /_mock/environments lists them'
        })
      }
      if (row) return touch(fromRow(row))
      const names = repository.listEnvironments().map(({ name }) => name)
      throw new DomainError('not-found', `Environment ${idOrName} not found`, {
        reason: `there is no environment ${idOrName}: GET /_mock/environments lists those there are${didYouMean(idOrName, names.slice(0, MAX_CANDIDATES))}`
      })
    },

    /** Throws `exists` when another environment has the name or the API key, be it as its id. */
    requireUnused({ name, apiKey }: { name?: string; apiKey?: string }): void {
      if (name !== undefined && repository.hasName(name)) {
        throw new DomainError('exists', `There is an environment named ${name} already`, {
          reason: 'names are unique: choose another, or remove that one by DELETE /_mock/environments/{id}'
        })
      }
      if (apiKey !== undefined && apiKeys.isApiKey(apiKey)) {
        throw new DomainError('exists', 'The API key is that of another environment', {
          reason: 'choose another apiKey, or leave it out to get one that is unused'
        })
      }
    },

    /** Creates an empty environment. An id that is given must be unused. */
    create: (wanted: NewEnvironment): Environment =>
      db.transaction(() => {
        const row = newRow(wanted)
        return insert({ ...row, ...perKind(() => createDataset(row)) })
      }),

    /**
     * Creates an environment that has all that another one has, or had when the snapshot was taken; only the two ids of its
     * own are other. It refers to the same datasets. Throws `not-found` when there is no such snapshot.
     */
    fork: (origin: Environment, wanted: NewFork, snapshot?: string): Environment =>
      db.transaction(() => {
        const from = snapshot === undefined ? requireRow(origin) : requireSnapshot(origin, snapshot)
        const { profile, clock: setting, randomSeed } = from
        const assumptions = { ...from.assumptions, ...wanted.assumptions }
        const name = wanted.name ?? unusedName(`${from.name} fork`)
        const row = newRow({ profile, clock: setting, randomSeed, ...wanted, name, assumptions })
        return insert({ ...row, ...perKind((kind) => from[kind]) })
      }),

    /** Changes settings. A profile of null is the server's; a random seed, also null, restarts the random numbers. */
    change: (environment: Environment, settings: Partial<Settings>): void => update(environment, settings),

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

  /** Returns the name, or the first of `<name> 2`, `<name> 3`, ... that no environment has. */
  function unusedName(base: string): string {
    let name = base
    for (let number = 2; repository.hasName(name); number++) name = `${base} ${number}`
    return name
  }

  /** Returns a row, complete but for the datasets. */
  function newRow({ id = newId(), organizationId, name, profile = null, ...wanted }: NewEnvironment): NewRow {
    const { assumptions = {}, clock: setting = WALL, randomSeed = null, ttl = null } = wanted
    return { id, organizationId, name, profile, assumptions, clock: setting, randomSeed, ttl, createdAt: clock() }
  }
}

/** Returns a new id as the deployed service makes them: 24 hex digits, the first 8 the time in seconds, then random. */
export const newId = (): string => Math.floor(Date.now() / 1000).toString(16) + randomBytes(8).toString('hex')
