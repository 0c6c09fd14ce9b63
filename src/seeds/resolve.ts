import type { Static, TObject } from '@sinclair/typebox'
import type { Profile } from '../assumptions.js'
import { type ClockSetting, isoTime } from '../clock.js'
import { idOf } from '../ids.js'
import { Integration } from '../integrations/schemas.js'
import { MessageResponse, NotificationGroup, SubscriberResponse, WorkflowResponse } from '../messages/schemas.js'
import { slugify, stepSlug } from '../slug.js'
import { WorkflowStep } from '../workflow-steps/schemas.js'
import type { SeedEnvironment, SeedIntegration, SeedMessage, SeedStep, SeedSubscriber, SeedWorkflow } from './format.js'
import { SeedError, type SeedFile, type SeedMistake } from './read.js'
import { defaultControls } from './step-controls.js'
import { stepVariables } from './step-variables.js'

/** What the workflow table keeps as a workflow's document: what a seed says of it, steps apart. */
export type WorkflowDocument = Required<Pick<SeedWorkflow, '_id' | 'identifier' | 'name' | 'origin'>> &
  Pick<SeedWorkflow, 'payloadSchema'>

/** An environment with everything in it spelled out: documents of the wire, ready to be stored. */
export interface World {
  id: string
  organizationId: string
  name: string
  /** Null: the server's own. */
  profile: Profile | null
  assumptions: Record<string, string>
  apiKeys: string[]
  integrations: Stored<Integration>[]
  subscribers: Stored<SubscriberResponse>[]
  workflows: WorkflowDocument[]
  steps: WorkflowStep[]
  messages: Stored<MessageResponse>[]
  /** Undefined: the seeds do not say. */
  clock?: ClockSetting
  randomSeed?: number
}

/** The environment that a seed is loaded into while the server runs. */
export interface Target {
  id: string
  organizationId: string
  name: string
  /** To add to what it holds, what that is; left out, the seed replaces it. */
  held?: Held
}

/** What an environment holds, as far as a seed that is added to it has to know. */
export interface Held extends Pick<World, 'integrations' | 'subscribers' | 'workflows' | 'steps'> {
  countMessages: () => number
  hasMessage: (id: string) => boolean
}

/** A document that certainly has its id. */
export type Stored<Document extends { _id?: string }> = Document & { _id: string }

type Path = readonly (string | number)[]

/** Where a value stands in the seeds, to complain about it there. */
interface Place {
  file: SeedFile
  path: Path
}

/** A world in the making, with where everything that may be there only once was first seen. */
interface Draft {
  world: World
  /** What the ids of its records are made from: the same seed gives the same ids, wherever it is loaded. */
  origin: readonly [organizationId: string, name: string]
  seen: Map<string, Place | typeof HELD>
  /** Ids of what the environment holds and the seed brings anew: they are kept. */
  heldIds: Map<string, string>
}

/** Seen first in the environment that a seed is added to. */
const HELD = 'the environment itself'

/**
 * The environments that the seeds describe, with every reference resolved and every default filled in. Environments of
 * the same organization and name are one, also across files. The same seeds at the same `now` give the same worlds.
 *
 * With a target there is one world, the target's, whatever the seed calls it. What is added replaces what has the same
 * `_id`, identifier or subscriberId there; of the messages the world then has the added ones only.
 *
 * Throws SeedError with all broken references, doubles and second primaries.
 */
