import type { Faker } from '@faker-js/faker'
import { isoTime } from '../../core/clock.js'
import type { Channel } from '../../core/enums.js'
import { createRandom, type Random } from '../../core/random.js'
import type { MessageResponse, SubscriberResponse } from '../../messages/schemas.js'
import type { Stored } from '../environment-data.js'
import type { SeedGenerate } from '../format.js'
import { deliver, inboxState } from './delivery.js'
import { canGenerate } from './load.js'
import { createPlan, type Plan, type StepPlan, skewedIndex, type WorkflowPlan } from './plan.js'
import { createFaker, DAY, HOUR, pick, randomInt } from './random.js'
import { type EnvironmentInput, type Recipient, WHATSAPP } from './recipients.js'
import { createSubscribers } from './subscribers.js'

const DEFAULT_RANDOM_SEED = 1
/** How far back messages are spread. */
const DEFAULT_DAYS = 30

/** A row of the messages table, its dataset apart. */
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
  /** The subscribers to add to the environment's own before the messages. */
  subscribers: Stored<SubscriberResponse>[]
  /** Oldest first, but for the seconds between the messages of one trigger. The same each time it is called. */
  messages(): Generator<GeneratedMessage, void, undefined>
  /** The same messages, each as the JSON of an item of `messages` in a seed. */
  seedMessages(): Generator<string, void, undefined>
}

/**
 * Returns believable messages of the environment's workflows to its subscribers, of the days before `now`. The same
 * environment, options and `now` give the same bytes, on every machine and version of Node. More messages take no more
 * memory; more subscribers do.
 *
 * Throws RangeError when the environment has no step that sends messages.
 */
export function generation(environment: EnvironmentInput, options: SeedGenerate, now: number): Generation {
  if (!canGenerate(environment)) throw new RangeError(`environment ${environment.name} has no step of a channel`)
  const { messages: total, days = DEFAULT_DAYS, randomSeed = DEFAULT_RANDOM_SEED } = options
  const present = environment.subscribers.filter(({ deleted }) => !deleted)
  const fallback = present.length > 0 ? 0 : Math.min(Math.max(Math.ceil(total / 50), 5), 1000)
  const count = options.subscribers || fallback
  const subscribers = createSubscribers(environment, { count, randomSeed, before: now - days * DAY })
  const plan = createPlan(environment, [...present, ...subscribers], { total, days, randomSeed, now })
  return {
    subscribers,
    *messages() {
      for (const { createdAt, context, message } of generateMessages(plan)) {
        const { _id, channel, subscriber, transactionId } = message
        const { subscriberId } = subscriber
        yield { id: _id, createdAt, channel, subscriberId, transactionId, context, document: JSON.stringify(message) }
      }
    },
    *seedMessages() {
      for (const { message } of generateMessages(plan)) yield JSON.stringify(toSeedMessage(message))
    }
  }
}

/** All fields of a message, in the contract's order; JSON leaves out those that are undefined. */
type MessageFields = {
  [Field in keyof Required<MessageResponse>]: MessageResponse[Field] | undefined
} & { _id: string; channel: Channel; transactionId: string; subscriber: SubscriberResponse }

/** A seed refers to the subscriber and the workflow instead of repeating them. */
function toSeedMessage(message: MessageFields): object {
  const { _templateId, templateIdentifier, _environmentId, _organizationId, _subscriberId, subscriber, ...fields } =
    message
  return { workflow: templateIdentifier, subscriberId: subscriber.subscriberId, ...fields }
}

/** About a quarter of the triggers' messages go to many; the largest go to so many subscribers. */
const BROADCAST_SHARE = 1 / 4
const MAX_BROADCAST = 400
/** Of the messages to one who can't be reached; mostly a workflow skips them. */
const UNREACHABLE_RATE = 1 / 8

interface Trigger {
  workflow: WorkflowPlan
  transactionId: string
  payload: Record<string, unknown>
  /** The results of the digests, which steps after them may show. */
  steps: Record<string, { eventCount: number }>
}

interface Generated {
  createdAt: number
  /** Canonical, as the messages table has it. */
  context: string
  message: MessageFields
}

function* generateMessages(plan: Plan): Generator<Generated, void, undefined> {
  const { total, recipients, sendRates } = plan
  const random = createRandom(plan.randomSeed)
  const timeAt = timeline(plan)
  const newId = idMaker(plan.idInfix)
  const faker = createFaker(random)
  const largest = Math.min(recipients.length, Math.floor(total / 20), MAX_BROADCAST)

  let done = 0
  while (done < total) {
    const at = timeAt((done + random.next()) / total)
    const isBroadcast = largest > 1 && random.next() < BROADCAST_SHARE / largest
    const audience = isBroadcast ? 2 + randomInt(random, largest - 1) : 1
    const first = isBroadcast ? randomInt(random, recipients.length) : skewedIndex(random, recipients.length)
    const workflow = pick(random, isBroadcast ? plan.broadcasts : plan.workflows)
    const transactionId = random.next() < 0.15 ? random.uuid() : `txn_${newId(at)}`
    const trigger = createTrigger(workflow, at, transactionId, random, faker)
    for (let turn = 0; turn < audience; turn++) {
      const recipient = recipients[(first + turn) % recipients.length] as Recipient
      const notificationId = newId(at)
      let createdAt = at + turn * 7
      for (const step of workflow.steps) {
        const rate = sendRates[step.channel] * (recipient.noAddress[step.channel] ? UNREACHABLE_RATE : 1)
        if (random.next() >= rate) continue
        createdAt += 40 + randomInt(random, 900)
        const parts = { id: newId(createdAt), notificationId, trigger, step, recipient, createdAt }
        const message = createMessage(plan, parts, random)
        yield { createdAt, context: recipient.context.canonical, message }
        if (++done === total) return
      }
    }
  }
}

