import { isoTime, parseIsoTime } from '../core/clock.js'
import { DomainError } from '../core/errors.js'
import { idIn, idOf } from '../core/ids.js'
import { lazily } from '../core/lazily.js'
import { runToEnd } from '../core/slices.js'
import { slugify } from '../core/slug.js'
import { MAX_CANDIDATES } from '../core/suggest.js'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import type { Integration } from '../integrations/schemas.js'
import { toMessageRow } from '../messages/row.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { EnvironmentData, Stored, WorkflowDocument } from './environment-data.js'
import { exportMessage, exportSeed, withoutOwner } from './export.js'
import { SeedIntegration, SeedMessage } from './format.js'
import { merged, type Patch, recordFile } from './patch.js'
import type { Enqueue } from './queue.js'
import { recordRepository } from './record-repository.js'
import type { RecordKind, SeedRepository } from './repository.js'
import { retryWhileChanged } from './retry.js'
import { countUpToLimit, MAX_AT_ONCE } from './size.js'
import type { TargetResolver } from './target.js'

interface Dependencies {
  db: Db
  environments: EnvironmentService
  repository: SeedRepository
  resolver: TargetResolver
  enqueue: Enqueue
}

type Records = Partial<Pick<EnvironmentData, RecordKind>>

/**
 * Adds, changes and removes single records. All are checked as in a seed: each rejects with SeedError with every issue,
 * and with what `check` throws, having changed nothing. A change is a merge of the fields of the seed's form; of these,
 * null removes one that may be left out.
 */
