import { ar, de, en_GB, en_IN, en_US, es, fr, ja, pt_BR, sv } from '@faker-js/faker'
import { isoTime } from '../../core/clock.js'
import { CHANNELS, CHAT_PUSH_PROVIDERS, type Channel } from '../../core/enums.js'
import { idOf } from '../../core/ids.js'
import { createRandom } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { EnvironmentInput, Stored } from '../environment-data.js'
import { createFaker, DAY, pick, randomInt } from './random.js'

/** A number that is reserved for fiction; most countries reserve none. */
const AMERICAN = '+120255501##'

/** Where subscribers come from, the most frequent first. */
const REGIONS = [
  { locale: 'en-US', language: en_US, phone: AMERICAN, timezone: 'America/New_York' },
  { locale: 'en-GB', language: en_GB, phone: '+447700900###', timezone: 'Europe/London' },
  { locale: 'fr-FR', language: fr, phone: '+3363998####', timezone: 'Europe/Paris' },
  { locale: 'de-DE', language: de, phone: AMERICAN, timezone: 'Europe/Berlin' },
  { locale: 'es-ES', language: es, phone: AMERICAN, timezone: 'Europe/Madrid' },
  { locale: 'pt-BR', language: pt_BR, phone: AMERICAN, timezone: 'America/Sao_Paulo' },
  { locale: 'sv-SE', language: sv, phone: AMERICAN, timezone: 'Europe/Stockholm' },
  { locale: 'en-IN', language: en_IN, phone: AMERICAN, timezone: 'Asia/Kolkata' },
  { locale: 'ja-JP', language: ja, phone: AMERICAN, timezone: 'Asia/Tokyo' },
  { locale: 'ar-EG', language: ar, phone: AMERICAN, timezone: 'Africa/Cairo' }
]

/**
 * Returns believable subscribers, whose ids none of the environment's own has. With the same random seed, more of them
 * begin with the same ones. All were created before `before`, milliseconds since 1970. With a step for each.
 */
export function* creatingSubscribers(
  environment: EnvironmentInput,
  { count, randomSeed, before }: { count: number; randomSeed: number; before: number }
): Generator<void, Stored<SubscriberResponse>[]> {
  const random = createRandom(randomSeed)
  const regions = REGIONS.map((region) => ({ ...region, faker: createFaker(random, region.language) }))
  const taken = new Set(environment.subscribers.map(({ subscriberId }) => subscriberId))
  const allSettings = channelSettings(environment)
  const created: Stored<SubscriberResponse>[] = []
  for (let number = 10_001; created.length < count; number++) {
    const subscriberId = `user-${number}`
    const index = Math.floor(random.next() * random.next() * regions.length)
    const { locale, phone, timezone, faker } = regions[index] as (typeof regions)[number]
    const firstName = faker.person.firstName()
    const lastName = faker.person.lastName()
    // Accents are left out; of other scripts, no letter is left.
    const letters = `${firstName}${lastName}`.normalize('NFD').replaceAll(/[^A-Za-z]/g, '')
    const email = `${letters.toLowerCase() || 'mail'}.${number}@example.com`
    const hasIt = (share: number) => random.next() < share
    const chat = { webhookUrl: `https://hooks.example.com/services/${faker.string.alphanumeric(10)}` }
    const push = { deviceTokens: [faker.string.alphanumeric(40)] }
    const channels = allSettings
      .filter(() => hasIt(0.6))
      .map(({ isPush, _integrationId, ...names }) => ({ ...names, credentials: isPush ? push : chat, _integrationId }))
    const createdAt = isoTime(before - randomInt(random, 700 * DAY))
    const subscriber = {
      _id: idOf(environment.organizationId, environment.name, 'subscriber', subscriberId),
      firstName,
      lastName,
      email: hasIt(0.97) ? email : null,
      phone: hasIt(0.8) ? faker.helpers.replaceSymbols(phone) : null,
      avatar: hasIt(0.3) ? `https://cdn.example.com/avatars/${subscriberId}.png` : null,
      locale,
      channels,
      isOnline: false,
      data: { plan: pick(random, ['personal', 'personal', 'business']), newsletter: hasIt(0.6) },
      timezone,
      subscriberId,
      _organizationId: environment.organizationId,
      _environmentId: environment.id,
      deleted: false,
      createdAt,
      updatedAt: createdAt
    }
    if (!taken.has(subscriberId)) created.push(subscriber)
    yield
  }
  return created
}

/** The settings of subscribers for the environment's own integrations. */
function channelSettings({ integrations }: EnvironmentInput) {
  return integrations.flatMap(({ _id: _integrationId, identifier: integrationIdentifier, active, ...integration }) => {
    const providerId = CHAT_PUSH_PROVIDERS.find((known) => known === integration.providerId)
    if (!providerId || !active || integration.deleted) return []
    return [{ isPush: integration.channel === 'push', providerId, integrationIdentifier, _integrationId }]
  })
}

/** Everything about a subscriber that is the same in each message to them. */
export interface Recipient {
  subscriber: Stored<SubscriberResponse>
  /** The channels on which the subscriber has an address. */
  channels: Channel[]
  deviceTokens: string[]
  contextKeys: string[] | undefined
}

/** The contexts of environments whose messages have none. */
const TENANTS = [[], [], [], [], ['tenant:acme'], ['tenant:globex'], ['region:eu', 'tenant:umbrella']]

/**
 * Returns the recipients, each in a context that the environment's own messages show, if possible of the subscriber. With
 * a step for each.
 */
export function* creatingRecipients(
  { messages }: EnvironmentInput,
  subscribers: readonly Stored<SubscriberResponse>[],
  randomSeed: number
): Generator<void, Recipient[]> {
  const random = createRandom(randomSeed)
  const faker = createFaker(random)
  const examples = messages.some(({ contextKeys = [] }) => contextKeys.length > 0) ? messages : []
  const own = new Map(examples.map(({ subscriber, contextKeys }) => [subscriber?.subscriberId, contextKeys ?? []]))
  const contexts = examples.length > 0 ? examples.map(({ contextKeys }) => contextKeys ?? []) : TENANTS
  const recipients: Recipient[] = []
  for (const subscriber of subscribers) {
    const { email, phone, channels: settings = [] } = subscriber
    const tokens = settings.flatMap(({ credentials }) => credentials.deviceTokens ?? [])
    const hasChat = settings.some(({ credentials }) => credentials.deviceTokens === undefined)
    const lacks = { in_app: false, email: !email, sms: !phone, chat: !hasChat, push: false }
    const contextKeys = own.get(subscriber.subscriberId) ?? pick(random, contexts)
    recipients.push({
      subscriber,
      channels: CHANNELS.filter((channel) => !lacks[channel]),
      deviceTokens: tokens.length > 0 ? tokens : [faker.string.alphanumeric(40)],
      contextKeys: contextKeys.length > 0 ? contextKeys : undefined
    })
    yield
  }
  return recipients
}
