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

/** For countries that reserve no phone numbers for fiction. */
const FICTIONAL_PHONE = '+120255501##'

/** Where subscribers live, most frequent first, and phone numbers that are reserved for fiction. */
const REGIONS = [
  { locale: 'en-US', language: en_US, phone: '+120255501##', timezone: 'America/New_York' },
  { locale: 'en-GB', language: en_GB, phone: '+447700900###', timezone: 'Europe/London' },
  { locale: 'fr-FR', language: fr, phone: '+3363998####', timezone: 'Europe/Paris' },
  { locale: 'de-DE', language: de, phone: FICTIONAL_PHONE, timezone: 'Europe/Berlin' },
  { locale: 'es-ES', language: es, phone: FICTIONAL_PHONE, timezone: 'Europe/Madrid' },
  { locale: 'pt-BR', language: pt_BR, phone: FICTIONAL_PHONE, timezone: 'America/Sao_Paulo' },
  { locale: 'sv-SE', language: sv, phone: FICTIONAL_PHONE, timezone: 'Europe/Stockholm' },
  { locale: 'ja-JP', language: ja, phone: FICTIONAL_PHONE, timezone: 'Asia/Tokyo' },
  { locale: 'ar-EG', language: ar, phone: FICTIONAL_PHONE, timezone: 'Africa/Cairo' }
]

type Region = (typeof REGIONS)[number] & { faker: Faker }

/**
 * Returns believable subscribers whose ids are unused in the environment. A larger count with the
 * same random seed starts with the same subscribers. All were created before `before`, in
 * milliseconds since 1970.
 */
export function createSubscribers(
  environment: EnvironmentInput,
  { count, randomSeed, before }: { count: number; randomSeed: number; before: number }
): Stored<SubscriberResponse>[] {
  const random = createRandom(randomSeed)
  const regions = REGIONS.map((region) => ({
    ...region,
    faker: createFaker(random, region.language)
  }))
  const takenIds = new Set(environment.subscribers.map(({ subscriberId }) => subscriberId))
  const subscribers: Stored<SubscriberResponse>[] = []
  for (let number = 10_001; subscribers.length < count; number += 1) {
    const region = regions[Math.floor(random.next() * random.next() * regions.length)] as Region
    // Always draw, so that a taken id doesn't change the subscribers after it.
    const subscriber = createSubscriber(environment, { random, region, number, before })
    if (!takenIds.has(subscriber.subscriberId)) subscribers.push(subscriber)
  }
  return subscribers
}

function createSubscriber(
  { organizationId, id: environmentId, name, integrations }: EnvironmentInput,
  options: { random: Random; region: Region; number: number; before: number }
): Stored<SubscriberResponse> {
  const { random, region, number, before } = options
  const { faker, locale, timezone } = region
  const subscriberId = `user-${number}`
  const hasIt = (share: number) => random.next() < share
  const firstName = faker.person.firstName()
  const lastName = faker.person.lastName()
  const channels = createChannels(integrations, faker, hasIt)
  const createdAt = isoTime(before - randomInt(random, 700 * 86_400_000))
  return {
    _id: deriveId(organizationId, name, 'subscriber', subscriberId),
    firstName,
    lastName,
    email: hasIt(0.97) ? `${mailboxName(firstName, lastName)}.${number}@example.com` : null,
    phone: hasIt(0.8) ? faker.helpers.replaceSymbols(region.phone) : null,
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
}

/** Returns the letters without accents. Names in other scripts have none left. */
function mailboxName(firstName: string, lastName: string): string {
  const letters = `${firstName}${lastName}`.normalize('NFD').replaceAll(/[^A-Za-z]/g, '')
  return letters.toLowerCase() || 'mail'
}

/** Connects the subscriber to some of the chat and push integrations. */
function createChannels(
  integrations: EnvironmentInput['integrations'],
  faker: Faker,
  hasIt: (share: number) => boolean
) {
  const webhookUrl = `https://hooks.example.com/services/${faker.string.alphanumeric(10)}`
  const deviceTokens = [faker.string.alphanumeric(40)]
  return integrations.flatMap((integration) => {
    const { _id: _integrationId, identifier: integrationIdentifier } = integration
    const providerId = CHAT_PUSH_PROVIDERS.find((id) => id === integration.providerId)
    if (!providerId || !integration.active || integration.deleted || !hasIt(0.6)) return []
    const credentials = integration.channel === 'push' ? { deviceTokens } : { webhookUrl }
    return [{ providerId, integrationIdentifier, credentials, _integrationId }]
  })
}

/** The data of a subscriber that is the same in each message to them. */
export type Recipient = ReturnType<typeof createRecipients>[number]

/** The contexts to use if no message of the environment has one. */
const TENANTS = [
  [],
  [],
  [],
  [],
  ['tenant:acme'],
  ['tenant:globex'],
  ['region:eu', 'tenant:umbrella']
]

/** Returns the recipients, each with the context of a random message of the environment. */
export function createRecipients(
  { messages }: EnvironmentInput,
  subscribers: readonly Stored<SubscriberResponse>[],
  randomSeed: number
) {
  const random = createRandom(randomSeed)
  const faker = createFaker(random)
  const existingContexts = messages.map(({ contextKeys = [] }) => contextKeys)
  const hasContexts = existingContexts.some(({ length }) => length > 0)
  const contexts = hasContexts ? existingContexts : TENANTS
  return subscribers.map((subscriber) => {
    const { email, phone, channels: settings = [] } = subscriber
    const tokens = settings.flatMap(({ credentials }) => credentials.deviceTokens ?? [])
    const hasChat = settings.some(({ credentials }) => credentials.deviceTokens === undefined)
    const reachable = {
      in_app: true,
      email: Boolean(email),
      sms: Boolean(phone),
      chat: hasChat,
      push: true
    }
    const contextKeys = pick(random, contexts)
    return {
      subscriber,
      /** The channels on which the subscriber has an address. */
      channels: CHANNELS.filter((channel) => reachable[channel]),
      deviceTokens: tokens.length > 0 ? tokens : [faker.string.alphanumeric(40)],
      contextKeys: contextKeys.length > 0 ? contextKeys : undefined
    }
  })
}

/** Returns an integer from 0 to `count - 1`. */
export function randomInt(random: Random, count: number): number {
  return Math.floor(random.next() * count)
}

/** Returns a random item. The list must not be empty. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[randomInt(random, items.length)] as Item
}

/** Returns a faker that uses this source. English fills what the language lacks. */
export function createFaker(random: Random, language: LocaleDefinition = en): Faker {
  return new Faker({
    locale: [language, en, base],
    randomizer: { next: random.next, seed: () => {} }
  })
}
