import { isoTime } from '../../domain/clock.js'
import { CHANNELS, isChannel, type StepType } from '../../domain/enums.js'
import { slugify, slugOf } from '../../domain/ids.js'
import { TIME_FIELDS } from '../../domain/record-times.js'
import { Integration } from '../../integrations/schemas.js'
import {
  MessageResponse,
  NotificationGroup,
  SubscriberResponse,
  WorkflowResponse
} from '../../messages/schemas.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import { isIncomplete } from '../check-format.js'
import type {
  SeedGenerate,
  SeedIntegration,
  SeedMessage,
  SeedStep,
  SeedSubscriber,
  SeedWorkflow,
  WorkflowDocument
} from '../format.js'
import { MAX_GENERATED, REQUEST_LIMITS } from '../limits.js'
import type { EnvironmentBuilder } from './builder.js'
import type { SeedLocation } from './location.js'
import { pickDefined, type TakenNames, unusedName } from './names.js'
import { defaultControls, inferPayloadSchema, stepVariables } from './step-defaults.js'

/** The estimated length of a record's default values, in characters of JSON. */
const DEFAULTS_LENGTH = 250
const MESSAGE_DEFAULTS_LENGTH = 500

const MINUTE = 60_000

export function addIntegration(
  builder: EnvironmentBuilder,
  seed: SeedIntegration,
  location: SeedLocation
): void {
  // Required fields can be missing, because invalid values were removed.
  const { providerId = '', channel, name = providerId } = seed
  const isStored = (identifier: string) =>
    builder.stored('integrations', 'identifier', identifier) !== undefined
  const identifier =
    seed.identifier ?? unusedName(slugify(name) || channel, builder.identifiers, isStored)
  const { _id = builder.recordId('integrations', identifier) } = seed
  const integration = pickDefined(Integration, {
    credentials: {},
    active: true,
    deleted: false,
    primary: false,
    ...seed,
    ...builder.owner,
    _id,
    name,
    identifier,
    ...location.readTimes(seed, TIME_FIELDS.integrations)
  })
  for (const field of ['deletedAt', 'deletedBy'] as const) {
    if (integration[field] !== undefined && !integration.deleted) {
      location.at(field).report('is only allowed with `deleted: true`')
    }
  }
  builder.identifiers.set(identifier, builder.identifiers.get(identifier) ?? 1)
  builder.countAdded(DEFAULTS_LENGTH, location)
  builder.claimNames('integrations', ['identifier', identifier], _id, location)
  if (channel && integration.primary && !integration.deleted) {
    builder.claimPrimary(integration, location.at('primary'))
  }
  builder.add('integrations', identifier, integration)
}

export function addSubscriber(
  builder: EnvironmentBuilder,
  seed: SeedSubscriber,
  location: SeedLocation
): void {
  const subscriber = createSubscriber(builder, seed, location)
  if (seed.subscriberId === undefined) {
    // An invalid subscriberId was removed. Messages might refer to it, so don't report unknown
    // subscribers.
    builder.unknownKinds.add('subscribers')
  } else {
    const name = ['subscriberId', seed.subscriberId] as const
    builder.claimNames('subscribers', name, subscriber._id, location)
  }
  builder.add('subscribers', seed.subscriberId, subscriber)
  builder.countAdded(DEFAULTS_LENGTH, location)
}

/** Returns the document of a subscriber in `subscribers` or embedded in a message. */
function createSubscriber(
  builder: EnvironmentBuilder,
  seed: SeedSubscriber,
  location: SeedLocation
) {
  const times = location.readTimes(seed, TIME_FIELDS.subscribers)
  const { createdAt = isoTime(builder.currentTime()) } = times
  const { _id = builder.recordId('subscribers', seed.subscriberId) } = seed
  return pickDefined(SubscriberResponse, {
    deleted: false,
    ...seed,
    ...builder.owner,
    _id,
    updatedAt: createdAt,
    ...times,
    createdAt
  })
}

