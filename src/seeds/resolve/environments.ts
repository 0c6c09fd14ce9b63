import { isoTime, parseTime, WALL } from '../../core/clock.js'
import { idOf } from '../../core/ids.js'
import { slugify } from '../../core/slug.js'
import type { SeedEnvironment } from '../format.js'
import { type EnvironmentBuilder, environmentBuilder, INVALID_TIME, type SeedLocation } from './builder.js'

/** An environment of one seed file, and where it is there. */
export interface Located {
  seed: SeedEnvironment
  location: SeedLocation
}

export interface Building extends Located {
  builder: EnvironmentBuilder
}

/** Adds the builder of each environment. Those of the same organization and name share one. */
export function withBuilders(located: readonly Located[], now: number): Building[] {
  const organizations = organizationsIn(located)
  const builders = new Map<string, EnvironmentBuilder>()
  const byId = new Map<string, EnvironmentBuilder>()
  return located.map(({ seed, location }) => {
    const { name, organization = '' } = seed
    const { id: organizationId = idOf('organization', organization) } = organizations.get(organization) ?? {}
    const idBase = [seed._organizationId ?? organizationId, name] as const
    const known = builders.get(idBase.join(' '))
    const { _id = known?.data.id ?? idOf(...idBase) } = seed
    const builder = known ?? create(_id, idBase, location)
    builders.set(idBase.join(' '), builder)
    if (_id !== builder.data.id) {
      location.at('_id').report(`must be ${builder.data.id}, which environment ${name} has already`)
    }
    return { seed, location, builder }
  })

  function create(id: string, idBase: readonly [string, string], location: SeedLocation): EnvironmentBuilder {
    const same = byId.get(id)
    if (same) {
      const describe = () => `is that of environment ${same.data.name} too, at ${same.location.describe()}`
      location.at('_id').report(describe)
    }
    const [organizationId, name] = idBase
    const builder = environmentBuilder({ target: { id, organizationId, name, clock: WALL }, location, idBase, now })
    if (!same) byId.set(id, builder)
    return builder
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
      location.report(
        () => `must be ${first.id}, which organization ${organization} has at ${first.location.describe()}`
      )
    }
  }
  return organizations
}

/** Sets what the seed says of the environment itself; of several seeds the last one wins. */
export function addSettings({ seed, location, builder }: Building): void {
  const { data, identifiers } = builder
  for (const { identifier } of seed.integrations ?? []) identifiers.names.add(identifier)
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

/** Returns the environment that has a key already, if it is none that the seeds may take the key from. */
export type KeyOwner = (key: string) => { id: string; name: string } | undefined

/** Gives each environment the keys that its seeds name, or a default one if none of them has a list of keys. */
export function addApiKeys(located: readonly Building[], ownerOf?: KeyOwner): void {
  const owners = new Map<string, Omit<Building, 'seed'>>()
  for (const { seed, location, builder } of located) {
    for (const [index, key] of (seed.apiKeys ?? []).entries()) {
      add(builder, key, location.at('apiKeys', index), 'is')
    }
  }
  const named = new Set(located.filter(({ seed }) => seed.apiKeys).map(({ builder }) => builder))
  for (const builder of new Set(located.map((each) => each.builder))) {
    if (named.has(builder)) continue
    const key = `${slugify(builder.data.name) || 'environment'}-key`
    add(builder, key, builder.location, `has no apiKeys, and its default, ${key}, is`)
  }

  function add(builder: EnvironmentBuilder, key: string, location: SeedLocation, subject: string): void {
    const first = owners.get(key)
    const other = ownerOf?.(key)
    if (other && other.id !== builder.data.id) {
      report(() => `${other.name}, which these seeds leave as it is`)
    } else if (!first) {
      owners.set(key, { builder, location })
      builder.data.apiKeys.push(key)
    } else if (first.builder !== builder) {
      report(() => `${first.builder.data.name}, at ${first.location.describe()}`)
    }

    function report(owner: () => string): void {
      location.report(() => `${subject} that of ${owner()}; each environment needs keys of its own`)
    }
  }
}
