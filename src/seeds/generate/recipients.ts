import type { Channel } from '../../core/enums.js'
import { createRandom } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import { canonicalContext } from '../../messages/service.js'
import type { EnvironmentData, Stored } from '../environment-data.js'
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

export function createRecipients(
  environment: EnvironmentInput,
  subscribers: readonly Stored<SubscriberResponse>[],
  randomSeed: number
): Recipient[] {
  const random = createRandom(randomSeed)
  const faker = createFaker(random)
  const contexts = contextsOf(environment)
  const chat = usualIntegrations(environment, 'chat')
  const isByPhone = chat.length > 0 && chat.every(({ providerId }) => providerId === WHATSAPP)
  const push = usualIntegrations(environment, 'push')[0]?.providerId ?? DEFAULT_PROVIDERS.push
  return subscribers.map((subscriber) => {
    const { subscriberId, email, phone, channels = [] } = subscriber
    const tokens = channels.flatMap(({ credentials }) => credentials.deviceTokens ?? [])
    const hasChat = isByPhone
      ? phone
      : channels.some(({ credentials }) => credentials.webhookUrl ?? credentials.channel ?? credentials.alertUid)
    return {
      subscriber,
      deviceTokens: tokens.length > 0 ? tokens : [deviceToken(faker, push)],
      noAddress: {
        ...(!email && { email: NO_ADDRESS.email }),
        ...(!phone && { sms: NO_ADDRESS.sms }),
        ...(!hasChat && { chat: isByPhone ? NO_ADDRESS.chatByPhone : NO_ADDRESS.chat })
      },
      context: pick(random, contexts.bySubscriber.get(subscriberId) ?? contexts.all)
    }
  })
}

/** The contexts that the seed's own messages show, of each subscriber and in all; tenants where they show none. */
function contextsOf({ messages }: EnvironmentInput): { bySubscriber: Map<string, Context[]>; all: Context[] } {
  const bySubscriber = new Map<string, Context[]>()
  const hasContexts = messages.some(({ contextKeys = [] }) => contextKeys.length > 0)
  for (const { subscriber, contextKeys } of hasContexts ? messages : []) {
    const { subscriberId = '' } = subscriber ?? {}
    bySubscriber.set(subscriberId, [...(bySubscriber.get(subscriberId) ?? []), contextOf(contextKeys)])
  }
  return { bySubscriber, all: hasContexts ? [...bySubscriber.values()].flat() : TENANTS.map(contextOf) }
}

function contextOf(keys: string[] = []): Context {
  return { keys: keys.length > 0 ? keys : undefined, canonical: canonicalContext(keys) }
}

const TENANTS = [[], [], [], [], ['tenant:acme'], ['tenant:globex'], ['region:eu', 'tenant:umbrella']]
