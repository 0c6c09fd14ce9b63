import { Kind, type TObject } from '@sinclair/typebox'
import type { Db } from '../db/open.js'
import { type Clock, isoTime } from '../domain/clock.js'
import { DomainError } from '../domain/errors.js'
import { deriveId, parseId } from '../domain/ids.js'
import { parseRecordTime } from '../domain/record-times.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { toMessageRow } from '../messages/row.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { createIssue, SeedError } from './errors.js'
import { exportMessage, exportStep, withoutOwner } from './export.js'
import {
  type EnvironmentData,
  SeedIntegration,
  SeedMessage,
  SeedStep,
  type Stored
} from './format.js'
import { readSeed, type SeedFile } from './read.js'
import {
  datasetOf,
  type ExistingRecords,
  RECORD_KINDS,
  type RecordKind,
  type RecordRow,
  SeedRepository
} from './repository.js'
import type { SeedTarget } from './resolve/builder.js'
import { resolveSeeds } from './resolve/resolve.js'

/** The new values of a record's fields. `null` removes an optional field. */
export type Patch<RecordSeed> = {
  [Field in keyof Omit<RecordSeed, '_id'>]?: RecordSeed[Field] | null
}

/** The seed formats of the records that can be added, changed and removed individually. */
export type EditedSeeds = { messages: SeedMessage; integrations: SeedIntegration }
export type EditedKind = keyof EditedSeeds

const EDITED = {
  messages: { label: 'Message', schema: SeedMessage, list: 'GET /v1/messages' },
  integrations: {
    label: 'Integration',
    schema: SeedIntegration,
    list: 'GET /_mock/integrations'
  }
}

type RecordNames = { _id?: string | undefined; identifier?: string | undefined }

export interface Dependencies {
  db: Db
  clock: Clock
  environments: EnvironmentService
}

/**
 * Stores records, and adds, changes and removes individual records. Adding or changing a record
 * works like merging a seed that contains only this record. If the record has issues, throws a
 * `SeedError` that lists them, and changes nothing.
 */
export class RecordService {
  protected readonly db: Db
  protected readonly clock: Clock
  protected readonly environments: EnvironmentService
  protected readonly repository: SeedRepository

  constructor({ db, clock, environments }: Dependencies) {
    this.db = db
    this.clock = clock
    this.environments = environments
    this.repository = new SeedRepository(db)
  }

  /**
   * Adds a record. A message without `createdAt` gets the environment's current time and is listed
   * first. Throws `exists` if the `_id` or `identifier` is taken.
   */
  addRecord<EditKind extends EditedKind>(
    kind: EditKind,
    environment: Environment,
    seed: EditedSeeds[EditKind]
  ) {
    return this.db.transaction(() => {
      this.#rejectExisting(kind, environment, seed)
      const now = environment.now()
      const record = kind === 'messages' ? { createdAt: isoTime(now), ...seed } : seed
      const _id = this.#unusedId(kind, environment, record, now)
      return this.#save(kind, environment, { _id, ...record })
    })
  }

  /**
   * Changes the record with this `_id` or `identifier`. Throws `not-found` if there is none, and
   * `exists` if the new identifier is taken.
   */
  changeRecord<EditKind extends EditedKind, Change extends Patch<EditedSeeds[EditKind]>>(
    kind: EditKind,
    environment: Environment,
    id: string,
    patch: Change
  ) {
    return this.db.transaction(() => {
      const stored = this.#requireRecord(kind, environment, id)
      const isMessage = '_subscriberId' in stored
      const base = isMessage ? this.#messageBase(environment, stored, patch) : withoutOwner(stored)
      const seed = withoutRemoved(EDITED[kind].schema, { ...base, ...patch })
      this.#rejectExisting(kind, environment, { identifier: seed.identifier }, stored._id)
      const keepsSubscriber = !SUBSCRIBER_FIELDS.some((field) => field in patch)
      const kept =
        isMessage && keepsSubscriber ? { _subscriberId: stored._subscriberId } : undefined
      return this.#save(kind, environment, seed, kept)
    })
  }

