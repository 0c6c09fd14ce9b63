import type { Clock } from '../core/clock.js'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { type StoredData, seedApplier } from './apply.js'
import { environmentCreator } from './create.js'
import type { EnvironmentData } from './environment-data.js'
import { exportText, type SeedFormat } from './export.js'
import type { SeedGenerate } from './format.js'
import { seedLoader } from './load.js'
import { environmentQueue } from './queue.js'
import type { SeedFile } from './read.js'
import { recordEditor } from './records.js'
import { RECORD_KINDS, type RecordKind, seedRepository } from './repository.js'
import { resolving } from './resolve/resolve.js'
import { targetResolver } from './target.js'

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

/** Generated messages between two pauses: some hundredths of a second. */
const PAUSE = 2000

interface Dependencies {
  db: Db
  clock: Clock
  environments: EnvironmentService
}

export type SeedService = ReturnType<typeof seedService>

export function seedService({ db, clock, environments }: Dependencies) {
  const repository = seedRepository(db)
  const applier = seedApplier(environments, repository, clock)
  const resolver = targetResolver(repository, clock)
  const shared = { db, environments, repository, applier, resolver, enqueue: environmentQueue() }

  return {
    ...environmentCreator(shared),
    ...seedLoader(shared),
    ...recordEditor(shared),

    seeding,

    /**
     * Applies what has changed between two readings of the seeds, beside requests, which see the environments as they were
     * until all is applied: adds and removes environments, and makes those that are described differently what a start with
     * the seeds would make of them, but for their requests, faults and snapshots. Rejects with SeedError with every issue,
     * having changed nothing.
     */
    reseed: (files: readonly SeedFile[], former: readonly SeedFile[]): Promise<SeedChange[]> =>
      db.transactionPerSlice(reseeding(files, former), () => {}),

    /**
     * Adds generated messages to an environment, and sets its baseline. Yields their number after each some thousand;
     * unless it runs to its end, nothing is added. Throws `StartError` for an environment without a step that sends messages.
     */
    *generating(environment: Environment, options: SeedGenerate): Generator<number, void> {
      const data = { ...environment, ...sampleOf(environment) }
      yield* db.transactionInSteps(function* () {
        environments.dropBaseline(environment)
        environments.ensureOwned(environment, 'subscribers')
        environments.ensureOwned(environment, 'messages')
        for (const done of applier.generate(environment.datasets, data, options, true)) {
          // Before an index is made, too.
          if (typeof done !== 'number') yield options.messages
          else if (done % PAUSE === 0) yield done
        }
        environments.setBaseline(environment)
      })
    },

    /**
     * Yields the text of the environment as a seed with nothing left to defaults, piece by piece: as it is when the first
     * piece is taken, whatever is written meanwhile.
     */
    *export(environment: Environment, format: SeedFormat): Generator<string, void> {
      const settings = environments.settings(environment)
      const { datasets } = environment
      const { idempotency: _, ...read } = datasets
      const held = environments.hold()
      held.keep(read)
      try {
        const list = (kind: RecordKind) => repository.documents(kind, datasets)
        yield* exportText(settings, { list, stepsOf: ({ _id }) => repository.stepsOf(datasets.workflows, _id) }, format)
      } finally {
        held.release()
      }
    }
  }

  /** Returns the records to generate messages from. */
  function sampleOf({ datasets }: Environment): Pick<EnvironmentData, RecordKind> {
    const lists = RECORD_KINDS.map((kind) => {
      return [kind, [...repository.documents(kind, datasets, kind === 'messages' ? SAMPLE : undefined)]]
    })
    return Object.fromEntries(lists)
  }

  /**
   * Fills an empty database with what the seeds describe. Nobody else may use the database meanwhile; unless it ends,
   * nothing is applied. Throws SeedError with every issue.
   */
  function* seeding(files: readonly SeedFile[]): Generator<unknown, SeedOutcome> {
    const described = yield* resolving(files, clock())
    const applied = yield* db.transactionInSteps(function* () {
      if (environments.list().length > 0) return false
      const held = environments.hold()
      try {
        for (const data of described) applier.create(yield* applier.storing(held, data, true))
      } finally {
        held.release()
      }
      return true
    })
    // Those that are applied are remembered as they are given.
    if (!applied) for (const apiKey of described.flatMap(({ apiKeys }) => apiKeys)) environments.rememberApiKey(apiKey)
    return { applied, environments: described }
  }

  function* reseeding(files: readonly SeedFile[], former: readonly SeedFile[]): Generator<unknown, SeedChange[]> {
    const now = clock()
    // Both at the same time, so that the defaults that depend on the time do not differ.
    const before = new Map((yield* resolving(former, now)).map((data) => [data.id, JSON.stringify(data)]))
    const described = yield* resolving(files, now, {
      ownerOf(key) {
        const owner = environments.resolve(key)
        return owner && !before.has(owner.id) ? owner : undefined
      }
    })
    const changed = described.filter((data) => before.get(data.id) !== JSON.stringify(data))
    for (const { id } of described) before.delete(id)
    const held = environments.hold()
    try {
      const stored: StoredData[] = []
      for (const data of changed) stored.push(yield* applier.storing(held, data, false))
      return db.transaction(() => exchange(stored, [...before.keys()]))
    } finally {
      held.release()
    }
  }

  /** Makes environments what was stored for them, and removes those of these ids. */
  function exchange(stored: readonly StoredData[], removedIds: readonly string[]): SeedChange[] {
    const present = new Map(environments.list().map((environment) => [environment.id, environment]))
    const removed = removedIds.flatMap((id) => present.get(id) ?? [])
    // All of them first: a key may move from one environment to another.
    for (const environment of [...stored.flatMap(({ data }) => present.get(data.id) ?? []), ...removed]) {
      environments.dropApiKeys(environment)
    }
    const changes = stored.map((each): SeedChange => {
      const { id, name, apiKeys } = each.data
      const known = present.get(id)
      const environment = known ?? applier.create(each)
      if (known) applier.become(known, each)
      const records = repository.countRecords(environment.datasets)
      return { id, name, change: known ? 'reloaded' : 'added', apiKeys, records }
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
