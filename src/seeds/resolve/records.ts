import { isoTime } from '../../domain/clock.js'
import { CHANNELS, isChannel, type StepType } from '../../domain/enums.js'
import { slugify, slugOf } from '../../domain/ids.js'
import { Integration } from '../../integrations/schemas.js'
import {
  MessageResponse,
  NotificationGroup,
  SubscriberResponse,
  WorkflowResponse
} from '../../messages/schemas.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import type {
  SeedGenerate,
  SeedIntegration,
  SeedMessage,
  SeedSubscriber,
  SeedWorkflow
} from '../format.js'
import { MAX_GENERATED, REQUEST_LIMITS } from '../limits.js'
import { incomplete } from '../read.js'
import {
  type EnvironmentBuilder,
  inOrder,
  type SeedLocation,
  type TakenNames,
  unusedName
} from './builder.js'
import { defaultControls, inferPayloadSchema, stepVariables } from './step-defaults.js'

/** About what the defaults of a record take, in characters of JSON. */
const DEFAULTS = 250

export function addIntegration(
  builder: EnvironmentBuilder,
  seed: SeedIntegration,
  location: SeedLocation
): void {
  // What has an issue is missing.
  const { providerId = '', channel, name = providerId } = seed
  const isStored = (other: string) =>
    builder.stored('integrations', 'identifier', other) !== undefined
  const { identifier = unusedName(slugify(name) || channel, builder.identifiers, isStored) } = seed
  const { _id = builder.recordId('integrations', identifier) } = seed
  const integration = inOrder(Integration, {
    credentials: {},
    active: true,
    deleted: false,
    primary: false,
    ...seed,
    ...builder.owner,
    _id,
    name,
    identifier,
    ...location.timesOf(seed, ['deletedAt'])
  })
  for (const field of ['deletedAt', 'deletedBy'] as const) {
    if (integration[field] !== undefined && !integration.deleted)
      location.at(field).report('needs deleted: true')
  }
  builder.identifiers.set(identifier, builder.identifiers.get(identifier) ?? 1)
  builder.countAdded(DEFAULTS, location)
  builder.claimNames('integrations', ['identifier', identifier], _id, location)
  if (channel && integration.primary && !integration.deleted)
    builder.claimPrimary(integration, location.at('primary'))
  builder.add('integrations', identifier, integration)
}

export function addSubscriber(
  builder: EnvironmentBuilder,
  seed: SeedSubscriber,
  location: SeedLocation
): void {
  const subscriber = subscriberOf(builder, seed, location)
  // It has an issue: messages may refer to the one that was meant.
  if (seed.subscriberId === undefined) builder.unknown.add('subscribers')
  else
    builder.claimNames('subscribers', ['subscriberId', seed.subscriberId], subscriber._id, location)
  builder.add('subscribers', seed.subscriberId, subscriber)
  builder.countAdded(DEFAULTS, location)
}

/** Also for one that is embedded in a message and is none of the environment's. */
function subscriberOf(builder: EnvironmentBuilder, seed: SeedSubscriber, location: SeedLocation) {
  const times = location.timesOf(seed, ['createdAt', 'updatedAt', 'lastOnlineAt'])
  const { createdAt = isoTime(builder.present()) } = times
  const { _id = builder.recordId('subscribers', seed.subscriberId) } = seed
  return inOrder(SubscriberResponse, {
    deleted: false,
    ...seed,
    ...builder.owner,
    _id,
    updatedAt: createdAt,
    ...times,
    createdAt
  })
}

