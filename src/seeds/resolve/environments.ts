import { type ClockSetting, isoTime, parseTime, timeBy, WALL } from '../../core/clock.js'
import { idOf } from '../../core/ids.js'
import { slugify } from '../../core/slug.js'
import type { ExistingData } from '../existing-data.js'
import type { SeedEnvironment } from '../format.js'
import { type EnvironmentBuilder, environmentBuilder, INVALID_TIME, type SeedLocation } from './builder.js'

/** An environment of one seed file, and where it is there. */
interface Located {
  seed: SeedEnvironment
  location: SeedLocation
}

/** The environment that a seed is loaded into while the server runs. */
export interface SeedTarget {
  id: string
  organizationId: string
  name: string
  clock: ClockSetting
  /** What the seed is added to; left out, the seed replaces it. */
  existing?: ExistingData
}

interface Options {
  now: number
  target: SeedTarget | undefined
  replacedIds: ReadonlyMap<string, string> | undefined
}

/** Returns the builder of each environment. Those of the same organization and name share one, as all do in a target. */
export function buildersOf(located: readonly Located[], options: Options): EnvironmentBuilder[] {
  const { target, now, replacedIds = new Map() } = options
  const organizations = organizationsIn(located)
  const builders = new Map<string, EnvironmentBuilder>()
  return located.map(({ seed, location }) => {
    const { organization = '' } = seed
    const organizationId =
      seed._organizationId ?? organizations.get(organization)?.id ?? idOf('organization', organization)
    const key = target ? '' : `${organizationId} ${seed.name}`
    const known = builders.get(key)
    const builder = known ?? create(seed, organizationId, location)
    builders.set(key, builder)
    if (known && !target && seed._id && seed._id !== builder.data.id) {
      location.at('_id').report(`environment ${seed.name} already has the _id ${builder.data.id}`)
    }
    applySettings(builder, seed, location)
    return builder
  })

  function create(seed: SeedEnvironment, organizationId: string, location: SeedLocation): EnvironmentBuilder {
    const id = target?.id ?? seed._id ?? idOf(organizationId, seed.name)
    const same = [...builders.values()].find(({ data }) => data.id === id)
    if (same) {
      location.at('_id').report(`is that of environment ${same.data.name} too, at ${same.location.describe()}`)
    }
    const { name } = target ?? seed
    const records = { integrations: [], subscribers: [], workflows: [], steps: [], messages: [] }
    const owner = { id, organizationId: target?.organizationId ?? organizationId, name }
    return environmentBuilder({
      data: { ...owner, profile: null, assumptions: {}, apiKeys: [], ...records },
      location,
      idBase: [organizationId, seed.name],
      replacedIds,
      existing: target?.existing,
      present: (clock = target?.clock ?? WALL) => timeBy(clock, () => now)
    })
  }
}

/** The organizations that have an id, by name: each has the id that any of its environments gives it. */
function organizationsIn(located: readonly Located[]): Map<string, { id: string; location: SeedLocation }> {
  const organizations = new Map<string, { id: string; location: SeedLocation }>()
  for (const { seed, location: environment } of located) {
    const { organization, _organizationId: id } = seed
    if (organization === undefined || id === undefined) continue
    const location = environment.at('_organizationId')
    const first = organizations.get(organization)
    if (!first) organizations.set(organization, { id, location })
    else if (first.id !== id) {
      location.report(`organization ${organization} has another id, ${first.id}, at ${first.location.describe()}`)
    }
  }
  return organizations
}

function applySettings({ data, identifiers }: EnvironmentBuilder, seed: SeedEnvironment, location: SeedLocation): void {
  for (const { identifier } of seed.integrations ?? []) identifiers.add(identifier)
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
export function addApiKeys(located: readonly (Located & { builder: EnvironmentBuilder })[]): void {
  const owners = new Map<string, { builder: EnvironmentBuilder; location: SeedLocation }>()
  const add = (builder: EnvironmentBuilder, key: string, location: SeedLocation, subject: string) => {
    const owner = owners.get(key)
    if (!owner) {
      owners.set(key, { builder, location })
      builder.data.apiKeys.push(key)
    } else if (owner.builder !== builder) {
      const first = `${owner.builder.data.name}, at ${owner.location.describe()}`
      location.report(`${subject} that of ${first}; each environment needs keys of its own`)
    }
  }
  for (const { seed, location, builder } of located) {
    for (const [index, key] of (seed.apiKeys ?? []).entries()) {
      add(builder, key, location.at('apiKeys', index), 'this API key is')
    }
  }
  for (const builder of new Set(located.map((each) => each.builder))) {
    if (located.some((each) => each.builder === builder && each.seed.apiKeys)) continue
    const key = `${slugify(builder.data.name) || 'environment'}-key`
    add(builder, key, builder.location, `has no apiKeys, and its default, ${key}, is`)
  }
}