/** Adds a workflow and its steps. */
export function addWorkflow(
  builder: EnvironmentBuilder,
  seed: SeedWorkflow,
  location: SeedLocation
): void {
  const { name, identifier = slugify(name ?? ''), origin = 'external', payloadSchema } = seed
  if (isIncomplete(seed)) builder.unknownKinds.add('steps')
  if (identifier === '') {
    reportNoIdentifier(builder, seed, location)
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
  const steps = createSteps(builder, seed, workflow, location)
  builder.add('workflows', identifier, workflow, steps)
}

function reportNoIdentifier(
  builder: EnvironmentBuilder,
  seed: SeedWorkflow,
  location: SeedLocation
): void {
  // An invalid identifier may have been removed. Messages might refer to it, so don't report
  // unknown workflows.
  if (isIncomplete(seed)) builder.unknownKinds.add('workflows')
  else if (seed.name === undefined) location.report('must have an identifier or a name')
  else location.report('must have an identifier, because its name has no letters or digits')
}

function createSteps(
  builder: EnvironmentBuilder,
  seed: SeedWorkflow,
  workflow: WorkflowDocument,
  location: SeedLocation
): WorkflowStep[] {
  const { steps: stepSeeds = [] } = seed
  const { identifier, payloadSchema } = workflow
  const payload = payloadSchema ?? inferPayloadSchema(stepSeeds.map((step) => step.controlValues))
  const stepIds: TakenNames = new Map(stepSeeds.map(({ stepId }) => [stepId, 1]))
  const findStoredId = storedStepIds(builder, identifier, stepSeeds)
  const steps: WorkflowStep[] = []
  for (const [index, stepSeed] of stepSeeds.entries()) {
    const { type, name = defaultStepName(type), controls = defaultControls(type) } = stepSeed
    const { stepId = unusedName(slugify(name) || slugify(defaultStepName(type)), stepIds) } =
      stepSeed
    const { variables = stepVariables(steps, payload) } = stepSeed
    const derivedId = () => builder.derivedId('workflow', identifier, 'step', stepId)
    const { _id = findStoredId(stepId) ?? derivedId() } = stepSeed
    const step = pickDefined(WorkflowStep, {
      ...stepSeed,
      _id,
      stepId,
      name,
      slug: stepSeed.slug ?? slugOf(name, 'st', _id),
      controls,
      variables,
      origin: workflow.origin,
      workflowId: identifier,
      workflowDatabaseId: workflow._id
    })
    const at = location.at('steps', index)
    // Count the whole step, because its `variables` repeat the schemas of the payload and of all
    // earlier results.
    builder.countAdded(JSON.stringify(step).length, at)
    builder.claimNames('steps', ['stepId', stepId, identifier], _id, at)
    steps.push(step)
  }
  return steps
}

/**
 * Returns a function that maps a `stepId` to the existing step's id. The function returns undefined
 * if a step in the seed already has this id.
 */
function storedStepIds(
  builder: EnvironmentBuilder,
  workflow: string,
  seeds: readonly SeedStep[]
): (stepId: string) => string | undefined {
  const storedWorkflow = builder.existing?.find('workflows', 'identifier', workflow)
  const storedSteps = storedWorkflow ? (builder.existing?.stepsOf(storedWorkflow._id) ?? []) : []
  const seedIds = seeds.map(({ _id }) => _id)
  return (stepId) =>
    storedSteps.find((step) => step.stepId === stepId && !seedIds.includes(step._id))?._id
}

/** Returns a name such as `Email Step` or `In-App Step`. */
function defaultStepName(type: StepType): string {
  if (type === 'in_app') return 'In-App Step'
  if (type === 'sms') return 'SMS Step'
  return `${type.charAt(0).toUpperCase()}${type.slice(1)} Step`
}

/** Adds a message. Call this after adding the subscribers and workflows that it can refer to. */
export function addMessage(
  builder: EnvironmentBuilder,
  seed: SeedMessage,
  location: SeedLocation
): void {
  const { subscriberId: _subscriber, workflow: _workflow, ...fields } = seed
  const subscriber = findSubscriber(builder, seed, location)
  const workflow = builder.referenced('workflows', seed.workflow, location.at('workflow'))
  const messageNumber = builder.nextMessageNumber()
  const {
    _id = builder.derivedId('message', messageNumber),
    transactionId = `txn_${builder.derivedId('transaction', messageNumber)}`,
    _subscriberId = subscriber?._id ?? builder.derivedId('subscriber', ''),
    _notificationId = builder.derivedId('notification', transactionId, _subscriberId)
  } = seed
  reportUnexpectedError(seed, location)
  builder.claimId('messages', _id, location)
  const embeddedLength = seed.subscriber ? 0 : (JSON.stringify(subscriber)?.length ?? 0)
  builder.countAdded(MESSAGE_DEFAULTS_LENGTH + embeddedLength, location)
  const message = pickDefined(MessageResponse, {
    // A message with `_subscriberId` comes from an export, so it already has its address.
    ...(seed._subscriberId === undefined && defaultAddress(builder, seed, subscriber)),
    ...(workflow && workflowReference(builder, workflow, seed)),
    read: false,
    seen: false,
    cta: { action: { buttons: [] } },
    status: 'sent',
    ...fields,
    ...builder.owner,
    _id,
    _notificationId,
    _subscriberId,
    subscriber,
    template: seed.template && createTemplate(builder, seed.template),
    createdAt: isoTime(builder.currentTime() - messageNumber * MINUTE),
    ...location.readTimes(seed, TIME_FIELDS.messages),
    transactionId
  } as MessageResponse & { _id: string })
  builder.data.messages.push(message)
}

function reportUnexpectedError(seed: SeedMessage, location: SeedLocation): void {
  if ((seed.status ?? 'sent') !== 'sent') return
  for (const field of ['errorId', 'errorText'] as const) {
    if (seed[field] !== undefined) {
      location.at(field).report('is only allowed with `status: error` or `status: warning`')
    }
  }
}

function workflowReference(
  builder: EnvironmentBuilder,
  workflow: WorkflowDocument,
  { channel }: SeedMessage
) {
  const step = builder.stepsOf(workflow).find(({ type }) => type === channel)
  return {
    _templateId: workflow._id,
    templateIdentifier: workflow.identifier,
    ...(step && { _messageTemplateId: step._id })
  }
}

/** Returns the subscriber that the message embeds or refers to. */
function findSubscriber(
  builder: EnvironmentBuilder,
  { subscriber, subscriberId }: SeedMessage,
  location: SeedLocation
) {
  const at = location.at('subscriberId')
  if (!subscriber) return builder.referenced('subscribers', subscriberId, at)
  if (subscriberId !== undefined && subscriberId !== subscriber.subscriberId) {
    at.report(
      `differs from the subscriberId of the embedded subscriber, ${subscriber.subscriberId}`
    )
  }
  return createSubscriber(builder, subscriber, location.at('subscriber'))
}

/** Returns the channel's provider and, for email and SMS, the subscriber's address or number. */
function defaultAddress(
  builder: EnvironmentBuilder,
  { channel }: SeedMessage,
  subscriber?: SubscriberResponse
) {
  const { providers } = builder
  if (!providers.has(channel)) providers.set(channel, findProvider(builder, channel))
  const providerId = providers.get(channel)
  return {
    ...(providerId !== undefined && { providerId }),
    ...(channel === 'email' && subscriber?.email && { email: subscriber.email }),
    ...(channel === 'sms' && subscriber?.phone && { phone: subscriber.phone })
  }
}

/** Returns the provider of the primary integration or, without one, of the first active one. */
function findProvider(builder: EnvironmentBuilder, channel: string): string | undefined {
  const stored = builder.stored('integrations', 'active', channel)
  const usable = builder.data.integrations.filter(
    (integration) => integration.channel === channel && integration.active && !integration.deleted
  )
  const candidates = stored ? [stored, ...usable] : usable
  const integration = candidates.find(({ primary }) => primary) ?? candidates[0]
  return integration?.providerId
}

function createTemplate(
  { owner }: EnvironmentBuilder,
  { notificationGroup, ...fields }: NonNullable<SeedMessage['template']>
): WorkflowResponse {
  const group =
    notificationGroup && pickDefined(NotificationGroup, { ...notificationGroup, ...owner })
  return pickDefined(WorkflowResponse, {
    ...fields,
    ...owner,
    ...(group && { notificationGroup: group })
  })
}

/** Sets how many messages to generate. Call this after adding the workflows of all seeds. */
export function setGenerate(
  builder: EnvironmentBuilder,
  generate: SeedGenerate,
  location: SeedLocation
): void {
  builder.claim({
    key: ['generate'],
    at: location,
    message: (first) => `appears twice for this environment, first at ${first}`
  })
  if (!canSendMessages(builder)) {
    const channels = CHANNELS.join(', ')
    location.report(`needs a workflow in this environment with one of these steps: ${channels}`)
  }
  builder.data.generate = generate
  // The limits below apply only to requests. For files, the seed schema contains the limits.
  if (location.file.limits !== REQUEST_LIMITS) return
  builder.data.countGenerated = (characters) => builder.countAdded(characters, location)
  for (const field of ['messages', 'subscribers'] as const) {
    if ((generate[field] ?? 0) <= MAX_GENERATED) continue
    location
      .at(field)
      .report(
        `must be at most ${MAX_GENERATED} in a request; ` +
          'to generate more, put the seed in a file and start the server with --seed <file>'
      )
  }
}

/**
 * Returns whether at least one step sends messages, or may do so once the seed's issues are fixed.
 */
function canSendMessages({ data, existing, unknownKinds }: EnvironmentBuilder): boolean {
  if (unknownKinds.has('workflows') || unknownKinds.has('steps')) return true
  const steps = [...data.steps, ...(existing?.stepsOf() ?? [])]
  return steps.some(({ type }) => isChannel(type))
}
