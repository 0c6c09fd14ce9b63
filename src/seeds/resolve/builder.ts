import { readClock } from '../../domain/clock.js'
import { deriveId, slugify } from '../../domain/ids.js'
import { didYouMean, MAX_CANDIDATES } from '../../domain/suggestions.js'
import type { Environment } from '../../environments/service.js'
import type { Integration } from '../../integrations/schemas.js'
import type { Path } from '../../schema/validation.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import { createSeedError } from '../errors.js'
import type { EnvironmentData, SeedEnvironment, WorkflowDocument } from '../format.js'
import { formatLimit } from '../limits.js'
import type { ExistingRecords, LookupKey, NamedKind, RecordKind } from '../repository.js'
import type { SeedLocation } from './location.js'
import type { TakenNames } from './names.js'

/** The environment that a seed is loaded into. */
export type SeedTarget = Pick<Environment, 'id' | 'organizationId' | 'name' | 'clock'>

/** For each kind of record, the field that contains a record's unique name. */
const NAME_FIELDS = {
  integrations: 'identifier',
  subscribers: 'subscriberId',
  workflows: 'identifier'
} as const satisfies Record<NamedKind, LookupKey>

interface Options {
  target: SeedTarget
  /** The environment's existing records, and the seed that replaces some of them. */
  replacing?: { existing: ExistingRecords; seed: SeedEnvironment } | undefined
  /** The location where the environment first appears in the seeds. */
  location: SeedLocation
  /**
   * The organization's id and the environment's name. Default ids are derived from them, so the
   * same seed always yields the same ids.
   */
  idBase: readonly string[]
  now: number
}

/** A record's claim to a value that only one record can have, and the location of the claim. */
interface Claim {
  key: readonly string[]
  at: SeedLocation
  /**
   * Returns the issue's message if another record claimed the value first. `first` describes the
   * location of that first claim.
   */
  message(first: string): string
}

/** Collects the records of one environment. Reports duplicates and broken references. */
export class EnvironmentBuilder {
  readonly data: EnvironmentData
  readonly location: SeedLocation
  readonly existing: ExistingRecords | undefined
  /** The fields of a document that refer to its environment and organization. */
  readonly owner: { _environmentId: string; _organizationId: string }
  /**
   * The kinds with at least one record whose name is invalid. References to records of these kinds
   * are never reported as broken, because they might refer to the record with the invalid name.
   */
  readonly unknownKinds = new Set<RecordKind>()
  /** The integration identifiers that are taken. A default identifier must not be one of them. */
  readonly identifiers: TakenNames = new Map()
  /** For each channel, the default provider of its messages. */
  readonly providers = new Map<string, string | undefined>()

  readonly #target: SeedTarget
  readonly #idBase: readonly string[]
  readonly #now: number
  readonly #replacedNames: ReadonlySet<string>
  readonly #named = new Map<string, EnvironmentData[NamedKind][number]>()
  readonly #stepsByWorkflow = new Map<string, WorkflowStep[]>()
  readonly #claims = new Map<string, SeedLocation>()
  #messageNumber: number
  #addedCharacters = 0

  constructor({ target, replacing, location, idBase, now }: Options) {
    const { id, organizationId, name } = target
    this.location = location
    this.existing = replacing?.existing
    this.owner = { _environmentId: id, _organizationId: organizationId }
    this.#target = target
    this.#idBase = idBase
    this.#now = now
    this.#replacedNames = replacing ? namesIn(replacing.seed) : new Set()
    this.#messageNumber = this.existing?.messageCount() ?? 0
    this.data = {
      id,
      organizationId,
      name,
      profile: null,
      assumptions: {},
      apiKeys: [],
      integrations: [],
      subscribers: [],
      workflows: [],
      steps: [],
      messages: [],
      stubs: []
    }
  }

