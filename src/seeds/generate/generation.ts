import { createHash } from 'node:crypto'
import { isoTime } from '../../domain/clock.js'
import { type Channel, isChannel } from '../../domain/enums.js'
import { StartError } from '../../domain/errors.js'
import { createRandom, type Random } from '../../domain/random.js'
import type { MessageCTA, MessageResponse } from '../../messages/schemas.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { EnvironmentInput, SeedGenerate } from '../format.js'
import { inferPayloadSchema } from '../resolve/step-defaults.js'
import { valueMaker } from './payload.js'
import {
  createFaker,
  createRecipients,
  createSubscribers,
  pick,
  type Recipient,
  randomInt
} from './subscribers.js'
import { compile, compileEmail, type Scope } from './templates.js'

const DAY = 86_400_000

/**
 * Returns believable messages of the days before `now`, and the subscribers to add before them. The same input gives the
 * same bytes, on every machine and version of Node. `present` is the number of messages that the environment has already,
 * of which `environment` needs to have some only. Throws StartError when it has no step that sends messages, and SeedError
 * when its templates take more than a millisecond a message, which is twenty times what usual ones take.
 */
export function prepare(
  environment: EnvironmentInput,
  options: SeedGenerate,
  now: number,
  present: number
) {
  const { messages: total, days = 30, randomSeed = 1 } = options
  const workflows = planWorkflows(environment)
  if (workflows.length === 0) {
    const problem = `environment ${environment.name} has nothing to make messages of`
    throw new StartError(`${problem}: it needs a workflow with a step of a channel`)
  }
  const own = environment.subscribers.filter(({ deleted }) => !deleted)
  const fallback = own.length > 0 ? 0 : Math.min(Math.max(Math.ceil(total / 50), 5), 1000)
  const count = options.subscribers || fallback
  const subscribers = createSubscribers(environment, {
    count,
    randomSeed,
    before: now - days * DAY
  })
  const recipients = createRecipients(environment, [...own, ...subscribers], randomSeed)
  // What a trigger sends takes seconds, and must not lie in the future.
  const end = Math.floor(now) - 2 * 60_000
  // Messages that the environment already has may be generated with the same options: their number differs.
  const idKey = [environment.id, present, randomSeed, total, days, recipients.length, now].join()
  return { subscribers, messages }

  /** Oldest first, but for the seconds between the messages of one trigger. The same each time it is called. */
  function* messages() {
    const random = createRandom(randomSeed)
    const faker = createFaker(random)
    const newId = idMaker(idKey)
    const time = { left: Math.max(2000, total) }
    let done = 0
    while (done < total) {
      let createdAt = Math.floor(end - days * DAY * (1 - (done + random.next()) / total))
      const share = random.next()
      // Of 1,000 subscribers, the first gets a tenth of the triggers, and the last a thirtieth of a percent.
      const recipient = recipients[
        Math.floor(recipients.length * share * share * share)
      ] as Recipient
      const workflow = pick(random, workflows)
      const notificationId = newId(createdAt)
      const transactionId = random.next() < 0.15 ? random.uuid() : `txn_${newId(createdAt)}`
      const payload = workflow.payload(faker, createdAt) as Record<string, unknown>
      const steps = Object.fromEntries(
        workflow.digests.map((id) => [id, { eventCount: 2 + randomInt(random, 8) }])
      )
      const scope = { globals: { payload, subscriber: recipient.subscriber, steps }, time }
      for (const step of workflow.steps) {
        // Who can't be reached on the channel is mostly skipped.
        if (random.next() >= (recipient.channels.includes(step.channel) ? 0.8 : 0.1)) continue
        createdAt += 40 + randomInt(random, 900)
        yield createMessage(step, createdAt)
        if (++done === total) return
      }

      /** Returns the fields of a message, in the contract's order; JSON leaves out those that are undefined. */
      function createMessage({ channel, providers, ...step }: StepPlan, createdAt: number) {
        const { subscriber, channels, deviceTokens, contextKeys } = recipient
        const inbox = channel === 'in_app' ? inboxState(random, createdAt, now) : undefined
        const outcome = outcomeOf(channel, channels.includes(channel), random)
        return {
          _id: newId(createdAt),
          _templateId: workflow.id,
          _environmentId: environment.id,
          _messageTemplateId: step.id,
          _organizationId: environment.organizationId,
          _notificationId: notificationId,
          _subscriberId: subscriber._id,
          subscriber,
          templateIdentifier: workflow.identifier,
          createdAt: isoTime(createdAt),
          ...inbox?.times,
          content: step.content(scope),
          transactionId,
          subject: step.subject?.(scope),
          channel,
          read: inbox?.read ?? false,
          seen: inbox?.seen ?? false,
          email: (channel === 'email' && subscriber.email) || undefined,
          phone: (channel === 'sms' && subscriber.phone) || undefined,
          providerId: random.next() < 0.9 ? providers[0] : pick(random, providers),
          deviceTokens: channel === 'push' ? deviceTokens : channel === 'email' ? [] : undefined,
          title: step.title?.(scope),
          cta: step.callToAction(inbox?.pressed, scope),
          _feedId: inbox && null,
          ...outcome,
          payload,
          overrides: {},
          contextKeys
        } satisfies { [Field in keyof MessageResponse]?: MessageResponse[Field] | undefined }
      }
    }
  }
}

