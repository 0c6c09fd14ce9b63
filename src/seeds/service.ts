import type { Clock } from '../core/clock.js'
import { DATASET_KINDS } from '../core/enums.js'
import type { Db } from '../db/open.js'
import type { NewEnvironment } from '../environments/schemas.js'
import { type Environment, type EnvironmentService, newApiKey, newId } from '../environments/service.js'
import { seedApplier } from './apply.js'
import type { EnvironmentData } from './environment-data.js'
import type { ExistingData } from './existing-data.js'
import { exportSeed, exportText, type SeedFormat } from './export.js'
import type { SeedEnvironment, SeedGenerate } from './format.js'
import { readSeeds, type SeedFile } from './read.js'
import { type RecordKind, seedRepository } from './repository.js'
import { resolveSeeds } from './resolve/resolve.js'

export interface SeedOutcome {
  /** False: the database already held environments, and was left as it is. */
  applied: boolean
  /** What the seeds describe, whether or not it was applied. */
  environments: EnvironmentData[]
}

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

/** How many messages of an environment are read as examples for generated ones. */
const SAMPLE = 1000

/** The kinds that a merge writes anew: the seed's records and those that stay. Messages are only added. */
const MERGED_KINDS = ['integrations', 'subscribers', 'workflows'] as const

interface Dependencies {
  db: Db
  clock: Clock
  environments: EnvironmentService
}

export type SeedService = ReturnType<typeof seedService>

