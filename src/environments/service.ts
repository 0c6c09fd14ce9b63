import type { Db } from '../db/open.js'
import type { Assumptions } from '../domain/assumptions.js'
import { advanceClock, type Clock, WALL } from '../domain/clock.js'
import { type DatasetKind, RESET_PARTS, type ResetPart } from '../domain/enums.js'
import { DomainError, invalidFields } from '../domain/errors.js'
import { parseId } from '../domain/ids.js'
import { addMissingStubs, mergeStubs, type Stub } from '../domain/stub.js'
import { ApiKeys, newApiKey } from './api-keys.js'
import { Datasets } from './datasets.js'
import {
  ambiguousName,
  type Dependencies,
  type Environment,
  type EnvironmentDefaults,
  type EnvironmentListener,
  EnvironmentStore,
  newId,
  unknownEnvironment
} from './environment.js'
import { EnvironmentExpiry } from './expiry.js'
import { perKind } from './repository.js'
import { type EnvironmentDiff, type Redact, type Snapshot, UNNAMED } from './schemas.js'
import type {
  CreateOptions,
  KeptBaseline,
  NewEnvironment,
  PreparedSeed,
  Settings
} from './settings.js'
import { type DiffOptions, type RestoreOptions, Snapshots } from './snapshots.js'

export { replaceOwnerIds, withEnvironmentIds } from './datasets.js'
export type { Environment, EnvironmentDefaults } from './environment.js'
export type * from './settings.js'

/** Manages environments with their API keys, datasets and snapshots. */
export class EnvironmentService {
  readonly defaults: EnvironmentDefaults
  readonly #db: Db
  readonly #clock: Clock
  readonly #store: EnvironmentStore
  readonly #apiKeys: ApiKeys
  readonly #datasets: Datasets
  readonly #snapshots: Snapshots
  readonly #expiry: EnvironmentExpiry

  constructor(dependencies: Dependencies) {
    const { db, clock, machineClock, defaults } = dependencies
    this.defaults = defaults
    this.#db = db
    this.#clock = clock
    this.#store = new EnvironmentStore(dependencies)
    this.#apiKeys = new ApiKeys(db, this.#store)
    this.#datasets = new Datasets(db, this.#store)
    this.#snapshots = new Snapshots(db, this.#store)
    this.#expiry = new EnvironmentExpiry(this.#store, machineClock)

    this.#store.repository.deleteUnreferenced()
    // Load the environments that have a `ttl`, because only loaded environments expire. Loading
    // restarts the `ttl`, so the time while the server was down doesn't count.
    for (const row of this.#store.repository.listEnvironments()) {
      if (row.ttl !== null) this.#store.fromRow(row)
    }
  }

  /** The stubs that every new environment has. */
  get defaultStubs(): Stub[] {
    return mergeStubs([], this.defaults.stubSet ?? [])
  }

  /** The assumptions that apply to a request without a valid API key. */
  get defaultAssumptions(): Assumptions {
    return this.#store.defaultAssumptions
  }

  subscribe(listener: EnvironmentListener): void {
    this.#store.listeners.push(listener)
  }

  /** Returns all environments, oldest first. */
  list(): Environment[] {
    return this.#store.repository.listEnvironments().map((row) => this.#store.fromRow(row))
  }

  /**
   * Throws `not-found` if no environment has this id or name, and `bad-request` if several have
   * this name.
   */
  find(idOrName: string): Environment {
    const { repository } = this.#store
    const rowById = repository.findById(parseId(idOrName) ?? idOrName)
    const rows = rowById ? [rowById] : repository.listByName(idOrName)
    const [row] = rows
    if (rows.length > 1) throw ambiguousName(idOrName, rows.length)
    if (!row) throw unknownEnvironment(idOrName, repository.listEnvironments())
    const environment = this.#store.fromRow(row)
    this.#expiry.touch(environment)
    return environment
  }

  /**
   * Throws `unauthenticated` if the environment was removed, for example while a request was in
   * progress.
   */
  assertExists(environment: Environment): void {
    this.#store.assertExists(environment)
  }

  /**
   * Throws `exists` if another environment has this API key, or uses this name as its own name or
   * id.
   */
  assertUnused({ name, apiKey }: Pick<CreateOptions, 'name' | 'apiKey'>): void {
    if (name !== undefined && this.unusedName(name) !== name) {
      const reason =
        'names are unique; choose another name, or remove the existing environment with DELETE ' +
        '/_mock/environments/{id}'
      throw new DomainError('exists', `An environment named ${name} already exists`, { reason })
    }
    if (apiKey !== undefined && this.#apiKeys.findOwner(apiKey)) {
      const reason = 'choose another apiKey, or omit it to get a generated key'
      throw new DomainError('exists', 'The API key belongs to another environment', { reason })
    }
  }

