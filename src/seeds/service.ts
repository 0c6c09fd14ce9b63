import { readClock, WALL } from '../domain/clock.js'
import { mergeStubs } from '../domain/stub.js'
import type { CreateOptions, Environment } from '../environments/service.js'
import { toMessageRow } from '../messages/row.js'
import { exportLists, exportSettings, type SeedFormat, seedText } from './export.js'
import type { EnvironmentData, EnvironmentInput, SeedGenerate } from './format.js'
import { readBuiltInSeed, readSeed, type SeedFile } from './read.js'
import { type Dependencies, RecordService } from './records.js'
import { perKind, type RecordKind } from './repository.js'
import { resolveSeeds } from './resolve/resolve.js'

/** Re-exported for startup, because one dynamic import is faster than several. */
export { formatIssue } from './errors.js'
export { findSeedHints } from './hints.js'
export { readSeeds } from './read.js'

/**
 * The seed to load: `seed`, or the first environment of the built-in seed `scenario`. If both are
 * set, `scenario` wins.
 */
export interface RequestedSeed {
  /** YAML or JSON text, or an object. */
  seed?: string | object | undefined
  /** The name of a built-in seed. */
  scenario?: string | undefined
}

/** Options for a new environment, which is empty unless it is a fork or has a seed. */
export interface NewEnvironment extends RequestedSeed, CreateOptions {}

/** How an environment changed when the seeds were reloaded. */
export interface SeedChange {
  id: string
  name: string
  change: 'added' | 'reloaded' | 'removed'
  /** The environment's current API keys. */
  apiKeys: string[]
  /** The current number of records of each kind. Empty if the environment was removed. */
  records: { [Kind in RecordKind]?: number }
}

export type LoadMode = 'merge' | 'replace'

/** The maximum number of existing messages to read as models for generated messages. */
const SAMPLE_SIZE = 1000

let generator: typeof import('./generate/generation.js') | undefined

/**
 * Loads the message generator if one of the seeds needs it, or if `seeds` is undefined. Await this
 * function before applying the seeds. The generator isn't imported at startup, because it contains
 * words and names in ten languages and most servers never use it.
 */
export async function loadGenerator(seeds?: readonly SeedFile[]): Promise<void> {
  const isNeeded =
    seeds === undefined ||
    seeds.some(({ seed }) => seed.environments.some(({ generate }) => generate))
  if (isNeeded) generator ??= await import('./generate/generation.js')
}

export function seedService(dependencies: Dependencies): SeedService {
  return new SeedService(dependencies)
}

/** Creates environments from seeds, loads seeds into them, and exports environments as seeds. */
export class SeedService extends RecordService {
  /** The server's seeds as they were last read. */
  #seeds: readonly SeedFile[] = []

  loadGenerator(seeds?: readonly SeedFile[]): Promise<void> {
    return loadGenerator(seeds)
  }

  /**
   * Creates an environment with an API key. The environment is empty or a fork, and a seed can be
   * merged into it. If this fails, nothing is created. Rejects with `exists` if the name or the key
   * is taken, with `not-found` for an unknown origin, with `invalid` for an unknown built-in seed,
   * and with `SeedError` if the seed has issues.
   */
  async createEnvironment({
    seed,
    scenario,
    ...options
  }: NewEnvironment): Promise<{ environment: Environment; apiKey: string }> {
    if (!seed && scenario === undefined) return this.environments.create(options)
    const file = withSettings(await readRequested({ seed, scenario }), options)
    return this.environments.create(options, {
      name: file.seed.environments[0]?.name,
      applyTo: (environment, origin) => {
        const existing = origin && this.repository.lookUp(environment)
        this.#apply('merge', environment, this.resolve(file, environment, existing))
      }
    })
  }

  /**
   * Loads a seed into an environment. The mode `replace` replaces the environment's settings and
   * records, and sets its baseline. The mode `merge` merges the seed's settings and records into
   * the environment. A record in the seed replaces the existing record with the same name and takes
   * over its id. If loading fails, nothing changes. Rejects with `SeedError` if the seed has
   * issues, and with `invalid` for an unknown built-in seed.
   */
  async load(environment: Environment, requested: RequestedSeed, mode: LoadMode): Promise<void> {
    const file = await readRequested(requested)
    const now = this.clock()
    this.db.transaction(() => {
      const existing = mode === 'merge' ? this.repository.lookUp(environment) : undefined
      this.#apply(mode, environment, this.resolve(file, environment, existing, now))
    })
    // The journal records this time, so that a replay gives the records the same times.
    environment.lastReading = readClock(environment.clock, () => now)
  }