export function recordEditor({ db, environments, repository, resolver, enqueue }: Dependencies) {
  const records = lazily(() => recordRepository(db))

  return {
    /**
     * Adds a message. Without `createdAt` it is of now, by the environment's clock, and the first in the list. Rejects
     * with `exists` when there is one of this `_id`.
     */
    addMessage: (environment: Environment, seed: SeedMessage, check?: () => void): Promise<MessageResponse> =>
      edit(environment, 'messages', check, (dataset) => {
        if (seed._id !== undefined && repository.hasMessage(dataset, seed._id)) throw exists('Message', 'id', seed._id)
        const now = environment.now()
        const { _id = newMessageId(dataset, parseIsoTime(seed.createdAt ?? '') ?? now) } = seed
        const defaults = { createdAt: isoTime(now), transactionId: defaultTransaction(_id) }
        const message = resolveMessage(environment, { ...defaults, ...seed, _id })
        return { result: message, write: (owned) => repository.insertMessage(owned, toMessageRow(message)) }
      }),

    /** Rejects with `not-found` when there is no such message. */
    changeMessage: (
      environment: Environment,
      id: string,
      patch: Patch<SeedMessage>,
      check?: () => void
    ): Promise<MessageResponse> =>
      edit(environment, 'messages', check, (dataset) => {
        const stored = records().findMessage(dataset, idIn(id) ?? id) as Stored<MessageResponse> | undefined
        if (!stored) throw messageNotFound(id)
        const { workflows } = environment.datasets
        const isWorkflow = (name: string) => records().findWorkflow(workflows, name) !== undefined
        const base = messageBase(stored, patch, isWorkflow)
        const seed = merged(SeedMessage, base, patch, 'message')
        const resolved = resolveMessage(environment, { transactionId: defaultTransaction(stored._id), ...seed })
        const isOfAnother = ['subscriberId', 'subscriber', '_subscriberId'].some((field) => field in patch)
        const message = isOfAnother ? resolved : { ...resolved, _subscriberId: stored._subscriberId }
        return { result: message, write: (dataset) => records().updateMessage({ ...toMessageRow(message), dataset }) }
      }),

    /** Rejects with `not-found` when there is no such message. */
    removeMessage: (environment: Environment, id: string, check?: () => void): Promise<void> =>
      edit(environment, 'messages', check, (dataset) => {
        const _id = idIn(id) ?? id
        if (!repository.hasMessage(dataset, _id)) throw messageNotFound(id)
        return { result: undefined, write: (owned) => records().deleteMessage(owned, _id) }
      }),

    /** Rejects with `exists` when there is one of this `_id` or `identifier`. */
    addIntegration: (environment: Environment, seed: SeedIntegration, check?: () => void): Promise<Integration> =>
      edit(environment, 'integrations', check, (dataset) => {
        rejectKnown(dataset, seed)
        const { _id = newIntegrationId(dataset, seed) } = seed
        const integration = resolveIntegration(environment, { ...seed, _id })
        return { result: integration, write: (owned) => records().insertIntegration(rowOf(owned, integration)) }
      }),

    /** The integration is given by `_id` or `identifier`. Rejects with `not-found`, and with `exists` for a taken one. */
    changeIntegration: (
      environment: Environment,
      idOrIdentifier: string,
      patch: Patch<SeedIntegration>,
      check?: () => void
    ): Promise<Integration> =>
      edit(environment, 'integrations', check, (dataset) => {
        const stored = requireIntegration(dataset, idOrIdentifier)
        const seed = merged(SeedIntegration, withoutOwner(stored), patch, 'integration')
        if (seed.identifier !== undefined && seed.identifier !== stored.identifier) {
          rejectKnown(dataset, { identifier: seed.identifier })
        }
        const integration = resolveIntegration(environment, seed)
        return { result: integration, write: (owned) => records().updateIntegration(rowOf(owned, integration)) }
      }),

    /** If it was primary, its channel has no primary then. Rejects with `not-found` when there is none. */
    removeIntegration: (environment: Environment, idOrIdentifier: string, check?: () => void): Promise<void> =>
      edit(environment, 'integrations', check, (dataset) => {
        const { _id } = requireIntegration(dataset, idOrIdentifier)
        return { result: undefined, write: (owned) => records().deleteIntegration(owned, _id) }
      }),

    /** Yields the integrations, soft-deleted ones too, as they are when the first is taken. */
    listIntegrations: (environment: Environment) => listing<Integration>('integrations', environment),

    /** Yields the workflows, each with what identifies its steps, as they are when the first is taken. */
    *listWorkflows(environment: Environment) {
      const { workflows } = environment.datasets
      for (const workflow of listing<WorkflowDocument>('workflows', environment)) {
        const steps = repository.stepsOf(workflows, workflow._id)
        yield {
          ...workflow,
          steps: steps.map(({ _id, stepId, slug, name, type }) => ({ _id, stepId, slug, name, type }))
        }
      }
    }
  }

  /**
   * Makes one change of a dataset, when what is being loaded into the environment is done. `prepare` checks it, and throws
   * if it can't be made. If many records are shared with a snapshot, they are copied beside other requests first.
   */
  function edit<Result>(
    environment: Environment,
    kind: 'messages' | 'integrations',
    check: (() => void) | undefined,
    prepare: (dataset: number) => { result: Result; write: (owned: number) => void }
  ): Promise<Result> {
    return enqueue(environment.key, async () => {
      const isCopied = environments.isShared(environment, kind)
      if (!isCopied || countUpToLimit(repository, environment.datasets, [kind]) <= MAX_AT_ONCE) {
        return db.transaction(() => {
          const { result, write } = prepare(environment.datasets[kind])
          write(environments.ensureOwned(environment, kind))
          return result
        })
      }
      // What is refused is not copied for that.
      prepare(environment.datasets[kind])
      return (await retryWhileChanged(db, editingCopy, check ?? (() => {}))).result
    })

    function* editingCopy(): Generator<unknown, { result: Result } | undefined> {
      const held = environments.hold()
      try {
        const dataset = environment.datasets[kind]
        held.keep({ [kind]: dataset })
        const copy = yield* held.copying(kind, dataset)
        if (environment.datasets[kind] !== dataset) return undefined
        environments.change(environment, {}, { [kind]: copy })
        const { result, write } = prepare(copy)
        write(copy)
        return { result }
      } finally {
        held.release()
      }
    }
  }

  function resolveMessage(environment: Environment, seed: SeedMessage): Stored<MessageResponse> {
    const { integrations, subscribers, workflows } = environment.datasets
    const provider = records().findProvider(integrations, seed.channel)
    const named = referenced('workflows', environment, seed.workflow, (name) => records().findWorkflow(workflows, name))
    const [message] = resolve(environment, 'messages', seed, {
      integrations: provider ? [provider as Stored<Integration>] : [],
      subscribers: referenced('subscribers', environment, seed.subscriberId, (name) =>
        records().findSubscriber(subscribers, name)
      ),
      workflows: named,
      steps: named.length === 1 ? named.flatMap(({ _id }) => repository.stepsOf(workflows, _id)) : []
    })
    return message as Stored<MessageResponse>
  }

  function resolveIntegration(environment: Environment, seed: SeedIntegration): Stored<Integration> {
    const { providerId, channel, name = providerId, identifier } = seed
    const base = identifier === undefined ? slugify(name) || channel : undefined
    const integrations = records().findClashing(environment.datasets.integrations, channel, base)
    const resolved = resolve(environment, 'integrations', seed, {
      integrations: integrations as EnvironmentData['integrations']
    })
    return resolved.at(-1) as Stored<Integration>
  }

  /** Returns the records of the kind: those that are there, but for one of the same `_id`, and the one of the seed. */
  function resolve<Kind extends 'messages' | 'integrations'>(
    environment: Environment,
    kind: Kind,
    seed: object,
    present: Records
  ): EnvironmentData[Kind] {
    const records = { integrations: [], subscribers: [], workflows: [], steps: [], messages: [], ...present }
    const existing = {
      seed: exportSeed({ ...environments.settings(environment), ...records }),
      // The message has its id, which does not depend on how many there are.
      messageCount: 0,
      hasMessage: () => false
    }
    return runToEnd(resolver.resolved(recordFile(kind, seed), environment, existing))[kind]
  }

  /** Returns the record that the name refers to; if there is none, those to suggest one of. */
  function referenced<Kind extends 'subscribers' | 'workflows'>(
    kind: Kind,
    { datasets }: Environment,
    name: string | undefined,
    find: (name: string) => object | undefined
  ): EnvironmentData[Kind] {
    const found = name === undefined ? undefined : find(name)
    const isMissing = name !== undefined && !found
    const others = isMissing ? repository.documents(kind, datasets, MAX_CANDIDATES) : []
    return [...(found ? [found] : []), ...others] as EnvironmentData[Kind]
  }

  /** Returns an id that puts the message before all of the same time, which the list has in the order of their ids. */
  function newMessageId(dataset: number, time: number): string {
    const seconds = Math.max(0, Math.floor(time / 1000))
      .toString(16)
      .padStart(8, '0')
      .slice(-8)
    const base = seconds + idOf('message', time).slice(8)
    const last = records().lastMessageId(dataset, time)
    let id = last !== undefined && last >= base ? following(last) : base
    while (repository.hasMessage(dataset, id)) id = following(id)
    return id
  }

  function newIntegrationId(dataset: number, { identifier = '', providerId, channel }: SeedIntegration): string {
    let number = 0
    let id = idOf('integration', identifier, providerId, channel)
    while (records().findIntegration(dataset, id)) {
      number += 1
      id = idOf('integration', identifier, providerId, channel, number)
    }
    return id
  }

  function rejectKnown(dataset: number, { _id, identifier }: { _id?: string; identifier?: string }): void {
    if (_id !== undefined && records().findIntegration(dataset, _id)) {
      throw exists('Integration', 'id', _id)
    }
    if (identifier !== undefined && records().findIntegrationByIdentifier(dataset, identifier)) {
      throw exists('Integration', 'identifier', identifier)
    }
  }

  function requireIntegration(dataset: number, idOrIdentifier: string): Stored<Integration> {
    const found =
      records().findIntegration(dataset, idIn(idOrIdentifier) ?? idOrIdentifier) ??
      records().findIntegrationByIdentifier(dataset, idOrIdentifier)
    if (found) return found as Stored<Integration>
    throw new DomainError('not-found', `Integration with id ${idOrIdentifier} not found`, {
      reason: `this environment has no integration ${idOrIdentifier}: GET /_mock/integrations lists those it has`
    })
  }

  function* listing<Document>(
    kind: 'integrations' | 'workflows',
    { datasets }: Environment
  ): Generator<Document, void> {
    const held = environments.hold()
    held.keep({ [kind]: datasets[kind] })
    try {
      yield* repository.documents(kind, datasets) as Generator<Document>
    } finally {
      held.release()
    }
  }
}