  /**
   * Changes a step of a workflow. `workflowId` can be the workflow's `_id` or `identifier`, and
   * `stepId` can be the step's `_id` or `stepId`. The other steps don't change, even if their
   * variables contain results of this step. Throws `not-found` if there is no such step.
   */
  changeStep(
    environment: Environment,
    workflowId: string,
    stepId: string,
    patch: Patch<SeedStep>
  ): WorkflowStep {
    return this.db.transaction(() => {
      const existing = this.repository.lookUp(environment)
      const workflow =
        existing.find('workflows', '_id', workflowId) ??
        existing.find('workflows', 'identifier', workflowId)
      const steps = workflow ? existing.stepsOf(workflow._id) : []
      const index = steps.findIndex((step) => step._id === stepId || step.stepId === stepId)
      if (index === -1) throw stepNotFound(workflowId, stepId)
      const seeds = steps.map((step, at) => {
        const seed = exportStep(step)
        return at === index ? withoutRemoved(SeedStep, { ...seed, ...patch }) : seed
      })
      return relocateIssues('step', /^workflows\[0\]\.steps\[\d+\]\.?/, () => {
        const seed = readSeed({ workflows: [{ ...workflow, steps: seeds }] })
        const resolved = this.resolve(seed, environment, existing)
        this.store(environment, resolved)
        return resolved.steps[index] as WorkflowStep
      })
    })
  }

  /**
   * Removes a record. Removing a primary integration doesn't make another integration primary.
   * Throws `not-found` if there is no such record.
   */
  removeRecord(kind: EditedKind, environment: Environment, id: string): void {
    this.db.transaction(() => {
      const { _id } = this.#requireRecord(kind, environment, id)
      this.repository.delete(kind, this.environments.writableDataset(environment, kind), _id)
    })
  }

  /**
   * Resolves a seed with one environment. To merge the seed with existing records, pass them as
   * `existing`.
   */
  protected resolve(
    file: SeedFile,
    target: SeedTarget,
    existing?: ExistingRecords,
    now = this.clock()
  ): EnvironmentData {
    const [data] = resolveSeeds([file], now, { target, existing })
    return data as EnvironmentData
  }

  /**
   * Stores records. Each one replaces the record with the same id or name. Call this in a
   * transaction. Rows are created one by one, because all rows together can need much more memory
   * than the records.
   */
  protected store(
    environment: Environment,
    data: Partial<Pick<EnvironmentData, RecordKind>>
  ): void {
    for (const kind of RECORD_KINDS) {
      const records = data[kind] ?? []
      if (records.length === 0) continue
      const dataset = this.environments.writableDataset(environment, datasetOf(kind))
      for (const [position, record] of records.entries()) {
        this.repository.put(kind, dataset, { ...toRow(kind, record), position })
      }
    }
  }

