import { createHash } from 'node:crypto'
import type { Faker } from '@faker-js/faker'
import { isoTime } from '../../domain/clock.js'
import type { Channel } from '../../domain/enums.js'
import { StartError } from '../../domain/errors.js'
import { createRandom, type Random } from '../../domain/random.js'
import type { MessageResponse } from '../../messages/schemas.js'
import type { EnvironmentInput, SeedGenerate } from '../format.js'
import { planWorkflows, type StepPlan, type WorkflowPlan } from './plans.js'
import {
  createFaker,
  createRecipients,
  createSubscribers,
  pick,
  type Recipient,
  randomInt
} from './subscribers.js'
import type { Scope } from './templates.js'

const DAY = 86_400_000
/**
 * The minimum age of a trigger, in milliseconds. A trigger's messages are created in the seconds
 * after it, so the messages of a newer trigger could be in the future.
 */
const NEWEST_TRIGGER_AGE = 2 * 60_000

/**
 * Returns the subscribers to add, and a function that generates messages for the `days` before
 * `now`. For the same input, the messages are byte-for-byte the same on every machine and version
 * of Node. `messageCount` is the number of messages that the environment already has.
 * `environment.messages` may contain only a sample of them.
 *
 * Throws `StartError` if no step sends messages. The returned function throws `SeedError` if
 * rendering takes longer than 1 ms per message (at least 2 seconds in total). Rendering a message
 * usually takes 0.05 ms.
 */
export function prepare(
  environment: EnvironmentInput,
  options: SeedGenerate,
  now: number,
  messageCount: number
) {
  const { messages: total, days = 30, randomSeed = 1 } = options
  const workflows = planWorkflows(environment)
  if (workflows.length === 0) {
    const problem = `environment ${environment.name} has no workflow to generate messages for`
    throw new StartError(`${problem}: add one with a step that sends messages, such as email`)
  }
  const existing = environment.subscribers.filter(({ deleted }) => !deleted)
  const defaultCount = existing.length > 0 ? 0 : defaultSubscriberCount(total)
  const subscribers = createSubscribers(environment, {
    count: options.subscribers || defaultCount,
    randomSeed,
    before: now - days * DAY
  })
  const recipients = createRecipients(environment, [...existing, ...subscribers], randomSeed)
  // The key includes the number of existing messages, so that a second run creates different ids.
  const idKey = [
    environment.id,
    messageCount,
    randomSeed,
    total,
    days,
    recipients.length,
    now
  ].join()
  const plan = { environment, workflows, recipients, total, days, randomSeed, idKey, now }
  return { subscribers, messages: () => new MessageGenerator(plan).messages() }
}

function defaultSubscriberCount(messages: number): number {
  return Math.min(Math.max(Math.ceil(messages / 50), 5), 1000)
}

interface GenerationPlan {
  environment: EnvironmentInput
  workflows: WorkflowPlan[]
  recipients: Recipient[]
  total: number
  days: number
  randomSeed: number
  idKey: string
  now: number
}

/** The data that all messages of one trigger share. */
interface Trigger {
  workflow: WorkflowPlan
  recipient: Recipient
  notificationId: string
  transactionId: string
  payload: Record<string, unknown>
  scope: Scope
}

class MessageGenerator {
  readonly #plan: GenerationPlan
  readonly #random: Random
  readonly #faker: Faker
  readonly #newId: (time: number) => string
  /** The remaining time for rendering templates, in milliseconds. All messages share it. */
  readonly #time: Scope['time']

  constructor(plan: GenerationPlan) {
    this.#plan = plan
    this.#random = createRandom(plan.randomSeed)
    this.#faker = createFaker(this.#random)
    this.#newId = createIdSource(plan.idKey)
    this.#time = { left: Math.max(2000, plan.total) }
  }