export function resolveSeeds(files: readonly SeedFile[], now: number, target?: Target): World[] {
  const mistakes: SeedMistake[] = []
  const complain = ({ file, path }: Place, message: string) => void mistakes.push(file.mistakeAt(path, message))
  const drafts = new Map<string, Draft>()
  const keyOwners = new Map<string, { draft: Draft; place: Place }>()

  const environments = files.flatMap((file) =>
    file.seed.environments.map((seed, index) => {
      const place = { file, path: ['environments', index] }
      const draft = draftOf(seed, place)
      addApiKeys(draft, seed, place)
      each(place, seed.integrations, 'integrations', (each, at) => addIntegration(draft, each, at))
      each(place, seed.subscribers, 'subscribers', (each, at) => addSubscriber(draft, each, at))
      each(place, seed.workflows, 'workflows', (each, at) => addWorkflow(draft, each, at))
      return { seed, place, draft }
    })
  )
  // Only now: a message may refer to what a later file brings.
  for (const { seed, place, draft } of environments) {
    each(place, seed.messages, 'messages', (message, at) => addMessage(draft, message, at))
  }
  const [file] = files
  if (target && file && drafts.size === 0) complain({ file, path: ['environments'] }, ONE_ENVIRONMENT)
  if (mistakes.length > 0) throw new SeedError(mistakes)
  return [...drafts.values()].map(({ world }) => world)

  function draftOf(seed: SeedEnvironment, place: Place): Draft {
    const organizationId = seed._organizationId ?? idOf('organization', seed.organization ?? '')
    const name = target ? target.id : `${organizationId} ${seed.name}`
    if (target && drafts.has(name)) complain(place, ONE_ENVIRONMENT)
    const draft = drafts.get(name) ?? newDraft(seed, organizationId)
    const double = [...drafts].find(([other, { world }]) => other !== name && world.id === draft.world.id)
    if (double) complain(within(place, '_id'), `is also the _id of environment ${double[1].world.name}`)
    if (!target && seed._id && seed._id !== draft.world.id) {
      complain(within(place, '_id'), `environment ${seed.name} already has the _id ${draft.world.id}`)
    }
    draft.world.profile = seed.profile ?? draft.world.profile
    if (seed.clock) draft.world.clock = clockOf(seed.clock, within(place, 'clock'))
    if (seed.randomSeed !== undefined) draft.world.randomSeed = seed.randomSeed
    Object.assign(draft.world.assumptions, seed.assumptions)
    drafts.set(name, draft)
    return draft
  }

  function newDraft(seed: SeedEnvironment, organizationId: string): Draft {
    const draft: Draft = {
      world: {
        id: target?.id ?? seed._id ?? idOf(organizationId, seed.name),
        organizationId: target?.organizationId ?? organizationId,
        name: target?.name ?? seed.name,
        profile: null,
        assumptions: {},
        apiKeys: [],
        integrations: [],
        subscribers: [],
        workflows: [],
        steps: [],
        messages: []
      },
      origin: [organizationId, seed.name],
      seen: new Map(),
      heldIds: new Map()
    }
    if (target?.held) hold(draft, seed, target.held)
    return draft
  }

  function clockOf(setting: ClockSetting, place: Place): ClockSetting {
    return setting.mode === 'fixed' ? { mode: 'fixed', at: timeOf(setting.at, within(place, 'at')) } : setting
  }

  function addApiKeys(draft: Draft, seed: SeedEnvironment, place: Place): void {
    if (target) return
    const fallback = draft.world.apiKeys.length > 0 ? [] : [`${slugify(seed.name) || 'environment'}-key`]
    for (const [index, key] of (seed.apiKeys ?? fallback).entries()) {
      const at = seed.apiKeys ? within(place, 'apiKeys', index) : place
      const owner = keyOwners.get(key)
      if (owner && owner.draft !== draft) {
        complain(at, `the API key is also that of ${owner.draft.world.name}; each environment needs keys of its own`)
      } else if (!owner) {
        keyOwners.set(key, { draft, place: at })
        draft.world.apiKeys.push(key)
      }
    }
  }

  function addIntegration(draft: Draft, seed: SeedIntegration, place: Place): void {
    const { world } = draft
    const base = slugify(seed.name ?? seed.providerId) || seed.channel
    const identifier = seed.identifier ?? firstFree(base, (free) => !draft.seen.has(`integration ${free}`))
    const integration: Stored<Integration> = {
      ...seed,
      ...owner(world),
      _id: seed._id ?? draft.heldIds.get(`integration ${identifier}`) ?? placeId(draft, 'integration', identifier),
      name: seed.name ?? seed.providerId,
      identifier,
      credentials: seed.credentials ?? {},
      active: seed.active ?? true,
      deleted: seed.deleted ?? false,
      primary: seed.primary ?? false,
      ...timesOf(seed, ['deletedAt'], place)
    }
    once(draft, `integration ${identifier}`, 'identifier', place)
    once(draft, `integration _id ${integration._id}`, '_id', place)
    if (integration.primary && !integration.deleted) {
      onceAs(draft, `primary ${seed.channel}`, within(place, 'primary'), (first) => {
        return `there is already a primary ${seed.channel} integration, at ${first}; a channel has at most one`
      })
    }
    world.integrations.push(inOrder(Integration, integration))
  }

  function addSubscriber(draft: Draft, seed: SeedSubscriber, place: Place): void {
    const subscriber = subscriberOf(draft, seed, place)
    once(draft, `subscriber ${seed.subscriberId}`, 'subscriberId', place)
    once(draft, `subscriber _id ${subscriber._id}`, '_id', place)
    draft.world.subscribers.push(subscriber)
  }

  function subscriberOf(draft: Draft, seed: SeedSubscriber, place: Place): Stored<SubscriberResponse> {
    const heldId = draft.heldIds.get(`subscriber ${seed.subscriberId}`)
    const times = timesOf(seed, ['createdAt', 'updatedAt', 'lastOnlineAt'], place)
    const createdAt = times.createdAt ?? isoTime(now)
    return inOrder(SubscriberResponse, {
      ...seed,
      ...owner(draft.world),
      _id: seed._id ?? heldId ?? placeId(draft, 'subscriber', seed.subscriberId),
      deleted: seed.deleted ?? false,
      updatedAt: createdAt,
      ...times,
      createdAt
    })
  }

  function addWorkflow(draft: Draft, seed: SeedWorkflow, place: Place): void {
    const identifier = seed.identifier ?? slugify(seed.name ?? '')
    if (identifier === '') {
      complain(
        place,
        seed.name === undefined ? 'must have identifier or name' : 'must have identifier: its name has no slug'
      )
      return
    }
    const workflow: WorkflowDocument = {
      _id: seed._id ?? draft.heldIds.get(`workflow ${identifier}`) ?? placeId(draft, 'workflow', identifier),
      identifier,
      name: seed.name ?? identifier,
      origin: seed.origin ?? 'external',
      ...(seed.payloadSchema && { payloadSchema: seed.payloadSchema })
    }
    once(draft, `workflow ${identifier}`, 'identifier', place)
    once(draft, `workflow _id ${workflow._id}`, '_id', place)
    draft.world.workflows.push(workflow)

    const controlValues = (seed.steps ?? []).map((step) => step.controlValues)
    const earlierSteps: WorkflowStep[] = []
    each(place, seed.steps, 'steps', (step, at) => {
      const added = stepOf(draft, workflow, step, { earlierSteps, controlValues }, at)
      once(draft, `step ${identifier} ${added.stepId}`, 'stepId', at)
      once(draft, `step _id ${added._id}`, '_id', at)
      earlierSteps.push(added)
      draft.world.steps.push(added)
    })
  }

  function stepOf(
    draft: Draft,
    workflow: WorkflowDocument,
    seed: SeedStep,
    around: { earlierSteps: readonly WorkflowStep[]; controlValues: readonly unknown[] },
    place: Place
  ): WorkflowStep {
    const name = seed.name ?? STEP_NAMES[seed.type]
    const isFree = (free: string) => !draft.seen.has(`step ${workflow.identifier} ${free}`)
    const stepId = seed.stepId ?? firstFree(slugify(name) || slugify(STEP_NAMES[seed.type]), isFree)
    if (stepId === '') complain(within(place, 'stepId'), 'must not be empty')
    const _id =
      seed._id ??
      draft.heldIds.get(`step ${workflow.identifier} ${stepId}`) ??
      placeId(draft, 'workflow', workflow.identifier, 'step', stepId)
    return inOrder(WorkflowStep, {
      ...seed,
      controls: seed.controls ?? defaultControls(seed.type),
      variables: seed.variables ?? stepVariables({ ...around, payloadSchema: workflow.payloadSchema }),
      stepId,
      _id,
      name,
      slug: seed.slug ?? stepSlug(name, _id),
      origin: workflow.origin,
      workflowId: workflow.identifier,
      workflowDatabaseId: workflow._id
    })
  }

  function addMessage(draft: Draft, seed: SeedMessage, place: Place): void {
    const { world } = draft
    const index = (target?.held?.countMessages() ?? 0) + world.messages.length
    const { subscriberId, workflow: workflowIdentifier, subscriber: ownSubscriber, template, ...fields } = seed
    const subscriber = ownSubscriber
      ? subscriberOf(draft, ownSubscriber, within(place, 'subscriber'))
      : referred(world.subscribers, subscriberId, (each) => each.subscriberId, within(place, 'subscriberId'))
    if (ownSubscriber && subscriberId !== undefined && subscriberId !== ownSubscriber.subscriberId) {
      complain(within(place, 'subscriberId'), `is not that of the subscriber given here, ${ownSubscriber.subscriberId}`)
    }
    const workflow = referred(world.workflows, workflowIdentifier, (each) => each.identifier, within(place, 'workflow'))
    const step = world.steps.find((each) => each.workflowId === workflow?.identifier && each.type === seed.channel)

    const times = timesOf(seed, ['createdAt', 'lastSeenDate', 'lastReadDate', 'snoozedUntil'], place)
    const deliveredAt = seed.deliveredAt?.map((time, at) => timeOf(time, within(place, 'deliveredAt', at)))
    const number = firstFreeNumber(index, (free) => !target?.held?.hasMessage(placeId(draft, 'message', free)))
    const _id = seed._id ?? placeId(draft, 'message', number)
    const transactionId = seed.transactionId ?? `txn_${placeId(draft, 'transaction', number)}`
    const _subscriberId = seed._subscriberId ?? subscriber?._id ?? placeId(draft, 'subscriber', '')
    once(draft, `message _id ${_id}`, '_id', place)
    world.messages.push(
      inOrder(MessageResponse, {
        ...((subscriberId ?? workflow) && addressOf(world, seed, subscriber)),
        ...(workflow && { _templateId: workflow._id, templateIdentifier: workflow.identifier }),
        ...(step && { _messageTemplateId: step._id }),
        ...fields,
        ...owner(world),
        _id,
        _notificationId: seed._notificationId ?? placeId(draft, 'notification', transactionId, _subscriberId),
        _subscriberId,
        ...(subscriber && { subscriber }),
        ...(template && { template: templateOf(world, template) }),
        ...times,
        createdAt: times.createdAt ?? isoTime(now - index * 60_000),
        ...(deliveredAt && { deliveredAt }),
        transactionId,
        read: seed.read ?? false,
        seen: seed.seen ?? false,
        cta: seed.cta ?? { action: { buttons: [] } },
        status: seed.status ?? 'sent'
      })
    )
  }

  function referred<Thing>(
    things: readonly Thing[],
    name: string | undefined,
    nameOf: (thing: Thing) => string,
    place: Place
  ): Thing | undefined {
    if (name === undefined) return undefined
    const found = things.find((thing) => nameOf(thing) === name)
    if (!found) {
      const known = things.map(nameOf)
      const shown =
        known.length > 10 ? `${known.slice(0, 10).join(', ')} and ${known.length - 10} more` : known.join(', ')
      complain(
        place,
        `there is no ${name} in this environment; there ${known.length > 0 ? `are ${shown}` : 'are none'}`
      )
    }
    return found
  }

  function once(draft: Draft, key: string, field: string, place: Place): void {
    onceAs(draft, key, within(place, field), (first) => `is there twice in this environment, first at ${first}`)
  }

  function onceAs(draft: Draft, key: string, place: Place, message: (first: string) => string): void {
    const first = draft.seen.get(key)
    if (first) complain(place, message(first === HELD ? HELD : first.file.mistakeAt(first.path, '').place))
    else draft.seen.set(key, place)
  }

  function timesOf<Field extends string>(
    seed: { [Name in Field]?: string | null },
    fields: readonly Field[],
    place: Place
  ): { [Name in Field]?: string } {
    const given = fields.flatMap((field) => {
      const value = seed[field]
      return typeof value === 'string' ? [[field, timeOf(value, within(place, field))] as const] : []
    })
    return Object.fromEntries(given) as { [Name in Field]?: string }
  }

  function timeOf(text: string, place: Place): string {
    const milliseconds = ISO_8601.test(text) ? Date.parse(text) : Number.NaN
    if (!Number.isNaN(milliseconds)) return isoTime(milliseconds)
    complain(place, 'must be a time in ISO 8601, such as 2026-02-18T10:07:11.402Z')
    return text
  }
}