  /** Resolves and stores one record. The fields in `kept` override the resolved fields. */
  #save<EditKind extends EditedKind>(
    kind: EditKind,
    environment: Environment,
    record: RecordNames,
    kept: object = {}
  ) {
    const seed = kind === 'messages' ? { transactionId: `txn_${record._id}`, ...record } : record
    return relocateIssues(kind.slice(0, -1), /^\w+\[0\]\.?/, () => {
      // The number of messages is needed only to derive an id. This record already has an id, so
      // don't count the messages.
      const existing = { ...this.repository.lookUp(environment), messageCount: () => 0 }
      const [resolved] = this.resolve(readSeed({ [kind]: [seed] }), environment, existing)[kind]
      const document = { ...resolved, ...kept } as EnvironmentData[EditKind][number]
      this.store(environment, { [kind]: [document] })
      return document
    })
  }

  #findRecord(kind: EditedKind, environment: Environment, names: RecordNames) {
    const { find } = this.repository.lookUp(environment)
    const { _id = '', identifier = '' } = names
    const record = find(kind, '_id', _id)
    if (record || kind !== 'integrations') return record
    return find(kind, 'identifier', identifier)
  }

  #requireRecord(kind: EditedKind, environment: Environment, id: string) {
    const record = this.#findRecord(kind, environment, { _id: parseId(id) ?? id, identifier: id })
    if (record) return record
    const { label, list } = EDITED[kind]
    const kindName = label.toLowerCase()
    const reason = `this environment has no ${kindName} ${id}; ${list} lists its ${kind}`
    throw new DomainError('not-found', `${label} with id ${id} not found`, { reason })
  }

  /** Throws `exists` if a record other than the one with `ownId` has this id or identifier. */
  #rejectExisting(
    kind: EditedKind,
    environment: Environment,
    names: RecordNames,
    ownId?: string
  ): void {
    const record = this.#findRecord(kind, environment, names)
    if (!record || record._id === ownId) return
    const name = record._id === names._id ? `id ${names._id}` : `identifier ${names.identifier}`
    const path = `/_mock/${kind}/{id}`
    const reason = `to change it, use PATCH ${path}; to remove it, use DELETE ${path}`
    throw new DomainError('exists', `${EDITED[kind].label} with ${name} already exists`, { reason })
  }

  /**
   * Returns an unused id. Messages with the same time are listed by descending id. A new message
   * gets a higher id than these messages, so that it is listed before them.
   */
  #unusedId(
    kind: EditedKind,
    environment: Environment,
    record: RecordNames & { createdAt?: string },
    now: number
  ): string {
    const { find } = this.repository.lookUp(environment)
    const reading = { now, shift: 0 }
    const time = kind === 'messages' ? parseRecordTime(record.createdAt ?? '', reading) : undefined
    const highestId = time === undefined ? undefined : find(kind, 'createdAt', time)?._id
    let id = highestId ?? deriveId(kind, JSON.stringify(record))
    while (find(kind, '_id', id)) id = nextId(id)
    return id
  }

  /** Returns the message as a seed, without the fields that the patch makes outdated. */
  #messageBase(
    environment: Environment,
    message: MessageResponse,
    patch: Patch<SeedMessage>
  ): object {
    const { channel = message.channel, ...otherFields } = patch
    const isMoved = channel !== message.channel
    const changedFields = Object.keys(isMoved ? patch : otherFields)
    const derivedFields = changedFields.flatMap((field) => DERIVED[field] ?? [])
    const { templateIdentifier: workflow } = message
    // Keep the reference to the workflow, so that the message gets that workflow's step for its new
    // channel.
    const hasWorkflow =
      isMoved &&
      workflow !== undefined &&
      this.repository.lookUp(environment).find('workflows', 'identifier', workflow) !== undefined
    return {
      ...exportMessage(message),
      ...(hasWorkflow && { workflow }),
      ...Object.fromEntries(derivedFields.map((field) => [field, undefined]))
    }
  }
}

function nextId(id: string): string {
  const next = BigInt(`0x${id}`) + 1n
  return next.toString(16).padStart(24, '0').slice(-24)
}

function stepNotFound(workflowId: string, stepId: string): DomainError {
  const reason =
    `this environment has no workflow ${workflowId} with a step ${stepId}; ` +
    'GET /_mock/workflows lists the steps'
  return new DomainError('not-found', `Step with id ${stepId} not found`, { reason })
}

/**
 * Runs the action. If it throws a `SeedError`, sets the file of the issues to `file`, and removes
 * `prefix` from their paths, so that the paths are relative to the record.
 */
function relocateIssues<Result>(file: string, prefix: RegExp, action: () => Result): Result {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    const issues = error.issues.map(({ path, message }) =>
      createIssue({ file, path: path.replace(prefix, ''), message })
    )
    throw new SeedError(issues)
  }
}

/** Returns the table row for a document. */
function toRow(
  kind: RecordKind,
  document: { _id: string; workflowDatabaseId?: string }
): RecordRow {
  if (kind === 'messages') return toMessageRow(document as Stored<MessageResponse>)
  const { _id: id, workflowDatabaseId: workflowId } = document
  const columns = { id, workflowId, document: JSON.stringify(document) }
  return { ...document, ...columns }
}

/** A patch with any of these fields changes a message's subscriber. */
const SUBSCRIBER_FIELDS = ['subscriberId', 'subscriber', '_subscriberId']

const ADDRESS_FIELDS = ['_subscriberId', 'email', 'phone']

/** For each field of a message, the other fields that are derived again if this field changes. */
const DERIVED: { [field: string]: readonly string[] } = {
  subscriber: ADDRESS_FIELDS,
  subscriberId: ['subscriber', ...ADDRESS_FIELDS],
  workflow: ['_templateId', 'templateIdentifier', '_messageTemplateId'],
  channel: ['providerId', '_messageTemplateId', ...ADDRESS_FIELDS]
}

/** Returns the fields without null values. Keeps null if the field's schema allows it. */
function withoutRemoved({ properties }: TObject, fields: object): RecordNames {
  const entries = Object.entries(fields).filter(
    ([field, value]) => value !== null || properties[field]?.[Kind] === 'Nullable'
  )
  return Object.fromEntries(entries)
}
