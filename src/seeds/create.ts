import { runToEnd } from '../core/slices.js'
import type { Db } from '../db/open.js'
import { newApiKey } from '../environments/api-keys.js'
import { type Environment, type EnvironmentService, newId, type Settings } from '../environments/service.js'
import type { seedApplier } from './apply.js'
import { UNNAMED } from './format.js'
import type { SeedFile } from './read.js'
import type { SeedRepository } from './repository.js'
import { readRequested } from './requested.js'
import { countUpToLimit, MAX_AT_ONCE, sizeOf } from './size.js'
import { settingsOf, type TargetResolver, withMergedKinds } from './target.js'

/** What an environment is to be. What is left out has a default, or is that of the origin or of the seed. */
export interface NewEnvironment extends Partial<Omit<Settings, 'randomSeed'>> {
  /** Id or name of the environment to fork. */
  from?: string
  /** Name of a snapshot of it to fork instead. */
  snapshot?: string
  seed?: string | object
  /** Name of a packaged seed, in place of `seed`. */
  scenario?: string
  apiKey?: string
  /** Milliseconds after the last use to remove it. */
  ttl?: number
}

export interface KeyedEnvironment {
  environment: Environment
  apiKey: string
}

interface Dependencies {
  db: Db
  environments: EnvironmentService
  repository: SeedRepository
  applier: ReturnType<typeof seedApplier>
  resolver: TargetResolver
}

/** Creates environments while the server runs. */
export function environmentCreator({ db, environments, repository, applier, resolver }: Dependencies) {
  return {
    /**
     * Creates an environment with a key: empty, from a seed, or as a fork of another one or of its snapshot; what is large,
     * beside other requests. Without a name it gets that of its seed or origin, with a number if that is taken.
     *
     * Rejects with `exists` when the name or the key is taken, with `not-found` for an unknown origin, with `invalid` for
     * an unknown scenario, with SeedError for a bad seed, and with what `check` throws, which is called when others have
     * had their turn; then nothing is created.
     */
    async createEnvironment(wanted: NewEnvironment, check = () => {}): Promise<KeyedEnvironment> {
      const { from, snapshot, clock } = wanted
      environments.requireUnused(wanted)
      const read = await readWanted(wanted, check)
      const file = read && clock ? withClock(read, clock) : read
      check()
      const copied = from === undefined ? 0 : countUpToLimit(repository, environments.find(from).datasets)
      const isSmall = snapshot === undefined && (file ? sizeOf(file.seed) : 0) + copied <= MAX_AT_ONCE
      const steps = creating(wanted, file)
      return isSmall ? db.transaction(() => runToEnd(steps)) : db.transactionPerSlice(steps, check)
    }
  }

  function* creating(wanted: NewEnvironment, file: SeedFile | undefined): Generator<unknown, KeyedEnvironment> {
    const { from, snapshot, seed, scenario, apiKey = newApiKey(), organizationId = newId(), ...own } = wanted
    const held = environments.hold()
    try {
      const name = file?.seed.environments[0]?.name ?? UNNAMED
      const origin = from === undefined ? undefined : environments.find(from)
      let { row, datasets } = origin
        ? yield* environments.forking(origin, { ...own, organizationId }, snapshot, held)
        : { row: environments.newRow({ name, ...own, organizationId }), datasets: held.createAll() }
      if (file) {
        const existing = origin && (yield* resolver.readExisting(row, datasets))
        const data = yield* resolver.resolved(file, row, existing)
        if (existing) datasets = withMergedKinds(datasets, held)
        yield* applier.insert(datasets, data, false)
        row = { ...row, ...settingsOf(data, file, existing, own) }
      }
      // Again, as others may have taken them meanwhile.
      environments.requireUnused(wanted)
      const environment = environments.create({ ...row, name: own.name ?? environments.unusedName(row.name) }, datasets)
      environments.addApiKey(environment, apiKey)
      environments.setBaseline(environment)
      return { environment, apiKey }
    } finally {
      held.release()
    }
  }
}

async function readWanted({ seed, scenario }: NewEnvironment, check: () => void): Promise<SeedFile | undefined> {
  if (scenario !== undefined) return readRequested({ scenario }, check)
  return seed ? readRequested({ seed }, check) : undefined
}

/** Returns the seed with another clock, by which it fills in the times that it leaves out. */
function withClock(file: SeedFile, clock: Settings['clock']): SeedFile {
  const environments = file.seed.environments.map((environment) => ({ ...environment, clock }))
  return { ...file, seed: { environments } }
}
