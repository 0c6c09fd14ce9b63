import {
  ar,
  base,
  de,
  en,
  en_GB,
  en_US,
  es,
  Faker,
  fr,
  ja,
  type LocaleDefinition,
  pt_BR,
  sv
} from '@faker-js/faker'
import { isoTime } from '../../domain/clock.js'
import { CHANNELS, CHAT_PUSH_PROVIDERS } from '../../domain/enums.js'
import { deriveId } from '../../domain/ids.js'
import { createRandom, type Random } from '../../domain/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { EnvironmentInput, Stored } from '../format.js'

/** Where subscribers come from, the most frequent first, and numbers of theirs that are reserved for fiction. */
const REGIONS = [
  { locale: 'en-US', language: en_US, phone: '+120255501##', timezone: 'America/New_York' },
  { locale: 'en-GB', language: en_GB, phone: '+447700900###', timezone: 'Europe/London' },
  { locale: 'fr-FR', language: fr, phone: '+3363998####', timezone: 'Europe/Paris' },
  // Most countries reserve none: these have American ones.
  { locale: 'de-DE', language: de, timezone: 'Europe/Berlin' },
  { locale: 'es-ES', language: es, timezone: 'Europe/Madrid' },
  { locale: 'pt-BR', language: pt_BR, timezone: 'America/Sao_Paulo' },
  { locale: 'sv-SE', language: sv, timezone: 'Europe/Stockholm' },
  { locale: 'ja-JP', language: ja, timezone: 'Asia/Tokyo' },
  { locale: 'ar-EG', language: ar, timezone: 'Africa/Cairo' }
]

/**
 * Returns believable subscribers, whose ids none of the environment's own has. With the same random seed, more of them
 * begin with the same ones. All were created before `before`, milliseconds since 1970.
 */
export function createSubscribers(
  { organizationId, id: environmentId, name, integrations, subscribers }: EnvironmentInput,
  { count, randomSeed, before }: { count: number; randomSeed: number; before: number }
): Stored<SubscriberResponse>[] {
  const random = createRandom(randomSeed)
  const hasIt = (share: number) => random.next() < share
  const regions = REGIONS.map((region) => ({
    ...region,
    faker: createFaker(random, region.language)
  }))
  const taken = new Set(subscribers.map(({ subscriberId }) => subscriberId))
  const created: Stored<SubscriberResponse>[] = []
  for (let number = 10_001; created.length < count; number++) {
    const subscriberId = `user-${number}`
    const index = Math.floor(random.next() * random.next() * regions.length)
    const {
      locale,
      phone = '+120255501##',
      timezone,
      faker
    } = regions[index] as (typeof regions)[number]
    const firstName = faker.person.firstName()
    const lastName = faker.person.lastName()
    // Accents are left out; of other scripts, no letter is left.
    const letters = `${firstName}${lastName}`.normalize('NFD').replaceAll(/[^A-Za-z]/g, '')
    const chat = {
      webhookUrl: `https://hooks.example.com/services/${faker.string.alphanumeric(10)}`
    }
    const push = { deviceTokens: [faker.string.alphanumeric(40)] }
    const channels = integrations.flatMap(
      ({ _id: _integrationId, identifier: integrationIdentifier, ...own }) => {
        const providerId = CHAT_PUSH_PROVIDERS.find((known) => known === own.providerId)
        if (!providerId || !own.active || own.deleted || !hasIt(0.6)) return []
        const credentials = own.channel === 'push' ? push : chat
        return [{ providerId, integrationIdentifier, credentials, _integrationId }]
      }
    )
    const createdAt = isoTime(before - randomInt(random, 700 * 86_400_000))
    const subscriber = {
      _id: deriveId(organizationId, name, 'subscriber', subscriberId),
      firstName,
      lastName,
      email: hasIt(0.97) ? `${letters.toLowerCase() || 'mail'}.${number}@example.com` : null,
      phone: hasIt(0.8) ? faker.helpers.replaceSymbols(phone) : null,
      avatar: hasIt(0.3) ? `https://cdn.example.com/avatars/${subscriberId}.png` : null,
      locale,
      channels,
      isOnline: false,
      data: { plan: pick(random, ['personal', 'personal', 'business']), newsletter: hasIt(0.6) },
      timezone,
      subscriberId,
      _organizationId: organizationId,
      _environmentId: environmentId,
      deleted: false,
      createdAt,
      updatedAt: createdAt
    }
    if (!taken.has(subscriberId)) created.push(subscriber)
  }
  return created
}

/** Everything about a subscriber that is the same in each message to them. */
export type Recipient = ReturnType<typeof createRecipients>[number]

/** The contexts of environments whose messages have none. */
const TENANTS = [
  [],
  [],
  [],
  [],
  ['tenant:acme'],
  ['tenant:globex'],
  ['region:eu', 'tenant:umbrella']
]

/** Returns the recipients, each in a context that some of the environment's own messages show. */
export function createRecipients(
  { messages }: EnvironmentInput,
  subscribers: readonly Stored<SubscriberResponse>[],
  randomSeed: number
) {
  const random = createRandom(randomSeed)
  const faker = createFaker(random)
  const shown = messages.map(({ contextKeys = [] }) => contextKeys)
  const contexts = shown.some(({ length }) => length > 0) ? shown : TENANTS
  return subscribers.map((subscriber) => {
    const { email, phone, channels: settings = [] } = subscriber
    const tokens = settings.flatMap(({ credentials }) => credentials.deviceTokens ?? [])
    const hasChat = settings.some(({ credentials }) => credentials.deviceTokens === undefined)
    const has = { in_app: true, email: !!email, sms: !!phone, chat: hasChat, push: true }
    const contextKeys = pick(random, contexts)
    return {
      subscriber,
      /** The channels on which the subscriber has an address. */
      channels: CHANNELS.filter((channel) => has[channel]),
      deviceTokens: tokens.length > 0 ? tokens : [faker.string.alphanumeric(40)],
      contextKeys: contextKeys.length > 0 ? contextKeys : undefined
    }
  })
}

/** Returns a whole number from 0 up to, but not including, `count`. */
export function randomInt(random: Random, count: number): number {
  return Math.floor(random.next() * count)
}

/** Returns one item of a list that is not empty. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[randomInt(random, items.length)] as Item
}

/** Returns a faker that draws from this source; what a language lacks is English. */
export function createFaker(random: Random, language: LocaleDefinition = en): Faker {
  return new Faker({
    locale: [language, en, base],
    randomizer: { next: random.next, seed: () => {} }
  })
}