/** The warnings where the subscriber lacks an address. */
const NO_ADDRESS: Partial<Record<Channel, [errorId: string, text: string]>> = {
  email: ['mail_unexpected_error', 'Subscriber does not have an email address'],
  sms: ['no_subscriber_phone', 'Subscriber does not have active phone'],
  chat: ['no_subscriber_chat_channel_id', 'Subscriber does not have active chat channel id']
}

/** The share of messages that providers refuse, and with what. */
const REFUSALS: Record<Channel, [rate: number, errorId: string, text: string]> = {
  in_app: [0, '', ''],
  email: [0.01, 'mail_unexpected_error', 'Maximum credits exceeded'],
  sms: [0.03, 'unexpected_sms_error', 'Unreachable destination handset'],
  chat: [0.02, 'unexpected_chat_error', 'channel_not_found'],
  push: [0.04, 'unexpected_push_error', 'Requested entity was not found.']
}

/** Returns what becomes of a message: it is sent, or there is a warning or an error of its channel. */
function outcomeOf(channel: Channel, hasAddress: boolean, random: Random) {
  const [warningId, warning] = (!hasAddress && NO_ADDRESS[channel]) || []
  if (warningId) return { status: 'warning', errorId: warningId, errorText: warning } as const
  const [rate, errorId, errorText] = REFUSALS[channel]
  return random.next() < rate
    ? ({ status: 'error', errorId, errorText } as const)
    : ({ status: 'sent' } as const)
}

/** Returns when an in-app message was delivered, seen and read, and which button was pressed. */
function inboxState(random: Random, createdAt: number, now: number) {
  const delivered = createdAt + 40 + randomInt(random, 360)
  // From seconds to a day and a half, each order of magnitude as often as the other.
  const seenAt = delivered + randomInt(random, 1 << (12 + randomInt(random, 16)))
  const readAt = seenAt + 400 + randomInt(random, 60_000)
  const seen = random.next() < 0.75 && seenAt <= now
  const read = seen && random.next() < 0.75 && readAt <= now
  return {
    times: {
      deliveredAt: [isoTime(delivered)],
      ...(seen && { lastSeenDate: isoTime(seenAt) }),
      ...(read && { lastReadDate: isoTime(readAt) })
    },
    read,
    seen,
    pressed:
      read && random.next() < 0.4
        ? pick(random, ['primary', 'primary', 'secondary'] as const)
        : undefined
  }
}

/** Returns ids like the deployed service's: the second of their creation, ten digits, a counter. */
function idMaker(key: string): (at: number) => string {
  const infix = createHash('sha256').update(key).digest('hex').slice(0, 10)
  const hex = (number: number, length: number) => number.toString(16).padStart(length, '0')
  let counter = 0
  return (at) => {
    counter = (counter + 1) & 0xffffff
    return hex(Math.max(Math.floor(at / 1000), 0), 8).slice(-8) + infix + hex(counter, 6)
  }
}

/** Everything about a step that is the same in each of its messages. */
type StepPlan = ReturnType<typeof planStep>

