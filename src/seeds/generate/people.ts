import { isoTime } from '../../core/clock.js'
import { CHAT_PUSH_PROVIDERS } from '../../core/enums.js'
import { idOf } from '../../core/ids.js'
import { createRandom, type Random } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { EnvironmentData, Stored } from '../environment-data.js'
import { below, digitPair, digits, letters, pick } from './draw.js'
import { DAY } from './times.js'

const NANP = [202, 312, 415, 512, 617, 206, 303, 404, 503, 615]
const american: PhoneMaker = (chance) => `+1${pick(chance, NANP)}55501${digitPair(below(chance, 100))}`
const british: PhoneMaker = (chance) => `+447700900${digits(chance, 3)}`
const french: PhoneMaker = (chance) => `+3363998${digits(chance, 4)}`
type PhoneMaker = (chance: Random) => string

/** Where subscribers come from. The phone numbers are of ranges that are kept free for fiction. */
const REGIONS: readonly {
  locale: string
  timezones: readonly string[]
  phone: PhoneMaker
  given: string
  family: string
}[] = [
  {
    locale: 'en-US',
    timezones: ['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles'],
    phone: american,
    given:
      'Amara Brandon Camila Darnell Elena Franklin Grace Hector Imani Jasmine Kevin Latoya Marcus Nadia Owen Priya',
    family:
      'Alvarez Bennett Carter Diaz Edwards Foster Greene Harris Jackson Kim Lopez Mitchell Nguyen Patel Rivera Walker'
  },
  {
    locale: 'en-GB',
    timezones: ['Europe/London'],
    phone: british,
    given: 'Aisha Callum Daisy Edmund Freya Gareth Harriet Isla Jamal Kieran Lucy Mohammed Niamh Oliver Poppy Rhys',
    family:
      'Ahmed Barnes Clarke Davies Evans Fletcher Griffiths Hughes Khan Lloyd Morgan Okafor Price Shaw Turner Wright'
  },
  {
    locale: 'fr-FR',
    timezones: ['Europe/Paris'],
    phone: french,
    given: 'Adèle Bastien Chloé Damien Éloïse Fabien Gaëlle Hugo Inès Julien Léa Mathéo Noémie Océane Rémi Zoé',
    family: 'Arnaud Benoît Chevalier Dubois Étienne Faure Garnier Hervé Lefèvre Mercier Noël Perrin Roche Simon Vidal'
  },
  {
    locale: 'de-DE',
    timezones: ['Europe/Berlin'],
    phone: american,
    given: 'Anja Björn Clara Dieter Emilia Florian Greta Hannes Ida Jonas Katja Lukas Mia Niklas Paula Sören',
    family:
      'Albrecht Becker Engel Fischer Günther Hoffmann Jäger Krüger Lehmann Müller Neumann Richter Schäfer Vogel Weber'
  },
  {
    locale: 'es-ES',
    timezones: ['Europe/Madrid', 'Atlantic/Canary'],
    phone: american,
    given: 'Alba Bruno Carmen Diego Elisa Felipe Gonzalo Irene Javier Lucía Martín Nuria Óscar Raúl Sofía Tomás',
    family:
      'Aguilar Blanco Castro Domínguez Fernández García Herrera Iglesias Jiménez López Molina Núñez Ortega Ramos Vega'
  },
  {
    locale: 'pt-BR',
    timezones: ['America/Sao_Paulo', 'America/Manaus'],
    phone: american,
    given:
      'Antônio Beatriz Caio Débora Eduardo Fernanda Gustavo Helena Inácio Joana Luísa Mateus Natália Otávio Rafael Tainá',
    family:
      'Almeida Barbosa Cardoso Dias Esteves Ferreira Gonçalves Lima Martins Nascimento Oliveira Pereira Ribeiro Souza'
  },
  {
    locale: 'sv-SE',
    timezones: ['Europe/Stockholm'],
    phone: american,
    given: 'Alma Axel Ebba Elin Fredrik Gustav Hanna Ingrid Johan Karin Linnéa Måns Nils Oskar Saga Åsa',
    family: 'Andersson Berg Dahl Ekström Forsberg Gustafsson Håkansson Johansson Lindqvist Nyström Sandberg Wallin'
  },
  {
    locale: 'en-IN',
    timezones: ['Asia/Kolkata'],
    phone: american,
    given: 'Aarav Ananya Deepak Divya Farhan Ishaan Kavya Lakshmi Meera Neha Rohan Sanjay Tara Vikram Yash Zara',
    family: 'Bose Chopra Desai Gupta Iyer Joshi Kapoor Menon Nair Patel Rao Reddy Sharma Singh Verma'
  },
  {
    locale: 'ja-JP',
    timezones: ['Asia/Tokyo'],
    phone: american,
    given: '蓮 陽葵 樹 結衣 大翔 美咲 健太 さくら 翼 葵',
    family: '佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林 加藤'
  },
  {
    locale: 'ar-EG',
    timezones: ['Africa/Cairo'],
    phone: american,
    given: 'أحمد ليلى يوسف مريم عمر نور خالد سارة حسن هدى',
    family: 'حسين محمود إبراهيم منصور سليمان فؤاد الشريف كمال'
  }
]