const ONE_ENVIRONMENT = 'a seed that is loaded into an environment has one environment, no more and no less'

/** A date alone, or with a time that has its zone: the same moment on every machine. */
const ISO_8601 = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/

const STEP_NAMES: Record<WorkflowStep['type'], string> = {
  in_app: 'In-App Step',
  email: 'Email Step',
  sms: 'SMS Step',
  chat: 'Chat Step',
  push: 'Push Step',
  digest: 'Digest Step',
  trigger: 'Trigger Step',
  delay: 'Delay Step',
  throttle: 'Throttle Step',
  custom: 'Custom Step'
}

function each<Item>(
  { file, path }: Place,
  items: readonly Item[] | undefined,
  field: string,
  visit: (item: Item, place: Place) => void
): void {
  for (const [index, item] of (items ?? []).entries()) visit(item, { file, path: [...path, field, index] })
}

function within({ file, path }: Place, ...more: Path): Place {
  return { file, path: [...path, ...more] }
}

function owner({ id, organizationId }: World): { _environmentId: string; _organizationId: string } {
  return { _environmentId: id, _organizationId: organizationId }
}

function placeId({ origin }: Draft, ...place: Path): string {
  return idOf(...origin, ...place)
}

/** Lets a draft begin with what the environment holds, but for what the seed brings anew. */
function hold({ world, seen, heldIds }: Draft, seed: SeedEnvironment, held: Held): void {
  const news = {
    integrations: namesOf(seed.integrations, 'identifier'),
    subscribers: namesOf(seed.subscribers, 'subscriberId'),
    workflows: namesOf(
      seed.workflows?.map((each) => ({ ...each, identifier: each.identifier ?? slugify(each.name ?? '') })),
      'identifier'
    ),
    steps: new Set((seed.workflows ?? []).flatMap(({ steps = [] }) => steps.map(({ _id }) => _id)))
  }
  const keepId = (name: string, id: string, news: ReadonlySet<unknown>) => {
    if (!news.has(id)) heldIds.set(name, id)
  }
  for (const integration of held.integrations) {
    if (news.integrations.has(integration.identifier) || news.integrations.has(integration._id)) {
      keepId(`integration ${integration.identifier}`, integration._id, news.integrations)
      continue
    }
    world.integrations.push(integration)
    seen.set(`integration ${integration.identifier}`, HELD).set(`integration _id ${integration._id}`, HELD)
    if (integration.primary && !integration.deleted) seen.set(`primary ${integration.channel}`, HELD)
  }
  for (const subscriber of held.subscribers) {
    if (news.subscribers.has(subscriber.subscriberId) || news.subscribers.has(subscriber._id)) {
      keepId(`subscriber ${subscriber.subscriberId}`, subscriber._id, news.subscribers)
      continue
    }
    world.subscribers.push(subscriber)
    seen.set(`subscriber ${subscriber.subscriberId}`, HELD).set(`subscriber _id ${subscriber._id}`, HELD)
  }
  for (const workflow of held.workflows) {
    const steps = held.steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === workflow._id)
    if (news.workflows.has(workflow.identifier) || news.workflows.has(workflow._id)) {
      keepId(`workflow ${workflow.identifier}`, workflow._id, news.workflows)
      for (const step of steps) keepId(`step ${workflow.identifier} ${step.stepId}`, step._id, news.steps)
      continue
    }
    world.workflows.push(workflow)
    seen.set(`workflow ${workflow.identifier}`, HELD).set(`workflow _id ${workflow._id}`, HELD)
    for (const step of steps) {
      world.steps.push(step)
      seen.set(`step ${workflow.identifier} ${step.stepId}`, HELD).set(`step _id ${step._id}`, HELD)
    }
  }
}

