import type { Static, TObject } from '@sinclair/typebox'
import { isoTime, parseIsoTime, readClock } from '../../domain/clock.js'
import { deriveId, slugify } from '../../domain/ids.js'
import { didYouMean, MAX_CANDIDATES } from '../../domain/suggestions.js'
import type { Environment } from '../../environments/service.js'
import type { Integration } from '../../integrations/schemas.js'
import type { Path } from '../../schema/validation.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import { errorOf } from '../errors.js'
import type { EnvironmentData, SeedEnvironment, WorkflowDocument } from '../format.js'
import { formatLimit } from '../limits.js'
import type { SeedFile } from '../read.js'
import type { ExistingRecords, RecordKind } from '../repository.js'

/** A value in a seed, to report issues there. A class, as there are several of each message, and most are kept. */
export class SeedLocation {
  readonly file: SeedFile
  private readonly path: Path

  constructor(file: SeedFile, path: Path) {
    this.file = file
    this.path = path
  }

  at(...path: Path): SeedLocation {
    return new SeedLocation(this.file, this.path.concat(path))
  }

  /** The words follow the path in a sentence: `must be …`. A function is called for the first hundred issues only. */
  report(message: string | (() => string)): void {
    this.file.issues.push(() =>
      this.file.issueAt(this.path, typeof message === 'string' ? message : message())
    )
  }

  /** Returns those of the fields here that hold a time, in the form of the wire. */
  timesOf(seed: object, fields: readonly string[]): Record<string, string> {
    const times: Record<string, string> = {}
    for (const field of fields) {
      const text: unknown = seed[field as never]
      if (typeof text === 'string') times[field] = this.at(field).timeOf(text)
    }
    return times
  }

  timeOf(text: string): string {
    const time = parseIsoTime(text)
    if (time !== undefined) return isoTime(time)
    this.report(INVALID_TIME)
    return text
  }

  /** `shop.yaml:4:23`, or the file and the path where there is no text. */
  describe(): string {
    const { line, location, path } = this.file.issueAt(this.path, '')
    return line === undefined ? `${location} ${path}`.trim() : location
  }
}

export const INVALID_TIME = 'must be a time in ISO 8601, such as 2026-02-18T10:07:11.402Z'

/** The environment that a seed is loaded into while the server runs. */
export type SeedTarget = Pick<Environment, 'id' | 'organizationId' | 'name' | 'clock'>

/** The field that has the name of a record, of the kinds that have one. */
const NAMES = {
  integrations: 'identifier',
  subscribers: 'subscriberId',
  workflows: 'identifier'
} as const

type Named = keyof typeof NAMES

/** Says where a stored record is, which no seed has. */
const STORED = 'the environment itself'

interface Options {
  target: SeedTarget
  /** What the environment has, and the seed whose records replace some of it. */
  replacing?: { existing: ExistingRecords; seed: SeedEnvironment } | undefined
  /** Where the environment is first described. */
  location: SeedLocation
  /** Ids are derived from it: the same seed gives the same ids, whichever environment it is loaded into. */
  idBase: readonly string[]
  now: number
}

export type EnvironmentBuilder = ReturnType<typeof environmentBuilder>

