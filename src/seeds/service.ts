import { WALL } from '../domain/clock.js'
import type { CreateOptions, Environment } from '../environments/service.js'
import { toMessageRow } from '../messages/row.js'
import { exportLists, exportSettings, type SeedFormat, seedText } from './export.js'
import type { EnvironmentData, EnvironmentInput, SeedGenerate } from './format.js'
import { readScenario, readSeed, type SeedFile } from './read.js'
import { type Dependencies, recordService } from './records.js'
import { perKind, type RecordKind, seedRepository } from './repository.js'
import { resolveSeeds } from './resolve/resolve.js'

/** A start needs it with the service: one import of both is quicker than two. */
export { readSeeds } from './read.js'

/** What a request asks to load: a seed, text or value, or the first environment of a packaged one. */
export interface Requested {
  seed?: string | object | undefined
  scenario?: string | undefined
}

/** What to create: an empty environment, a fork, or an environment from a seed. */
export interface NewEnvironment extends Requested, CreateOptions {}

/** What a change of the seeds did to an environment. */
export interface SeedChange {
  id: string
  name: string
  change: 'added' | 'reloaded' | 'removed'
  /** The keys it has now. */
  apiKeys: string[]
  /** How many records it has now; none of an environment that was removed. */
  records: { [Kind in RecordKind]?: number }
}

/** How many messages are read as examples for generated ones. */
const SAMPLE = 1000

let generator: typeof import('./generate/generation.js') | undefined

/**
 * Loads what generating takes, people and words in ten languages, if one of the seeds may need it; most servers never do.
 * To be awaited before messages are generated.
 */
export async function loadGenerator(seeds?: readonly SeedFile[]): Promise<void> {
  const isNeeded =
    seeds?.some(({ seed }) => seed.environments.some(({ generate }) => generate)) ?? true
  if (isNeeded) generator ??= await import('./generate/generation.js')
}

export type SeedService = ReturnType<typeof seedService>

