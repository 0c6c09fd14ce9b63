import { isoTime } from '../../core/clock.js'
import { CHANNELS } from '../../core/enums.js'
import {
  MessageResponse,
  NotificationGroup,
  type SubscriberResponse,
  WorkflowResponse
} from '../../messages/schemas.js'
import { canGenerate } from '../environment-data.js'
import type { SeedGenerate, SeedMessage } from '../format.js'
import { formatLimit } from '../limits.js'
import { type EnvironmentBuilder, inOrder, type SeedLocation, timeOf, timesOf } from './builder.js'
import { subscriberOf } from './subscribers.js'

const MINUTE = 60_000
/** About what the defaults of a message take, in characters of JSON. */
const DEFAULTS = 500

/** To be called after everything that messages refer to has been added. */
export function addMessage(builder: EnvironmentBuilder, seed: SeedMessage, location: SeedLocation): void {
  const { subscriberId, workflow: workflowIdentifier, subscriber: _embedded, template, ...fields } = seed
  const subscriber = subscriberFor(builder, seed, location)
  const { workflow, steps } =
    builder.referenced(
      'workflow',
      workflowIdentifier,
      builder.workflows,
      (each) => each.workflow._id,
      location.at('workflow')
    ) ?? {}
  const step = steps?.find(({ type }) => type === seed.channel)
  const times = timesOf(seed, ['createdAt', 'lastSeenDate', 'lastReadDate', 'snoozedUntil'], location)
  const deliveredAt = seed.deliveredAt?.map((time, index) => timeOf(time, location.at('deliveredAt', index)))
  const number = builder.nextMessageNumber()
  const {
    _id = builder.derivedId('message', number),
    transactionId = `txn_${builder.derivedId('transaction', number)}`,
    _subscriberId = subscriber?._id ?? builder.derivedId('subscriber', ''),
    _notificationId = builder.derivedId('notification', transactionId, _subscriberId)
  } = seed
  if ((seed.status ?? 'sent') === 'sent') {
    for (const field of ['errorId', 'errorText'] as const) {
      if (seed[field] !== undefined)
        location.at(field).report('needs status: error or warning, as it says what went wrong')
    }
  }
  builder.claim(['message', '_id', _id], location.at('_id'))
  builder.countAdded(DEFAULTS + (seed.subscriber ? 0 : sizeOf(builder, subscriber)), location)
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
function subscriberFor(builder: EnvironmentBuilder, { subscriber, subscriberId }: SeedMessage, location: SeedLocation) {
  const at = location.at('subscriberId')
  if (!subscriber) return builder.referenced('subscriber', subscriberId, builder.subscribers, (each) => each._id, at)
  if (subscriberId !== undefined && subscriberId !== subscriber.subscriberId) {
    at.report(`is not that of the subscriber given here, ${subscriber.subscriberId}`)
  }
  return subscriberOf(builder, subscriber, location.at('subscriber'))
}

function sizeOf({ sizes }: EnvironmentBuilder, subscriber: SubscriberResponse | undefined): number {
  if (!subscriber) return 0
  const size = sizes.get(subscriber) ?? JSON.stringify(subscriber).length
  sizes.set(subscriber, size)
  return size
}

/** Where the message went: the subscriber's address, and the provider of the channel's primary integration. */
function addressOf(
  { data, providers }: EnvironmentBuilder,
  { channel }: SeedMessage,
  subscriber: SubscriberResponse | undefined
): Pick<MessageResponse, 'email' | 'phone' | 'providerId'> {
  if (!providers.has(channel)) {
    const usable = data.integrations.filter((each) => each.channel === channel && each.active && !each.deleted)
    providers.set(channel, (usable.find(({ primary }) => primary) ?? usable[0])?.providerId)
  }
  const providerId = providers.get(channel)
  return {
    ...(providerId !== undefined && { providerId }),
    ...(channel === 'email' && subscriber?.email && { email: subscriber.email }),
    ...(channel === 'sms' && subscriber?.phone && { phone: subscriber.phone })
  }
}

function templateOf({ owner }: EnvironmentBuilder, template: NonNullable<SeedMessage['template']>): WorkflowResponse {
  const { notificationGroup, ...fields } = template
  return inOrder(WorkflowResponse, {
    ...fields,
    ...owner,
    ...(notificationGroup && { notificationGroup: inOrder(NotificationGroup, { ...notificationGroup, ...owner }) })
  })
}

export function setGenerate(builder: EnvironmentBuilder, generate: SeedGenerate, location: SeedLocation): void {
  builder.claim(['generate'], location, (first) => `is given twice for this environment, first at ${first}`)
  if (!canGenerate(builder.data)) {
    location.report(`needs a workflow here with a step of a channel (${CHANNELS.join(', ')}) to make messages of`)
  }
  builder.data.generate = generate
  const { generated: most, where, remedy } = location.limits
  let count = 0
  builder.data.countGenerated = (characters) => {
    count += characters
    if (count > most) {
      location.fail(
        `is too much: the messages take more than ${formatLimit(most)}, the most ${where}: make fewer, or ${remedy}`
      )
    }
  }
}