  /**
   * Fills an empty database with the environments of the seeds. If the database already has
   * environments, only remembers the seeds' API keys. If the seeds have issues, throws `SeedError`
   * and changes nothing. The returned `now` is the time to which relative times in the seeds refer.
   */
  seed(files: readonly SeedFile[]): {
    applied: boolean
    environments: EnvironmentData[]
    now: number
  } {
    const now = this.clock()
    const resolved = resolveSeeds(files, now)
    this.#seeds = files
    const applied = this.environments.list().length === 0
    if (applied) {
      this.db.transaction(() => this.#syncEnvironments(resolved, []))
    } else {
      for (const { apiKeys } of resolved) {
        for (const apiKey of apiKeys) this.environments.rememberApiKey(apiKey)
      }
    }
    return { applied, environments: resolved, now }
  }

  /**
   * Applies the differences between these seeds and the previous seeds. Adds and removes
   * environments, and recreates environments whose seed changed. Recreated environments keep their
   * requests, faults and snapshots. If the seeds have issues, throws `SeedError` and changes
   * nothing.
   */
  reseed(files: readonly SeedFile[]): SeedChange[] {
    // Resolve the previous and the new seeds with the same `now`, so that default times are equal.
    const now = this.clock()
    const previousData = resolveSeeds(this.#seeds, now)
    const previousJson = new Map(previousData.map((data) => [data.id, JSON.stringify(data)]))
    const ownerOf = (key: string) => {
      const owner = this.environments.findByApiKey(key)
      return owner && !previousJson.has(owner.id) ? owner : undefined
    }
    const resolved = resolveSeeds(files, now, { ownerOf })
    const changed = resolved.filter((data) => previousJson.get(data.id) !== JSON.stringify(data))
    const ids = new Set(resolved.map(({ id }) => id))
    const removedIds = [...previousJson.keys()].filter((id) => !ids.has(id))
    const changes = this.db.transaction(() => this.#syncEnvironments(changed, removedIds))
    this.#seeds = files
    return changes
  }

  /**
   * Yields the environment as a seed, in pieces and with all fields written out. The seed contains
   * the state at the time of the first piece: later writes don't change it. The caller may end the
   * iteration early.
   */
  *export(environment: Environment, format: SeedFormat): Generator<string, void> {
    const settings = exportSettings(this.environments.settingsOf(environment))
    // Each write may move the environment to a new dataset. Keep the ids of its current datasets,
    // so that the export doesn't contain later writes.
    const current = { ...environment }
    const stopReading = this.environments.retainDatasets(environment)
    try {
      yield* seedText(settings, exportLists(this.repository, current), format)
    } finally {
      stopReading()
    }
  }

  /** Returns the environment's records in the seed format, as one list for each kind. */
  recordLists(environment: Environment): Record<string, Iterable<object>> {
    return exportLists(this.repository, environment)
  }

  /** Yields a YAML seed that recreates the environments with their ids and known API keys. */
  *exportAll(
    environments: readonly Environment[] = this.environments.list()
  ): Generator<string, void> {
    yield environments.length > 0 ? 'environments:\n' : 'environments: []\n'
    for (const environment of environments) {
      const lists = exportLists(this.repository, environment, this.#subscriberJson(environment))
      for (const piece of seedText(this.#settingsWithIds(environment), lists, 'yaml')) {
        yield piece.replace(/^environments:\n/, '')
      }
    }
  }

  #subscriberJson(environment: Environment): Map<string, string> {
    const json = new Map<string, string>()
    for (const subscriber of this.repository.documents('subscribers', environment)) {
      json.set(subscriber.subscriberId, JSON.stringify(subscriber))
    }
    return json
  }

  #settingsWithIds(environment: Environment): object {
    const { id: _id, organizationId: _organizationId } = environment
    const settings = exportSettings(this.environments.settingsOf(environment))
    const apiKeys = this.environments.apiKeysOf(environment)
    return {
      ...settings,
      _id,
      _organizationId,
      ...(apiKeys.length > 0 && { apiKeys })
    }
  }

  /** Returns all integrations, including soft-deleted ones. */
  listIntegrations(environment: Environment) {
    return [...this.repository.documents('integrations', environment)]
  }

  /** Returns all workflows with the ids and names of their steps. */
  listWorkflows(environment: Environment) {
    const { stepsOf } = this.repository.lookUp(environment)
    return [...this.repository.documents('workflows', environment)].map((workflow) => {
      const steps = stepsOf(workflow._id).map(({ _id, stepId, slug, name, type }) => {
        return { _id, stepId, slug, name, type }
      })
      return { ...workflow, steps }
    })
  }

  /**
   * The mode `replace` replaces the environment's settings and records, but keeps its API keys.
   * `merge` keeps everything that the data doesn't mention, and restarts the random numbers only if
   * the data has a random seed.
   */
  #apply(mode: LoadMode, environment: Environment, data: EnvironmentData): void {
    const { name, organizationId, apiKeys, generate } = data
    const previous = mode === 'merge' ? this.environments.settingsOf(environment) : undefined
    const randomSeed = data.randomSeed ?? (mode === 'replace' ? null : undefined)
    this.environments.changeSettings(environment, {
      name,
      organizationId,
      profile: data.profile ?? previous?.profile ?? null,
      assumptions: { ...previous?.assumptions, ...data.assumptions },
      clock: data.clock ?? previous?.clock ?? WALL,
      stubs: mergeStubs(previous?.stubs ?? this.environments.defaultStubs, data.stubs),
      ...(randomSeed !== undefined && { randomSeed })
    })
    if (mode === 'replace') this.environments.clear(environment)
    this.store(environment, data)
    if (generate) this.#generate(environment, generate, data.countGenerated)
    for (const key of apiKeys) this.environments.addApiKey(environment, key)
    if (mode === 'replace') this.environments.setBaseline(environment)
  }

  /** Adds generated messages and the subscribers that they need. */
  #generate(
    environment: Environment,
    options: SeedGenerate,
    count?: EnvironmentData['countGenerated']
  ): void {
    if (!generator) throw new Error('await loadGenerator() before generating messages')
    const messageCount = this.repository.lookUp(environment).messageCount()
    const lists = perKind((kind) => {
      const limit = kind === 'messages' ? SAMPLE_SIZE : undefined
      return [...this.repository.documents(kind, environment, limit)]
    })
    const input = { ...environment, ...lists } as EnvironmentInput
    const generated = generator.prepare(input, options, environment.now(), messageCount)
    this.store(environment, { subscribers: generated.subscribers })
    const dataset = this.environments.writableDataset(environment, 'messages')
    for (const message of generated.messages()) {
      const row = toMessageRow(message)
      count?.(row.document.length)
      this.repository.put('messages', dataset, row)
    }
  }

  /** Creates or replaces the environments in `resolved`, and removes those in `removedIds`. */
  #syncEnvironments(
    resolved: readonly EnvironmentData[],
    removedIds: readonly string[]
  ): SeedChange[] {
    const existing = new Map(
      this.environments.list().map((environment) => [environment.id, environment])
    )
    const replaced = resolved.flatMap(({ id }) => existing.get(id) ?? [])
    const removed = removedIds.flatMap((id) => existing.get(id) ?? [])
    // Drop all keys first, because a key can move from one environment to another.
    for (const environment of [...replaced, ...removed]) {
      this.environments.removeApiKeys(environment)
    }
    const changes = resolved.map((data) => this.#syncEnvironment(data, existing.get(data.id)))
    // Remove environments last, because a rollback doesn't restore their data in memory.
    for (const environment of removed) {
      const { id, name } = environment
      this.environments.remove(environment)
      changes.push({ id, name, change: 'removed', apiKeys: [], records: {} })
    }
    return changes
  }

  #syncEnvironment(data: EnvironmentData, existing: Environment | undefined): SeedChange {
    const environment = existing ?? this.environments.createEmpty({ ...data, stubs: [] })
    this.#apply('replace', environment, data)
    return {
      id: data.id,
      name: data.name,
      change: existing ? 'reloaded' : 'added',
      apiKeys: data.apiKeys,
      records: this.repository.countRecords(environment)
    }
  }
}

async function readRequested({ seed = '', scenario }: RequestedSeed): Promise<SeedFile> {
  const file = scenario === undefined ? readSeed(seed) : readBuiltInSeed(scenario)
  await loadGenerator([file])
  return file
}

/**
 * Returns the seed with these settings, which override its own. Call this before resolving the
 * seed, because the clock determines the default times of the records.
 */
function withSettings(file: SeedFile, { clock, profile, assumptions }: CreateOptions): SeedFile {
  const settings = { ...(clock && { clock }), ...(profile && { profile }) }
  const environments = file.seed.environments.map((environment) => ({
    ...environment,
    ...settings,
    assumptions: { ...environment.assumptions, ...assumptions }
  }))
  return { ...file, seed: { environments } }
}
