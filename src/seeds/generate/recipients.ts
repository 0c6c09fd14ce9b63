import type { Channel } from '../../core/enums.js'
import { createRandom } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import { canonicalContext } from '../../messages/service.js'
import type { World as EnvironmentData, Stored } from '../environment-data.js'
import { NO_ADDRESS, type Outcome } from './delivery.js'
import { createFaker, pick } from './random.js'
import { deviceToken } from './subscribers.js'

/** What messages are generated from. */
export type EnvironmentInput = Pick<
  EnvironmentData,
  'id' | 'organizationId' | 'name' | 'integrations' | 'subscribers' | 'workflows' | 'steps' | 'messages'
>

/** For channels that the environment has no integration of. */
export const DEFAULT_PROVIDERS: Record<Channel, string> = {
  in_app: 'novu',
  email: 'sendgrid',
  sms: 'twilio',
  chat: 'slack',
  push: 'fcm'
}

export const WHATSAPP = 'whatsapp-business'

/** Returns the channel's active integrations, the primary first; where none is active, all of them. */
export function usualIntegrations({ integrations }: Pick<EnvironmentInput, 'integrations'>, channel: Channel) {
  const present = integrations.filter((each) => each.channel === channel && !each.deleted)
  const active = present.filter((each) => each.active).sort((one, other) => Number(other.primary) - Number(one.primary))
  return active.length > 0 ? active : present
}

/** Everything about a subscriber that is the same in each message to them. */
export interface Recipient {
  subscriber: Stored<SubscriberResponse>
  deviceTokens: string[]
  /** Of each channel that the subscriber has no address of, what becomes of a message. */
  noAddress: Partial<Record<Channel, Outcome>>
  context: Context
}

interface Context {
  /** Undefined: none. */
  keys: string[] | undefined
  canonical: string
}

/** Recipients by index, each made when it is first asked for. */
export interface Recipients {
  count: number
  at(index: number): Recipient
}

export function createRecipients(
  environment: EnvironmentInput,
  subscribers: readonly Stored<SubscriberResponse>[],
  randomSeed: number
): Recipients {
  const contexts = contextsOf(environment)
  const chat = usualIntegrations(environment, 'chat')
  const isByPhone = chat.length > 0 && chat.every(({ providerId }) => providerId === WHATSAPP)
  const push = usualIntegrations(environment, 'push')[0]?.providerId ?? DEFAULT_PROVIDERS.push
  const known: (Recipient | undefined)[] = Array(subscribers.length)
  return {
    count: subscribers.length,
    at: (index) => (known[index] ??= recipientOf(subscribers[index] as Stored<SubscriberResponse>, index))
  }

  function recipientOf(subscriber: Stored<SubscriberResponse>, index: number): Recipient {
    const { subscriberId, email, phone, channels = [] } = subscriber
    const random = createRandom((randomSeed + index + 1) * 0x9e3779b1)
    const tokens = channels.flatMap(({ credentials }) => credentials.deviceTokens ?? [])
    const hasChat = isByPhone
      ? phone
      : channels.some(({ credentials }) => credentials.webhookUrl ?? credentials.channel ?? credentials.alertUid)
    return {
      subscriber,
      deviceTokens: tokens.length > 0 ? tokens : [deviceToken(createFaker(random), push)],
      noAddress: {
        ...(!email && { email: NO_ADDRESS.email }),
        ...(!phone && { sms: NO_ADDRESS.sms }),
        ...(!hasChat && { chat: isByPhone ? NO_ADDRESS.chatByPhone : NO_ADDRESS.chat })
      },
      context: pick(random, contexts.bySubscriber.get(subscriberId) ?? contexts.all)
    }
  }
}

/** The contexts that the seed's own messages show, of each subscriber and in all; tenants where they show none. */
function contextsOf({ messages }: EnvironmentInput): { bySubscriber: Map<string, Context[]>; all: Context[] } {
  const bySubscriber = new Map<string, Context[]>()
  if (messages.every(({ contextKeys = [] }) => contextKeys.length === 0)) {
    return { bySubscriber, all: TENANTS.map(contextOf) }
  }
  for (const { subscriber, contextKeys } of messages) {
    if (!subscriber) continue
    const { subscriberId } = subscriber
    bySubscriber.set(subscriberId, [...(bySubscriber.get(subscriberId) ?? []), contextOf(contextKeys)])
  }
  return { bySubscriber, all: messages.map(({ contextKeys }) => contextOf(contextKeys)) }
}

function contextOf(keys: string[] = []): Context {
  return { keys: keys.length > 0 ? keys : undefined, canonical: canonicalContext(keys) }
}

const TENANTS = [
  [],
  [],
  [],
  [],
  ['tenant:acme'],
  ['tenant:globex'],
  ['tenant:initech'],
  ['region:eu', 'tenant:umbrella']
]
