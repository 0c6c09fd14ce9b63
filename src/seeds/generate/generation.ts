import type { Channel } from '../../core/enums.js'
import { createRandom, type Random } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { Stored } from '../environment-data.js'
import type { SeedGenerate } from '../format.js'
import { type Environment, WHATSAPP } from './channels.js'
import { below, pick, weighted } from './draw.js'
import { NO_SENDER, REFUSALS, SENT } from './outcomes.js'
import { madeSubscribers } from './people.js'
import { canGenerate, type Plan, type Provider, planOf, type StepPlan, type WorkflowPlan } from './plan.js'
import type { Recipient } from './recipients.js'
import { escaped, rendered, type Scope } from './texts.js'
import { DAY, timeOf } from './times.js'

/** The random seed of those that name none. */
export const DEFAULT_RANDOM_SEED = 1
/** How far back messages are spread, unless told otherwise. */
export const DEFAULT_DAYS = 30

/** What the messages table keeps of a message, its environment apart. */
export interface GeneratedMessage {
  id: string
  /** Milliseconds since 1970. */
  createdAt: number
  channel: Channel
  subscriberId: string
  transactionId: string
  context: string
  /** A MessageResponse as JSON, its fields in the contract's order. */
  document: string
}

export interface Generation {
  /** Those that have to be added to the environment's own before the messages. */
  subscribers: Stored<SubscriberResponse>[]
  /** Oldest first, but for the seconds between the messages of one trigger. The same each time it is called. */
  messages(): Generator<GeneratedMessage, void, undefined>
  /** The same messages, each as the JSON that says it in the `messages` of a seed. */
  seedMessages(): Generator<string, void, undefined>
}

/**
 * Believable messages of the environment's workflows to its subscribers, of the days before `now`. The same
 * environment, options and `now` give the same bytes, on every machine and version of Node. It takes no more memory for
 * more messages, but does for more subscribers.
 *
 * Throws RangeError for an environment that `canGenerate` is false of.
 */
export function generation(environment: Environment, options: SeedGenerate, now: number): Generation {
  if (!canGenerate(environment)) throw new RangeError(`environment ${environment.name} has no step of a channel`)
  const { messages: total, days = DEFAULT_DAYS, randomSeed = DEFAULT_RANDOM_SEED } = options
  const present = environment.subscribers.filter(({ deleted }) => !deleted)
  const fallback = present.length > 0 ? 0 : Math.min(Math.max(Math.ceil(total / 50), FEWEST_MADE), MAX_MADE)
  const count = options.subscribers || fallback
  const subscribers = madeSubscribers(environment, { count, randomSeed, before: now - days * DAY })

  const plan = planOf(environment, [...present, ...subscribers], { total, days, randomSeed, now })
  return {
    subscribers,
    messages: () => written(plan, wireText),
    *seedMessages() {
      for (const { document } of written(plan, seedText)) yield document
    }
  }
}

/** In an environment without subscribers, unless told how many to make. */
const FEWEST_MADE = 5
const MAX_MADE = 1000

/** The parts of a message that its two forms have in common, as JSON. */
interface Parts {
  id: string
  notificationId: string
  time: string
  step: StepPlan
  recipient: Recipient
  rest: string
}

function wireText({ id, notificationId, time, step, recipient, rest }: Parts): string {
  return `{"_id":"${id}"${step.origin},"_notificationId":"${notificationId}"${recipient.json}${step.templateIdentifier},"createdAt":"${time}"${rest}}`
}

function seedText({ id, notificationId, time, step, recipient, rest }: Parts): string {
  return `{"_id":"${id}"${step.reference},"_notificationId":"${notificationId}"${recipient.reference},"createdAt":"${time}"${rest}}`
}

function* written(plan: Plan, textOf: (parts: Parts) => string): Generator<GeneratedMessage, void, undefined> {
  const { total, workflows, forMany, recipients, kept, now } = plan
  const chance = createRandom(plan.randomSeed)
  const timeline = timelineOf(plan)
  const newId = idMaker(plan.mark)
  const someone = weighted(recipients.count)
  const largest = Math.min(recipients.count, Math.floor(total / 20), MAX_BROADCAST)

  let made = 0
  while (made < total) {
    const at = timeline((made + chance.next()) / total)
    const isBroadcast = largest > 1 && chance.next() < BROADCASTS / largest
    const workflow = pick(chance, isBroadcast ? forMany : workflows)
    const audience = isBroadcast ? 2 + below(chance, largest - 1) : 1
    const first = isBroadcast ? below(chance, recipients.count) : someone(chance)
    const transactionId = transactionIdOf(chance, newId(at))
    const { values, json: payload } = payloadOf(workflow, chance, at)
    const steps = digestsOf(workflow, chance)
    for (let turn = 0; turn < audience; turn++) {
      const recipient = recipients.at((first + turn) % recipients.count)
      const scope = { payload: values, subscriber: recipient.document, steps }
      const notificationId = newId(at)
      let createdAt = at + turn * 7
      for (const step of workflow.steps) {
        const { channel } = step
        const lack = recipient.lacks[channel]
        if (chance.next() >= kept[channel] * (lack === undefined ? 1 : SENT_IN_VAIN)) continue
        createdAt += 40 + below(chance, 900)
        const id = newId(createdAt)
        const rest = restOf({ step, recipient, scope, createdAt, now, chance, transactionId, payload, lack })
        const document = textOf({ id, notificationId, time: timeOf(createdAt), step, recipient, rest })
        const { subscriberId, context } = recipient
        yield { id, createdAt, channel, subscriberId, transactionId, context: context.canonical, document }
        if (++made === total) return
      }
    }
  }
}

