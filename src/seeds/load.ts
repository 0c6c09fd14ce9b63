import { runToEnd } from '../core/slices.js'
import type { Db } from '../db/open.js'
import type { Datasets, Environment, EnvironmentService, HeldDatasets } from '../environments/service.js'
import type { seedApplier } from './apply.js'
import type { EnvironmentData } from './environment-data.js'
import type { Enqueue } from './queue.js'
import type { SeedFile } from './read.js'
import type { SeedRepository } from './repository.js'
import { type Requested, readRequested } from './requested.js'
import { retryWhileChanged } from './retry.js'
import { addsMessages, countUpToLimit, MAX_AT_ONCE, sizeOf } from './size.js'
import { settingsOf, type TargetResolver, withMergedKinds } from './target.js'

export type SeedMode = 'merge' | 'replace'

interface Dependencies {
  db: Db
  environments: EnvironmentService
  repository: SeedRepository
  applier: ReturnType<typeof seedApplier>
  resolver: TargetResolver
  enqueue: Enqueue
}

/** Loads seeds into environments while the server runs. */
export function seedLoader({ db, environments, repository, applier, resolver, enqueue }: Dependencies) {
  const { resolved, readExisting } = resolver

  return {
    /**
     * Loads a seed with one environment, or a packaged one. `replace` makes the environment what a new one from the seed would
     * be, and sets its baseline. `merge` adds the seed's records; they replace those of the same names, and keep their ids.
     *
     * What is large is loaded beside other requests, which see the environment as it was until all is loaded; what else is
     * loaded into it waits. Rejects with SeedError with every issue, with `invalid` for an unknown scenario, with `taken`
     * when the environment is changed all the time, and with what `check` throws; then nothing is changed.
     */
    async load(environment: Environment, requested: Requested, mode: SeedMode, check = () => {}): Promise<void> {
      await enqueue(environment.key, async () => {
        const file = await readRequested(requested, check)
        check()
        if (!isLarge(environment, file, mode)) {
          db.transaction(() => runToEnd(loading(environment, file, mode)))
          return
        }
        await retryWhileChanged(db, () => loading(environment, file, mode, true), check)
      })
    }
  }

  /**
   * Loads a seed in steps. In slices, others use the database between these: then nothing is written where they see it
   * before the last step. Returns undefined, having changed nothing, when what was merged with has changed meanwhile.
   */
  function* loading(
    environment: Environment,
    file: SeedFile,
    mode: SeedMode,
    besideOthers = false
  ): Generator<unknown, true | undefined> {
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
      if (existing && besideOthers && JSON.stringify(stateOf(environment)) !== JSON.stringify(before)) return undefined
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
    return size + countUpToLimit(repository, environment.datasets) - (isCopied ? 0 : messages) > MAX_AT_ONCE
  }
}
