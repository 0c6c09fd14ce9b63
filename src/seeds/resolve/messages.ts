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
import { MAX_GENERATED, REQUEST_LIMITS } from '../limits.js'
import { type EnvironmentBuilder, inOrder, type SeedLocation, timeOf, timesOf } from './builder.js'
import { subscriberOf } from './records.js'

const MINUTE = 60_000
/** About what the defaults of a message take, in characters of JSON. */
const DEFAULTS = 500

/** To be called after everything that messages refer to has been added. */
export function addMessage(builder: EnvironmentBuilder, seed: SeedMessage, location: SeedLocation): void {
  const { subscriberId, workflow: workflowIdentifier, subscriber: _embedded, template, ...fields } = seed
  const subscriber = subscriberFor(builder, seed, location)
  const workflow = builder.referenced('workflows', workflowIdentifier, location.at('workflow'))
  const step = workflow && builder.stepsOf(workflow).find(({ type }) => type === seed.channel)
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
  const embedded = seed.subscriber ? '' : JSON.stringify(subscriber)
  builder.countAdded(DEFAULTS + (embedded?.length ?? 0), location)
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
  subscriber: SubscriberResponse | undefined
): Pick<MessageResponse, 'email' | 'phone' | 'providerId'> {
  const { data, providers } = builder
  if (!providers.has(channel)) {
    const usable = data.integrations.filter((each) => each.channel === channel && each.active && !each.deleted)
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
  const { data, existing, unknown } = builder
  const isUnknown = unknown.has('workflows') || unknown.has('steps')
  if (!isUnknown && !canGenerate(data) && !canGenerate({ steps: existing?.stepsOf() ?? [] })) {
    location.report(`needs a workflow here with a step of a channel (${CHANNELS.join(', ')}) to make messages of`)
  }
  data.generate = generate
  // A file may make as many as it likes.
  if (location.limits !== REQUEST_LIMITS) return
  data.countGenerated = (characters) => builder.countAdded(characters, location)
  const remedy = 'start the server with the seed, or put more into a data file before: seed generate --data'
  for (const field of ['messages', 'subscribers'] as const) {
    if ((generate[field] ?? 0) <= MAX_GENERATED) continue
    location.at(field).report(`must be at most ${MAX_GENERATED} in a request; ${remedy}`)
  }
}
