import { ar, de, en_GB, en_IN, en_US, es, type Faker, fr, ja, pt_BR, sv } from '@faker-js/faker'
import { isoTime } from '../../core/clock.js'
import { CHAT_PUSH_PROVIDERS } from '../../core/enums.js'
import { idOf } from '../../core/ids.js'
import { createRandom } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { EnvironmentData, Stored } from '../environment-data.js'
import { createFaker, DAY, pick, randomInt } from './random.js'

// Numbers that are reserved for fiction; most countries reserve none.
const AMERICAN = [202, 312, 415, 512, 617, 206, 303, 404, 503, 615].map((area) => `+1${area}55501##`)
const BRITISH = ['+447700900###']
const FRENCH = ['+3363998####']

/** Where subscribers come from, the most frequent first. */
const REGIONS = [
  { locale: 'en-US', language: en_US, phones: AMERICAN, timezones: ['America/New_York', 'America/Los_Angeles'] },
  { locale: 'en-GB', language: en_GB, phones: BRITISH, timezones: ['Europe/London'] },
  { locale: 'fr-FR', language: fr, phones: FRENCH, timezones: ['Europe/Paris'] },
  { locale: 'de-DE', language: de, phones: AMERICAN, timezones: ['Europe/Berlin'] },
  { locale: 'es-ES', language: es, phones: AMERICAN, timezones: ['Europe/Madrid', 'Atlantic/Canary'] },
  { locale: 'pt-BR', language: pt_BR, phones: AMERICAN, timezones: ['America/Sao_Paulo', 'America/Manaus'] },
  { locale: 'sv-SE', language: sv, phones: AMERICAN, timezones: ['Europe/Stockholm'] },
  { locale: 'en-IN', language: en_IN, phones: AMERICAN, timezones: ['Asia/Kolkata'] },
  { locale: 'ja-JP', language: ja, phones: AMERICAN, timezones: ['Asia/Tokyo'] },
  { locale: 'ar-EG', language: ar, phones: AMERICAN, timezones: ['Africa/Cairo'] }
]

type Owner = Pick<EnvironmentData, 'id' | 'organizationId' | 'name' | 'subscribers' | 'integrations'>

/**
 * Returns believable subscribers, whose ids none of the environment's own has. With the same random seed, more of them
 * begin with the same ones. All were created before `before`, milliseconds since 1970.
 */
export function createSubscribers(
  owner: Owner,
  { count, randomSeed, before }: { count: number; randomSeed: number; before: number }
): Stored<SubscriberResponse>[] {
  const random = createRandom(randomSeed)
  const regions = REGIONS.map((region) => ({ ...region, faker: createFaker(random, region.language) }))
  const taken = new Set(owner.subscribers.map(({ subscriberId }) => subscriberId))
  const push = channelSettings(owner, 'push')
  const chat = channelSettings(owner, 'chat')
  const created: Stored<SubscriberResponse>[] = []
  for (let number = 10_001; created.length < count; number++) {
    const subscriberId = `user-${number}`
    const region = Math.floor(random.next() * random.next() * regions.length)
    const { locale, phones, timezones, faker } = regions[region] as (typeof regions)[number]
    const firstName = faker.person.firstName()
    const lastName = faker.person.lastName()
    const host = pick(random, ['example.com', 'example.com', 'example.net', 'example.org'])
    const email = `${latinLetters(`${firstName}.${lastName}`) || 'mail'}.${number}@${host}`
    const token = deviceToken(faker, push?.providerId)
    const webhookUrl = `https://hooks.example.com/services/${faker.string.alphanumeric(10)}`
    const hasIt = (share: number) => random.next() < share
    const settings = [
      hasIt(0.7) && push && { ...push, credentials: { deviceTokens: [token] } },
      hasIt(0.4) && chat && { ...chat, credentials: { webhookUrl } }
    ].filter((each) => each !== false && each !== undefined)
    const createdAt = isoTime(before - randomInt(random, 700 * DAY))
    const subscriber = {
      _id: idOf(owner.organizationId, owner.name, 'subscriber', subscriberId),
      firstName,
      lastName,
      email: hasIt(0.97) ? email : null,
      phone: hasIt(0.8) ? faker.helpers.replaceSymbols(pick(random, phones)) : null,
      avatar: hasIt(0.3) ? `https://cdn.example.com/avatars/${subscriberId}.png` : null,
      locale,
      channels: settings.map(({ _integrationId, ...channel }) => ({ ...channel, _integrationId })),
      isOnline: false,
      data: { plan: pick(random, ['personal', 'personal', 'business']), newsletter: hasIt(0.6) },
      timezone: pick(random, timezones),
      subscriberId,
      _organizationId: owner.organizationId,
      _environmentId: owner.id,
      deleted: false,
      createdAt,
      updatedAt: createdAt
    }
    if (!taken.has(subscriberId)) created.push(subscriber)
  }
  return created
}

/** What a subscriber's settings say of the environment's own integration; undefined without one. */
function channelSettings({ integrations }: Owner, wanted: 'push' | 'chat') {
  for (const { _id, identifier, providerId, channel, active, deleted } of integrations) {
    const known = CHAT_PUSH_PROVIDERS.find((each) => each === providerId)
    if (channel !== wanted || !active || deleted || !known) continue
    return { providerId: known, integrationIdentifier: identifier, _integrationId: _id }
  }
  return undefined
}

/** Returns what a device is known by to the provider. */
export function deviceToken(faker: Faker, providerId: string | undefined): string {
  const { alphanumeric } = faker.string
  return providerId === 'fcm' ? `${alphanumeric(12)}:APA91b${alphanumeric(24)}` : alphanumeric(40)
}

/** In small ASCII letters, as far as leaving out accents does it; empty for other scripts. */
function latinLetters(name: string): string {
  const plain = name
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^a-z.]/g, '')
  return plain.replaceAll(/^\.+|\.+$/g, '')
}