export function seedService({ db, clock, environments }: Dependencies) {
  const repository = seedRepository(db)
  const applier = seedApplier(environments, repository)

  return {
    /** Fills an empty database with what the seeds describe. Throws SeedError with every issue, having applied nothing. */
    seed(files: readonly SeedFile[]): SeedOutcome {
      const described = resolveSeeds(files, clock())
      const applied = db.transaction(() => {
        if (environments.list().length > 0) return false
        for (const data of described) applier.create(data)
        return true
      })
      return { applied, environments: described }
    },

    /**
     * Applies what has changed between two readings of the seeds: adds and removes environments, and makes those that are
     * described differently what a start with the seeds would make of them, but for their requests, faults and snapshots.
     * Throws SeedError with every issue, having changed nothing.
     */
    reseed(files: readonly SeedFile[], former: readonly SeedFile[]): SeedChange[] {
      const now = clock()
      // Both at the same time, so that the defaults that depend on the time do not differ.
      const before = new Map(resolveSeeds(former, now).map((data) => [data.id, JSON.stringify(data)]))
      const described = resolveSeeds(files, now, {
        ownerOf(key) {
          const owner = environments.resolve(key)
          return owner && !before.has(owner.id) ? owner : undefined
        }
      })
      const changed = described.filter((data) => before.get(data.id) !== JSON.stringify(data))
      for (const { id } of described) before.delete(id)

      return db.transaction(() => {
        const present = new Map(environments.list().map((environment) => [environment.id, environment]))
        const removed = [...before.keys()].flatMap((id) => present.get(id) ?? [])
        // All of them first: a key may move from one environment to another.
        for (const environment of [...changed.flatMap(({ id }) => present.get(id) ?? []), ...removed]) {
          environments.dropApiKeys(environment)
        }
        const changes = changed.map((data): SeedChange => {
          const { id, name, apiKeys } = data
          const known = present.get(id)
          const environment = known ?? applier.create(data)
          if (known) applier.become(known, data)
          const records = repository.countRecords(environment)
          return { id, name, change: known ? 'reloaded' : 'added', apiKeys, records }
        })
        // Last, as a rollback would not bring back what the environments have in memory.
        for (const environment of removed) {
          const { id, name } = environment
          environments.remove(environment)
          changes.push({ id, name, change: 'removed', apiKeys: [], records: {} })
        }
        return changes
      })
    },

    /**
     * Adds generated messages to an environment, and sets its baseline. Yields their number after each some thousand;
     * unless it runs to its end, nothing is added. Throws `StartError` for an environment without a step that sends messages.
     */
    *generating(environment: Environment, options: SeedGenerate): Generator<number, void> {
      const data = { ...environment, ...repository.listRecords(environment, SAMPLE) }
      yield* db.inSteps(function* () {
        environments.dropBaseline(environment)
        yield* applier.generate(environment, data, options)
        environments.setBaseline(environment)
      })
    },

    /**
     * Creates an environment with a new key: empty, from a seed, or as a fork of another one or of its snapshot. Throws
     * `not-found` for an unknown origin and SeedError for a bad seed, having created nothing.
     */
    make(wanted: NewEnvironment): { environment: Environment; apiKey: string } {
      const { from, snapshot, seed, organizationId = newId(), ...own } = wanted
      const file = seed && fileOf(seed)
      return db.transaction(() => {
        const environment =
          from === undefined
            ? environments.create({ name: file?.seed.environments[0]?.name ?? 'Unnamed', ...own, organizationId })
            : environments.fork(environments.find(from), { ...own, organizationId }, snapshot)
        if (file) load(environment, file, from === undefined ? 'replace' : 'merge', own)
        const apiKey = newApiKey()
        environments.addApiKey(environment, apiKey)
        environments.setBaseline(environment)
        return { environment, apiKey }
      })
    },

    /**
     * Loads a seed with one environment, text or value. `replace` makes the environment what a new one from the seed would
     * be, and sets its baseline. `merge` adds the seed's records; they replace those of the same names, and keep their ids.
     * Throws SeedError with every issue, having changed nothing.
     */
    load(environment: Environment, seed: string | object, mode: 'merge' | 'replace'): void {
      const file = fileOf(seed)
      db.transaction(() => {
        load(environment, file, mode)
        if (mode === 'replace') environments.setBaseline(environment)
      })
    },

    /**
     * Yields the text of the environment as a seed with nothing left to defaults, piece by piece: as it is when the first
     * piece is taken, whatever is written meanwhile.
     */
    *export(environment: Environment, format: SeedFormat): Generator<string, void> {
      const settings = environments.settings(environment)
      const { datasets } = environment
      const held = environments.hold()
      held.keep(datasets)
      try {
        const list = (kind: RecordKind) => repository.documents(kind, datasets[kind === 'steps' ? 'workflows' : kind])
        yield* exportText(settings, { list, stepsOf: ({ _id }) => repository.stepsOf(datasets, _id) }, format)
      } finally {
        held.release()
      }
    }
  }

  function load(
    environment: Environment,
    file: SeedFile,
    mode: 'merge' | 'replace',
    over: Pick<NewEnvironment, 'profile' | 'assumptions'> = {}
  ): void {
    const existing = mode === 'merge' ? existingIn(environment) : undefined
    const [data] = resolveSeeds([file], clock(), { target: environment, existing })
    if (!data) return
    const profile = over.profile ?? data.profile
    const assumptions = { ...data.assumptions, ...over.assumptions }
    applier.replace(environment, { ...data, profile, assumptions }, existing ? MERGED_KINDS : DATASET_KINDS)
    // When seeds are merged, the random numbers go on unless the added one has a seed of them.
    const [{ randomSeed = null } = {}] = file.seed.environments
    if (!existing || randomSeed !== null) environments.change(environment, { randomSeed })
  }

  function existingIn(environment: Environment): ExistingData {
    const { messages: messageCount } = repository.countRecords(environment)
    const hasMessage = (id: string) => repository.hasMessage(environment.datasets.messages, id)
    return { seed: exported(environment, 0), messageCount, hasMessage }
  }

  /** With so many messages at most. */
  function exported(environment: Environment, messages: number): SeedEnvironment {
    return exportSeed({ ...environments.settings(environment), ...repository.listRecords(environment, messages) })
  }
}

function fileOf(seed: string | object): SeedFile {
  return readSeeds([{ name: 'seed', seed }])[0] as SeedFile
}