  /**
   * Returns the first of `<base>`, `<base> 2`, `<base> 3`, … that no environment has as its name or
   * id.
   */
  unusedName(base: string): string {
    const used = new Set(this.#store.repository.listNamesAndIds(base))
    let name = base
    for (let number = 2; used.has(name); number++) name = `${base} ${number}`
    return name
  }

  /**
   * Creates an empty environment, a fork, or an environment from a seed, and gives it an API key.
   * Throws `exists` if the name or the key is in use, and `not-found` if `from` or `snapshot`
   * doesn't exist. Also throws if the seed has an error. If it throws, nothing is created.
   */
  create(
    options: CreateOptions,
    seed?: PreparedSeed
  ): { environment: Environment; apiKey: string } {
    const { from, snapshot, apiKey = newApiKey(), ...settings } = options
    const organizationId = settings.organizationId ?? newId()
    return this.#db.transaction(() => {
      this.assertUnused(options)
      const origin = from === undefined ? undefined : this.find(from)
      const environment = origin
        ? this.#fork(origin, { ...settings, organizationId }, snapshot)
        : this.createEmpty({
            ...settings,
            organizationId,
            name: settings.name ?? this.unusedName(seed?.name ?? UNNAMED)
          })
      seed?.applyTo(environment, origin)
      this.addApiKey(environment, apiKey)
      this.setBaseline(environment)
      return { environment, apiKey }
    })
  }

  /** Creates an environment without records and without an API key. */
  createEmpty(settings: NewEnvironment): Environment {
    return this.#db.transaction(() => {
      const row = this.#newRow(settings)
      return this.#store.insert({ ...row, ...this.#datasets.createAll(row) })
    })
  }

  /**
   * Changes settings. A `profile` of null means the server's profile. Setting `randomSeed`, even to
   * null, restarts the random numbers.
   */
  changeSettings(environment: Environment, settings: Partial<Settings>): void {
    this.#store.update(environment, settings)
  }

  /**
   * Advances the environment's clock. Throws `invalid` if the new time is not in the years 1970 to
   * 9999.
   */
  advanceClock(environment: Environment, by: number): void {
    const clock = advanceClock(environment.clock, by, this.#clock)
    if (!clock) {
      const messages = ['by must keep the clock within the years 1970 to 9999']
      throw invalidFields({ by: { messages, value: by } })
    }
    this.#store.update(environment, { clock })
  }

  /** Returns the environment's own settings, without those inherited from the server. */
  settingsOf(environment: Environment): Settings {
    const row = this.#store.requireRow(environment)
    const { organizationId, name, profile, assumptions, clock, randomSeed, stubs } = row
    return { organizationId, name, profile, assumptions, clock, randomSeed, stubs }
  }

  /** Removes an environment with its records, API keys and snapshots. */
  remove(environment: Environment): void {
    this.#store.remove(environment)
  }

  // API keys

  /** Returns the environment of an API key, and restarts the environment's `ttl`. */
  findByApiKey(apiKey: string): Environment | undefined {
    const environment = this.#apiKeys.findOwner(apiKey)
    if (environment) this.#expiry.touch(environment)
    return environment
  }

  /** Returns whether a word is an API key, or was one before its environment was removed. */
  isApiKey(word: string): boolean {
    return this.#apiKeys.isKey(word)
  }

  unusualApiKeys(): Iterable<string> {
    return this.#apiKeys.unusualKeys
  }

  /**
   * Returns the environment's keys that were added or used since the server started. The server
   * can't return other keys, because it stores only their hashes.
   */
  apiKeysOf(environment: Environment): string[] {
    return this.#apiKeys.keysOf(environment)
  }

  addApiKey(environment: Environment, apiKey: string): void {
    this.#apiKeys.add(environment, apiKey)
  }

  removeApiKeys(environment: Environment): void {
    this.#apiKeys.removeAll(environment)
  }

  /**
   * Makes `apiKeysOf` return a key that was stored before the server started. Ignores a key that
   * belongs to no environment.
   */
  rememberApiKey(apiKey: string): void {
    this.#apiKeys.findOwner(apiKey)
  }

  // Datasets

  /** Replaces the environment's datasets with new, empty ones. */
  clear(environment: Environment): void {
    this.#db.transaction(() => {
      this.#store.update(environment, this.#datasets.createAll(environment))
    })
  }

  /**
   * Returns the key of a dataset that only this environment uses. If the current dataset is shared,
   * copies it first. Write to the returned dataset in the same transaction. Throws
   * `unauthenticated` if the environment was removed.
   */
  writableDataset(environment: Environment, kind: DatasetKind): number {
    return this.#datasets.writable(environment, kind)
  }

  /**
   * Keeps the environment's current datasets unchanged while they are read over several turns of
   * the event loop. Call the returned function once, after the last read.
   */
  retainDatasets(environment: Environment): () => void {
    this.assertExists(environment)
    return this.#datasets.retain(environment.datasets)
  }

  /** Keeps the baseline for a later export, even if the environment is removed. */
  keepBaseline(environment: Environment): KeptBaseline {
    return this.#datasets.keepState(environment, this.#snapshots.baselineOf(environment))
  }

  // Snapshots

  /** Returns the named snapshots, oldest first. */
  listSnapshots(environment: Environment): Snapshot[] {
    return this.#snapshots.list(environment)
  }

  /** Saves the current state under a name. An earlier snapshot with that name is replaced. */
  takeSnapshot(environment: Environment, name: string): Snapshot {
    return this.#snapshots.take(environment, name)
  }

  /** Throws `not-found` if there is no snapshot with this name. */
  removeSnapshot(environment: Environment, name: string): void {
    this.#snapshots.remove(environment, name)
  }

  /** Restores a snapshot. Throws `not-found` if there is no snapshot with this name. */
  restore(environment: Environment, name: string, options: RestoreOptions): void {
    this.#snapshots.restore(environment, name, options)
  }

  /** Makes the current state the baseline, which a reset restores. */
  setBaseline(environment: Environment): void {
    this.#snapshots.setBaseline(environment)
  }

  /**
   * Restores parts of the environment from its baseline. The baseline is the state after the
   * environment was created or after a seed last replaced its data.
   */
  reset(environment: Environment, parts: readonly ResetPart[] = RESET_PARTS): void {
    this.#snapshots.reset([environment], parts)
  }

  /**
   * Resets all environments to their baselines. If the reset of one environment fails, no
   * environment changes.
   */
  resetAll(): void {
    this.#snapshots.reset(this.list(), RESET_PARTS)
  }

  /** Returns how the current state differs from the baseline. `redact` replaces the secrets. */
  diffBaseline(environment: Environment, redact: Redact, options?: DiffOptions): EnvironmentDiff {
    return this.#snapshots.diffBaseline(environment, redact, options)
  }

  /** Returns the diff to a snapshot. Throws `not-found` if no snapshot has this name. */
  diffSnapshot(environment: Environment, name: string, redact: Redact): EnvironmentDiff {
    return this.#snapshots.diffSnapshot(environment, name, redact)
  }

  /**
   * Keeps the environment from expiring until the returned function is called. Call that function
   * exactly once. The call restarts the `ttl`.
   */
  keepInUse(environment: Environment): () => void {
    return this.#expiry.keepInUse(environment)
  }

  /** Returns when the environment expires, in system time, or undefined if it has no `ttl`. */
  expiresAt(environment: Environment): number | undefined {
    return this.#expiry.expiresAt(environment)
  }

  /**
   * Removes environments that have been unused for longer than their `ttl`. A timer calls this
   * every second.
   */
  removeExpired(): void {
    this.#expiry.removeExpired()
  }

  /** Stops the timer that calls `removeExpired`. */
  close(): void {
    this.#expiry.close()
  }

  /**
   * Creates an environment with the current state of another environment, or with the state in one
   * of its snapshots. The copy gets its own environment id and organization id. Throws `not-found`
   * if there is no such snapshot.
   */
  #fork(
    origin: Environment,
    settings: Omit<NewEnvironment, 'name'> & { name?: string | undefined },
    snapshot?: string
  ): Environment {
    const state =
      snapshot === undefined
        ? this.#store.requireRow(origin)
        : this.#snapshots.require(origin, snapshot)
    const row = this.#newRow({
      ...settings,
      name: settings.name ?? this.unusedName(`${state.name} fork`),
      profile: settings.profile ?? state.profile,
      clock: settings.clock ?? state.clock,
      randomSeed: settings.randomSeed ?? state.randomSeed,
      stubs: addMissingStubs(state.stubs, settings.stubs ?? []),
      assumptions: { ...state.assumptions, ...settings.assumptions }
    })
    return this.#store.insert({ ...row, ...perKind((kind) => state[kind]) })
  }

  /** Returns the row for a new environment, without the keys of its datasets. */
  #newRow(settings: NewEnvironment) {
    return {
      organizationId: settings.organizationId,
      name: settings.name,
      id: settings.id ?? newId(),
      profile: settings.profile ?? null,
      assumptions: settings.assumptions ?? {},
      clock: settings.clock ?? WALL,
      randomSeed: settings.randomSeed ?? null,
      stubs: addMissingStubs(settings.stubs ?? [], this.defaultStubs),
      ttl: settings.ttl ?? null,
      createdAt: this.#clock()
    }
  }
}
