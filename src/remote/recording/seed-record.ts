import type { TObject, TSchema } from '@sinclair/typebox'
import { parseIsoTime } from '../../domain/clock.js'
import { maskSecrets } from '../../domain/masking.js'
import { MessageResponse } from '../../messages/schemas.js'
import { findIssues, isObject, isTooDeep, type Path, TOO_DEEP } from '../../schema/validation.js'
import { SeedMessage, SeedStep } from '../../seeds/format.js'
import { findRecordProblem } from '../../seeds/record-problem.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import { withDocumentedNames } from '../documented-names.js'

/**
 * Collects descriptions of how a server with the recorded seed differs from the target. Counts how
 * often each description is added.
 */
export class SeedDeviations {
  readonly #counts = new Map<string, number>()

  add(description: string): void {
    this.#counts.set(description, (this.#counts.get(description) ?? 0) + 1)
  }

  /** Returns one line for each description, with a count if it was added more than once. */
  lines(): string[] {
    return [...this.#counts].map(([description, count]) =>
      count === 1 ? description : `${description} (${count} times)`
    )
  }
}

/** A kind of record in a seed. */
interface RecordKind {
  name: string
  schema: TSchema
  /** Fields that the API reference requires. If a record lacks one, the seed's default is used. */
  required: readonly string[]
}

/** Fields that a record in a seed gets from the environment or workflow that contains it. */
const IMPLIED = ['_environmentId', '_organizationId', 'origin', 'workflowId', 'workflowDatabaseId']
const TIMESTAMPS = [
  'createdAt',
  'updatedAt',
  'lastSeenDate',
  'lastReadDate',
  'lastOnlineAt',
  'snoozedUntil'
]
/**
 * How many times to remove invalid fields. Removing a required field makes the object around it
 * invalid, so the next round removes that object.
 */
const MAX_ROUNDS = 10

const requiredFields = ({ required = [] }: TObject) =>
  required.filter((name) => !IMPLIED.includes(name))

const MESSAGE: RecordKind = {
  name: 'message',
  schema: SeedMessage,
  required: requiredFields(MessageResponse)
}
const STEP: RecordKind = {
  name: 'step',
  schema: SeedStep,
  required: requiredFields(WorkflowStep)
}

/**
 * Converts a message to the format of a seed. Returns undefined if a seed can't contain the
 * message.
 */
export function toSeedMessage(message: object, deviations: SeedDeviations) {
  return toSeedRecord(MESSAGE, message, deviations) as SeedMessage | undefined
}

/** Converts a step to the format of a seed. Returns undefined if a seed can't contain the step. */
export function toSeedStep(step: object, deviations: SeedDeviations) {
  return toSeedRecord(STEP, step, deviations) as SeedStep | undefined
}

/**
 * Returns a copy of the record without fields that are invalid or not in the API reference. Adds
 * these fields to `deviations`. Returns undefined if a seed can't contain the record.
 */
function toSeedRecord(
  { name, schema, required }: RecordKind,
  source: object,
  deviations: SeedDeviations
): Record<string, unknown> | undefined {
  const leaveOut = (reason: string) => {
    deviations.add(`a ${name} is left out: it ${reason}`)
    return undefined
  }
  if (isTooDeep(source)) return leaveOut(TOO_DEEP)
  const record = withDocumentedNames(source) as Record<string, unknown>
  removeInvalidTimestamps(record, name, deviations)
  if (isObject(record.subscriber))
    removeInvalidTimestamps(record.subscriber, `${name}.subscriber`, deviations)
  removeErrorOfSent(record, name, deviations)
  for (const field of required.filter((requiredName) => !(requiredName in record)))
    deviations.add(`${name}.${field} is missing, so the seed's default is used`)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const wholeProblem = removeIssues(schema, record, name, deviations)
    if (wholeProblem !== undefined) return leaveOut(wholeProblem)
  }
  if (findIssues(schema, record).length > 0) return leaveOut('does not match the API reference')
  const problem = findRecordProblem(record)
  return problem === undefined ? record : leaveOut(problem.message)
}

/**
 * Removes fields that don't match the schema. Returns the problem if the whole record is invalid.
 */
function removeIssues(
  schema: TSchema,
  record: Record<string, unknown>,
  name: string,
  deviations: SeedDeviations
): string | undefined {
  for (const { path, part, message } of findIssues(schema, record)) {
    if (path.length === 0) return message
    const problem = part === 'name' ? 'is not in the API reference' : message
    deviations.add(`${fieldName(name, path)} ${problem}: left out`)
    removeField(record, path)
  }
  return undefined
}

/**
 * Returns a field's path without indexes, such as `message.subscriber.channels[].providerId`. Masks
 * secrets in field names, because the target can use any names.
 */
function fieldName(recordName: string, path: Path): string {
  const parts = path.map((part) => (typeof part === 'number' ? '[]' : `.${maskSecrets(part)}`))
  return recordName + parts.join('')
}

function removeField(record: Record<string, unknown>, path: Path): void {
  let parent: unknown = record
  for (const part of path.slice(0, -1)) parent = (parent as Record<string, unknown>)?.[part]
  const last = path.at(-1) as string
  if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else if (isObject(parent)) delete parent[last]
}

function removeInvalidTimestamps(
  record: Record<string, unknown>,
  name: string,
  deviations: SeedDeviations
): void {
  for (const field of TIMESTAMPS) {
    const value = record[field]
    if (typeof value !== 'string' || parseIsoTime(value) !== undefined) continue
    deviations.add(`${name}.${field} is not an ISO 8601 timestamp: left out`)
    delete record[field]
  }
}

/** Removes the error fields if the status is `sent`, because seeds reject that combination. */
function removeErrorOfSent(
  record: Record<string, unknown>,
  name: string,
  deviations: SeedDeviations
): void {
  const hasError = record.errorId !== undefined || record.errorText !== undefined
  if (record.status !== 'sent' || !hasError) return
  deviations.add(`${name}.errorId and errorText are left out if the status is sent`)
  delete record.errorId
  delete record.errorText
}