/** Collects the records of one environment, and reports what is there twice or refers to nothing. */
export function environmentBuilder({ target, replacing, location, idBase, now }: Options) {
  /** The records of the seeds, by their kind and name, and the steps of workflows. */
  const named = new Map<string, EnvironmentData[Named][number]>()
  const steps = new Map<string, WorkflowStep[]>()
  const uses = new Map<string, SeedLocation>()
  /** The kinds of which there are more records than are known, as these have issues. */
  const unknown = new Set<RecordKind>()
  const existing = replacing?.existing
  const given = replacing ? givenNames(replacing.seed) : new Set()
  let messageNumber = existing?.messageCount() ?? 0
  let added = 0
  const { id, organizationId, name: environmentName } = target
  const data: EnvironmentData = {
    ...{ id, organizationId, name: environmentName, profile: null, assumptions: {}, apiKeys: [] },
    ...{ integrations: [], subscribers: [], workflows: [], steps: [], messages: [] }
  }

  return {
    data,
    location,
    existing,
    unknown,
    /** The identifiers of all integrations here, so that no default is one of them. */
    identifiers: new Map() as TakenNames,
    /** The provider of messages without one, by channel. */
    providers: new Map<string, string | undefined>(),
    /** The fields of a document that say which environment it belongs to. */
    owner: { _environmentId: id, _organizationId: organizationId },
    claim,
    derivedId,
    stored,

    /** Adds a record, to which messages may refer by the name, with its steps. */
    add<Kind extends Named>(
      kind: Kind,
      name: string,
      record: EnvironmentData[Kind][number],
      own: WorkflowStep[] = []
    ) {
      const records: EnvironmentData[Named][number][] = data[kind]
      records.push(record)
      named.set(`${kind} ${name}`, record)
      data.steps.push(...own)
      steps.set(record._id, own)
    },

    /** Returns the steps of a workflow, of the seeds or stored. */
    stepsOf({ _id }: WorkflowDocument): WorkflowStep[] {
      const found = steps.get(_id) ?? existing?.stepsOf(_id) ?? []
      steps.set(_id, found)
      return found
    },

    /** Returns the time by the clock that the seeds set, or by that of the target. */
    present: () => readClock(data.clock ?? target.clock, () => now),

    /** Reports an issue if another record of the kind has the name or the id. A stored step is replaced with its workflow. */
    claimNames(
      kind: Named | 'steps',
      [field, ...name]: readonly string[],
      _id: string,
      at: SeedLocation
    ): void {
      const word = kind.slice(0, -1)
      if (!claim([word, String(field), ...name], at.at(String(field)))) return
      if (!claim([word, '_id', _id], at.at('_id'))) return
      const step = kind === 'steps' && existing?.find(kind, '_id', _id)
      const other =
        kind === 'steps'
          ? step && stored('workflows', '_id', step.workflowDatabaseId)
          : stored(kind, '_id', _id)
      if (other) at.at('_id').report(`is that of another ${word} too, at ${STORED}`)
    },

    /** Reports an integration that is primary where another one is. */
    claimPrimary({ channel }: Integration, at: SeedLocation): void {
      const own = data.integrations.find(
        (each) => each.channel === channel && each.primary && !each.deleted
      )
      const other = own ?? stored('integrations', 'primary', channel)
      const message = (first: string) =>
        `must be false: ${other?.identifier} is the primary ${channel} integration already, at ${first}; a channel has at most one`
      if (claim(['primary', channel], at, message) && other) at.report(message(STORED))
    },

    /** Returns the id of a record that its seed gives none: that of the record it replaces, or one of its name. */
    recordId(kind: Named, name: string): string {
      const isGiven = given.has(`${kind} ${NAMES[kind]} ${name}`)
      const replaced = isGiven ? existing?.find(kind, NAMES[kind], name)?._id : undefined
      return replaced && !given.has(`${kind} _id ${replaced}`)
        ? replaced
        : derivedId(kind.slice(0, -1), name)
    },

    /** Returns the next number whose id no existing message has. */
    nextMessageNumber(): number {
      while (existing?.find('messages', '_id', derivedId('message', messageNumber)))
        messageNumber += 1
      return messageNumber++
    },

    /** Returns the record of that name, of the seeds or stored; reports an issue if there is none. */
    referenced<Kind extends Named>(kind: Kind, reference: string | undefined, at: SeedLocation) {
      if (reference === undefined) return undefined
      const found = named.get(`${kind} ${reference}`) ?? stored(kind, NAMES[kind], reference)
      if (found || unknown.has(kind)) return found as EnvironmentData[Kind][number] | undefined
      at.report(() => {
        const own = data[kind].map((each) => each[NAMES[kind] as never] as string)
        const names = [...own, ...(existing?.names(kind) ?? [])].slice(0, MAX_CANDIDATES)
        if (names.length === 0) return `is ${reference}, but this environment has no ${kind}`
        const remedy =
          didYouMean(reference, names) || `; there are ${names.slice(0, 10).join(', ')}`
        return `is ${reference}, but this environment has no such ${kind.slice(0, -1)}${remedy}`
      })
      return undefined
    },

    /** Counts what a default or a reference adds to a record, in characters of JSON. Throws SeedError beyond the limit. */
    countAdded(size: number, at: SeedLocation): void {
      added += size
      const { added: most, where, remedy } = at.file.limits
      if (added <= most) return
      const what = 'up to here defaults, references and generated messages add more than'
      at.report(`is too much: ${what} ${formatLimit(most)}, the most ${where}: ${remedy}`)
      throw errorOf([at.file.issues])
    }
  }

  function derivedId(...path: Path): string {
    return deriveId(...idBase, ...path)
  }

  /** Returns whether it is the first use, and reports an issue if not. `use` begins with the kind of the thing. */
  function claim(
    use: readonly [kind: string, ...string[]],
    at: SeedLocation,
    message = (first: string) => `is that of another ${use[0]} too, at ${first}`
  ): boolean {
    const key = JSON.stringify(use)
    const first = uses.get(key)
    if (first) at.report(() => message(first.describe()))
    else uses.set(key, at)
    return !first
  }

  /** Returns the stored record with this name or id, unless one of the seed replaces it. */
  function stored<Kind extends Named>(kind: Kind, by: string, value: string) {
    const found = existing?.find(kind, by, value)
    const isReplaced = ['_id', NAMES[kind]].some((field) =>
      given.has(`${kind} ${field} ${found?.[field as never]}`)
    )
    return isReplaced ? undefined : found
  }
}

/** Returns the names and the ids that records of the seed are given: stored ones that have them are replaced. */
function givenNames(seed: SeedEnvironment): ReadonlySet<string> {
  const given = new Set<string>()
  for (const [kind, field] of Object.entries(NAMES) as [Named, 'identifier'][]) {
    for (const record of (seed[kind] ?? []) as readonly {
      _id?: string
      name?: string
      identifier?: string
    }[]) {
      const {
        _id = '',
        name = '',
        [field]: recordName = kind === 'workflows' ? slugify(name) : ''
      } = record
      given.add(`${kind} _id ${_id}`).add(`${kind} ${field} ${recordName}`)
    }
  }
  return given
}

/** The names that are taken, each with the last suffix it got. */
export type TakenNames = Map<string | undefined, number>

/** Returns the base, or the first of `base-2`, `base-3`, ... that is not taken, and takes it. */
export function unusedName(
  base: string,
  taken: TakenNames,
  isStored?: (name: string) => boolean
): string {
  let name = base
  let suffix = taken.get(base) ?? 1
  while (taken.has(name) || isStored?.(name)) name = `${base}-${++suffix}`
  taken.set(base, suffix)
  if (name !== base) taken.set(name, 1)
  return name
}

/** A copy with the fields in the contract's order and without those that are undefined. */
export function inOrder<Schema extends TObject, Document extends Static<Schema>>(
  schema: Schema,
  document: Document
) {
  const fields = Object.keys(schema.properties).map(
    (name) => [name, document[name as never]] as const
  )
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Document
}
