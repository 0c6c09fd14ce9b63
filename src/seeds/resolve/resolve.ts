import { isoTime, parseTime, WALL } from '../../domain/clock.js'
import { deriveId, slugify } from '../../domain/ids.js'
import { OPERATIONS } from '../../operations.js'
import { findStubProblems } from '../../stubs/checks.js'
import type { SeedStub } from '../../stubs/schemas.js'
import { createSeedError, isFull } from '../errors.js'
import type { EnvironmentData, SeedEnvironment } from '../format.js'
import type { SeedFile } from '../read.js'
import type { ExistingRecords } from '../repository.js'
import {
  addIntegration,
  addMessage,
  addSubscriber,
  addWorkflow,
  setGenerate
} from './add-records.js'
import { EnvironmentBuilder, type SeedTarget } from './builder.js'
import { INVALID_TIME, SeedLocation } from './location.js'

interface Options {
  /** The environment to load the seed into. The seed must have exactly one environment. */
  target?: SeedTarget
  /**
   * The records that the target already has. A record in the seed replaces the existing record with
   * the same `_id`, `identifier` or `subscriberId`, and takes over its id. Only records in the seed
   * are returned.
   */
  existing?: ExistingRecords | undefined
  /**
   * Returns the existing environment that owns the API key, or undefined if that environment comes
   * from the previous seeds. The seeds must not give the key to a different environment.
   */
  ownerOf?: (key: string) => { id: string; name: string } | undefined
}

/** An environment in one seed file. Several files can describe the same environment. */
interface EnvironmentSeed {
  seed: SeedEnvironment
  location: SeedLocation
}

interface EnvironmentPart extends EnvironmentSeed {
  /** The builder of the environment, which all parts of the environment share. */
  builder: EnvironmentBuilder
}

/**
 * Returns the environments of the seeds with all references resolved and all defaults filled in.
 * The same seeds and `now` (milliseconds since 1970) return the same data. Environments with the
 * same organization and name are merged, even across files. The data has no generated messages.
 *
 * Throws `SeedError` if there are issues, such as invalid values, broken references, duplicates, a
 * second primary integration of a channel, or an API key that belongs to another environment.
 */
export function resolveSeeds(
  seeds: readonly SeedFile[],
  now: number,
  options: Options = {}
): EnvironmentData[] {
  // Copy the lists, because issues are added to them and the files can be resolved again.
  const files = seeds.map((file) => ({ ...file, issues: [...file.issues] }))
  const issueLists = files.map(({ issues }) => issues)
  const environments = files.flatMap((file) => environmentsOf(file, options))
  // Stop here if a list of issues is full: the error can't list more, and resolving seeds with that
  // many issues can take a long time.
  if (issueLists.some(isFull)) throw createSeedError(issueLists)
  const described = options.target ? environments.slice(0, 1) : environments
  const parts = assignBuilders(described, now, options)
  for (const part of parts) addSettings(part)
  if (!options.target) addApiKeys(parts, options.ownerOf)
  // The settings determine the clock, so read times only after adding the settings of all parts.
  const timedParts = parts.map(withTimes)
  for (const part of timedParts) addRecords(part)
  // Messages can refer to records in any file, so add them after all other records.
  for (const part of timedParts) addMessages(part)
  if (issueLists.some(({ length }) => length > 0)) throw createSeedError(issueLists)
  return [...new Set(parts.map(({ builder }) => builder.data))]
}

function environmentsOf(file: SeedFile, { target }: Options): EnvironmentSeed[] {
  const { environments } = file.seed
  const list = new SeedLocation(file, ['environments'])
  if (target && environments.length !== 1 && file.issues.length === 0) {
    if (environments.length > 1) list.at(1).report(`is a second environment, but ${ONE_NEEDED}`)
    else list.report(`is empty, but ${ONE_NEEDED}`)
  }
  return environments.map((seed, index) => ({ seed, location: list.at(index) }))
}

const ONE_NEEDED = 'a seed for an existing environment must contain exactly one'

/** Returns a copy of the part whose location reads times relative to the environment's clock. */
function withTimes({ seed, location, builder }: EnvironmentPart): EnvironmentPart {
  const now = Math.floor(builder.currentTime())
  const { timesRelativeTo } = seed
  const origin = timesRelativeTo === undefined ? now : parseTime(timesRelativeTo)
  if (origin === undefined) location.at('timesRelativeTo').report(INVALID_TIME)
  const shift = origin === undefined ? 0 : now - origin
  return { seed, builder, location: location.withTimes({ now, shift }) }
}

function addRecords({ seed, location, builder }: EnvironmentPart): void {
  const { integrations = [], subscribers = [], workflows = [] } = seed
  for (const [index, integration] of integrations.entries()) {
    addIntegration(builder, integration, location.at('integrations', index))
  }
  for (const [index, subscriber] of subscribers.entries()) {
    addSubscriber(builder, subscriber, location.at('subscribers', index))
  }
  for (const [index, workflow] of workflows.entries()) {
    addWorkflow(builder, workflow, location.at('workflows', index))
  }
}

