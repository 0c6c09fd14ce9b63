import { isoTime, parseTime, WALL } from '../../domain/clock.js'
import { deriveId, slugify } from '../../domain/ids.js'
import { errorOf, isFull } from '../errors.js'
import type { EnvironmentData, SeedEnvironment } from '../format.js'
import type { SeedFile } from '../read.js'
import type { ExistingRecords } from '../repository.js'
import {
  type EnvironmentBuilder,
  environmentBuilder,
  INVALID_TIME,
  SeedLocation,
  type SeedTarget
} from './builder.js'
import { addIntegration, addMessage, addSubscriber, addWorkflow, setGenerate } from './records.js'

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
type Located = { seed: SeedEnvironment; location: SeedLocation }
type Building = Located & { builder: EnvironmentBuilder }

/**
 * Returns the environments that the seeds describe, with every reference resolved and every default filled in; the same
 * seeds at the same `now`, in milliseconds since 1970, give the same data. Environments of the same organization and
 * name are one, also across files. Messages are those of the seeds only.
 *
 * Throws SeedError with all that is wrong: what breaks the format, every broken reference, duplicate, second primary and
 * time that is none, and every API key that `ownerOf` says belongs to an environment of none of the seeds.
 */
export function resolveSeeds(
  read: readonly SeedFile[],
  now: number,
  options: Options = {}
): EnvironmentData[] {
  const { target, ownerOf } = options
  // Their own issues stay those of the format: what was read may be resolved again.
  const files = read.map((file) => ({ ...file, issues: [...file.issues] }))
  const lists = files.map(({ issues }) => issues)
  const described = files.flatMap((file) => {
    const list = new SeedLocation(file, ['environments'])
    const { environments } = file.seed
    if (target && environments.length !== 1 && file.issues.length === 0) {
      const one = environments.length > 1 ? list.at(1) : list
      one.report('must be one environment: a seed that is loaded into one has no more and no less')
    }
    return environments.map((seed, at): Located => ({ seed, location: list.at(at) }))
  })
  // With no more than that a report is full, and what is left of such seeds may take long to resolve.
  if (lists.some(isFull)) throw errorOf(lists)
  const located = withBuilders(target ? described.slice(0, 1) : described, now, options)
  for (const each of located) addSettings(each)
  if (!target) addApiKeys(located, ownerOf)
  for (const { seed, location, builder } of located) {
    const { integrations = [], subscribers = [], workflows = [] } = seed
    for (const [at, each] of integrations.entries())
      addIntegration(builder, each, location.at('integrations', at))
    for (const [at, each] of subscribers.entries())
      addSubscriber(builder, each, location.at('subscribers', at))
    for (const [at, each] of workflows.entries())
      addWorkflow(builder, each, location.at('workflows', at))
  }
  // After the records of all files, which they refer to.
  for (const { seed, location, builder } of located) {
    const { messages = [] } = seed
    for (const [at, each] of messages.entries())
      addMessage(builder, each, location.at('messages', at))
    if (seed.generate) setGenerate(builder, seed.generate, location.at('generate'))
  }
  if (lists.some(({ length }) => length > 0)) throw errorOf(lists)
  return [...new Set(located.map(({ builder }) => builder.data))]
}

/** Adds the builder of each environment, or of the target. Those of the same organization and name share one. */
function withBuilders(
  located: readonly Located[],
  now: number,
  { target, existing }: Options
): Building[] {
  /** An id that one of its environments has is that of all, but for those that have another one. */
  const organizations = new Map<string | undefined, string>()
  for (const { organization, _organizationId } of located.map(({ seed }) => seed)) {
    if (organization !== undefined && _organizationId !== undefined)
      organizations.set(organization, _organizationId)
  }
  const builders = new Map<string, EnvironmentBuilder>()
  const byId = new Map<string, EnvironmentBuilder>()
  return located.map(({ seed, location }) => {
    const { name, organization = '', _organizationId } = seed
    const organizationId =
      _organizationId ?? organizations.get(organization) ?? deriveId('organization', organization)
    const idBase = [organizationId, name]
    const known = builders.get(idBase.join(' '))
    const { _id = known?.data.id ?? deriveId(...idBase) } = seed
    const { id, ...rest } = target ?? { id: _id, organizationId, name, clock: WALL }
    const replacing = existing && { existing, seed }
    const builder =
      known ?? environmentBuilder({ target: { id, ...rest }, replacing, location, idBase, now })
    builders.set(idBase.join(' '), builder)
    const same = byId.get(id) ?? builder
    byId.set(id, same)
    if (id !== builder.data.id) {
      location.at('_id').report(`must be ${builder.data.id}, which environment ${name} has already`)
    } else if (same !== builder) {
      location
        .at('_id')
        .report(
          () => `is that of environment ${same.data.name} too, at ${same.location.describe()}`
        )
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
  const owners = new Map<string, { builder: EnvironmentBuilder; location: SeedLocation }>()
  const add = (
    key: string,
    builder: EnvironmentBuilder,
    location: SeedLocation,
    subject = 'is'
  ) => {
    const first = owners.get(key) ?? { builder, location }
    const other = ownerOf?.(key)
    const report = (owner: string) =>
      location.report(`${subject} that of ${owner}; each environment needs keys of its own`)
    if (other && other.id !== builder.data.id)
      report(`${other.name}, which these seeds leave as it is`)
    else if (first.builder !== builder)
      report(`${first.builder.data.name}, at ${first.location.describe()}`)
    else if (!owners.has(key)) builder.data.apiKeys.push(key)
    owners.set(key, first)
  }
  for (const { seed, location, builder } of located) {
    for (const [at, key] of (seed.apiKeys ?? []).entries())
      add(key, builder, location.at('apiKeys', at))
  }
  const named = new Set(located.filter(({ seed }) => seed.apiKeys).map(({ builder }) => builder))
  for (const builder of new Set(located.map((each) => each.builder))) {
    const key = `${slugify(builder.data.name) || 'environment'}-key`
    if (!named.has(builder))
      add(key, builder, builder.location, `has no apiKeys, and its default, ${key}, is`)
  }
}
