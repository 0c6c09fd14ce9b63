import { isoTime, parseTime, WALL } from '../../core/clock.js'
import { idOf } from '../../core/ids.js'
import { slugify } from '../../core/slug.js'
import type { EnvironmentData } from '../environment-data.js'
import { errorOf, type IssueList, isFull } from '../errors.js'
import type { SeedEnvironment } from '../format.js'
import type { SeedFile } from '../read.js'
import type { ExistingRecords } from '../repository.js'
import { EnvironmentBuilder, INVALID_TIME, SeedLocation, type SeedTarget } from './builder.js'
import { addMessage, setGenerate } from './messages.js'
import { addIntegration, addSubscriber, addWorkflow } from './records.js'

interface Options {
  /** The one environment to return, whatever the seed calls it. */
  target?: SeedTarget
  /**
   * The target's records. Those of the seed replace the ones where `_id`, identifier or subscriberId is the same, and keep
   * their ids; only those of the seed are returned.
   */
  existing?: ExistingRecords | undefined
  /** Returns the environment that has a key already, if it is none that the seeds may take the key from. */
  ownerOf?: (key: string) => { id: string; name: string } | undefined
}

/** An environment of one seed file, where it is there, and what it becomes. */
interface Building {
  seed: SeedEnvironment
  location: SeedLocation
  builder: EnvironmentBuilder
}

type Located = Omit<Building, 'builder'>

/**
 * Returns the environments that the seeds describe, with every reference resolved and every default filled in; the same
 * seeds at the same `now`, in milliseconds since 1970, give the same data. Environments of the same organization and
 * name are one, also across files. Messages are those of the seeds only.
 *
 * Throws SeedError with all that is wrong: what breaks the format, every broken reference, duplicate, second primary and
 * time that is none, and every API key that `ownerOf` says belongs to an environment of none of the seeds.
 */
export function resolveSeeds(files: readonly SeedFile[], now: number, options: Options = {}): EnvironmentData[] {
  const { target, existing, ownerOf } = options
  const lists = files.map(({ issues }): IssueList => [...issues])
  const described = files.flatMap((file, index) =>
    file.seed.environments.map((seed, at): Located => {
      return { seed, location: new SeedLocation(file, lists[index] as IssueList, ['environments', at]) }
    })
  )
  // With no more than that a report is full, and what is left of such seeds may take long to resolve.
  if (lists.some(isFull)) throw errorOf(lists)
  const located = target ? inTarget(target) : withBuilders(described, now)
  for (const each of located) addSettings(each)
  if (!target) addApiKeys(located, ownerOf)
  for (const { seed, location, builder } of located) {
    const { integrations = [], subscribers = [], workflows = [] } = seed
    for (const [at, each] of integrations.entries()) addIntegration(builder, each, location.at('integrations', at))
    for (const [at, each] of subscribers.entries()) addSubscriber(builder, each, location.at('subscribers', at))
    for (const [at, each] of workflows.entries()) addWorkflow(builder, each, location.at('workflows', at))
  }
  // After the records of all files, which they refer to.
  for (const { seed, location, builder } of located) {
    const { messages = [] } = seed
    for (const [at, each] of messages.entries()) addMessage(builder, each, location.at('messages', at))
    if (seed.generate) setGenerate(builder, seed.generate, location.at('generate'))
  }
  if (lists.some(({ length }) => length > 0)) throw errorOf(lists)
  return [...new Set(located.map(({ builder }) => builder.data))]

  function inTarget(wanted: SeedTarget): Building[] {
    const [first, second] = described
    const [file] = files
    second?.location.report(`is one too many: ${ONE_ENVIRONMENT}`)
    if (file && !first && lists[0]?.length === 0) {
      new SeedLocation(file, lists[0]).at('environments').report(`must have one environment: ${ONE_ENVIRONMENT}`)
    }
    if (!first) return []
    const { organization = '', _organizationId = idOf('organization', organization), name } = first.seed
    const replacing = existing && { existing, seed: first.seed }
    const idBase = [_organizationId, name]
    const builder = new EnvironmentBuilder({ target: wanted, replacing, location: first.location, idBase, now })
    return [{ ...first, builder }]
  }
}

