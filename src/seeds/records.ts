import { Kind, type TObject } from '@sinclair/typebox'
import type { Db } from '../db/open.js'
import { type Clock, isoTime, parseIsoTime } from '../domain/clock.js'
import { DomainError } from '../domain/errors.js'
import { deriveId, parseId } from '../domain/ids.js'
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
  type SeedRepository
} from './repository.js'
import type { SeedTarget } from './resolve/builder.js'
import { resolveSeeds } from './resolve/resolve.js'

/** The fields of a record to change. Null removes a field that may be left out. */
export type Patch<RecordSeed> = {
  [Field in keyof Omit<RecordSeed, '_id'>]?: RecordSeed[Field] | null
}

/** The records that are edited one by one, in the form of a seed. */
export type EditedSeeds = { messages: SeedMessage; integrations: SeedIntegration }
export type EditedKind = keyof EditedSeeds

const EDITED = {
  messages: { word: 'Message', form: SeedMessage, list: 'GET /v1/messages' },
  integrations: { word: 'Integration', form: SeedIntegration, list: 'GET /_mock/integrations' }
}

/** What a record is known by. */
type Names = { _id?: string | undefined; identifier?: string | undefined }

export interface Dependencies {
  db: Db
  clock: Clock
  environments: EnvironmentService
}

/**
 * Stores records, and adds, changes and removes single ones. To add or change one is to merge a seed of it, and is checked
 * as that: each throws SeedError with every issue, having changed nothing. A change is one of the fields of the seed's
 * form; of these, null removes one that may be left out.
 */
export function recordService(
  { db, clock, environments }: Dependencies,
  repository: SeedRepository
) {
  const { lookUp } = repository

  return {
    resolve,
    store,

    /**
     * Adds a record. A message without `createdAt` is of now, by the environment's clock, and the first in the list. Throws
     * `exists` when there is one of this `_id` or `identifier`.
     */
    addRecord: <Kind extends EditedKind>(
      kind: Kind,
      environment: Environment,
      seed: EditedSeeds[Kind]
    ) =>
      db.transaction(() => {
        rejectKnown(kind, environment, seed)
        const createdAt = isoTime(environment.now())
        const record = kind === 'messages' ? { createdAt, ...seed } : seed
        return save(kind, environment, { _id: unusedId(kind, environment, record), ...record })
      }),

    /** Throws `not-found` when there is none of this `_id` or `identifier`, and `exists` for a new one that is taken. */
    changeRecord: <Kind extends EditedKind, Change extends Patch<EditedSeeds[Kind]>>(
      kind: Kind,
      environment: Environment,
      id: string,
      patch: Change
    ) =>
      db.transaction(() => {
        const stored = requireRecord(kind, environment, id)
        const isMessage = '_subscriberId' in stored
        const base = isMessage ? messageBase(environment, stored, patch) : withoutOwner(stored)
        const seed = withoutRemoved(EDITED[kind].form, { ...base, ...patch })
        rejectKnown(kind, environment, { identifier: seed.identifier }, stored._id)
        const isOfAnother = ['subscriberId', 'subscriber', '_subscriberId'].some(
          (field) => field in patch
        )
        return save(
          kind,
          environment,
          seed,
          isMessage && !isOfAnother ? { _subscriberId: stored._subscriberId } : {}
        )
      }),

    /**
     * Changes a step of a workflow, both by their ids or names. What other steps have of it, such as its results among their
     * variables, stays. Throws `not-found`.
     */
    changeStep: (
      environment: Environment,
      workflowId: string,
      stepId: string,
      patch: Patch<SeedStep>
    ): WorkflowStep =>
      db.transaction(() => {
        const { find, stepsOf } = lookUp(environment)
        const workflow =
          find('workflows', '_id', workflowId) ?? find('workflows', 'identifier', workflowId)
        const steps = workflow ? stepsOf(workflow._id) : []
        const index = steps.findIndex((each) => each._id === stepId || each.stepId === stepId)
        if (index === -1) {
          const reason = `this environment has no step ${stepId} of a workflow ${workflowId}: GET /_mock/workflows lists them`
          throw new DomainError('not-found', `Step with id ${stepId} not found`, { reason })
        }
        const seeds = steps.map((step, at) =>
          at === index
            ? withoutRemoved(SeedStep, { ...exportStep(step), ...patch })
            : exportStep(step)
        )
        return inRecord('step', /^workflows\[0\]\.steps\[\d+\]\.?/, () => {
          const seed = readSeed({ workflows: [{ ...workflow, steps: seeds }] })
          const resolved = resolve(seed, environment, lookUp(environment))
          store(environment, resolved)
          return resolved.steps[index] as WorkflowStep
        })
      }),

    /** If an integration was primary, its channel has no primary then. Throws `not-found`. */
    removeRecord: (kind: EditedKind, environment: Environment, id: string): void =>
      db.transaction(() => {
        const { _id } = requireRecord(kind, environment, id)
        repository.delete(kind, environments.writableDataset(environment, kind), _id)
      })
  }

  /** Returns what a seed of one environment describes; with `existing`, for who merges it with that. */
  function resolve(
    file: SeedFile,
    target: SeedTarget,
    existing?: ExistingRecords
  ): EnvironmentData {
    const [data] = resolveSeeds([file], clock(), { target, existing })
    return data as EnvironmentData
  }

  /** Stores records, which replace those with the same ids and names. To be called within a transaction. */
  function store(environment: Environment, data: Partial<Pick<EnvironmentData, RecordKind>>): void {
    for (const kind of RECORD_KINDS) {
      const records = data[kind] ?? []
      if (records.length === 0) continue
      const dataset = environments.writableDataset(environment, datasetOf(kind))
      // One after the other, as the text of all may be much more than what they are made of.
      for (const [position, each] of records.entries())
        repository.put(kind, dataset, { ...toRow(kind, each), position })
    }
  }

  /** Stores what a seed of one record describes, with the fields in place of its own. Its issues are located in the record. */
  function save<Kind extends EditedKind>(
    kind: Kind,
    environment: Environment,
    record: Names,
    fields: object = {}
  ) {
    const seed = kind === 'messages' ? { transactionId: `txn_${record._id}`, ...record } : record
    return inRecord(kind.slice(0, -1), /^\w+\[0\]\.?/, () => {
      // A message has its id, which does not depend on how many there are.
      const existing = { ...lookUp(environment), messageCount: () => 0 }
      const [resolved] = resolve(readSeed({ [kind]: [seed] }), environment, existing)[kind]
      const document = { ...resolved, ...fields } as EnvironmentData[Kind][number]
      store(environment, { [kind]: [document] })
      return document
    })
  }

  function findRecord(
    kind: EditedKind,
    environment: Environment,
    { _id = '', identifier = '' }: Names
  ) {
    const { find } = lookUp(environment)
    return (
      find(kind, '_id', _id) ??
      (kind === 'integrations' ? find(kind, 'identifier', identifier) : undefined)
    )
  }

  function requireRecord(kind: EditedKind, environment: Environment, id: string) {
    const found = findRecord(kind, environment, { _id: parseId(id) ?? id, identifier: id })
    if (found) return found
    const { word, list } = EDITED[kind]
    const reason = `this environment has no ${word.toLowerCase()} ${id}: ${list} lists those it has, the id is _id`
    throw new DomainError('not-found', `${word} with id ${id} not found`, { reason })
  }

  /** Throws `exists` when another record than the one of this id has one of the names. */
  function rejectKnown(
    kind: EditedKind,
    environment: Environment,
    names: Names,
    own?: string
  ): void {
    const found = findRecord(kind, environment, names)
    if (!found || found._id === own) return
    const name = found._id === names._id ? `id ${names._id}` : `identifier ${names.identifier}`
    const reason = `PATCH /_mock/${kind}/{id} changes it, and DELETE /_mock/${kind}/{id} removes it`
    throw new DomainError('exists', `${EDITED[kind].word} with ${name} exists already`, { reason })
  }

  /** Returns an id that is not taken. Of messages of the same time the list has the one with the greatest id first. */
  function unusedId(
    kind: EditedKind,
    environment: Environment,
    record: Names & { createdAt?: string }
  ): string {
    const { find } = lookUp(environment)
    const time = kind === 'messages' ? parseIsoTime(record.createdAt ?? '') : undefined
    const last = time === undefined ? undefined : find(kind, 'createdAt', time)?._id
    let id = last ?? deriveId(kind, JSON.stringify(record))
    while (find(kind, '_id', id))
      id = (BigInt(`0x${id}`) + 1n).toString(16).padStart(24, '0').slice(-24)
    return id
  }

  /** Returns a message in the seed's form, without what follows from the fields that are changed. */
  function messageBase(
    environment: Environment,
    message: MessageResponse,
    patch: Patch<SeedMessage>
  ): object {
    const { channel = message.channel, ...others } = patch
    const isMoved = channel !== message.channel
    const derived = Object.keys(isMoved ? patch : others).flatMap((field) => DERIVED[field] ?? [])
    const { templateIdentifier: workflow } = message
    const isKnown =
      isMoved && workflow && lookUp(environment).find('workflows', 'identifier', workflow)
    const absent = Object.fromEntries(derived.map((field) => [field, undefined]))
    return { ...exportMessage(message), ...(isKnown && { workflow }), ...absent }
  }
}