/** Returns the plans of the workflows that send. Steps whose content has issues send only if all have. */
function planWorkflows(environment: EnvironmentInput) {
  const sending = environment.steps.filter(({ type }) => isChannel(type))
  const sound = sending.filter(({ issues }) =>
    Object.values(issues?.controls ?? {}).every((each) => each.length === 0)
  )
  const usable = new Set(sound.length > 0 ? sound : sending)
  const plans = environment.workflows.map(({ _id: id, identifier, name, payloadSchema }) => {
    const all = environment.steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === id)
    const controlValues = all.map((step) => step.controlValues)
    const declared = payloadSchema ?? inferPayloadSchema(controlValues, { loopItems: true })
    return {
      id,
      identifier,
      payload: valueMaker({ properties: {}, ...declared, type: 'object' }),
      digests: all.filter(({ type }) => type === 'digest').map(({ stepId }) => stepId),
      steps: all.filter((step) => usable.has(step)).map((step) => planStep(environment, step, name))
    }
  })
  return plans.filter(({ steps }) => steps.length > 0)
}

/** For channels that the environment has no integration of. */
const DEFAULT_PROVIDERS = {
  in_app: 'novu',
  email: 'sendgrid',
  sms: 'twilio',
  chat: 'slack',
  push: 'fcm'
}

/** Returns the providers of the channel's active integrations, the primary first; where none is active, of all. */
function providersOf({ integrations }: EnvironmentInput, channel: Channel): string[] {
  const present = integrations.filter((each) => each.channel === channel && !each.deleted)
  const active = present
    .filter((each) => each.active)
    .sort((one, other) => Number(other.primary) - Number(one.primary))
  const providers = (active.length > 0 ? active : present).map(({ providerId }) => providerId)
  return providers.length > 0 ? providers : [DEFAULT_PROVIDERS[channel]]
}

function planStep(environment: EnvironmentInput, step: WorkflowStep, name: string) {
  const { _id: id, type, controlValues } = step
  const channel = type as Channel
  const values: Record<string, unknown> = controlValues ?? {}
  const heading = textOf(values.subject) ?? textOf(values.title)
  const title = heading ?? name
  // Code-first steps name their body as they like: then it is the longest text.
  const [longest] = textsIn(values).sort((one, other) => other.length - one.length)
  const body = textOf(values.body) ?? textOf(values.content) ?? longest ?? title
  const hasSubject = channel === 'email' || (channel === 'in_app' && heading !== undefined)
  return {
    id,
    channel,
    providers: providersOf(environment, channel),
    content: channel === 'email' ? compileEmail(body) : compile(body),
    subject: hasSubject ? compile(title) : undefined,
    title: channel === 'push' ? compile(title) : undefined,
    callToAction: compileCallToAction(channel === 'in_app' ? values : {})
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsIn)
  return textOf(value) === undefined ? [] : [String(value)]
}

function compileCallToAction(controlValues: object) {
  const values = controlValues as {
    [Name in 'redirect' | 'primaryAction' | 'secondaryAction']?: Action | null
  }
  const url = textOf(values.redirect?.url) ?? textOf(values.primaryAction?.redirect?.url)
  const target = url === undefined ? undefined : compile(url)
  const labels = (['primary', 'secondary'] as const).flatMap((type) => {
    const label = textOf(values[`${type}Action`]?.label)
    return label === undefined ? [] : [{ type, label: compile(label) }]
  })
  return (pressed: 'primary' | 'secondary' | undefined, scope: Scope): MessageCTA => {
    const link: MessageCTA = target ? { type: 'redirect', data: { url: target(scope) } } : {}
    const buttons = labels.map(({ type, label }) => ({ type, content: label(scope) }))
    const [result] = buttons.filter(({ type }) => type === pressed).map(({ type }) => ({ type }))
    if (result) return { ...link, action: { status: 'done', buttons, result } }
    return { ...link, action: { ...(buttons.length > 0 && { status: 'pending' }), buttons } }
  }
}

/** A control value of an in-app step, as far as it has this form. */
interface Action {
  label?: unknown
  url?: unknown
  redirect?: Action | null
}
