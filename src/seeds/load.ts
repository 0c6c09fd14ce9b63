import { type Clock, WALL } from '../core/clock.js'
import { DomainError } from '../core/errors.js'
import { runToEnd } from '../core/slices.js'
import type { Db } from '../db/open.js'
import type { NewEnvironment } from '../environments/schemas.js'
import {
  type Datasets,
  type Environment,
  type EnvironmentService,
  type HeldDatasets,
  newApiKey,
  newId,
  type Settings
} from '../environments/service.js'
import type { seedApplier } from './apply.js'
import type { EnvironmentData } from './environment-data.js'
import { SeedError } from './errors.js'
import type { ExistingData } from './existing-data.js'
import { exportSeed } from './export.js'
import type { Seed } from './format.js'
import { loadGenerator, needsGenerator } from './generate/load.js'
import { readSeed, type SeedFile } from './read.js'
import type { RecordKind, SeedRepository } from './repository.js'
import type { SeedTarget } from './resolve/builder.js'
import { resolving } from './resolve/resolve.js'

export type SeedMode = 'merge' | 'replace'

/** What a request may have generated: a server that many use must not grow by gigabytes for one of them. */
export const MAX_GENERATED = { messages: 100_000, subscribers: 10_000 }

/** The size up to which a seed is loaded in one go, counted in records: some hundredths of a second. */
const MAX_AT_ONCE = 1000

/** Characters of JSON that count as one record, as long records take long too, and records that a generated message takes. */
const RECORD_LENGTH = 200
const GENERATED_WEIGHT = 5

/** How often a merge begins again because the environment has changed meanwhile. */
const MAX_ATTEMPTS = 5

interface Dependencies {
  db: Db
  clock: Clock
  environments: EnvironmentService
  repository: SeedRepository
  applier: ReturnType<typeof seedApplier>
}

