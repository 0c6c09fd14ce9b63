import type { Db } from '../db/open.js'
import type { EnvironmentService } from '../environments/service.js'
import { finish, type seedApplier } from './apply.js'
import type { EnvironmentData } from './environment-data.js'
import { SeedError, type SeedIssue } from './errors.js'
import type { SeedFile } from './read.js'
import { RECORD_KINDS, type RecordKind, type seedRepository } from './repository.js'
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
  applier: ReturnType<typeof seedApplier>
  repository: ReturnType<typeof seedRepository>
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
  const described = resolveSeeds(files, now)
  const changed = described.filter((data) => before.get(data.id) !== JSON.stringify(data))
  for (const { id } of described) before.delete(id)

  return db.transaction(() => {
    const present = new Map(environments.list().map((environment) => [environment.id, environment]))
    const removed = [...before.keys()].flatMap((id) => present.get(id) ?? [])
    const affected = [...changed.flatMap(({ id }) => present.get(id) ?? []), ...removed]
    // All of them first: a key may move from one environment to another.
    for (const environment of affected) environments.dropApiKeys(environment)
    const issues = changed.flatMap(issuesOfKeys)
    if (issues.length > 0) throw new SeedError(issues)

    const changes = changed.map((data): SeedChange => {
      const { id, name, apiKeys } = data
      const known = present.get(id)
      const environment = known ?? environments.create(data)
      environments.dropBaseline(environment)
      environments.rename(environment, data)
      environments.setRandomSeed(environment, data.randomSeed ?? null)
      finish(applier.replace(environment, data))
      for (const key of apiKeys) environments.addApiKey(environment, key)
      environments.setBaseline(environment)
      const counts = RECORD_KINDS.map((kind) => {
        const dataset = environment.datasets[kind === 'steps' ? 'workflows' : kind]
        return [kind, repository.countRecords(kind, dataset)] as const
      })
      return { id, name, change: known ? 'reloaded' : 'added', apiKeys, records: Object.fromEntries(counts) }
    })
    // Last, as a rollback would not bring back what the environments have in memory.
    for (const environment of removed) {
      const { id, name } = environment
      environments.remove(environment)
      changes.push({ id, name, change: 'removed', apiKeys: [], records: {} })
    }
    return changes
  })

  /** A key that an environment has which these seeds leave as it is. */
  function issuesOfKeys({ name, apiKeys }: EnvironmentData): SeedIssue[] {
    return apiKeys.flatMap((key) => {
      const owner = environments.resolve(key)
      return owner ? (issueAtKey(files, { key, name, owner: owner.name }) ?? []) : []
    })
  }
}

/** Where the seeds name the key, or else the environment that has it by default. */
function issueAtKey(
  files: readonly SeedFile[],
  { key, name, owner }: { key: string; name: string; owner: string }
): SeedIssue | undefined {
  const message = `the API key ${key} is that of ${owner}, which these seeds leave as it is; each environment needs keys of its own`
  const paths = files.flatMap((file) =>
    file.seed.environments.map((environment, index) => {
      const at = environment.apiKeys?.indexOf(key) ?? -1
      const path = ['environments', index, ...(at < 0 ? [] : ['apiKeys', at])]
      return { file, path, rank: at >= 0 ? 0 : environment.name === name ? 1 : 2 }
    })
  )
  const [best] = paths.sort((one, other) => one.rank - other.rank)
  return best?.file.issueAt(best.path, message)
}