  /** Adds a record under its name. Pass `steps` if the record is a workflow. */
  add<Kind extends NamedKind>(
    kind: Kind,
    name: string,
    record: EnvironmentData[Kind][number],
    steps: readonly WorkflowStep[] = []
  ): void {
    const records: EnvironmentData[NamedKind][number][] = this.data[kind]
    records.push(record)
    this.#named.set(`${kind} ${name}`, record)
    this.data.steps.push(...steps)
    this.#stepsByWorkflow.set(record._id, [...steps])
  }

  /** Returns the steps of a workflow, which may be in the seeds or already in the environment. */
  stepsOf({ _id }: WorkflowDocument): WorkflowStep[] {
    const steps = this.#stepsByWorkflow.get(_id) ?? this.existing?.stepsOf(_id) ?? []
    this.#stepsByWorkflow.set(_id, steps)
    return steps
  }

  /** Returns the current time. Uses the clock set by the seeds, or else the environment's clock. */
  currentTime(): number {
    return readClock(this.data.clock ?? this.#target.clock, () => this.#now)
  }

  /**
   * Reports an issue if another record has already claimed the value. Returns whether this claim is
   * the first.
   */
  claim({ key, at, message }: Claim): boolean {
    const id = JSON.stringify(key)
    const first = this.#claims.get(id)
    if (!first) {
      this.#claims.set(id, at)
      return true
    }
    at.report(() => message(first.describe()))
    return false
  }

  /** Reports an issue if the id is taken by a record in the seeds. Returns whether it is free. */
  claimId(kind: RecordKind, _id: string, record: SeedLocation): boolean {
    const label = singular(kind)
    return this.claim({
      key: [label, '_id', _id],
      at: record.at('_id'),
      message: (first) => `is already used by another ${label}, at ${first}`
    })
  }

  /**
   * Reports an issue if another record has the name or the id. A step's name only has to be
   * unique in its workflow, which `scope` identifies.
   */
  claimNames(
    kind: NamedKind | 'steps',
    [field, name, scope = '']: readonly [field: string, name: string, scope?: string],
    _id: string,
    record: SeedLocation
  ): void {
    const label = singular(kind)
    const isUnique = this.claim({
      key: [label, field, name, scope],
      at: record.at(field),
      message: (first) => `is already used by another ${label}, at ${first}`
    })
    if (!isUnique || !this.claimId(kind, _id, record)) return
    const isStored = kind === 'steps' ? this.#isStepStored(_id) : this.stored(kind, '_id', _id)
    if (isStored) {
      record.at('_id').report(`is already used by another ${label} of this environment`)
    }
  }

  /**
   * Returns whether the environment has a step with this id in a workflow that the seed doesn't
   * replace.
   */
  #isStepStored(_id: string): boolean {
    const step = this.existing?.find('steps', '_id', _id)
    if (!step) return false
    return this.stored('workflows', '_id', step.workflowDatabaseId) !== undefined
  }

  /** Reports an issue if the integration's channel already has another primary integration. */
  claimPrimary({ channel }: Integration, primary: SeedLocation): void {
    const seedPrimary = this.data.integrations.find(
      (integration) =>
        integration.channel === channel && integration.primary && !integration.deleted
    )
    const message = (identifier: string | undefined, place: string) =>
      `must be false: channel ${channel} already has the primary integration ` +
      `${identifier}, ${place}`
    const isFirst = this.claim({
      key: ['primary', channel],
      at: primary,
      message: (first) => message(seedPrimary?.identifier, `at ${first}`)
    })
    const storedPrimary = isFirst ? this.stored('integrations', 'primary', channel) : undefined
    if (storedPrimary) {
      primary.report(message(storedPrimary.identifier, 'in this environment'))
    }
  }

  /**
   * If the seed replaces an existing record with this name, returns that record's id. Otherwise,
   * derives an id from the name.
   */
  recordId(kind: NamedKind, name: string): string {
    const field = NAME_FIELDS[kind]
    const isReplacing = this.#replacedNames.has(nameKey(kind, field, name))
    const replacedId = isReplacing ? this.existing?.find(kind, field, name)?._id : undefined
    // Don't use the replaced record's id if another record in the seed has this id.
    if (replacedId !== undefined && !this.#replacedNames.has(nameKey(kind, '_id', replacedId))) {
      return replacedId
    }
    return this.derivedId(singular(kind), name)
  }

