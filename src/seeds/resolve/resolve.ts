import type { Static, TObject } from '@sinclair/typebox'
import { type ClockSetting, isoTime, parseTime, timeBy, WALL } from '../../core/clock.js'
import { CHANNELS } from '../../core/enums.js'
import { idOf } from '../../core/ids.js'
import { slugify, stepSlug } from '../../core/slug.js'
import { suggest } from '../../core/suggest.js'
import type { Path } from '../../core/validation.js'
import { Integration } from '../../integrations/schemas.js'
import { MessageResponse, NotificationGroup, SubscriberResponse, WorkflowResponse } from '../../messages/schemas.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { Stored, WorkflowDocument, World } from '../environment-data.js'
import { inOrderOfText, placeOf, SeedError, type SeedMistake } from '../errors.js'
import { type Held, type Parted, partHeld } from '../existing-data.js'
import type {
  SeedEnvironment,
  SeedGenerate,
  SeedIntegration,
  SeedMessage,
  SeedStep,
  SeedSubscriber,
  SeedWorkflow
} from '../format.js'
import type { SeedFile } from '../read.js'
import { defaultControls } from './step-controls.js'
import { stepVariables } from './step-variables.js'

/** The environment that a seed is loaded into while the server runs. */
export interface Target {
  id: string
  organizationId: string
  name: string
  clock: ClockSetting
  /** To add to what it holds, what that is; left out, the seed replaces it. */
  held?: Held
}

/** Where a value stands in the seeds, to complain about it there. */
interface Place {
  file: SeedFile
  path: Path
}

interface Placed {
  seed: SeedEnvironment
  place: Place
}

/** A world in the making. */
interface Draft {
  world: World
  place: Place
  /** What the ids of its records are made from: the same seed gives the same ids, wherever it is loaded. */
  origin: readonly [organizationId: string, name: string]
  /** Where everything that may be there only once was first seen. */
  seen: Map<string, Place | typeof HELD>
  /** The ids of what the environment holds and the seed brings anew. */
  idOfAnew: Parted['idOfAnew']
  /** How many places of messages are taken: the next message without an `_id` has the id of this place. */
  messagePlaces: number
  /** Identifiers that integrations are given by a seed, and that the others therefore can't get by default. */
  identifiers: Set<string>
  subscribers: Map<string, Stored<SubscriberResponse>>
  workflows: Map<string, { workflow: WorkflowDocument; steps: WorkflowStep[] }>
}

/** Seen first in the environment that a seed is added to. */
const HELD = 'the environment itself'

/**
 * The environments that the seeds describe, with every reference resolved and every default filled in. Environments of
 * the same organization and name are one, also across files. Times that are left out are by the clock that a seed gives
 * the environment, else by the target's, else `now`, which is the machine's. The same seeds at the same `now` give the
 * same worlds.
 *
 * With a target there is one world, the target's, whatever the seed calls it. What is added replaces what has the same
 * `_id`, identifier or subscriberId there; of the messages the world then has the added ones only.
 *
 * Throws SeedError with all broken references, doubles and second primaries.
 */