export function seedService(dependencies: Dependencies) {
  const { db, clock, environments } = dependencies
  const repository = seedRepository(db)
  const { lookUp, documents, countRecords } = repository
  const { resolve, store, ...editor } = recordService(dependencies, repository)
  /** What was seeded with, as it was last read. */
  let seeded: readonly SeedFile[] = []

  return {
    ...editor,
    loadGenerator,

    /**
     * Creates an environment with a key: empty, from a seed, or as a fork. Rejects with `exists` when the name or the key is
     * taken, `not-found` for an unknown origin, `invalid` for an unknown scenario, and SeedError; then nothing is created.
     */
    async createEnvironment(
      wanted: NewEnvironment
    ): Promise<{ environment: Environment; apiKey: string }> {
      const { seed, scenario, ...options } = wanted
      if (!seed && scenario === undefined) return environments.create(options)
      const file = withSettings(await readRequested({ seed, scenario }), options)
      return environments.create(options, {
        name: file.seed.environments[0]?.name,
        applyTo: (environment, origin) =>
          apply('merge', environment, resolve(file, environment, origin && lookUp(environment)))
      })
    },

    /**
     * Loads a seed. `replace` makes the environment what a new one from the seed would be, and sets its baseline. `merge` adds
     * the seed's records; they replace those of the same names, and keep their ids. Rejects with SeedError with every issue,
     * and with `invalid` for an unknown scenario; then nothing is changed.
     */
    async load(
      environment: Environment,
      requested: Requested,
      mode: 'merge' | 'replace'
    ): Promise<void> {
      const file = await readRequested(requested)
      db.transaction(() => {
        const existing = mode === 'merge' ? lookUp(environment) : undefined
        apply(mode, environment, resolve(file, environment, existing))
      })
    },

    /**
     * Fills an empty database with what the seeds describe; one that has environments stays as it is, and the keys in the
     * seeds are remembered. Throws SeedError with every issue, having changed nothing.
     */
    seed(files: readonly SeedFile[]): { applied: boolean; environments: EnvironmentData[] } {
      const described = resolveSeeds(files, clock())
      seeded = files
      const applied = environments.list().length === 0
      if (applied) db.transaction(() => void exchange(described, []))
      else
        for (const apiKey of described.flatMap(({ apiKeys }) => apiKeys))
          environments.rememberApiKey(apiKey)
      return { applied, environments: described }
    },

    /**
     * Applies what has changed in the seeds since `seed` or the last time: adds and removes environments, and makes those
     * that are described differently what a start would make of them, but for their requests, faults and snapshots. Throws
     * SeedError with every issue, having changed nothing.
     */
    reseed(files: readonly SeedFile[]): SeedChange[] {
      const now = clock()
      // Both at the same time, so that the defaults that depend on the time do not differ.
      const before = new Map(
        resolveSeeds(seeded, now).map((data) => [data.id, JSON.stringify(data)])
      )
      const owners = (key: string) =>
        [environments.findByApiKey(key)].find((owner) => owner && !before.has(owner.id))
      const described = resolveSeeds(files, now, { ownerOf: owners })
      const changed = described.filter((data) => before.get(data.id) !== JSON.stringify(data))
      for (const { id } of described) before.delete(id)
      const changes = db.transaction(() => exchange(changed, [...before.keys()]))
      seeded = files
      return changes
    },

    /**
     * Yields the text of the environment as a seed with nothing left to defaults, piece by piece: as it is when the first
     * piece is taken, whatever is written meanwhile. To end it early, too, lets go of that.
     */
    *export(environment: Environment, format: SeedFormat): Generator<string, void> {
      const settings = environments.settingsOf(environment)
      const present = { ...environment }
      const end = environments.retainDatasets(environment)
      try {
        yield* seedText(exportSettings(settings), exportLists(repository, present), format)
      } finally {
        end()
      }
    },

    /** Yields the text of a seed, in YAML, that makes environments again, with their ids and those keys that are known. */
    *exportAll(all: readonly Environment[] = environments.list()): Generator<string, void> {
      yield all.length > 0 ? 'environments:\n' : 'environments: []\n'
      for (const environment of all) {
        const { id: _id, organizationId: _organizationId } = environment
        const apiKeys = environments.apiKeysOf(environment)
        const owned = { _id, _organizationId, ...(apiKeys.length > 0 && { apiKeys }) }
        const settings = { ...exportSettings(environments.settingsOf(environment)), ...owned }
        const known = new Map<string, string>()
        for (const each of documents('subscribers', environment))
          known.set(each.subscriberId, JSON.stringify(each))
        const lists = exportLists(repository, environment, known)
        for (const piece of seedText(settings, lists, 'yaml'))
          yield piece.replace(/^environments:\n/, '')
      }
    },

    /** Returns the integrations, soft-deleted ones too. */
    listIntegrations: (environment: Environment) => [...documents('integrations', environment)],

    /** Returns the workflows, each with what identifies its steps. */
    listWorkflows(environment: Environment) {
      const { stepsOf } = lookUp(environment)
      return [...documents('workflows', environment)].map((each) => {
        const steps = stepsOf(each._id).map(({ _id, stepId, slug, name, type }) => ({
          _id,
          stepId,
          slug,
          name,
          type
        }))
        return { ...each, steps }
      })
    }
  }

  /**
   * `replace` makes an environment what a new one of the data would be; the keys it has stay too. With `merge` it keeps what
   * the data leave out, and its random numbers go on unless the data have a seed of them.
   */
  function apply(mode: 'merge' | 'replace', environment: Environment, data: EnvironmentData): void {
    const former = mode === 'merge' ? environments.settingsOf(environment) : undefined
    const {
      name,
      organizationId,
      apiKeys,
      generate: options,
      randomSeed = former ? undefined : null
    } = data
    environments.changeSettings(environment, {
      name,
      organizationId,
      profile: data.profile ?? former?.profile ?? null,
      assumptions: { ...former?.assumptions, ...data.assumptions },
      clock: data.clock ?? former?.clock ?? WALL,
      ...(randomSeed !== undefined && { randomSeed })
    })
    if (!former) environments.clear(environment)
    store(environment, data)
    if (options) generate(environment, options, data.countGenerated)
    for (const key of apiKeys) environments.addApiKey(environment, key)
    if (!former) environments.setBaseline(environment)
  }

  /** Adds generated messages, and the subscribers they need. */
  function generate(
    environment: Environment,
    options: SeedGenerate,
    count?: EnvironmentData['countGenerated']
  ) {
    const present = lookUp(environment).messageCount()
    const lists = perKind((kind) => [
      ...documents(kind, environment, kind === 'messages' ? SAMPLE : undefined)
    ])
    const data = { ...environment, ...lists } as EnvironmentInput
    if (!generator) throw new Error('loadGenerator() must be awaited before messages are generated')
    const { subscribers, messages } = generator.prepare(data, options, environment.now(), present)
    store(environment, { subscribers })
    const dataset = environments.writableDataset(environment, 'messages')
    for (const message of messages()) {
      const row = toMessageRow(message)
      count?.(row.document.length)
      repository.put('messages', dataset, row)
    }
  }

  /** Makes environments what is described, and removes those of these ids. */
  function exchange(
    described: readonly EnvironmentData[],
    removedIds: readonly string[]
  ): SeedChange[] {
    const present = new Map(environments.list().map((environment) => [environment.id, environment]))
    const removed = removedIds.flatMap((id) => present.get(id) ?? [])
    // All of them first: a key may move from one environment to another.
    for (const environment of [
      ...described.flatMap(({ id }) => present.get(id) ?? []),
      ...removed
    ]) {
      environments.removeApiKeys(environment)
    }
    const changes = described.map((data): SeedChange => {
      const { id, name, apiKeys } = data
      const known = present.get(id)
      const environment = known ?? environments.createEmpty(data)
      apply('replace', environment, data)
      return {
        id,
        name,
        change: known ? 'reloaded' : 'added',
        apiKeys,
        records: countRecords(environment)
      }
    })
    // Last, as a rollback would not bring back what the environments have in memory.
    for (const environment of removed) {
      const { id, name } = environment
      environments.remove(environment)
      changes.push({ id, name, change: 'removed', apiKeys: [], records: {} })
    }
    return changes
  }
}

async function readRequested({ seed = '', scenario }: Requested): Promise<SeedFile> {
  const file = scenario === undefined ? readSeed(seed) : readScenario(scenario)
  await loadGenerator([file])
  return file
}

/** Returns the seed with these settings in place of its own. It fills in by the clock the times that it leaves out. */
function withSettings(file: SeedFile, { clock, profile, assumptions }: NewEnvironment): SeedFile {
  const own = { ...(clock && { clock }), ...(profile && { profile }) }
  const environments = file.seed.environments.map((environment) => {
    return { ...environment, ...own, assumptions: { ...environment.assumptions, ...assumptions } }
  })
  return { ...file, seed: { environments } }
}
