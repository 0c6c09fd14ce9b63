import type { TObject, TSchema } from '@sinclair/typebox'
import { parseIsoTime } from '../../domain/clock.js'
import { MessageResponse } from '../../messages/schemas.js'
import { findIssues, isTooDeep, type Path, TOO_DEEP } from '../../schema/validation.js'
import { SeedMessage, SeedStep } from '../../seeds/format.js'
import { recordProblem } from '../../seeds/limits.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import { withContractNames } from '../contract-names.js'
import { isObject } from '../response-checks.js'

/** How often each thing was found that the served seed will not give back. */
export type Notes = Map<string, number>

export function note(notes: Notes, text: string): void {
  notes.set(text, (notes.get(text) ?? 0) + 1)
}

/** What a record of a seed is checked by, and the fields that the contract requires, for which seeds have defaults. */
export interface RecordKind {
  name: string
  schema: TSchema
  required: readonly string[]
}

const requiredOf = ({ required = [] }: TObject) =>
  required.filter((name) => !IMPLIED.includes(name))
/** By where a record stands in a seed. */
const IMPLIED = ['_environmentId', '_organizationId', 'origin', 'workflowId', 'workflowDatabaseId']
const TIMES = [
  'createdAt',
  'updatedAt',
  'lastSeenDate',
  'lastReadDate',
  'lastOnlineAt',
  'snoozedUntil'
]

export const MESSAGE: RecordKind = {
  name: 'message',
  schema: SeedMessage,
  required: requiredOf(MessageResponse)
}
export const STEP: RecordKind = {
  name: 'step',
  schema: SeedStep,
  required: requiredOf(WorkflowStep)
}

/**
 * Returns a record of a seed without what the contract does not have, and notes what that was: undefined if what remains
 * is no record of the contract.
 */
export function inContract<Seed>(
  { name: kind, schema, required }: RecordKind,
  answered: object,
  notes: Notes
) {
  if (isTooDeep(answered)) return refused(TOO_DEEP)
  const record = withContractNames(answered) as Record<string, unknown>
  leaveOutBadTimes(record, kind)
  if (isObject(record.subscriber)) leaveOutBadTimes(record.subscriber, `${kind}.subscriber`)
  if (
    record.status === 'sent' &&
    (record.errorId !== undefined || record.errorText !== undefined)
  ) {
    note(notes, `${kind}.errorId and errorText are left out where the status is sent`)
    delete record.errorId
    delete record.errorText
  }
  for (const field of required.filter((each) => !(each in record))) {
    note(notes, `${kind}.${field} is missing: the seed's default is served`)
  }
  // Each round leaves out what the one before found; what is required takes its object with it.
  for (let round = 0; round < 10; round++) {
    for (const { path, part, message } of findIssues(schema, record)) {
      if (path.length === 0) return refused(message)
      // `message.subscriber.channels[].providerId`; of a free object, whose names may be personal, no more than its name.
      const name = path.reduce<string>(
        (text, each) => text + (typeof each === 'number' ? '[]' : `.${each}`),
        kind
      )
      note(notes, `${name} ${part === 'name' ? 'is not in the contract' : message}: left out`)
      remove(record, path)
    }
  }
  if (findIssues(schema, record).length > 0) return refused('is not as the contract has it')
  const size = recordProblem(record)
  return size === undefined ? (record as Seed) : refused(size)

  function refused(why: string): undefined {
    note(notes, `a ${kind} is left out, as it ${why}`)
    return undefined
  }

  function leaveOutBadTimes(object: Record<string, unknown>, name: string): void {
    const isWrong = (value: unknown) =>
      typeof value === 'string' && parseIsoTime(value) === undefined
    for (const field of TIMES.filter((each) => isWrong(object[each]))) {
      note(notes, `${name}.${field} is no time in ISO 8601: left out`)
      delete object[field]
    }
  }
}

function remove(record: Record<string, unknown>, path: Path): void {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((node, part) => (node as Record<string, unknown>)?.[part], record)
  const last = path.at(-1) as string
  if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else if (isObject(parent)) delete parent[last]
}