/** Adds a workflow, with a step for each of its steps. */
export function addWorkflow(
  builder: EnvironmentBuilder,
  seed: SeedWorkflow,
  location: SeedLocation
): void {
  const {
    name,
    identifier = slugify(name ?? ''),
    origin = 'external',
    payloadSchema,
    steps = []
  } = seed
  // What has an issue is missing: messages may refer to the one that was meant.
  if (incomplete.has(seed)) builder.unknown.add('steps')
  if (identifier === '') {
    if (incomplete.has(seed)) builder.unknown.add('workflows')
    else
      location.report(
        `must have identifier${name === undefined ? ' or name' : ': its name has no slug'}`
      )
    return
  }
  const { _id = builder.recordId('workflows', identifier) } = seed
  const workflow = {
    _id,
    identifier,
    name: name ?? identifier,
    origin,
    ...(payloadSchema && { payloadSchema })
  }
  builder.claimNames('workflows', ['identifier', identifier], _id, location)

  const resolved: WorkflowStep[] = []
  const replaced = builder.existing?.find('workflows', 'identifier', identifier)
  const storedSteps = replaced ? (builder.existing?.stepsOf(replaced._id) ?? []) : []
  const givenIds = steps.map((step) => step._id)
  const payload = payloadSchema ?? inferPayloadSchema(steps.map((step) => step.controlValues))
  const stepIds: TakenNames = new Map(steps.map(({ stepId }) => [stepId, 1]))
  for (const [index, step] of steps.entries()) {
    const { type, name = defaultName(type), controls = defaultControls(type) } = step
    const { stepId = unusedName(slugify(name) || slugify(defaultName(type)), stepIds) } = step
    const { variables = stepVariables(resolved, payload) } = step
    const stored = storedSteps.find(
      (each) => each.stepId === stepId && !givenIds.includes(each._id)
    )
    const { _id = stored?._id ?? builder.derivedId('workflow', identifier, 'step', stepId) } = step
    const { slug = slugOf(name, 'st', _id) } = step
    const own = { ...step, _id, stepId, name, slug, controls, variables, origin }
    const added = inOrder(WorkflowStep, {
      ...own,
      workflowId: identifier,
      workflowDatabaseId: workflow._id
    })
    // Each step has the payload and the results of all steps before it.
    builder.countAdded(JSON.stringify(added).length, location.at('steps', index))
    builder.claimNames('steps', ['stepId', stepId, identifier], _id, location.at('steps', index))
    resolved.push(added)
  }
  builder.add('workflows', identifier, workflow, resolved)
}

/** `In-App Step`, `SMS Step`, `Email Step` */
function defaultName(type: StepType): string {
  const word =
    { in_app: 'In-App', sms: 'SMS' }[type as string] ?? type.charAt(0).toUpperCase() + type.slice(1)
  return `${word} Step`
}

const MINUTE = 60_000
/** About what the defaults of a message take, in characters of JSON. */
const MESSAGE_DEFAULTS = 500

/** To be called after everything that messages refer to has been added. */
export function addMessage(
  builder: EnvironmentBuilder,
  seed: SeedMessage,
  location: SeedLocation
): void {
  const {
    subscriberId,
    workflow: workflowIdentifier,
    subscriber: _embedded,
    template,
    ...fields
  } = seed
  const subscriber = subscriberFor(builder, seed, location)
  const workflow = builder.referenced('workflows', workflowIdentifier, location.at('workflow'))
  const step = workflow && builder.stepsOf(workflow).find(({ type }) => type === seed.channel)
  const times = location.timesOf(seed, [
    'createdAt',
    'lastSeenDate',
    'lastReadDate',
    'snoozedUntil'
  ])
  const deliveredAt = seed.deliveredAt?.map((time, index) =>
    location.at('deliveredAt', index).timeOf(time)
  )
  const number = builder.nextMessageNumber()
  const {
    _id = builder.derivedId('message', number),
    transactionId = `txn_${builder.derivedId('transaction', number)}`,
    _subscriberId = subscriber?._id ?? builder.derivedId('subscriber', ''),
    _notificationId = builder.derivedId('notification', transactionId, _subscriberId)
  } = seed
  const isSent = (seed.status ?? 'sent') === 'sent'
  for (const field of isSent ? (['errorId', 'errorText'] as const) : []) {
    if (seed[field] !== undefined)
      location.at(field).report('needs status: error or warning, as it says what went wrong')
  }
  builder.claim(['message', '_id', _id], location.at('_id'))
  const embedded = seed.subscriber ? '' : JSON.stringify(subscriber)
  builder.countAdded(MESSAGE_DEFAULTS + (embedded?.length ?? 0), location)
  builder.data.messages.push(
    inOrder(MessageResponse, {
      // A message that has its `_subscriberId`, as in an export, says itself where it went.
      ...(seed._subscriberId === undefined && addressOf(builder, seed, subscriber)),
      ...(workflow && { _templateId: workflow._id, templateIdentifier: workflow.identifier }),
      ...(step && { _messageTemplateId: step._id }),
      read: false,
      seen: false,
      cta: { action: { buttons: [] } },
      status: 'sent',
      ...fields,
      ...builder.owner,
      _id,
      _notificationId,
      _subscriberId,
      ...(subscriber && { subscriber }),
      ...(template && { template: templateOf(builder, template) }),
      ...times,
      createdAt: times.createdAt ?? isoTime(builder.present() - number * MINUTE),
      ...(deliveredAt && { deliveredAt }),
      transactionId
    })
  )
}

