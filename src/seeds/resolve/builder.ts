import type { Static, TObject } from '@sinclair/typebox'
import { isoTime, parseIsoTime, timeBy } from '../../core/clock.js'
import { idIn, idOf } from '../../core/ids.js'
import { MAX_CANDIDATES, suggest } from '../../core/suggest.js'
import type { Path } from '../../core/validation.js'
import type { Environment } from '../../environments/service.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { EnvironmentData, Stored, WorkflowDocument } from '../environment-data.js'
import { addIssue, byLocation, type IssueList, SeedError } from '../errors.js'
import { type ExistingData, recordKey } from '../existing-data.js'
import { formatLimit, type SeedLimits } from '../limits.js'
import type { SeedFile } from '../read.js'

/** A value in a seed, to report issues there. */
export interface SeedLocation {
  at(...path: Path): SeedLocation
  /**
   * The words follow the path in a sentence: `must be …`, `is …`. They may be a function, if it takes long to find them: it
   * is called for the first hundred issues only.
   */
  report(message: string | (() => string)): void
  /** Throws SeedError with this issue and those that were reported: for what would take all memory. */
  fail(message: string): never
  /** `shop.yaml:4:23`, or the file and the path where there is no text. */
  describe(): string
  limits: SeedLimits
}

export function locationIn(file: SeedFile, list: IssueList, path: Path = []): SeedLocation {
  return {
    limits: file.limits,
    at: (...more) => locationIn(file, list, [...path, ...more]),
    report(message) {
      addIssue(list, () => file.issueAt(path, typeof message === 'string' ? message : message()))
    },
    fail(message) {
      throw new SeedError([...list.issues, file.issueAt(path, message)].sort(byLocation), list.more)
    },
    describe() {
      const issue = file.issueAt(path, '')
      return issue.line === undefined ? `${issue.location} ${issue.path}`.trim() : issue.location
    }
  }
}

export const INVALID_TIME = 'must be a time in ISO 8601, such as 2026-02-18T10:07:11.402Z'

/** The environment that a seed is loaded into while the server runs. */
export type SeedTarget = Pick<Environment, 'id' | 'organizationId' | 'name' | 'clock'>

interface Options {
  target: SeedTarget
  existing?: ExistingData | undefined
  /** Where the environment is first described. */
  location: SeedLocation
  /** Ids are derived from it: the same seed gives the same ids, whichever environment it is loaded into. */
  idBase: readonly string[]
  /** The ids of the records that are replaced, by `recordKey`. */
  replacedIds?: ReadonlyMap<string, string> | undefined
  now: number
}

export type EnvironmentBuilder = ReturnType<typeof environmentBuilder>