  /** Yields the messages, starting with those of the oldest trigger. */
  *messages() {
    const { total, days, now } = this.#plan
    const end = Math.floor(now) - NEWEST_TRIGGER_AGE
    let count = 0
    while (count < total) {
      const share = (count + this.#random.next()) / total
      let createdAt = Math.floor(end - days * DAY * (1 - share))
      const trigger = this.#createTrigger(createdAt)
      for (const step of trigger.workflow.steps) {
        // Skip most messages if the recipient has no address on the channel.
        const sendRate = trigger.recipient.channels.includes(step.channel) ? 0.8 : 0.1
        if (this.#random.next() >= sendRate) continue
        createdAt += 40 + randomInt(this.#random, 900)
        yield this.#createMessage(trigger, step, createdAt)
        count += 1
        if (count === total) return
      }
    }
  }

  #createTrigger(time: number): Trigger {
    const recipient = this.#pickRecipient()
    const workflow = pick(this.#random, this.#plan.workflows)
    const notificationId = this.#newId(time)
    const hasUuid = this.#random.next() < 0.15
    const transactionId = hasUuid ? this.#random.uuid() : `txn_${this.#newId(time)}`
    const payload = workflow.payload(this.#faker, time) as Record<string, unknown>
    const steps = Object.fromEntries(
      workflow.digests.map((id) => [id, { eventCount: 2 + randomInt(this.#random, 8) }])
    )
    const globals = { payload, subscriber: recipient.subscriber, steps }
    const scope = { globals, time: this.#time }
    return { workflow, recipient, notificationId, transactionId, payload, scope }
  }

  /**
   * Returns a random recipient, preferring those at the start of the list. Of 1,000 recipients, the
   * first gets 10% of the triggers, and the last gets 0.03%.
   */
  #pickRecipient(): Recipient {
    const { recipients } = this.#plan
    const share = this.#random.next()
    return recipients[Math.floor(recipients.length * share * share * share)] as Recipient
  }

  /**
   * Returns a message with its fields in the API's order. Undefined fields are omitted when the
   * message is converted to JSON.
   */
  #createMessage(trigger: Trigger, step: StepPlan, createdAt: number) {
    const { environment, now } = this.#plan
    const { workflow, recipient, scope } = trigger
    const { subscriber } = recipient
    const { channel, providers } = step
    const random = this.#random
    const inbox = channel === 'in_app' ? inboxState(random, createdAt, now) : undefined
    const outcome = outcomeOf(channel, recipient.channels.includes(channel), random)
    return {
      _id: this.#newId(createdAt),
      _templateId: workflow.id,
      _environmentId: environment.id,
      _messageTemplateId: step.id,
      _organizationId: environment.organizationId,
      _notificationId: trigger.notificationId,
      _subscriberId: subscriber._id,
      subscriber,
      templateIdentifier: workflow.identifier,
      createdAt: isoTime(createdAt),
      ...inbox?.times,
      content: step.content(scope),
      transactionId: trigger.transactionId,
      subject: step.subject?.(scope),
      channel,
      read: inbox?.read ?? false,
      seen: inbox?.seen ?? false,
      ...addressOn(channel, recipient),
      providerId: random.next() < 0.9 ? providers[0] : pick(random, providers),
      deviceTokens: deviceTokensOn(channel, recipient),
      title: step.title?.(scope),
      cta: step.callToAction(inbox?.pressed, scope),
      _feedId: inbox && null,
      ...outcome,
      payload: trigger.payload,
      overrides: {},
      contextKeys: recipient.contextKeys
    } satisfies { [Field in keyof MessageResponse]?: MessageResponse[Field] | undefined }
  }
}

function addressOn(channel: Channel, { subscriber }: Recipient) {
  return {
    email: (channel === 'email' && subscriber.email) || undefined,
    phone: (channel === 'sms' && subscriber.phone) || undefined
  }
}

/** Returns the `deviceTokens` of a message. As in Novu, an email has an empty list. */
function deviceTokensOn(channel: Channel, { deviceTokens }: Recipient): string[] | undefined {
  if (channel === 'push') return deviceTokens
  return channel === 'email' ? [] : undefined
}

interface Failure {
  errorId: string
  errorText: string
}

/** The warning for a subscriber without an address on the channel. */
const NO_ADDRESS: Partial<Record<Channel, Failure>> = {
  email: {
    errorId: 'mail_unexpected_error',
    errorText: 'Subscriber does not have an email address'
  },
  sms: { errorId: 'no_subscriber_phone', errorText: 'Subscriber does not have active phone' },
  chat: {
    errorId: 'no_subscriber_chat_channel_id',
    errorText: 'Subscriber does not have active chat channel id'
  }
}

/** A typical provider error on each channel, and the share of messages that fail with it. */
const REJECTIONS: Record<Channel, Failure & { rate: number }> = {
  in_app: { rate: 0, errorId: '', errorText: '' },
  email: { rate: 0.01, errorId: 'mail_unexpected_error', errorText: 'Maximum credits exceeded' },
  sms: {
    rate: 0.03,
    errorId: 'unexpected_sms_error',
    errorText: 'Unreachable destination handset'
  },
  chat: { rate: 0.02, errorId: 'unexpected_chat_error', errorText: 'channel_not_found' },
  push: {
    rate: 0.04,
    errorId: 'unexpected_push_error',
    errorText: 'Requested entity was not found.'
  }
}

/** Returns the status of a message. A warning or an error also has an id and a text. */
function outcomeOf(channel: Channel, hasAddress: boolean, random: Random) {
  const warning = hasAddress ? undefined : NO_ADDRESS[channel]
  if (warning) return { status: 'warning', ...warning } as const
  const { rate, ...error } = REJECTIONS[channel]
  if (random.next() < rate) return { status: 'error', ...error } as const
  return { status: 'sent' } as const
}

/** Returns when an in-app message was delivered, seen and read, and which button was pressed. */
function inboxState(random: Random, createdAt: number, now: number) {
  const deliveredAt = createdAt + 40 + randomInt(random, 360)
  // Choose a random maximum of 4, 8, 16 … seconds, up to 1.5 days, then a random delay below it.
  // This makes short delays more likely than long ones.
  const seenAt = deliveredAt + randomInt(random, 1 << (12 + randomInt(random, 16)))
  const readAt = seenAt + 400 + randomInt(random, 60_000)
  const seen = random.next() < 0.75 && seenAt <= now
  const read = seen && random.next() < 0.75 && readAt <= now
  const hasPressed = read && random.next() < 0.4
  return {
    times: {
      deliveredAt: [isoTime(deliveredAt)],
      ...(seen && { lastSeenDate: isoTime(seenAt) }),
      ...(read && { lastReadDate: isoTime(readAt) })
    },
    read,
    seen,
    pressed: hasPressed ? pick(random, ['primary', 'primary', 'secondary'] as const) : undefined
  }
}

/**
 * Returns a function that creates ids like Novu's. An id consists of the creation time in seconds,
 * ten hex digits derived from the key, and a counter.
 */
function createIdSource(key: string): (time: number) => string {
  const infix = createHash('sha256').update(key).digest('hex').slice(0, 10)
  let counter = 0
  return (time) => {
    counter = (counter + 1) & 0xffffff
    const seconds = Math.max(Math.floor(time / 1000), 0)
    return toHex(seconds, 8).slice(-8) + infix + toHex(counter, 6)
  }
}

const toHex = (number: number, length: number) => number.toString(16).padStart(length, '0')