/** Locates the issues of a seed in the record that it was made of, which stands there at `place`. */
function inRecord<Result>(file: string, place: RegExp, action: () => Result): Result {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    const issues = error.issues.map(({ path, message }) =>
      createIssue({ file, path: path.replace(place, ''), message })
    )
    throw new SeedError(issues)
  }
}

/** Returns the columns that all tables have, and the fields that are columns too. */
function toRow(kind: RecordKind, document: { _id: string; workflowDatabaseId?: string }) {
  if (kind === 'messages') return toMessageRow(document as Stored<MessageResponse>)
  const { _id, workflowDatabaseId } = document
  return {
    ...document,
    id: _id,
    workflowId: workflowDatabaseId,
    document: JSON.stringify(document)
  }
}

/** What follows from a field of a message, beside itself, and is derived again when that changes. */
const ADDRESS = ['_subscriberId', 'email', 'phone']
const DERIVED: { [field: string]: readonly string[] } = {
  subscriber: ADDRESS,
  subscriberId: ['subscriber', ...ADDRESS],
  workflow: ['_templateId', 'templateIdentifier', '_messageTemplateId'],
  channel: ['providerId', '_messageTemplateId', ...ADDRESS]
}

/** Returns the fields but for those that are null, unless that is a value of theirs in the contract. */
function withoutRemoved({ properties }: TObject, fields: object): Names {
  const isValue = ([field, value]: [string, unknown]) =>
    value !== null || properties[field]?.[Kind] === 'Nullable'
  return Object.fromEntries(Object.entries(fields).filter(isValue))
}
