import { createHash } from 'node:crypto'
import { isoTime } from '../../core/clock.js'
import { StartError } from '../../core/errors.js'
import { createRandom, type Random } from '../../core/random.js'
import { runToEnd } from '../../core/slices.js'
import type { MessageResponse } from '../../messages/schemas.js'
import type { EnvironmentInput } from '../environment-data.js'
import type { SeedGenerate } from '../format.js'
import { inboxState, outcomeOf } from './delivery.js'
import { planningWorkflows, type StepPlan, sendRatesOf, type WorkflowPlan } from './plan.js'
import { createFaker, DAY, HOUR, pick, randomInt } from './random.js'
import { creatingRecipients, creatingSubscribers, type Recipient } from './subscribers.js'
import { createBudget } from './templates.js'

export type Generation = ReturnType<typeof generation>

/** About a quarter of the messages are of triggers for many; the largest are for so many subscribers. */
const BROADCAST_SHARE = 1 / 4
const MAX_BROADCAST = 400
/** Of the messages to one who can't be reached; mostly a workflow skips them. */
const UNREACHABLE_RATE = 1 / 8

/**
 * Returns believable messages of the environment's workflows to its subscribers, of the days before `now`, and the
 * subscribers to add to the environment's own before them. The same environment, options and `now` give the same bytes, on
 * every machine and version of Node. More messages take no more memory; more subscribers do.
 *
 * Throws StartError when the environment has no step that sends messages.
 */
export function generation(environment: EnvironmentInput, options: SeedGenerate, now: number) {
  return runToEnd(preparing(environment, options, now))
}

/** Does what `generation` does, with a step for each step of a workflow and each subscriber. */
export function* preparing(
  environment: EnvironmentInput,
  options: SeedGenerate,
  now: number,
  messageCount = environment.messages.length
) {
  const { messages: total, days = 30, randomSeed = 1 } = options
  const workflows = yield* planningWorkflows(environment)
  if (workflows.length === 0) {
    const problem = `environment ${environment.name} has nothing to make messages of`
    throw new StartError(`${problem}: it needs a workflow with a step of a channel`)
  }
  const impersonal = workflows.filter(({ isImpersonal }) => isImpersonal)
  const broadcasts = impersonal.length > 0 ? impersonal : workflows
  const sendRates = sendRatesOf(workflows)
  const present = environment.subscribers.filter(({ deleted }) => !deleted)
  const fallback = present.length > 0 ? 0 : Math.min(Math.max(Math.ceil(total / 50), 5), 1000)
  const count = options.subscribers || fallback
  const subscribers = yield* creatingSubscribers(environment, { count, randomSeed, before: now - days * DAY })
  const recipients = yield* creatingRecipients(environment, [...present, ...subscribers], randomSeed)
  const maxAudience = Math.min(recipients.length, Math.floor(total / 20), MAX_BROADCAST)
  const timeAt = timeline(days, now)
  // Messages that the environment already has may be generated with the same options: their number differs.
  const idKey = [environment.id, messageCount, randomSeed, total, days, recipients.length, now].join()
  return { subscribers, messages }

  /** Oldest first, but for the seconds between the messages of one trigger. The same each time it is called. */
  function* messages(): Generator<GeneratedMessage, void, undefined> {
    const random = createRandom(randomSeed)
    const faker = createFaker(random)
    const newId = idMaker(idKey)
    let done = 0
    while (done < total) {
      const at = timeAt((done + random.next()) / total)
      const isBroadcast = maxAudience > 1 && random.next() < BROADCAST_SHARE / maxAudience
      const audience = isBroadcast ? 2 + randomInt(random, maxAudience - 1) : 1
      const share = random.next()
      // Of 1,000 subscribers, the first gets a tenth of the ordinary triggers, and the last a thirtieth of a percent.
      const first = Math.floor(recipients.length * (isBroadcast ? share : share * share * share))
      const workflow = pick(random, isBroadcast ? broadcasts : workflows)
      const digests = workflow.digests.map((stepId) => [stepId, { eventCount: 2 + randomInt(random, 8) }])
      const transactionId = random.next() < 0.15 ? random.uuid() : `txn_${newId(at)}`
      const payload = workflow.payload(faker, at) as Record<string, unknown>
      const results = Object.fromEntries(digests)
      for (let turn = 0; turn < audience; turn++) {
        const recipient = recipients[(first + turn) % recipients.length] as Recipient
        const notificationId = newId(at)
        let createdAt = at + turn * 7
        for (const step of workflow.steps) {
          const isReachable = recipient.channels.includes(step.channel)
          if (random.next() >= sendRates[step.channel] * (isReachable ? 1 : UNREACHABLE_RATE)) continue
          createdAt += 40 + randomInt(random, 900)
          const id = newId(createdAt)
          const parts = { id, notificationId, createdAt, workflow, step, recipient, transactionId, payload, results }
          yield createMessage(environment, parts, random, now)
          if (++done === total) return
        }
      }
    }
  }
}

