import type { Db } from '../db/open.js'
import type { EnvironmentService } from '../environments/service.js'
import type { SeedApplier } from './apply.js'
import type { SeedFile } from './read.js'
import type { RecordKind, SeedRepository } from './repository.js'
import { resolveSeeds } from './resolve/resolve.js'

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

interface Dependencies {
  db: Db
  environments: EnvironmentService
  applier: SeedApplier
  repository: SeedRepository
  now: number
}

/** See `SeedService.reseed`. */
export function reseed(
  { db, environments, applier, repository, now }: Dependencies,
  files: readonly SeedFile[],
  former: readonly SeedFile[]
): SeedChange[] {
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
      const environment = known ?? environments.create(data)
      applier.become(environment, data)
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
}
