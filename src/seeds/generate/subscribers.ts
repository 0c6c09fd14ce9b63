import { isoTime } from '../../domain/clock.js'
import { CHANNELS, CHAT_PUSH_PROVIDERS } from '../../domain/enums.js'
import { deriveId } from '../../domain/ids.js'
import { createRandom, type Random } from '../../domain/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { EnvironmentInput, Stored } from '../format.js'
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
} from './locales.js'
import { createPicture } from './picture.js'

/** An American number, for countries that reserve no phone numbers for fiction. */
const FICTIONAL_PHONE = '+120255501##'

/** Where subscribers live, most frequent first. The phone numbers are reserved for fiction. */
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
 * Returns realistic subscribers whose ids are unused in the environment. With the same random seed,
 * a larger `count` only appends subscribers to the list. `before` is the latest possible
 * `createdAt`, in milliseconds since 1970.
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
    // Create the subscriber even if the id is taken, so that later random values stay the same.
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
  const happens = (probability: number) => random.next() < probability
  const firstName = faker.person.firstName()
  const lastName = faker.person.lastName()
  const channels = createChannels(integrations, faker, happens)
  const createdAt = isoTime(before - randomInt(random, 700 * 86_400_000))
  return {
    _id: deriveId(organizationId, name, 'subscriber', subscriberId),
    firstName,
    lastName,
    email: happens(0.97) ? `${mailboxName(firstName, lastName)}.${number}@example.com` : null,
    phone: happens(0.8) ? faker.helpers.replaceSymbols(region.phone) : null,
    avatar: happens(0.3) ? createPicture(initialsOf(firstName, lastName), number) : null,
    locale,
    channels,
    isOnline: false,
    data: { plan: pick(random, ['personal', 'personal', 'business']), newsletter: happens(0.6) },
    timezone,
    subscriberId,
    _organizationId: organizationId,
    _environmentId: environmentId,
    deleted: false,
    createdAt,
    updatedAt: createdAt
  }
}

const initialsOf = (...names: string[]): string => names.map((name) => [...name][0]).join('')

/** Returns the name's Latin letters without accents, or `mail` if it has no Latin letters. */
function mailboxName(firstName: string, lastName: string): string {
  const letters = `${firstName}${lastName}`.normalize('NFD').replaceAll(/[^A-Za-z]/g, '')
  return letters.toLowerCase() || 'mail'
}

/** Returns the settings that connect a subscriber to random chat and push integrations. */
function createChannels(
  integrations: EnvironmentInput['integrations'],
  faker: Faker,
  happens: (probability: number) => boolean
) {
  const webhookUrl = `https://hooks.example.com/services/${faker.string.alphanumeric(10)}`
  const deviceTokens = [faker.string.alphanumeric(40)]
  return integrations.flatMap((integration) => {
    const { _id: _integrationId, identifier: integrationIdentifier } = integration
    const providerId = CHAT_PUSH_PROVIDERS.find((id) => id === integration.providerId)
    if (!providerId || !integration.active || integration.deleted || !happens(0.6)) return []
    const credentials = integration.channel === 'push' ? { deviceTokens } : { webhookUrl }
    return [{ providerId, integrationIdentifier, credentials, _integrationId }]
  })
}

/** A subscriber, and the data that is the same in all messages to the subscriber. */
export type Recipient = ReturnType<typeof createRecipients>[number]

/** The sets of contexts to choose from if no message of the environment has a context. */
const TENANTS = [
  [],
  [],
  [],
  [],
  ['tenant:acme'],
  ['tenant:globex'],
  ['region:eu', 'tenant:umbrella']
]

/**
 * Returns a recipient for each subscriber. Each recipient gets the contexts of a random existing
 * message, or random `TENANTS` if no message has contexts.
 */
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

/**
 * Returns an instance of Faker that uses this random source. If Faker lacks data in the chosen
 * language, the instance uses English.
 */
export function createFaker(random: Random, language: LocaleDefinition = en): Faker {
  return new Faker({
    locale: [language, en, base],
    randomizer: { next: random.next, seed: () => {} }
  })
}