/** About an eighth of all messages. The largest go to as many subscribers as a twentieth of these, or to so many. */
const BROADCASTS = 1 / 4
const MAX_BROADCAST = 400
/** Of the messages to one who can't be reached; a workflow mostly passes over him. */
const SENT_IN_VAIN = 1 / 8

interface Sending {
  step: StepPlan
  recipient: Recipient
  scope: Scope
  createdAt: number
  now: number
  chance: Random
  transactionId: string
  payload: string
  lack: string | undefined
}

/** What follows `createdAt`. */
function restOf({ step, recipient, scope, createdAt, now, chance, transactionId, payload, lack }: Sending): string {
  const { channel } = step
  const content = `,"content":${rendered(step.content, scope)},"transactionId":"${transactionId}"`
  const subject = step.subject.length === 0 ? '' : `,"subject":${rendered(step.subject, scope)}`
  const context = recipient.context.json
  if (channel === 'in_app') {
    const { dates, flags, call } = inboxState(chance, createdAt, now)
    const provider = pick(chance, step.providers)
    const cta = callOf(step, scope, call)
    return `${dates}${content}${subject},"channel":"in_app"${flags}${provider.json},"cta":${cta},"_feedId":null,"status":"sent"${payload},"overrides":{}${context}`
  }
  const { provider, outcome } = delivery(step, lack, chance)
  const address = channel === 'email' ? recipient.email : addressedByPhone(channel, provider) ? recipient.phone : ''
  const unread = `,"channel":"${channel}","read":false,"seen":false${address}${provider?.json ?? ''}`
  const devices = channel === 'push' ? recipient.deviceTokens : channel === 'email' ? ',"deviceTokens":[]' : ''
  const title = step.title.length === 0 ? '' : `,"title":${rendered(step.title, scope)}`
  const overrides = provider?.id === 'fcm' && chance.next() < 0.1 ? URGENT : NOTHING
  return `${content}${subject}${unread}${devices}${title},"cta":{"action":{"buttons":[]}}${outcome}${payload}${overrides}${context}`
}

const NOTHING = ',"overrides":{}'
const URGENT = ',"overrides":{"fcm":{"android":{"priority":"high"}}}'

function addressedByPhone(channel: Channel, provider: Provider | undefined): boolean {
  return channel === 'sms' || (channel === 'chat' && provider?.id === WHATSAPP)
}

/** When an in-app message came, was seen and read, and what became of what it asks for. */
function inboxState(chance: Random, createdAt: number, now: number) {
  const delivered = createdAt + 40 + below(chance, 360)
  // From seconds to a day and a half, as often the one as the other.
  const seenAt = delivered + below(chance, 1 << (12 + below(chance, 16)))
  const seen = chance.next() < 0.75 && seenAt <= now
  const readAt = seenAt + 400 + below(chance, 60_000)
  const read = seen && chance.next() < 0.75 && readAt <= now
  const snooze = !read && chance.next() < 0.03
  const again = delivered + (1 + below(chance, 24)) * HOUR
  const deliveries = snooze && again <= now ? `"${timeOf(delivered)}","${timeOf(again)}"` : `"${timeOf(delivered)}"`
  const seenDate = seen ? `,"lastSeenDate":"${timeOf(seenAt)}"` : ''
  const readDate = read ? `,"lastReadDate":"${timeOf(readAt)}"` : ''
  const until = snooze && again > now ? `,"snoozedUntil":"${timeOf(again)}"` : ''
  return {
    dates: `,"deliveredAt":[${deliveries}]${seenDate}${readDate}`,
    flags: `,"read":${read},"seen":${seen}${until}`,
    call: read && chance.next() < 0.4 ? (chance.next() < 0.8 ? 'primary' : 'secondary') : 'pending'
  }
}