export function resolveSeeds(files: readonly SeedFile[], now: number, target?: Target): World[] {
  const mistakes: SeedMistake[] = []
  const complain = ({ file, path }: Place, message: string) => void mistakes.push(file.mistakeAt(path, message))
  const organizations = new Map<string, { id: string; place: Place }>()
  const drafts = new Map<string, Draft>()
  const keyOwners = new Map<string, { draft: Draft; place: Place }>()

  // One round after the other, since each may refer to what a later file brings.
  const seeds = files.flatMap((file) =>
    file.seed.environments.map((seed, index): Placed => ({ seed, place: { file, path: ['environments', index] } }))
  )
  for (const { seed, place } of seeds) nameOrganization(seed, place)
  const environments = seeds.map((placed) => ({ ...placed, draft: draftOf(placed) }))
  if (target) complainUnlessOne(environments)
  else {
    for (const { seed, place, draft } of environments) addApiKeys(draft, seed.apiKeys ?? [], place)
    for (const draft of drafts.values()) addDefaultKey(draft, environments)
  }
  for (const { seed, place, draft } of environments) {
    each(place, seed.integrations, 'integrations', (each, at) => addIntegration(draft, each, at))
    each(place, seed.subscribers, 'subscribers', (each, at) => addSubscriber(draft, each, at))
    each(place, seed.workflows, 'workflows', (each, at) => addWorkflow(draft, each, at))
  }
  for (const { seed, place, draft } of environments) {
    each(place, seed.messages, 'messages', (each, at) => addMessage(draft, each, at))
    if (seed.generate) addGenerate(draft, seed.generate, within(place, 'generate'))
  }
  if (mistakes.length > 0) throw new SeedError(inOrderOfFiles(mistakes, files))
  return [...drafts.values()].map(({ world }) => world)

  function complainUnlessOne([first, second]: readonly Placed[]): void {
    const [file] = files
    if (!first && file) complain({ file, path: ['environments'] }, ONE_ENVIRONMENT)
    if (second) complain(second.place, ONE_ENVIRONMENT)
  }

  /** An organization has the id that any of its environments gives it. */
  function nameOrganization({ organization, _organizationId: id }: SeedEnvironment, place: Place): void {
    if (organization === undefined || id === undefined) return
    const named = organizations.get(organization)
    if (!named) organizations.set(organization, { id, place: within(place, '_organizationId') })
    else if (named.id !== id) {
      complain(
        within(place, '_organizationId'),
        `organization ${organization} has another id, ${named.id}, at ${told(named.place)}`
      )
    }
  }

  function draftOf({ seed, place }: Placed): Draft {
    const { organization = '' } = seed
    const organizationId =
      seed._organizationId ?? organizations.get(organization)?.id ?? idOf('organization', organization)
    const name = target ? target.id : `${organizationId} ${seed.name}`
    const draft = drafts.get(name) ?? newDraft(seed, organizationId, place)
    drafts.set(name, draft)
    if (!target && seed._id && seed._id !== draft.world.id) {
      complain(within(place, '_id'), `environment ${seed.name} already has the _id ${draft.world.id}`)
    }
    for (const { identifier } of seed.integrations ?? []) if (identifier) draft.identifiers.add(identifier)
    draft.world.profile = seed.profile ?? draft.world.profile
    if (seed.clock) draft.world.clock = clockOf(seed.clock, within(place, 'clock'))
    if (seed.randomSeed !== undefined) draft.world.randomSeed = seed.randomSeed
    Object.assign(draft.world.assumptions, seed.assumptions)
    return draft
  }

  function newDraft(seed: SeedEnvironment, organizationId: string, place: Place): Draft {
    const id = target?.id ?? seed._id ?? idOf(organizationId, seed.name)
    const double = [...drafts.values()].find(({ world }) => world.id === id)
    if (double)
      complain(within(place, '_id'), `is that of environment ${double.world.name} too, at ${told(double.place)}`)
    const { integrations, subscribers, workflows, steps, idOfAnew } = target?.held
      ? partHeld(target.held, seed)
      : NOTHING_HELD
    const draft: Draft = {
      world: {
        id,
        organizationId: target?.organizationId ?? organizationId,
        name: target?.name ?? seed.name,
        profile: null,
        assumptions: {},
        apiKeys: [],
        integrations: [...integrations],
        subscribers: [...subscribers],
        workflows: [...workflows],
        steps: [...steps],
        messages: []
      },
      place,
      origin: [organizationId, seed.name],
      seen: new Map(),
      idOfAnew,
      messagePlaces: target?.held?.messageCount ?? 0,
      identifiers: new Set(integrations.map(({ identifier }) => identifier)),
      subscribers: new Map(subscribers.map((subscriber) => [subscriber.subscriberId, subscriber])),
      workflows: new Map(
        workflows.map((workflow) => [
          workflow.identifier,
          { workflow, steps: steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === workflow._id) }
        ])
      )
    }
    seeHeld(draft)
    return draft
  }

  /** Nothing that is added may have a name, an `_id` or a place that something held has. */
  function seeHeld({ world, seen }: Draft): void {
    const see = (...what: string[]) => void seen.set(JSON.stringify(what), HELD)
    for (const { _id, identifier, channel, primary, deleted } of world.integrations) {
      see('integration', 'identifier', identifier, '')
      see('integration', '_id', _id)
      if (primary && !deleted) see('primary', channel)
    }
    for (const { _id, subscriberId } of world.subscribers) {
      see('subscriber', 'subscriberId', subscriberId, '')
      see('subscriber', '_id', _id)
    }
    for (const { _id, identifier } of world.workflows) {
      see('workflow', 'identifier', identifier, '')
      see('workflow', '_id', _id)
    }
    for (const { _id, stepId, workflowId } of world.steps) {
      see('step', 'stepId', stepId, workflowId)
      see('step', '_id', _id)
    }
  }

  function clockOf(setting: ClockSetting, place: Place): ClockSetting {
    if (setting.mode !== 'fixed') return setting
    const at = parseTime(setting.at)
    if (at !== undefined) return { mode: 'fixed', at: isoTime(at) }
    complain(within(place, 'at'), NO_TIME)
    return WALL
  }

  function presentOf({ clock = target?.clock ?? WALL }: World): number {
    return timeBy(clock, () => now)
  }

  function addApiKeys(draft: Draft, keys: readonly string[], place: Place): void {
    for (const [index, key] of keys.entries()) {
      addApiKey(draft, key, within(place, 'apiKeys', index), 'this API key is')
    }
  }

  /** A key for an environment that no seed says anything about the keys of. */
  function addDefaultKey(draft: Draft, environments: readonly (Placed & { draft: Draft })[]): void {
    if (environments.some((other) => other.draft === draft && other.seed.apiKeys)) return
    const key = `${slugify(draft.world.name) || 'environment'}-key`
    addApiKey(draft, key, draft.place, `has no apiKeys, and its default, ${key}, is`)
  }

  function addApiKey(draft: Draft, key: string, place: Place, subject: string): void {
    const owner = keyOwners.get(key)
    if (!owner) {
      keyOwners.set(key, { draft, place })
      draft.world.apiKeys.push(key)
    } else if (owner.draft !== draft) {
      const { name } = owner.draft.world
      complain(place, `${subject} that of ${name}, at ${told(owner.place)}; each environment needs keys of its own`)
    }
  }

  function addIntegration(draft: Draft, seed: SeedIntegration, place: Place): void {
    const { world } = draft
    const identifier = seed.identifier ?? firstFree(identifierBase(seed), (name) => !draft.identifiers.has(name))
    draft.identifiers.add(identifier)
    const integration: Stored<Integration> = {
      ...seed,
      ...owner(world),
      _id: seed._id ?? draft.idOfAnew('integration', identifier) ?? placeId(draft, 'integration', identifier),
      name: seed.name ?? seed.providerId,
      identifier,
      credentials: seed.credentials ?? {},
      active: seed.active ?? true,
      deleted: seed.deleted ?? false,
      primary: seed.primary ?? false,
      ...timesOf(seed, ['deletedAt'], place)
    }
    unlikeOthers(draft, place, 'integration', ['identifier', identifier], seed, integration._id)
    if (integration.primary && !integration.deleted) {
      once(draft, ['primary', seed.channel], within(place, 'primary'), (first) => {
        return `there is already a primary ${seed.channel} integration, at ${first}; a channel has at most one`
      })
    }
    world.integrations.push(inOrder(Integration, integration))
  }

  function addSubscriber(draft: Draft, seed: SeedSubscriber, place: Place): void {
    const subscriber = subscriberOf(draft, seed, place)
    unlikeOthers(draft, place, 'subscriber', ['subscriberId', seed.subscriberId], seed, subscriber._id)
    draft.subscribers.set(seed.subscriberId, subscriber)
    draft.world.subscribers.push(subscriber)
  }

  function subscriberOf(draft: Draft, seed: SeedSubscriber, place: Place): Stored<SubscriberResponse> {
    const heldId = draft.idOfAnew('subscriber', seed.subscriberId)
    const times = timesOf(seed, ['createdAt', 'updatedAt', 'lastOnlineAt'], place)
    const createdAt = times.createdAt ?? isoTime(presentOf(draft.world))
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
      _id: seed._id ?? draft.idOfAnew('workflow', identifier) ?? placeId(draft, 'workflow', identifier),
      identifier,
      name: seed.name ?? identifier,
      origin: seed.origin ?? 'external',
      ...(seed.payloadSchema && { payloadSchema: seed.payloadSchema })
    }
    unlikeOthers(draft, place, 'workflow', ['identifier', identifier], seed, workflow._id)
    draft.world.workflows.push(workflow)

    const steps: WorkflowStep[] = []
    const controlValues = (seed.steps ?? []).map((step) => step.controlValues)
    const taken = new Set((seed.steps ?? []).map(({ stepId }) => stepId))
    each(place, seed.steps, 'steps', (step, at) => {
      const stepId = step.stepId ?? firstFree(stepBase(step), (name) => !taken.has(name))
      taken.add(stepId)
      const added = stepOf(draft, workflow, { ...step, stepId }, { earlierSteps: steps, controlValues })
      unlikeOthers(draft, at, 'step', ['stepId', stepId], step, added._id, identifier)
      steps.push(added)
      draft.world.steps.push(added)
    })
    draft.workflows.set(identifier, { workflow, steps })
  }

  function stepOf(
    draft: Draft,
    workflow: WorkflowDocument,
    seed: SeedStep & { stepId: string },
    around: { earlierSteps: readonly WorkflowStep[]; controlValues: readonly unknown[] }
  ): WorkflowStep {
    const { stepId } = seed
    const name = seed.name ?? STEP_NAMES[seed.type]
    const _id =
      seed._id ??
      draft.idOfAnew('step', workflow.identifier, stepId) ??
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
    const { subscriberId, workflow: workflowIdentifier, subscriber: ownSubscriber, template, ...fields } = seed
    const subscriber = ownSubscriber
      ? subscriberOf(draft, ownSubscriber, within(place, 'subscriber'))
      : referred(draft.subscribers, subscriberId, within(place, 'subscriberId'), 'subscriber')
    if (ownSubscriber && subscriberId !== undefined && subscriberId !== ownSubscriber.subscriberId) {
      complain(within(place, 'subscriberId'), `is not that of the subscriber given here, ${ownSubscriber.subscriberId}`)
    }
    const { workflow, steps } =
      referred(draft.workflows, workflowIdentifier, within(place, 'workflow'), 'workflow') ?? {}
    const step = steps?.find(({ type }) => type === seed.channel)

    const times = timesOf(seed, ['createdAt', 'lastSeenDate', 'lastReadDate', 'snoozedUntil'], place)
    const deliveredAt = seed.deliveredAt?.map((time, at) => timeOf(time, within(place, 'deliveredAt', at)))
    const index = messagePlace(draft)
    const _id = seed._id ?? placeId(draft, 'message', index)
    const transactionId = seed.transactionId ?? `txn_${placeId(draft, 'transaction', index)}`
    const _subscriberId = seed._subscriberId ?? subscriber?._id ?? placeId(draft, 'subscriber', '')
    once(draft, ['message', '_id', _id], within(place, '_id'))
    world.messages.push(
      inOrder(MessageResponse, {
        // A message that names its subscriber so, as in an export, says itself where it went.
        ...(seed._subscriberId === undefined && addressOf(world, seed, subscriber)),
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
        createdAt: times.createdAt ?? isoTime(presentOf(world) - index * 60_000),
        ...(deliveredAt && { deliveredAt }),
        transactionId,
        read: seed.read ?? false,
        seen: seed.seen ?? false,
        cta: seed.cta ?? { action: { buttons: [] } },
        status: seed.status ?? 'sent'
      })
    )
  }

  /** The next place whose message the environment does not hold yet. */
  function messagePlace(draft: Draft): number {
    const held = target?.held
    while (held?.hasMessage(placeId(draft, 'message', draft.messagePlaces))) draft.messagePlaces += 1
    draft.messagePlaces += 1
    return draft.messagePlaces - 1
  }

  function addGenerate(draft: Draft, generate: SeedGenerate, place: Place): void {
    const { world } = draft
    once(draft, ['generate'], place, (first) => `this environment has it already, at ${first}`)
    if (!world.steps.some(({ type }) => (CHANNELS as readonly string[]).includes(type))) {
      complain(place, `needs a workflow here with a step of a channel (${CHANNELS.join(', ')}) to make messages of`)
    }
    world.generate = generate
  }

  function referred<Thing>(
    things: ReadonlyMap<string, Thing>,
    name: string | undefined,
    place: Place,
    kind: string
  ): Thing | undefined {
    if (name === undefined) return undefined
    const found = things.get(name)
    if (!found) {
      const names = [...things.keys()]
      const meant = suggest(name, names)
      const remedy = meant ? `did you mean ${meant}?` : `there are ${names.slice(0, 10).join(', ')}`
      complain(place, `this environment has no ${kind} ${name}; ${names.length > 0 ? remedy : 'it has none'}`)
    }
    return found
  }

  /** Complains of a name, or an `_id`, that another of its kind has. An `_id` made of a name is as double as the name. */
  function unlikeOthers(
    draft: Draft,
    place: Place,
    kind: string,
    [field, name]: readonly [field: string, name: string],
    { _id: ownId }: { _id?: string },
    id: string,
    inside = ''
  ): void {
    const isNew = once(draft, [kind, field, name, inside], within(place, field))
    if (isNew || ownId !== undefined) once(draft, [kind, '_id', id], within(place, '_id'))
  }

  /** False, with a complaint: it is there already. */
  function once(
    draft: Draft,
    what: readonly [kind: string, ...string[]],
    place: Place,
    message = (first: string) => `is that of another ${what[0]} too, at ${first}`
  ): boolean {
    const key = JSON.stringify(what)
    const first = draft.seen.get(key)
    if (first) complain(place, message(first === HELD ? HELD : told(first)))
    else draft.seen.set(key, place)
    return first === undefined
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
    if (!Number.isNaN(milliseconds) && isDay(text.slice(0, 10))) return isoTime(milliseconds)
    complain(place, NO_TIME)
    return text
  }
}