/** Another one for each message. */
const defaultTransaction = (id: string) => `txn_${id}`

/** Returns a message in the seed's form, without what follows from the fields that are changed. */
function messageBase(
  message: Stored<MessageResponse>,
  patch: Patch<SeedMessage>,
  isWorkflow: (identifier: string) => boolean
): SeedMessage {
  const { subscriber, _subscriberId, email, phone, providerId, ...others } = exportMessage(message)
  const { _templateId, templateIdentifier, _messageTemplateId, ...rest } = others
  const isMoved = 'channel' in patch && patch.channel !== message.channel
  // Addresses and provider are derived only for a message without `_subscriberId`.
  const ofSubscriber = isMoved ? { subscriber } : { subscriber, _subscriberId, email, phone }
  const workflow = isMoved && templateIdentifier && isWorkflow(templateIdentifier) ? templateIdentifier : undefined
  const ofWorkflow = { workflow, _templateId, templateIdentifier, ...(!isMoved && { _messageTemplateId }) }
  const base = {
    ...rest,
    ...(!isMoved && { providerId }),
    ...(!('subscriberId' in patch || 'subscriber' in patch) && ofSubscriber),
    ...(!('workflow' in patch) && ofWorkflow)
  }
  return Object.fromEntries(Object.entries(base).filter(([, value]) => value !== undefined)) as SeedMessage
}

function rowOf(dataset: number, integration: Stored<Integration>) {
  return { ...integration, dataset, id: integration._id, document: JSON.stringify(integration) }
}

/** Returns the next id in the order of ids; after the last possible one, the first. */
function following(id: string): string {
  return (BigInt(`0x${id}`) + 1n).toString(16).padStart(24, '0').slice(-24)
}

function exists(kind: string, field: string, name: string): DomainError {
  const path = `/_mock/${kind.toLowerCase()}s`
  return new DomainError('exists', `${kind} with ${field} ${name} exists already`, {
    reason: `PATCH ${path}/{id} changes it, and DELETE ${path}/{id} removes it`
  })
}

function messageNotFound(id: string): DomainError {
  return new DomainError('not-found', `Message with id ${id} not found`, {
    reason: `this environment has no message ${id}: GET /v1/messages lists those it has, the id is _id`
  })
}