/** The embedded subscriber, or the one that is referred to. */
function subscriberFor(
  builder: EnvironmentBuilder,
  { subscriber, subscriberId }: SeedMessage,
  location: SeedLocation
) {
  const at = location.at('subscriberId')
  if (!subscriber) return builder.referenced('subscribers', subscriberId, at)
  if (subscriberId !== undefined && subscriberId !== subscriber.subscriberId) {
    at.report(`is not that of the subscriber given here, ${subscriber.subscriberId}`)
  }
  return subscriberOf(builder, subscriber, location.at('subscriber'))
}

/** Where the message went: the subscriber's address, and the provider of the channel's primary integration. */
function addressOf(
  builder: EnvironmentBuilder,
  { channel }: SeedMessage,
  subscriber?: SubscriberResponse
) {
  const { data, providers } = builder
  if (!providers.has(channel)) {
    const usable = data.integrations.filter(
      (each) => each.channel === channel && each.active && !each.deleted
    )
    const stored = builder.stored('integrations', 'active', channel)
    const all = [...(stored ? [stored] : []), ...usable]
    providers.set(channel, (all.find(({ primary }) => primary) ?? all[0])?.providerId)
  }
  const providerId = providers.get(channel)
  return {
    ...(providerId !== undefined && { providerId }),
    ...(channel === 'email' && subscriber?.email && { email: subscriber.email }),
    ...(channel === 'sms' && subscriber?.phone && { phone: subscriber.phone })
  }
}

function templateOf(
  { owner }: EnvironmentBuilder,
  template: NonNullable<SeedMessage['template']>
): WorkflowResponse {
  const { notificationGroup, ...fields } = template
  return inOrder(WorkflowResponse, {
    ...fields,
    ...owner,
    ...(notificationGroup && {
      notificationGroup: inOrder(NotificationGroup, { ...notificationGroup, ...owner })
    })
  })
}

export function setGenerate(
  builder: EnvironmentBuilder,
  generate: SeedGenerate,
  location: SeedLocation
): void {
  builder.claim(
    ['generate'],
    location,
    (first) => `is given twice for this environment, first at ${first}`
  )
  const { data, existing, unknown } = builder
  const isUnknown = unknown.has('workflows') || unknown.has('steps')
  if (
    !isUnknown &&
    ![...data.steps, ...(existing?.stepsOf() ?? [])].some(({ type }) => isChannel(type))
  ) {
    location.report(
      `needs a workflow here with a step of a channel (${CHANNELS.join(', ')}) to make messages of`
    )
  }
  data.generate = generate
  // A file may make as many as it likes.
  if (location.file.limits !== REQUEST_LIMITS) return
  data.countGenerated = (characters) => builder.countAdded(characters, location)
  const remedy = 'start the server with this seed as a file'
  for (const field of ['messages', 'subscribers'] as const) {
    if ((generate[field] ?? 0) <= MAX_GENERATED) continue
    location.at(field).report(`must be at most ${MAX_GENERATED} in a request; ${remedy}`)
  }
}