interface MessageParts {
  id: string
  notificationId: string
  createdAt: number
  workflow: WorkflowPlan
  step: StepPlan
  recipient: Recipient
  transactionId: string
  payload: Record<string, unknown>
  /** The results of the digests, which steps after them may show. */
  results: object
}

export type GeneratedMessage = ReturnType<typeof createMessage>

/** Returns the fields of a message, in the contract's order; JSON leaves out those that are undefined. */
function createMessage(environment: EnvironmentInput, parts: MessageParts, random: Random, now: number) {
  const { id, notificationId, createdAt, workflow, step, recipient, transactionId, payload, results } = parts
  const { channel, providers } = step
  const { subscriber, deviceTokens, contextKeys } = recipient
  const scope = { payload, subscriber, steps: results }
  const budget = createBudget()
  const inbox = channel === 'in_app' ? inboxState(random, createdAt, now) : undefined
  const { status, errorId, errorText } = outcomeOf(channel, recipient.channels.includes(channel), random)
  return {
    _id: id,
    _templateId: workflow.id,
    _environmentId: environment.id,
    _messageTemplateId: step.id,
    _organizationId: environment.organizationId,
    _notificationId: notificationId,
    _subscriberId: subscriber._id,
    subscriber,
    templateIdentifier: workflow.identifier,
    createdAt: isoTime(createdAt),
    deliveredAt: inbox?.deliveredAt,
    lastSeenDate: inbox?.lastSeenDate,
    lastReadDate: inbox?.lastReadDate,
    content: step.content(scope, budget),
    transactionId,
    subject: step.subject?.(scope, budget),
    channel,
    read: inbox?.read ?? false,
    seen: inbox?.seen ?? false,
    snoozedUntil: inbox?.snoozedUntil,
    email: (channel === 'email' && subscriber.email) || undefined,
    phone: (channel === 'sms' && subscriber.phone) || undefined,
    providerId: random.next() < 0.9 ? providers[0] : pick(random, providers),
    deviceTokens: channel === 'push' ? deviceTokens : channel === 'email' ? [] : undefined,
    title: step.title?.(scope, budget),
    cta: step.callToAction(inbox?.pressed, scope, budget),
    _feedId: inbox && null,
    status,
    errorId,
    errorText,
    payload,
    overrides: {},
    contextKeys
  } satisfies { [Field in keyof MessageResponse]: MessageResponse[Field] | undefined }
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

const WEIGHTS_BY_HOUR = [2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 10, 11, 11, 10, 9, 9, 10, 9, 8, 6, 4, 3]

/** Returns times for shares from 0 up to 1 that grow; more of them by day than by night. */
function timeline(days: number, now: number): (share: number) => number {
  // What a trigger sends takes seconds, and must not lie in the future.
  const end = Math.floor(now) - 2 * 60_000
  const hours = Array.from({ length: days * 24 }, (_, index) => end - days * DAY + index * HOUR)
  // Between any two of these times in a row, equally many triggers lie.
  const times = hours.flatMap((hour) => {
    const weight = WEIGHTS_BY_HOUR[new Date(hour).getUTCHours()] ?? 1
    return Array.from({ length: weight }, (_, index) => hour + (index * HOUR) / weight)
  })
  return (share) => {
    const index = Math.floor(share * times.length)
    const [from = end, to = end] = times.slice(index, index + 2)
    return Math.floor(from + (to - from) * (share * times.length - index))
  }
}