const NO_TIME = 'must be a time in ISO 8601, such as 2026-02-18T10:07:11.402Z'
const ONE_ENVIRONMENT = 'a seed that is loaded into an environment has one environment, no more and no less'

const NOTHING_HELD: Parted = {
  integrations: [],
  subscribers: [],
  workflows: [],
  steps: [],
  idOfAnew: () => undefined
}

/** A date alone, or with a time that has its zone: the same moment on every machine. */
const ISO_8601 = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/

/** Date.parse takes 30 February for 2 March. */
function isDay(date: string): boolean {
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
}

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

function inOrderOfFiles(mistakes: readonly SeedMistake[], files: readonly SeedFile[]): SeedMistake[] {
  const rank = new Map(files.map(({ name }, place) => [name, place]))
  return mistakes.toSorted(
    (one, other) => (rank.get(one.file) ?? 0) - (rank.get(other.file) ?? 0) || inOrderOfText(one, other)
  )
}

function identifierBase({ name, providerId, channel }: SeedIntegration): string {
  return slugify(name ?? providerId) || channel
}

function stepBase({ name, type }: SeedStep): string {
  return slugify(name ?? '') || slugify(STEP_NAMES[type])
}

function told({ file, path }: Place): string {
  const mistake = file.mistakeAt(path, '')
  return mistake.line === undefined ? `${mistake.file} ${mistake.path}` : placeOf(mistake)
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