const HOUR = 3_600_000

function callOf({ call }: StepPlan, scope: Scope, state: string): string {
  if (!call) return '{"action":{"buttons":[]}}'
  const target = rendered(call.target, scope)
  const buttons = rendered(call.buttons, scope)
  if (buttons === '') return `{${target}"action":{"buttons":[]}}`
  const hasPressed = state !== 'pending' && buttons.includes(`"type":"${state}"`)
  const result = hasPressed ? `,"result":{"type":"${state}"}` : ''
  return `{${target}"action":{"status":"${hasPressed ? 'done' : 'pending'}","buttons":[${buttons}]${result}}}`
}

/** By whom it was sent, and whether it could be. A warning: no address or no integration; an error: refused. */
function delivery(step: StepPlan, lack: string | undefined, chance: Random): { provider?: Provider; outcome: string } {
  const { channel, missingIntegration, providers } = step
  if (missingIntegration !== undefined && chance.next() < 0.25) return { outcome: missingIntegration }
  const [main] = providers
  const provider = chance.next() < 0.9 && main ? main : pick(chance, providers)
  if (lack !== undefined) return { provider, outcome: lack }
  if (channel === 'sms' && !provider.canSend) return { provider, outcome: NO_SENDER }
  const { rate, outcomes } = REFUSALS[channel]
  return { provider, outcome: chance.next() < rate ? pick(chance, outcomes) : SENT }
}

function payloadOf({ payload }: WorkflowPlan, chance: Random, at: number) {
  const values: Record<string, unknown> = {}
  let json = ''
  for (const [key, name, make] of payload) {
    const value = make(chance, at)
    values[name] = value
    json += `${json === '' ? '' : ','}${key}${jsonOf(value)}`
  }
  return { values, json: `,"payload":{${json}}` }
}

function jsonOf(value: unknown): string {
  if (typeof value === 'string') return `"${escaped(value)}"`
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** The results of the digests, which steps after them tell. */
function digestsOf({ digests }: WorkflowPlan, chance: Random): Record<string, { eventCount: number }> {
  const results: Record<string, { eventCount: number }> = {}
  for (const stepId of digests) results[stepId] = { eventCount: 2 + below(chance, 8) }
  return results
}

function transactionIdOf(chance: Random, id: string): string {
  return chance.next() < 0.15 ? uuidOf(chance) : `txn_${id}`
}

/** The same as `chance.uuid`, many times as fast. */
function uuidOf(chance: Random): string {
  const [one, two, three, four] = [word(chance), word(chance), word(chance), word(chance)]
  const variant = '89ab'.charAt(below(chance, 4))
  return `${one}-${two.slice(0, 4)}-4${two.slice(5)}-${variant}${three.slice(1, 4)}-${three.slice(4)}${four}`
}

function word(chance: Random): string {
  return below(chance, 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

/** Ids like the deployed service's: the second of their making, a mark, a counter. */
function idMaker(mark: string): (at: number) => string {
  let counter = 0
  let second = Number.NaN
  let head = ''
  return (at) => {
    const now = Math.floor(at / 1000)
    if (now !== second) {
      second = now
      head = Math.max(now, 0).toString(16).padStart(8, '0').slice(-8) + mark
    }
    counter = (counter + 1) & 0xffffff
    return `${head}${HEX[counter >>> 12]}${HEX[counter & 0xfff]}`
  }
}

const HEX = Array.from({ length: 0x1000 }, (_, number) => number.toString(16).padStart(3, '0'))

/** Takes shares from 0 up to 1, never less than before; more messages by day than by night and at the weekend. */
function timelineOf({ days, now }: Plan): (share: number) => number {
  // What a trigger sends takes seconds, and is not to lie in the future.
  const end = Math.floor(now) - 2 * 60_000
  const start = end - days * DAY
  const weight = (hour: number) => {
    const at = Math.floor(start / HOUR) + hour
    const day = Math.floor(at / 24)
    // The first of 1970 was a Thursday.
    const weekday = (((day + 4) % 7) + 7) % 7
    return (BY_HOUR[at - day * 24] as number) * (weekday % 6 === 0 ? 6 : 10)
  }
  const hours = days * 24
  let sum = 0
  for (let hour = 0; hour < hours; hour++) sum += weight(hour)
  let hour = 0
  let passed = 0
  return (share) => {
    const aim = share * sum
    while (hour < hours - 1 && passed + weight(hour) <= aim) passed += weight(hour++)
    return start + hour * HOUR + Math.min(HOUR - 1, Math.floor(((aim - passed) / weight(hour)) * HOUR))
  }
}

const BY_HOUR = [2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 10, 11, 11, 10, 9, 9, 10, 9, 8, 6, 4, 3]
