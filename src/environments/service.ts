import { randomBytes } from 'node:crypto'
import { advanced, WALL } from '../domain/clock.js'
import { DomainError, invalidFields } from '../domain/errors.js'
import { idIn } from '../domain/ids.js'
import { didYouMean, MAX_CANDIDATES } from '../domain/suggestions.js'
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

export type NewEnvironment = Pick<Settings, 'organizationId' | 'name'> &
  Partial<Settings & Pick<EnvironmentRow, 'id' | 'ttl'>>

type NewFork = Omit<NewEnvironment, 'name'> & { name?: string }

export type EnvironmentService = ReturnType<typeof environmentService>

/** Creates, changes and removes environments; it has the methods of `api-keys.ts`, `datasets.ts` and `snapshots.ts` too. */
export function environmentService({ db, clock, machineClock, defaults }: Dependencies) {
  const store = environmentStore({ db, clock, machineClock, defaults })
  const { repository, listeners, fromRow, requireRow, touch, insert, update, ...lifetime } = store
  const { createAll, ...datasets } = datasetService(db, store)
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
    unusedName: repository.unusedName,

    defaults,

    /** Returns all environments in the order of their creation. */
    list: (): Environment[] => repository.listEnvironments().map(fromRow),

    /** Throws `not-found` when no environment has this id or name, `bad-request` when several have the name. */
    find(idOrName: string): Environment {
      const byId = repository.findById(idIn(idOrName) ?? idOrName)
      if (byId) return touch(fromRow(byId))
      const [row, ...others] = repository.findByName(idOrName)
      if (others.length > 0) {
        const reason = 'say which one by its id: GET /_mock/environments lists them'
        const message = `There are ${others.length + 1} environments named ${idOrName}`
        throw new DomainError('bad-request', message, { reason })
      }
      if (row) return touch(fromRow(row))
      const names = repository.listEnvironments().map(({ name }) => name)
      const hint = didYouMean(idOrName, names.slice(0, MAX_CANDIDATES))
      const reason = `there is no environment ${idOrName}: GET /_mock/environments lists those there are${hint}`
      throw new DomainError('not-found', `Environment ${idOrName} not found`, { reason })
    },

    /** Throws `exists` when another environment has the name or the API key, be it as its id. */
    requireUnused({ name, apiKey }: { name?: string; apiKey?: string }): void {
      if (name !== undefined && repository.unusedName(name) !== name) {
        const reason =
          'names are unique: choose another, or remove that one by DELETE /_mock/environments/{id}'
        throw new DomainError('exists', `There is an environment named ${name} already`, { reason })
      }
      if (apiKey !== undefined && apiKeys.isApiKey(apiKey)) {
        const reason = 'choose another apiKey, or leave it out to get one that is unused'
        throw new DomainError('exists', 'The API key is that of another environment', { reason })
      }
    },

    /** Creates an empty environment. An id that is given must be unused. */
    create: (wanted: NewEnvironment): Environment =>
      db.transaction(() => {
        const row = newRow(wanted)
        return insert({ ...row, ...createAll(row) })
      }),

    /**
     * Creates an environment that has all that another one has, or had when the snapshot was taken; only the two ids of its
     * own are other, and without a name it gets that of its origin. Throws `not-found` when there is no such snapshot.
     */
    fork: (origin: Environment, wanted: NewFork, snapshot?: string): Environment =>
      db.transaction(() => {
        const from = snapshot === undefined ? requireRow(origin) : requireSnapshot(origin, snapshot)
        const { profile, clock: setting, randomSeed } = from
        const assumptions = { ...from.assumptions, ...wanted.assumptions }
        const name = wanted.name ?? repository.unusedName(`${from.name} fork`)
        const row = newRow({ profile, clock: setting, randomSeed, ...wanted, name, assumptions })
        return insert({ ...row, ...perKind((kind) => from[kind]) })
      }),

    /** Changes settings. A profile of null is the server's; a random seed, also null, restarts the random numbers. */
    change: (environment: Environment, settings: Partial<Settings>): void =>
      update(environment, settings),

    /** Throws `invalid` when there is no such time. */
    advanceClock(environment: Environment, by: number): void {
      const setting = advanced(environment.clock, by, clock)
      if (!setting)
        throw invalidFields({
          by: { messages: ['by leads past the last time there is'], value: by }
        })
      update(environment, { clock: setting })
    },

    /** Returns the environment's own settings, without what it has from the server. */
    settings(environment: Environment): Settings {
      const {
        organizationId,
        name,
        profile,
        assumptions,
        clock: setting,
        randomSeed
      } = requireRow(environment)
      return { organizationId, name, profile, assumptions, clock: setting, randomSeed }
    }
  }

  /** Returns a row, complete but for the datasets. */
  function newRow({
    id = newId(),
    profile = null,
    randomSeed = null,
    ttl = null,
    ...wanted
  }: NewEnvironment) {
    return {
      assumptions: {},
      clock: WALL,
      ...wanted,
      id,
      profile,
      randomSeed,
      ttl,
      createdAt: clock()
    }
  }
}

/** Returns a new id as the deployed service makes them: 24 hex digits, the first 8 the time in seconds, then random. */
export const newId = (): string =>
  Math.floor(Date.now() / 1000).toString(16) + randomBytes(8).toString('hex')