/** Loads seeds into environments while the server runs. */
export function seedLoader({ db, clock, environments, repository, applier }: Dependencies) {
  /** What is being loaded into each environment, by its key. */
  const queues = new Map<number, Promise<unknown>>()

  return {
    /**
     * Creates an environment with a new key: empty, from a seed, or as a fork of another one or of its snapshot; what is
     * large, beside other requests. Rejects with `not-found` for an unknown origin, with SeedError for a bad seed, and with
     * what `check` throws, which is called when others have had their turn; then nothing is created.
     */
    async createEnvironment(wanted: NewEnvironment, check = () => {}): Promise<KeyedEnvironment> {
      const file = wanted.seed ? await readRequested(wanted.seed, check) : undefined
      check()
      const { from, snapshot } = wanted
      const copied = from === undefined ? 0 : countRecords(environments.find(from).datasets)
      const isSmall = snapshot === undefined && (file ? sizeOf(file.seed) : 0) + copied <= MAX_AT_ONCE
      const steps = creatingEnvironment(wanted, file)
      return isSmall ? db.transaction(() => runToEnd(steps)) : db.transactionPerSlice(steps, check)
    },

    /**
     * Loads a seed with one environment, text or value. `replace` makes the environment what a new one from the seed would
     * be, and sets its baseline. `merge` adds the seed's records; they replace those of the same names, and keep their ids.
     *
     * What is large is loaded beside other requests, which see the environment as it was until all is loaded; what else is
     * loaded into it waits. Rejects with SeedError with every issue, with `taken` when the environment is changed all the
     * time, and with what `check` throws; then nothing is changed.
     */
    async load(environment: Environment, seed: string | object, mode: SeedMode, check = () => {}): Promise<void> {
      await enqueue(environment.key, async () => {
        const file = await readRequested(seed, check)
        check()
        if (!isLarge(environment, file, mode)) {
          db.transaction(() => runToEnd(loading(environment, file, mode)))
          return
        }
        for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
          if (await db.transactionPerSlice(loading(environment, file, mode, true), check)) return
        }
        throw new DomainError('taken', 'The environment was changed while the seed was loaded', {
          reason: `other requests have changed it ${MAX_ATTEMPTS} times meanwhile: merge so large a seed when they are done`
        })
      })
    }
  }

  /**
   * Loads a seed in steps. In slices, others use the database between these: then nothing is written where they see it
   * before the last step. Returns false, having changed nothing, when what was merged with has changed meanwhile.
   */
  function* loading(
    environment: Environment,
    file: SeedFile,
    mode: SeedMode,
    besideOthers = false
  ): Generator<unknown, boolean> {
    const held = environments.hold()
    try {
      const before = stateOf(environment)
      // Those of now: they may be others, and then these again, before it is compared with what the environment was.
      const present = { ...environment.datasets }
      if (besideOthers) held.keep(before.datasets)
      const existing = mode === 'merge' ? yield* readExisting(before.settings, present) : undefined
      const data = yield* resolved(file, environment, existing)
      const datasets = existing ? yield* merged(environment, present, data, held, besideOthers) : held.createAll()
      yield* applier.insert(datasets, data, false)
      if (existing && besideOthers && JSON.stringify(stateOf(environment)) !== JSON.stringify(before)) return false
      const { idempotency, ...ofRecords } = datasets
      environments.change(environment, settingsOf(data, file, existing), existing ? ofRecords : datasets)
      if (!existing) environments.setBaseline(environment)
      return true
    } finally {
      held.release()
    }
  }

  /** Returns the datasets to merge into: new ones of the kinds that are written anew, and one to add messages to. */
  function* merged(
    environment: Environment,
    present: Datasets,
    { messages, generate }: EnvironmentData,
    held: HeldDatasets,
    besideOthers: boolean
  ): Generator<unknown, Datasets> {
    const datasets = withMergedKinds(present, held)
    if (messages.length === 0 && !generate) return datasets
    if (!besideOthers) return { ...datasets, messages: environments.ensureOwned(environment, 'messages') }
    return { ...datasets, messages: yield* held.copying('messages', datasets.messages) }
  }

  function* creatingEnvironment(
    wanted: NewEnvironment,
    file: SeedFile | undefined
  ): Generator<unknown, KeyedEnvironment> {
    const { from, snapshot, seed: _, organizationId = newId(), ...own } = wanted
    const held = environments.hold()
    try {
      const name = file?.seed.environments[0]?.name ?? 'Unnamed'
      const origin = from === undefined ? undefined : environments.find(from)
      let { row, datasets } = origin
        ? yield* environments.forking(origin, { ...own, organizationId }, snapshot, held)
        : { row: environments.newRow({ name, ...own, organizationId }), datasets: held.createAll() }
      if (file) {
        const existing = origin && (yield* readExisting(row, datasets))
        const data = yield* resolved(file, row, existing)
        if (existing) datasets = withMergedKinds(datasets, held)
        yield* applier.insert(datasets, data, false)
        row = { ...row, ...settingsOf(data, file, existing, own) }
      }
      const environment = environments.create(row, datasets)
      const apiKey = newApiKey()
      environments.addApiKey(environment, apiKey)
      environments.setBaseline(environment)
      return { environment, apiKey }
    } finally {
      held.release()
    }
  }

  function* resolved(file: SeedFile, target: SeedTarget, existing?: ExistingData): Generator<unknown, EnvironmentData> {
    const [data] = yield* resolving([file], clock(), { target, existing })
    return data as EnvironmentData
  }

  function* readExisting(settings: Settings, datasets: Datasets): Generator<unknown, ExistingData> {
    const records: Record<string, object[]> = { integrations: [], subscribers: [], workflows: [], steps: [] }
    for (const [kind, documents] of Object.entries(records)) {
      for (const document of repository.documents(kind as RecordKind, datasets)) yield documents.push(document)
    }
    const hasMessage = (id: string) => repository.hasMessage(datasets.messages, id)
    const messageCount = repository.countMessages(datasets)
    const stored = { ...records, messages: [] } as unknown as Pick<EnvironmentData, RecordKind>
    return { seed: exportSeed({ ...settings, ...stored }), messageCount, hasMessage }
  }

  /** All that a merge takes from the environment. */
  function stateOf(environment: Environment) {
    const { idempotency, ...datasets } = environment.datasets
    return { settings: environments.settings(environment), datasets }
  }

  /** Whether it takes longer than others should wait. */
  function isLarge(environment: Environment, { seed }: SeedFile, mode: SeedMode): boolean {
    const size = sizeOf(seed)
    if (mode === 'replace' || size > MAX_AT_ONCE) return size > MAX_AT_ONCE
    const isCopied = addsMessages(seed) && environments.isShared(environment, 'messages')
    const { messages } = repository.countRecords(environment.datasets, MAX_AT_ONCE + 1)
    return size + countRecords(environment.datasets) - (isCopied ? 0 : messages) > MAX_AT_ONCE
  }

  /** Returns how many records there are, but of no kind more than it takes to be too many. */
  function countRecords(datasets: Datasets): number {
    const counts = Object.values(repository.countRecords(datasets, MAX_AT_ONCE + 1))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Runs the work when what was to be loaded into the environment before is done. */
  async function enqueue(key: number, work: () => Promise<void>): Promise<void> {
    const task = (queues.get(key) ?? Promise.resolve()).then(work, work)
    queues.set(key, task)
    try {
      await task
    } finally {
      if (queues.get(key) === task) queues.delete(key)
    }
  }
}