const ONE_ENVIRONMENT = 'a seed that is loaded into an environment has no more and no less'

/** Adds the builder of each environment. Those of the same organization and name share one. */
function withBuilders(located: readonly Located[], now: number): Building[] {
  /** Those that have an id: it is that of all their environments. */
  const organizations = new Map<string, { id: string; location: SeedLocation }>()
  for (const { seed, location: environment } of located) {
    const { organization, _organizationId: id } = seed
    if (organization === undefined || id === undefined) continue
    const location = environment.at('_organizationId')
    const first = organizations.get(organization) ?? { id, location }
    organizations.set(organization, first)
    const described = () =>
      `must be ${first.id}, which organization ${organization} has at ${first.location.describe()}`
    if (first.id !== id) location.report(described)
  }
  const builders = new Map<string, EnvironmentBuilder>()
  const byId = new Map<string, EnvironmentBuilder>()
  return located.map(({ seed, location }) => {
    const { name, organization = '' } = seed
    const { id: usual = idOf('organization', organization) } = organizations.get(organization) ?? {}
    const { _organizationId: organizationId = usual } = seed
    const idBase = [organizationId, name] as const
    const known = builders.get(idBase.join(' '))
    const { _id: id = known?.data.id ?? idOf(...idBase) } = seed
    const target = { id, organizationId, name, clock: WALL }
    const builder = known ?? new EnvironmentBuilder({ target, location, idBase, now })
    builders.set(idBase.join(' '), builder)
    const same = byId.get(id)
    if (id !== builder.data.id) {
      location.at('_id').report(`must be ${builder.data.id}, which environment ${name} has already`)
    } else if (same && same !== builder) {
      location.at('_id').report(() => `is that of environment ${same.data.name} too, at ${same.location.describe()}`)
    } else {
      byId.set(id, builder)
    }
    return { seed, location, builder }
  })
}

/** Sets what the seed says of the environment itself; of several seeds the last one wins. */
function addSettings({ seed, location, builder }: Building): void {
  const { data, identifiers } = builder
  for (const { identifier } of seed.integrations ?? []) identifiers.set(identifier, 1)
  data.profile = seed.profile ?? data.profile
  if (seed.randomSeed !== undefined) data.randomSeed = seed.randomSeed
  Object.assign(data.assumptions, seed.assumptions)
  if (seed.clock?.mode === 'fixed') {
    const at = parseTime(seed.clock.at)
    if (at === undefined) location.at('clock', 'at').report(INVALID_TIME)
    else data.clock = { mode: 'fixed', at: isoTime(at) }
  } else if (seed.clock) {
    data.clock = seed.clock
  }
}

/** Gives each environment the keys that its seeds name, or a default one if none of them has a list of keys. */
function addApiKeys(located: readonly Building[], ownerOf: Options['ownerOf']): void {
  const wanted = located.flatMap(({ seed, location, builder }) =>
    (seed.apiKeys ?? []).map((key, at) => ({ key, builder, location: location.at('apiKeys', at), subject: 'is' }))
  )
  const named = new Set(located.filter(({ seed }) => seed.apiKeys).map(({ builder }) => builder))
  for (const builder of new Set(located.map((each) => each.builder))) {
    if (named.has(builder)) continue
    const key = `${slugify(builder.data.name) || 'environment'}-key`
    const subject = `has no apiKeys, and its default, ${key}, is`
    wanted.push({ key, builder, location: builder.location, subject })
  }
  const owners = new Map<string, (typeof wanted)[number]>()
  for (const each of wanted) {
    const { key, builder, location, subject } = each
    const first = owners.get(key)
    const other = ownerOf?.(key)
    const report = (owner: string) =>
      location.report(`${subject} that of ${owner}; each environment needs keys of its own`)
    if (other && other.id !== builder.data.id) report(`${other.name}, which these seeds leave as it is`)
    else if (first && first.builder !== builder) report(`${first.builder.data.name}, at ${first.location.describe()}`)
    else if (!first) {
      owners.set(key, each)
      builder.data.apiKeys.push(key)
    }
  }
}