function createTrigger(
  workflow: WorkflowPlan,
  at: number,
  transactionId: string,
  random: Random,
  faker: Faker
): Trigger {
  const payload = Object.fromEntries(workflow.payload.map(([name, make]) => [name, make(faker, at)]))
  const results = workflow.digests.map((stepId) => [stepId, { eventCount: 2 + randomInt(random, 8) }])
  return { workflow, transactionId, payload, steps: Object.fromEntries(results) }
}

interface MessageParts {
  id: string
  notificationId: string
  trigger: Trigger
  step: StepPlan
  recipient: Recipient
  createdAt: number
}

function createMessage({ environment, now }: Plan, parts: MessageParts, random: Random): MessageFields {
  const { id, notificationId, trigger, step, recipient, createdAt } = parts
  const { channel } = step
  const { subscriber, noAddress, deviceTokens, context } = recipient
  const { workflow, payload, transactionId } = trigger
  const scope = { payload, subscriber, steps: trigger.steps }
  const inbox = channel === 'in_app' ? inboxState(random, createdAt, now) : undefined
  const { provider, outcome } = deliver(step, noAddress[channel], random)
  const isByPhone = channel === 'sms' || (channel === 'chat' && provider?.id === WHATSAPP)
  const isUrgent = provider?.id === 'fcm' && random.next() < 0.1
  return {
    _id: id,
    _templateId: workflow.id,
    _environmentId: environment.id,
    _messageTemplateId: step.id,
    _organizationId: environment.organizationId,
    _notificationId: notificationId,
    _subscriberId: subscriber._id,
    subscriber,
    template: undefined,
    templateIdentifier: workflow.identifier,
    createdAt: isoTime(createdAt),
    deliveredAt: inbox?.deliveredAt,
    lastSeenDate: inbox?.lastSeenDate,
    lastReadDate: inbox?.lastReadDate,
    content: step.content(scope),
    transactionId,
    subject: step.subject?.(scope),
    channel,
    read: inbox?.read ?? false,
    seen: inbox?.seen ?? false,
    snoozedUntil: inbox?.snoozedUntil,
    email: (channel === 'email' && subscriber.email) || undefined,
    phone: (isByPhone && subscriber.phone) || undefined,
    directWebhookUrl: undefined,
    providerId: provider?.id,
    deviceTokens: channel === 'push' ? deviceTokens : channel === 'email' ? [] : undefined,
    title: step.title?.(scope),
    cta: step.callToAction(scope, inbox?.pressed),
    _feedId: inbox && null,
    status: outcome.status,
    errorId: outcome.errorId,
    errorText: outcome.errorText,
    payload,
    overrides: isUrgent ? { fcm: { android: { priority: 'high' } } } : {},
    contextKeys: context.keys
  }
}

/** Returns ids like the deployed service's: the second of their creation, ten digits, a counter. */
function idMaker(infix: string): (at: number) => string {
  let counter = 0
  const hex = (number: number, length: number) => number.toString(16).padStart(length, '0')
  return (at) => {
    counter = (counter + 1) & 0xffffff
    return hex(Math.max(Math.floor(at / 1000), 0), 8).slice(-8) + infix + hex(counter, 6)
  }
}

const WEIGHTS_BY_HOUR = [2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 10, 11, 11, 10, 9, 9, 10, 9, 8, 6, 4, 3]

/** Returns times for shares from 0 up to 1 that grow; more of them by day than by night and at the weekend. */
function timeline({ days, now }: Plan): (share: number) => number {
  // What a trigger sends takes seconds, and must not lie in the future.
  const end = Math.floor(now) - 2 * 60_000
  const start = end - days * DAY
  const weights = Array.from({ length: days * 24 }, (_, hour) => {
    const date = new Date(start + hour * HOUR)
    return (WEIGHTS_BY_HOUR[date.getUTCHours()] ?? 0) * (date.getUTCDay() % 6 === 0 ? 6 : 10)
  })
  const sum = weights.reduce((one, other) => one + other, 0)
  let hour = 0
  let passed = 0
  return (share) => {
    let weight = weights[hour] ?? 0
    while (hour < weights.length - 1 && passed + weight <= share * sum) {
      passed += weight
      weight = weights[++hour] ?? 0
    }
    return start + hour * HOUR + Math.min(HOUR - 1, Math.floor(((share * sum - passed) / weight) * HOUR))
  }
}