/** Collects the records of one environment, and reports what is there twice or refers to nothing. */
export function environmentBuilder({ target, existing, location, idBase, replacedIds, now }: Options) {
  const { id, organizationId, name, clock } = target
  let messageNumber = existing?.messageCount ?? 0
  let added = 0
  const uses = new Map<string, SeedLocation>()
  const settings = { profile: null, assumptions: {}, apiKeys: [] }
  const records = { integrations: [], subscribers: [], workflows: [], steps: [], messages: [] }
  const data: EnvironmentData = { id, organizationId, name, ...settings, ...records }
  const builder = {
    data,
    location,
    /** The identifiers of all integrations here, so that no default is one of them. */
    identifiers: { names: new Set(), suffixes: new Map() } as TakenNames,
    /** The provider of messages without one, by channel. */
    providers: new Map<string, string | undefined>(),
    /** The characters of each subscriber in JSON. */
    sizes: new Map<SubscriberResponse, number>(),
    subscribers: new Map<string, Stored<SubscriberResponse>>(),
    workflows: new Map<string, { workflow: WorkflowDocument; steps: WorkflowStep[] }>(),
    /** The fields of a document that say which environment it belongs to. */
    owner: { _environmentId: id, _organizationId: organizationId },

    /** Returns the time by the clock that the seeds set, or by that of the target. */
    present: () => timeBy(data.clock ?? clock, () => now),

    /** Returns whether it is the first use, and reports an issue if not. `use` begins with the kind of the thing. */
    claim(
      use: readonly [kind: string, ...string[]],
      at: SeedLocation,
      message = (first: string) => `is that of another ${use[0]} too, at ${first}`
    ): boolean {
      const key = JSON.stringify(use)
      const first = uses.get(key)
      if (first) at.report(() => message(first.describe()))
      else uses.set(key, at)
      return !first
    },

    /** Reports an issue if another record of the kind has the name or the id. */
    claimNames(record: readonly [kind: string, field: string, ...name: string[]], _id: string, at: SeedLocation): void {
      const [kind, field] = record
      if (builder.claim(record, at.at(field))) builder.claim([kind, '_id', _id], at.at('_id'))
    },

    /** Returns the id of a record that its seed gives none: that of the record it replaces, or one of its path. */
    derivedId: (...path: Path) => replacedIds?.get(recordKey(...path)) ?? idOf(...idBase, ...path),

    /** Returns the next number whose id no existing message has. */
    nextMessageNumber(): number {
      while (existing?.hasMessage(builder.derivedId('message', messageNumber))) messageNumber += 1
      return messageNumber++
    },

    /** Returns the record of that name; reports an issue if there is none. `idOfNamed` returns the `_id` of one. */
    referenced<Named>(
      kind: string,
      reference: string | undefined,
      all: ReadonlyMap<string, Named>,
      idOfNamed: (named: Named) => string,
      at: SeedLocation
    ): Named | undefined {
      if (reference === undefined || all.has(reference)) return all.get(reference ?? '')
      at.report(() => unknownReference(kind, reference, all, idOfNamed))
      return undefined
    },

    /** Counts what a default or a reference adds to a record, in characters of JSON. Throws SeedError beyond the limit. */
    countAdded(size: number, at: SeedLocation): void {
      added += size
      const { added: most, where, remedy } = at.limits
      if (added <= most) return
      at.fail(
        `is too much: up to here defaults and references add more than ${formatLimit(most)}, the most ${where}: ${remedy}`
      )
    }
  }
  return builder
}

function unknownReference<Named>(
  kind: string,
  reference: string,
  all: ReadonlyMap<string, Named>,
  idOf: (named: Named) => string
): string {
  if (all.size === 0) return `is ${reference}, but this environment has no ${kind}s`
  const id = idIn(reference)
  const [owner] = [...all].find(([, named]) => idOf(named) === id) ?? []
  if (owner !== undefined) return `is ${reference}, the _id of the ${kind} ${owner}: refer to it as ${owner}`
  const names = [...all.keys()].slice(0, MAX_CANDIDATES)
  const suggested = suggest(reference, names)
  const remedy = suggested ? `did you mean ${suggested}?` : `there are ${names.slice(0, 10).join(', ')}`
  return `is ${reference}, but this environment has no such ${kind}; ${remedy}`
}

/** The names that are taken, and the last suffix that each got. */
export interface TakenNames {
  names: Set<string | undefined>
  suffixes: Map<string, number>
}

/** Returns the base, or the first of `base-2`, `base-3`, ... that is not taken, and takes it. */
export function unusedName(base: string, { names, suffixes }: TakenNames): string {
  let name = base
  for (let suffix = suffixes.get(base) ?? 2; names.has(name); suffix++) {
    name = `${base}-${suffix}`
    suffixes.set(base, suffix)
  }
  names.add(name)
  return name
}

/** Returns those of the fields that hold a time, in the form of the wire. */
export function timesOf<Field extends string>(
  seed: { [Name in Field]?: string | null },
  fields: readonly Field[],
  location: SeedLocation
): { [Name in Field]?: string } {
  const given = fields.filter((field) => typeof seed[field] === 'string')
  const times = given.map((field) => [field, timeOf(String(seed[field]), location.at(field))])
  return Object.fromEntries(times)
}

export function timeOf(text: string, location: SeedLocation): string {
  const time = parseIsoTime(text)
  if (time !== undefined) return isoTime(time)
  location.report(INVALID_TIME)
  return text
}

/** A copy with the fields in the contract's order and without those that are undefined. */
export function inOrder<Schema extends TObject, Document extends Static<Schema>>(
  schema: Schema,
  document: Document
): Document {
  const fields = Object.keys(schema.properties).map((name) => [name, document[name as never]] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Document
}