export interface KeyedEnvironment {
  environment: Environment
  apiKey: string
}

/** A merge writes these kinds anew: the seed's records and those that stay. Messages are only added. */
function withMergedKinds(datasets: Datasets, { create }: HeldDatasets): Datasets {
  return {
    ...datasets,
    integrations: create('integrations'),
    subscribers: create('subscribers'),
    workflows: create('workflows')
  }
}

/** Returns the settings that the seed leads to; those in `over` win. */
function settingsOf(
  { profile, assumptions, clock = WALL }: EnvironmentData,
  { seed }: SeedFile,
  existing: ExistingData | undefined,
  over: Pick<NewEnvironment, 'profile' | 'assumptions'> = {}
): Partial<Settings> {
  const [{ randomSeed = null } = {}] = seed.environments
  return {
    profile: over.profile ?? profile,
    assumptions: { ...assumptions, ...over.assumptions },
    clock,
    // When seeds are merged, the random numbers go on unless the added one has a seed of them.
    ...((!existing || randomSeed !== null) && { randomSeed })
  }
}

function addsMessages({ environments }: Seed): boolean {
  return environments.some(({ messages = [], generate }) => messages.length > 0 || generate)
}

/** How large a seed is, in records; beyond `MAX_AT_ONCE` not how much larger. Generated messages are counted too. */
function sizeOf(seed: Seed): number {
  const records = seed.environments.reduce(
    (sum, { integrations = [], subscribers = [], workflows = [], messages = [], generate }) => {
      const steps = workflows.flatMap((workflow) => workflow.steps ?? [])
      const lists = [integrations, subscribers, workflows, steps, messages]
      const generated = GENERATED_WEIGHT * (generate?.messages ?? 0) + (generate?.subscribers ?? 0)
      return lists.reduce((all, each) => all + each.length, sum + generated)
    },
    0
  )
  if (records > MAX_AT_ONCE) return records
  return Math.max(records, lengthOf(seed, (MAX_AT_ONCE + 1) * RECORD_LENGTH) / RECORD_LENGTH)
}

/** About how many characters of JSON a value is, aliases included; beyond the limit not how many more. */
function lengthOf(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 5
  let length = 2
  for (const [name, each] of Object.entries(value)) {
    if (length > limit) break
    length += name.length + lengthOf(each, limit - length)
  }
  return length
}

/** Rejects with SeedError what a request may not ask for, and loads what it takes to generate messages. */
async function readRequested(seed: string | object, check: () => void): Promise<SeedFile> {
  const file = await readSeed(seed, check)
  const issues = file.seed.environments.flatMap(({ generate }, index) =>
    (['messages', 'subscribers'] as const).flatMap((field) => {
      if (!generate || (generate[field] ?? 0) <= MAX_GENERATED[field]) return []
      const problem = `must be at most ${MAX_GENERATED[field]} in a request`
      return file.issueAt(['environments', index, 'generate', field], `${problem}; ${GENERATE_REMEDY}`)
    })
  )
  if (issues.length > 0) throw new SeedError(issues)
  if (needsGenerator(file.seed)) await loadGenerator()
  return file
}

const GENERATE_REMEDY = 'start the server with the seed, or put more into a data file before: seed generate --data'
