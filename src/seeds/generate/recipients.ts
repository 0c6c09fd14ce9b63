import type { Channel } from '../../core/enums.js'
import { createRandom } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import { canonicalContext } from '../../messages/service.js'
import type { Stored } from '../environment-data.js'
import { type Environment, integrationsOf, PROVIDERS, WHATSAPP } from './channels.js'
import { pick } from './draw.js'
import { NO_CHAT, NO_CHAT_PHONE, NO_EMAIL, NO_PHONE } from './outcomes.js'
import { deviceToken } from './people.js'

/** Everything about a subscriber that is the same in each message to him. */
export interface Recipient {
  document: SubscriberResponse
  subscriberId: string
  /** `_subscriberId` and `subscriber`. */
  json: string
  reference: string
  email: string
  phone: string
  deviceTokens: string
  /** What keeps a message of the channel from being sent. */
  lacks: Partial<Record<Channel, string>>
  context: Context
}

interface Context {
  json: string
  canonical: string
}

/** Made as they are needed, and then kept. */
export interface Recipients {
  count: number
  at(place: number): Recipient
}

export function recipientsOf(
  environment: Environment,
  subscribers: readonly Stored<SubscriberResponse>[],
  randomSeed: number
): Recipients {
  const contexts = contextsOf(environment)
  const chat = integrationsOf(environment.integrations, 'chat').usual
  const byPhone = chat.length > 0 && chat.every(({ providerId }) => providerId === WHATSAPP)
  const push = integrationsOf(environment.integrations, 'push').usual[0]?.providerId ?? PROVIDERS.push
  const known: (Recipient | undefined)[] = Array(subscribers.length)
  const at = (place: number): Recipient => {
    known[place] ??= recipientOf(subscribers[place] as Stored<SubscriberResponse>, place)
    return known[place]
  }
  return { count: subscribers.length, at }

  function recipientOf(subscriber: Stored<SubscriberResponse>, place: number): Recipient {
    const { _id, subscriberId, email, phone, channels = [] } = subscriber
    const chance = createRandom((randomSeed + place + 1) * 0x9e3779b1)
    const tokens = channels.flatMap(({ credentials }) => credentials.deviceTokens ?? [])
    const hasChat = byPhone
      ? phone
      : channels.some(({ credentials }) => credentials.webhookUrl ?? credentials.channel ?? credentials.alertUid)
    return {
      document: subscriber,
      subscriberId,
      json: `,"_subscriberId":"${_id}","subscriber":${JSON.stringify(subscriber)}`,
      reference: `,"subscriberId":${JSON.stringify(subscriberId)}`,
      email: email ? `,"email":${JSON.stringify(email)}` : '',
      phone: phone ? `,"phone":${JSON.stringify(phone)}` : '',
      deviceTokens: `,"deviceTokens":${JSON.stringify(tokens.length > 0 ? tokens : [deviceToken(chance, push)])}`,
      lacks: {
        ...(!email && { email: NO_EMAIL }),
        ...(!phone && { sms: NO_PHONE }),
        ...(!hasChat && { chat: byPhone ? NO_CHAT_PHONE : NO_CHAT })
      },
      context: pick(chance, contexts.own.get(subscriberId) ?? contexts.all)
    }
  }
}

/** What the seed's own messages show: of each subscriber, and all; tenants where they show none. */
function contextsOf({ messages }: Environment): { own: Map<string, Context[]>; all: Context[] } {
  const shown = messages.map(({ subscriber, contextKeys = [] }) => ({ subscriber, context: contextOf(contextKeys) }))
  if (!shown.some(({ context }) => context.json !== '')) {
    return { own: new Map(), all: TENANTS.map((keys) => contextOf(keys)) }
  }
  const own = new Map<string, Context[]>()
  for (const { subscriber, context } of shown) {
    if (subscriber) own.set(subscriber.subscriberId, [...(own.get(subscriber.subscriberId) ?? []), context])
  }
  return { own, all: shown.map(({ context }) => context) }
}

function contextOf(keys: readonly string[]): Context {
  return { json: keys.length > 0 ? `,"contextKeys":${JSON.stringify(keys)}` : '', canonical: canonicalContext(keys) }
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