const NAMES = REGIONS.map((region) => ({ ...region, given: region.given.split(' '), family: region.family.split(' ') }))
/** Of the regions that write their names in Latin letters. */
export const PEOPLE = NAMES.slice(0, 8).flatMap(({ given, family }) =>
  given.slice(0, 6).map((name, place) => ({ given: name, family: family[place] ?? name }))
)

/**
 * Believable subscribers, beside those that the world has. Each is made from the random seed and its place alone, so
 * more of them begin with the same ones; all of them are older than `before`, milliseconds since 1970.
 */
export function madeSubscribers(
  world: Pick<EnvironmentData, 'id' | 'organizationId' | 'name' | 'subscribers' | 'integrations'>,
  { count, randomSeed, before }: { count: number; randomSeed: number; before: number }
): Stored<SubscriberResponse>[] {
  const taken = new Set(world.subscribers.map(({ subscriberId }) => subscriberId))
  const push = settingsChannel(world, 'push')
  const chat = settingsChannel(world, 'chat')
  const chance = createRandom(randomSeed)
  const made: Stored<SubscriberResponse>[] = []
  for (let number = 10_001; made.length < count; number++) {
    const subscriberId = `user-${number}`
    const region = NAMES[Math.floor(chance.next() * chance.next() * NAMES.length)] as (typeof NAMES)[number]
    const firstName = pick(chance, region.given)
    const lastName = pick(chance, region.family)
    const name = latin(`${firstName}.${lastName}`)
    const host = pick(chance, ['example.com', 'example.com', 'example.net', 'example.org'])
    const [hasEmail, hasPhone, hasAvatar, hasDevice, hasChat] = [0.97, 0.8, 0.3, 0.7, 0.4].map(
      (share) => chance.next() < share
    )
    const phone = region.phone(chance)
    const token = deviceToken(chance, push?.providerId)
    const hook = `https://hooks.example.com/services/${letters(chance, 10)}`
    const createdAt = isoTime(before - below(chance, 700 * DAY))
    const timezone = pick(chance, region.timezones)
    const data = { plan: pick(chance, ['personal', 'personal', 'business']), newsletter: chance.next() < 0.6 }
    if (taken.has(subscriberId)) continue
    const channels = [
      ...(push && hasDevice ? [{ ...push, credentials: { deviceTokens: [token] } }] : []),
      ...(chat && hasChat ? [{ ...chat, credentials: { webhookUrl: hook } }] : [])
    ].map(({ _integrationId, ...settings }) => ({ ...settings, _integrationId }))
    made.push({
      _id: idOf(world.organizationId, world.name, 'subscriber', subscriberId),
      firstName,
      lastName,
      email: hasEmail ? `${name === '' ? 'mail' : name}.${number}@${host}` : null,
      phone: hasPhone ? phone : null,
      avatar: hasAvatar ? `https://cdn.example.com/avatars/${subscriberId}.png` : null,
      locale: region.locale,
      channels,
      isOnline: false,
      data,
      timezone,
      subscriberId,
      _organizationId: world.organizationId,
      _environmentId: world.id,
      deleted: false,
      createdAt,
      updatedAt: createdAt
    })
  }
  return made
}

/** What of a subscriber's settings the environment's own integration gives; undefined without one. */
function settingsChannel({ integrations }: Pick<EnvironmentData, 'integrations'>, channel: 'push' | 'chat') {
  for (const { _id, identifier, providerId, active, deleted, ...integration } of integrations) {
    const known = CHAT_PUSH_PROVIDERS.find((each) => each === providerId)
    if (integration.channel !== channel || !active || deleted || !known) continue
    return { providerId: known, integrationIdentifier: identifier, _integrationId: _id }
  }
  return undefined
}

/** What a device is known by to the provider. */
export function deviceToken(chance: Random, providerId: string | undefined): string {
  return providerId === 'fcm' ? `${letters(chance, 12)}:APA91b${letters(chance, 24)}` : letters(chance, 40)
}

/** In small letters of ASCII, as far as leaving out accents does it; empty of other scripts. */
function latin(name: string): string {
  const plain = name.normalize('NFD').toLowerCase()
  return plain.replaceAll(/[^a-z.]/g, '').replace(/^\.+|\.+$/g, '')
}
