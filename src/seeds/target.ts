import { type Clock, WALL } from '../core/clock.js'
import type { Datasets, HeldDatasets, Settings } from '../environments/service.js'
import type { EnvironmentData } from './environment-data.js'
import type { ExistingData } from './existing-data.js'
import { exportSeed } from './export.js'
import type { SeedFile } from './read.js'
import type { RecordKind, SeedRepository } from './repository.js'
import type { SeedTarget } from './resolve/builder.js'
import { resolving } from './resolve/resolve.js'

export type TargetResolver = ReturnType<typeof targetResolver>

/** Returns the functions that resolve a seed for an environment that there is, or will be. */
export function targetResolver(repository: SeedRepository, clock: Clock) {
  return { resolved, readExisting }

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
}

/** A merge writes these kinds anew: the seed's records and those that stay. Messages are only added. */
export function withMergedKinds(datasets: Datasets, { create }: HeldDatasets): Datasets {
  return {
    ...datasets,
    integrations: create(),
    subscribers: create(),
    workflows: create()
  }
}

/** Returns the settings that the seed leads to; those in `over` win. */
export function settingsOf(
  { profile, assumptions, clock = WALL }: EnvironmentData,
  { seed }: SeedFile,
  existing: ExistingData | undefined,
  over: Pick<Partial<Settings>, 'profile' | 'assumptions'> = {}
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