function addMessages({ seed, location, builder }: EnvironmentPart): void {
  const { messages = [], generate } = seed
  for (const [index, message] of messages.entries()) {
    addMessage(builder, message, location.at('messages', index))
  }
  if (generate) setGenerate(builder, generate, location.at('generate'))
}

/** Assigns a builder to each part. Parts with the same organization and name share a builder. */
function assignBuilders(
  environments: readonly EnvironmentSeed[],
  now: number,
  { target, existing }: Options
): EnvironmentPart[] {
  const organizationIds = collectOrganizationIds(environments)
  const byName = new Map<string, EnvironmentBuilder>()
  const byId = new Map<string, EnvironmentBuilder>()
  return environments.map(({ seed, location }) => {
    const { name, organization = '' } = seed
    const organizationId =
      seed._organizationId ??
      organizationIds.get(organization) ??
      deriveId('organization', organization)
    const idBase = [organizationId, name]
    const sameName = byName.get(idBase.join(' '))
    const id = target?.id ?? seed._id ?? sameName?.data.id ?? deriveId(...idBase)
    const builder =
      sameName ??
      new EnvironmentBuilder({
        target: target ?? { id, organizationId, name, clock: WALL },
        replacing: existing && { existing, seed },
        location,
        idBase,
        now
      })
    byName.set(idBase.join(' '), builder)
    const sameId = byId.get(id) ?? builder
    byId.set(id, sameId)
    checkId(id, name, location.at('_id'), builder, sameId)
    return { seed, location, builder }
  })
}

/**
 * Returns the ids of the organizations by name. If the seeds contain several ids for an
 * organization, the last one is returned.
 */
function collectOrganizationIds(
  environments: readonly EnvironmentSeed[]
): Map<string | undefined, string> {
  const ids = new Map<string | undefined, string>()
  for (const { seed } of environments) {
    const { organization, _organizationId } = seed
    if (organization !== undefined && _organizationId !== undefined) {
      ids.set(organization, _organizationId)
    }
  }
  return ids
}

function checkId(
  id: string,
  name: string,
  location: SeedLocation,
  builder: EnvironmentBuilder,
  sameId: EnvironmentBuilder
): void {
  if (id !== builder.data.id) {
    location.report(`must be ${builder.data.id}, the id that environment ${name} already has`)
  } else if (sameId !== builder) {
    location.report(() => {
      const place = sameId.location.describe()
      return `is already used by environment ${sameId.data.name}, at ${place}`
    })
  }
}

/** Adds the environment's settings. If several seeds have the same setting, the last seed wins. */
function addSettings({ seed, location, builder }: EnvironmentPart): void {
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
  addStubs(seed.stubs ?? [], location, data)
}

function addStubs(stubs: readonly SeedStub[], location: SeedLocation, data: EnvironmentData): void {
  for (const [index, stub] of stubs.entries()) {
    for (const { path, message } of findStubProblems(stub, OPERATIONS)) {
      location.at('stubs', index, ...path).report(message)
    }
    data.stubs.push(stub)
  }
}

interface KeyOwner {
  builder: EnvironmentBuilder
  location: SeedLocation
}

/** Adds the API keys of the seeds. An environment without a list of keys gets a default key. */
function addApiKeys(parts: readonly EnvironmentPart[], ownerOf: Options['ownerOf']): void {
  const keys = new ApiKeyOwners(ownerOf)
  for (const { seed, location, builder } of parts) {
    for (const [index, key] of (seed.apiKeys ?? []).entries()) {
      keys.add(key, { builder, location: location.at('apiKeys', index) })
    }
  }
  const withKeys = new Set(parts.filter(({ seed }) => seed.apiKeys).map(({ builder }) => builder))
  for (const builder of new Set(parts.map((part) => part.builder))) {
    if (withKeys.has(builder)) continue
    const key = `${slugify(builder.data.name) || 'environment'}-key`
    const subject = `has no apiKeys, and its default key ${key} `
    keys.add(key, { builder, location: builder.location }, subject)
  }
}

class ApiKeyOwners {
  readonly #owners = new Map<string, KeyOwner>()
  readonly #ownerOf: Options['ownerOf']

  constructor(ownerOf: Options['ownerOf']) {
    this.#ownerOf = ownerOf
  }

  /**
   * Adds the key to the environment. If another environment owns it, reports an issue whose message
   * starts with `subject`.
   */
  add(key: string, { builder, location }: KeyOwner, subject = ''): void {
    const owner = this.#owners.get(key)
    if (!owner) this.#owners.set(key, { builder, location })
    const report = (name: string) =>
      location.report(`${subject}is the API key of ${name}; use a key that is unique`)
    const otherOwner = this.#ownerOf?.(key)
    if (otherOwner && otherOwner.id !== builder.data.id) {
      report(`environment ${otherOwner.name}, which is not in these seeds`)
    } else if (owner && owner.builder !== builder) {
      report(`environment ${owner.builder.data.name}, at ${owner.location.describe()}`)
    } else if (!owner) {
      builder.data.apiKeys.push(key)
    }
  }
}