  derivedId(...path: Path): string {
    return deriveId(...this.#idBase, ...path)
  }

  /**
   * Returns the number to derive the next message's id from. Skips numbers whose derived id belongs
   * to an existing message.
   */
  nextMessageNumber(): number {
    const isTaken = () =>
      this.existing?.find('messages', '_id', this.derivedId('message', this.#messageNumber))
    while (isTaken()) this.#messageNumber += 1
    const messageNumber = this.#messageNumber
    this.#messageNumber += 1
    return messageNumber
  }

  /** Returns the record with this name. Reports an issue if there is none. */
  referenced<Kind extends NamedKind>(
    kind: Kind,
    name: string | undefined,
    at: SeedLocation
  ): EnvironmentData[Kind][number] | undefined {
    if (name === undefined) return undefined
    const record = this.#named.get(`${kind} ${name}`) ?? this.stored(kind, NAME_FIELDS[kind], name)
    if (!record && !this.unknownKinds.has(kind)) at.report(() => this.#notFound(kind, name))
    return record as EnvironmentData[Kind][number] | undefined
  }

  #notFound(kind: NamedKind, name: string): string {
    const field = NAME_FIELDS[kind]
    const seedNames = this.data[kind].map((record) => record[field as never] as string)
    const storedNames = this.existing?.names(kind) ?? []
    const names = [...seedNames, ...storedNames].slice(0, MAX_CANDIDATES)
    if (names.length === 0) return `is ${name}, but this environment has no ${kind}`
    const fix = didYouMean(name, names) || `; it has ${names.slice(0, 10).join(', ')}`
    return `is ${name}, but this environment has no such ${singular(kind)}${fix}`
  }

  /**
   * Returns the existing record whose field `key` has this value. Returns undefined if there is
   * none, or if a record in the seed replaces it.
   */
  stored<Kind extends NamedKind>(
    kind: Kind,
    key: LookupKey,
    value: string
  ): EnvironmentData[Kind][number] | undefined {
    const record = this.existing?.find(kind, key, value)
    if (!record) return undefined
    const isReplaced = (['_id', NAME_FIELDS[kind]] as const).some((field) =>
      this.#replacedNames.has(nameKey(kind, field, record[field as never]))
    )
    return isReplaced ? undefined : record
  }

  /**
   * Counts the characters of JSON that defaults, references and generated messages add to the seed.
   * Throws `SeedError` if the total exceeds the limit.
   */
  countAdded(characters: number, at: SeedLocation): void {
    this.#addedCharacters += characters
    const { added: limit, where, fix } = at.file.limits
    if (this.#addedCharacters <= limit) return
    at.report(
      'makes the seed too large: defaults, references and generated messages add more than ' +
        `${formatLimit(limit)} of JSON, the limit ${where}; ${fix}`
    )
    throw createSeedError([at.file.issues])
  }
}

const singular = (kind: RecordKind): string => kind.slice(0, -1)

const nameKey = (kind: NamedKind, field: string, name: string) => `${kind} ${field} ${name}`

/** Returns the names and ids in the seed. Existing records with these names or ids are replaced. */
function namesIn(seed: SeedEnvironment): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { _id, identifier = '' } of seed.integrations ?? []) {
    names.add(nameKey('integrations', '_id', _id ?? ''))
    names.add(nameKey('integrations', 'identifier', identifier))
  }
  for (const { _id, subscriberId = '' } of seed.subscribers ?? []) {
    names.add(nameKey('subscribers', '_id', _id ?? ''))
    names.add(nameKey('subscribers', 'subscriberId', subscriberId))
  }
  for (const { _id, name, identifier = slugify(name ?? '') } of seed.workflows ?? []) {
    names.add(nameKey('workflows', '_id', _id ?? ''))
    names.add(nameKey('workflows', 'identifier', identifier))
  }
  return names
}