function namesOf<Record extends { _id?: string }>(records: readonly Record[] | undefined, name: keyof Record) {
  return new Set((records ?? []).flatMap((each) => [each[name], each._id].filter((value) => value !== undefined)))
}

function firstFreeNumber(from: number, isFree: (number: number) => boolean): number {
  let number = from
  while (!isFree(number)) number += 1
  return number
}

function firstFree(base: string, isFree: (name: string) => boolean): string {
  for (let suffix = 1; ; suffix++) {
    const name = suffix === 1 ? base : `${base}-${suffix}`
    if (isFree(name)) return name
  }
}

/** Where the message went, as the channel has it: the subscriber's address, and the primary integration's provider. */
function addressOf(
  { integrations }: World,
  { channel }: SeedMessage,
  subscriber: SubscriberResponse | undefined
): Pick<MessageResponse, 'email' | 'phone' | 'providerId'> {
  const usable = integrations.filter((each) => each.channel === channel && each.active && !each.deleted)
  const integration = usable.find(({ primary }) => primary) ?? usable[0]
  return {
    ...(integration && { providerId: integration.providerId }),
    ...(channel === 'email' && subscriber?.email && { email: subscriber.email }),
    ...(channel === 'sms' && subscriber?.phone && { phone: subscriber.phone })
  }
}

function templateOf(world: World, template: NonNullable<SeedMessage['template']>): WorkflowResponse {
  const { notificationGroup, ...fields } = template
  return inOrder(WorkflowResponse, {
    ...fields,
    ...owner(world),
    ...(notificationGroup && {
      notificationGroup: inOrder(NotificationGroup, { ...notificationGroup, ...owner(world) })
    })
  })
}

/** A copy with the fields in the contract's order and without those that are undefined. */
function inOrder<Schema extends TObject, Document extends Static<Schema>>(
  schema: Schema,
  document: Document
): Document {
  const fields = Object.keys(schema.properties).map((name) => [name, document[name as never]] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Document
}
