import type { TObject, TSchema } from '@sinclair/typebox'
import { runToEnd } from '../../core/slices.js'
import { findIssues, type Path } from '../../core/validation.js'
import { MessageResponse } from '../../messages/schemas.js'
import { SeedMessage, SeedStep } from '../../seeds/format.js'
import { checkingRecord } from '../../seeds/limits.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import { isObject } from '../answers.js'
import { CONTRACT_NAMES } from '../contract-names.js'
import { isTime } from './replace.js'

/** How often each thing was found that the served seed will not give back. */
export type Notes = Map<string, number>

export function note(notes: Notes, text: string, count = 1): void {
  notes.set(text, (notes.get(text) ?? 0) + count)
}

const TIMES = ['createdAt', 'updatedAt', 'lastSeenDate', 'lastReadDate', 'lastOnlineAt', 'snoozedUntil']

/** What a record of a seed is checked by, and the fields that the contract requires, for which seeds have defaults. */
export interface RecordKind {
  name: string
  schema: TSchema
  required: readonly string[]
}

const OWNER = ['_environmentId', '_organizationId']

export const MESSAGE: RecordKind = {
  name: 'message',
  schema: SeedMessage,
  required: requiredOf(MessageResponse, OWNER)
}
export const STEP: RecordKind = {
  name: 'step',
  schema: SeedStep,
  required: requiredOf(WorkflowStep, ['origin', 'workflowId', 'workflowDatabaseId'])
}

function requiredOf({ required = [] }: TObject, implied: readonly string[]): string[] {
  return required.filter((name) => !implied.includes(name))
}

/**
 * Returns a record of a seed without what the contract does not have, and notes what that was: undefined if what remains
 * is no record of the contract. The record is changed.
 */
export function inContract<Seed>(
  { name: kind, schema, required }: RecordKind,
  record: unknown,
  notes: Notes
): Seed | undefined {
  if (!isObject(record)) return refused('no object')
  withContractNames(record)
  leaveOutBadTimes(record, kind)
  if (isObject(record.subscriber)) leaveOutBadTimes(record.subscriber, `${kind}.subscriber`)
  for (const field of required.filter((each) => !(each in record))) {
    note(notes, `${kind}.${field} is missing: the seed's default is served`)
  }
  // Each round leaves out what the one before found; what is required takes its object with it.
  for (let round = 0; round < 10; round++) {
    const issues = findIssues(schema, record)
    if (issues.length === 0) break
    for (const { path, part, message } of issues) {
      const [top] = path
      if (top === undefined) return refused(message)
      const why = part === 'name' ? 'is not in the contract' : message
      note(notes, `${nameOf(kind, path)} ${why}: left out`)
      remove(record, path)
    }
  }
  if (findIssues(schema, record).length > 0) return refused('not as the contract has it')
  const size = runToEnd(checkingRecord(record))
  return size === undefined ? (record as Seed) : refused(size)

  function refused(why: string): undefined {
    note(notes, `a ${kind} is left out: ${why}`)
    return undefined
  }

  function leaveOutBadTimes(object: Record<string, unknown>, name: string): void {
    for (const field of TIMES) {
      const value = object[field]
      if (typeof value !== 'string' || isTime(value)) continue
      note(notes, `${name}.${field} is no time in ISO 8601: left out`)
      delete object[field]
    }
  }
}

/** `message.subscriber.channels[].providerId` */
function nameOf(kind: string, path: Path): string {
  return [kind, ...path].reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[]` : text ? `${text}.${part}` : part),
    ''
  )
}

function remove(record: Record<string, unknown>, path: Path): void {
  let node: unknown = record
  for (const part of path.slice(0, -1)) node = (node as Record<string, unknown> | undefined)?.[part as string]
  const last = path.at(-1) as string
  if (Array.isArray(node)) node.splice(Number(last), 1)
  else if (isObject(node)) delete node[last]
}

/** Changes the deployed service's words to those of the contract. */
function withContractNames(record: Record<string, unknown>): void {
  for (const field of ['origin', 'providerId']) {
    const name = CONTRACT_NAMES.get(record[field])
    if (name) record[field] = name
  }
  const { subscriber } = record
  const channels = isObject(subscriber) && Array.isArray(subscriber.channels) ? subscriber.channels : []
  for (const channel of channels.filter(isObject)) withContractNames(channel)
}
