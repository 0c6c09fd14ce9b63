import type { Clock } from '../core/clock.js'
import { DATASET_KINDS } from '../core/enums.js'
import { DomainError } from '../core/errors.js'
import type { Db } from '../db/open.js'
import type { NewEnvironment } from '../environments/schemas.js'
import { type Environment, type EnvironmentService, newApiKey, newId } from '../environments/service.js'
import { finish, type Generated, seedApplier } from './apply.js'
import type { EnvironmentData, EnvironmentRecords } from './environment-data.js'
import type { ExistingData } from './existing-data.js'
import { exportSeed } from './export.js'
import type { Seed, SeedEnvironment, SeedGenerate } from './format.js'
import { canGenerate } from './generate/input.js'
import { readSeeds, type SeedFile } from './read.js'
import { seedRepository } from './repository.js'
import { reseed, type SeedChange } from './reseed.js'
import { resolveSeeds } from './resolve/resolve.js'

export interface SeedOutcome {
  /** False: the database already held environments, and was left as it is. */
  applied: boolean
  /** What the seeds describe, whether or not it was applied. */
  environments: EnvironmentData[]
}

/** As many messages as it takes to see what those of an environment are like. */
const SAMPLE = 1000

/** What a seed that is added brings together with what it leaves. Messages are added to those there are. */
const MERGED_KINDS = ['integrations', 'subscribers', 'workflows'] as const

interface Dependencies {
  db: Db
  clock: Clock
  environments: EnvironmentService
}

export type SeedService = ReturnType<typeof seedService>

export function seedService({ db, clock, environments }: Dependencies) {
  const repository = seedRepository(db)
  const applier = seedApplier({ environments, repository })

  return {
    seeding,

    /** Does all of `seeding` at once. */
    seed: (files: readonly SeedFile[]): SeedOutcome => finish(seeding(files)),

    /**
     * Applies what has changed between two readings of the seeds. An environment that they describe differently becomes
     * what a start with them would make of it, and its baseline is set again; its recorded requests, faults and
     * snapshots stay. New environments are added, and missing ones removed. All others stay as they are.
     *
     * Throws SeedError with every issue, and then nothing has changed.
     */
    reseed(files: readonly SeedFile[], former: readonly SeedFile[]): SeedChange[] {
      return reseed({ db, environments, applier, repository, now: clock() }, files, former)
    },

    /**
     * Adds generated messages to an environment, with pauses as in `seeding`, and sets its baseline. Throws
     * `bad-request` for an environment that has no step to make messages of.
     */
    *generating(environment: Environment, options: SeedGenerate): Generator<Generated, void, undefined> {
      const messages = repository.listDocuments('messages', environment.datasets.messages, SAMPLE)
      const data = { ...environment, ...recordsOf(environment), messages }
      if (!canGenerate(data)) {
        throw new DomainError('bad-request', `Environment ${environment.name} has nothing to make messages of`, {
          reason: 'it needs a workflow with a step of a channel'
        })
      }
      yield* db.inSteps(function* () {
        environments.dropBaseline(environment)
        yield* applier.generate(environment, data, options)
        environments.setBaseline(environment)
      })
    },

    /** Sets the time at which every environment was created. */
    setAge: (createdAt: number): void => repository.setCreated(createdAt),

    /**
     * Creates an environment with a new key: empty, from a seed, or as a fork of another one or of its snapshot. It gets
     * a new organization unless one is named. Throws `not-found` for an unknown origin and SeedError for a bad seed, and
     * then nothing has been created.
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
     * Loads a seed with one environment, text or value, into an environment. `replace` makes it what a new one from the
     * seed would be, and sets its baseline; its recorded requests and faults stay. `merge` adds the seed's records: they
     * take the place of those with the same names, and keep their ids.
     *
     * Throws SeedError with every issue, and then nothing has changed.
     */
    load(environment: Environment, seed: string | object, mode: 'merge' | 'replace'): void {
      const file = fileOf(seed)
      db.transaction(() => {
        load(environment, file, mode)
        if (mode === 'replace') environments.setBaseline(environment)
      })
    },

    /** Returns the environment as a seed with nothing left to defaults. */
    export(environment: Environment): Seed {
      const messages = repository.listDocuments('messages', environment.datasets.messages)
      return exportSeed({ ...environments.settings(environment), ...recordsOf(environment), messages })
    }
  }

  /**
   * Fills an empty database with what the seeds describe, in one transaction, with a pause after each number of
   * generated messages; unless it runs to its end, nothing is applied. Throws SeedError with every issue.
   */
  function* seeding(files: readonly SeedFile[]): Generator<Generated, SeedOutcome, undefined> {
    const described = resolveSeeds(files, clock())
    const applied = yield* db.inSteps(function* () {
      if (repository.hasEnvironments()) return false
      for (const data of described) {
        const environment = environments.create(data)
        for (const key of data.apiKeys) environments.addApiKey(environment, key)
        yield* applier.fill(environment, data)
        environments.setBaseline(environment)
      }
      return true
    })
    return { applied, environments: described }
  }

  function load(
    environment: Environment,
    file: SeedFile,
    mode: 'merge' | 'replace',
    over: Pick<NewEnvironment, 'profile' | 'assumptions'> = {}
  ): void {
    const { id, organizationId, name, clock: present } = environment
    const existing = mode === 'merge' ? { existing: existingOf(environment) } : {}
    const [data] = resolveSeeds([file], clock(), { id, organizationId, name, clock: present, ...existing })
    if (!data) return
    const profile = over.profile ?? data.profile
    const assumptions = { ...data.assumptions, ...over.assumptions }
    const kinds = mode === 'merge' ? MERGED_KINDS : DATASET_KINDS
    finish(applier.replace(environment, { ...data, profile, assumptions }, kinds))
    if (mode === 'replace' || data.randomSeed !== undefined) {
      environments.setRandomSeed(environment, data.randomSeed ?? null)
    }
  }

  function recordsOf({ datasets }: Environment): EnvironmentRecords {
    return {
      integrations: repository.listDocuments('integrations', datasets.integrations),
      subscribers: repository.listDocuments('subscribers', datasets.subscribers),
      workflows: repository.listDocuments('workflows', datasets.workflows),
      steps: repository.listDocuments('steps', datasets.workflows)
    }
  }

  function existingOf(environment: Environment): ExistingData {
    const dataset = environment.datasets.messages
    // Its random numbers go on unless the added seed says otherwise.
    const settings = { ...environments.settings(environment), randomSeed: null }
    const [seed] = exportSeed({ ...settings, ...recordsOf(environment), messages: [] }).environments
    return {
      seed: seed as SeedEnvironment,
      messageCount: repository.countRecords('messages', dataset),
      hasMessage: (id) => repository.hasMessage(dataset, id)
    }
  }
}

function fileOf(seed: string | object): SeedFile {
  return readSeeds([{ name: 'seed', seed }])[0] as SeedFile
}
