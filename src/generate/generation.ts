import { createHash } from 'node:crypto'
import { type Chance, chanceOf } from '../chance.js'
import type { SubscriberResponse } from '../messages/schemas.js'
import { canonicalContext } from '../messages/service.js'
import type { SeedGenerate } from '../seeds/format.js'
import { stepVariables } from '../seeds/step-variables.js'
import type { Stored, World } from '../seeds/world.js'
import { CHANNELS } from '../vocabulary.js'
import { compiledText, emailContent, escaped, type JsonText, quotedText, rendered, type Scope } from './texts.js'
import {
  below,
  DAY,
  deviceToken,
  isPersonal,
  type Maker,
  madeSubscribers,
  payloadMakers,
  pick,
  timeOf
} from './values.js'

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

type Channel = (typeof CHANNELS)[number]
type Environment = Pick<
  World,
  'id' | 'organizationId' | 'name' | 'integrations' | 'subscribers' | 'workflows' | 'steps' | 'messages'
>

/** Whether there is anything to make messages of: a step that sends. */
export function canGenerate({ steps }: Pick<World, 'steps'>): boolean {
  return steps.some(isSending)
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
  const fallback = present.length > 0 ? 0 : Math.min(Math.max(Math.ceil(total / 50), FEWEST_MADE), MOST_MADE)
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
const MOST_MADE = 1000

interface Plan {
  total: number
  days: number
  randomSeed: number
  now: number
  /** The ten digits in the middle of every id, that no id of the environment has. */
  mark: string
  workflows: WorkflowPlan[]
  /** Those that can be triggered for many subscribers at once. */
  forMany: WorkflowPlan[]
  /** The first ones get most. */
  recipients: { count: number; at(place: number): Recipient }
  /** Of the steps of each channel, the share that is sent. */
  kept: Record<Channel, number>
}

interface WorkflowPlan {
  payload: [json: string, name: string, make: Maker][]
  digests: string[]
  steps: StepPlan[]
}

/** Everything about a step that is the same in each of its messages, as JSON. */
interface StepPlan {
  channel: Channel
  /** Of `_templateId` to `_organizationId`. */
  origin: string
  /** What stands for these in a seed. */
  reference: string
  templateIdentifier: string
  content: JsonText
  subject: JsonText
  title: JsonText
  /** Before the state of the action, and after it. */
  call: { target: JsonText; buttons: JsonText } | undefined
  providers: Provider[]
  missingIntegration: string | undefined
}

interface Provider {
  json: string
  id: string
  canSend: boolean
}

interface Recipient {
  document: SubscriberResponse
  subscriberId: string
  /** `_subscriberId` and `subscriber`. */
  json: string
  reference: string
  email: string
  phone: string
  deviceTokens: string
  /** What keeps a message of the channel from being sent. */
  lacks: Partial<Record<Channel, string>>
  context: Context
}

interface Context {
  json: string
  canonical: string
}

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
  const chance = chanceOf(plan.randomSeed)
  const timeline = timelineOf(plan)
  const newId = idMaker(plan.mark)
  const someone = weighted(recipients.count)
  const largest = Math.min(recipients.count, Math.floor(total / 20), LARGEST_BROADCAST)

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
const LARGEST_BROADCAST = 400
/** Of the messages to one who can't be reached; a workflow mostly passes over him. */
const SENT_IN_VAIN = 1 / 8

interface Sending {
  step: StepPlan
  recipient: Recipient
  scope: Scope
  createdAt: number
  now: number
  chance: Chance
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

const WHATSAPP = 'whatsapp-business'

/** When an in-app message came, was seen and read, and what became of what it asks for. */
function inboxState(chance: Chance, createdAt: number, now: number) {
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
function delivery(step: StepPlan, lack: string | undefined, chance: Chance): { provider?: Provider; outcome: string } {
  const { channel, missingIntegration, providers } = step
  if (missingIntegration !== undefined && chance.next() < 0.25) return { outcome: missingIntegration }
  const [main] = providers
  const provider = chance.next() < 0.9 && main ? main : pick(chance, providers)
  if (lack !== undefined) return { provider, outcome: lack }
  if (channel === 'sms' && !provider.canSend) return { provider, outcome: NO_SENDER }
  const { rate, outcomes } = REFUSALS[channel]
  return { provider, outcome: chance.next() < rate ? pick(chance, outcomes) : SENT }
}

const SENT = ',"status":"sent"'
const NO_SENDER = failed('warning', 'no_integration_from_phone', 'Integration does not have from phone configured')

/** What the providers of each channel refuse, and how often. */
const REFUSALS: Record<Channel, { rate: number; outcomes: string[] }> = {
  in_app: { rate: 0, outcomes: [SENT] },
  email: refused(0.01, 'mail_unexpected_error', [
    'Maximum credits exceeded',
    'The recipient address is on the suppression list',
    '550 5.1.1 The email account that you tried to reach does not exist'
  ]),
  sms: refused(0.03, 'unexpected_sms_error', [
    'Unreachable destination handset',
    'The destination number is not a mobile number',
    'Message filtered by the carrier'
  ]),
  chat: refused(0.02, 'unexpected_chat_error', ['channel_not_found', 'Request failed with status code 404']),
  push: refused(0.04, 'unexpected_push_error', [
    'Requested entity was not found.',
    'The registration token is not a valid registration token'
  ])
}

function refused(rate: number, errorId: string, texts: readonly string[]) {
  return { rate, outcomes: texts.map((text) => failed('error', errorId, text)) }
}

function failed(status: 'error' | 'warning', errorId: string, errorText: string): string {
  return `,"status":"${status}","errorId":"${errorId}","errorText":"${escaped(errorText)}"`
}

function payloadOf({ payload }: WorkflowPlan, chance: Chance, at: number) {
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
function digestsOf({ digests }: WorkflowPlan, chance: Chance): Record<string, { eventCount: number }> {
  const results: Record<string, { eventCount: number }> = {}
  for (const stepId of digests) results[stepId] = { eventCount: 2 + below(chance, 8) }
  return results
}

function transactionIdOf(chance: Chance, id: string): string {
  return chance.next() < 0.15 ? uuidOf(chance) : `txn_${id}`
}

/** The same as `chance.uuid`, many times as fast. */
function uuidOf(chance: Chance): string {
  const [one, two, three, four] = [word(chance), word(chance), word(chance), word(chance)]
  const variant = '89ab'.charAt(below(chance, 4))
  return `${one}-${two.slice(0, 4)}-4${two.slice(5)}-${variant}${three.slice(1, 4)}-${three.slice(4)}${four}`
}

function word(chance: Chance): string {
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

/** One of so many, the first ones most often: the second half as often as the first but for one, and so on. */
function weighted(count: number): (chance: Chance) => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let place = 0; place < count; place++) {
    sum += 1 / (place + 2)
    sums[place] = sum
  }
  return (chance) => {
    const aim = chance.next() * sum
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sums[middle] as number) > aim) high = middle
      else low = middle + 1
    }
    return low
  }
}

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

function planOf(
  environment: Environment,
  subscribers: readonly Stored<SubscriberResponse>[],
  { total, days, randomSeed, now }: Pick<Plan, 'total' | 'days' | 'randomSeed' | 'now'>
): Plan {
  const workflows = workflowPlans(environment)
  const impersonal = workflows.filter(({ payload }) => !payload.some(([, name]) => isPersonal(name)))
  const forMany = impersonal.length > 0 ? impersonal : workflows
  const recipients = recipientsOf(environment, subscribers, randomSeed)
  const mark = markOf(environment, [environment.id, randomSeed, total, days, subscribers.length, now])
  const kept = keptOf({ workflows, forMany, recipients, randomSeed })
  return { total, days, randomSeed, now, mark, workflows, forMany, recipients, kept }
}

function markOf({ messages }: Environment, parts: readonly (string | number)[]): string {
  const taken = new Set(
    messages.flatMap(({ _id, _notificationId, transactionId }) =>
      [_id, _notificationId, transactionId.replace(/^txn_/, '')].map((id) => id.slice(8, 18))
    )
  )
  for (let turn = 0; ; turn++) {
    const mark = createHash('sha256')
      .update(JSON.stringify([...parts, turn]))
      .digest('hex')
      .slice(0, 10)
    if (!taken.has(mark)) return mark
  }
}

/** Of a hundred messages, how many are of each channel, as far as the workflows have steps of it. */
const PROPORTIONS: Record<Channel, number> = { in_app: 42, email: 30, push: 14, sms: 9, chat: 5 }

/** Shares that lead to the proportions, by how often a step of each channel has its turn in a trial. */
function keptOf({
  workflows,
  forMany,
  recipients,
  randomSeed
}: Pick<Plan, 'workflows' | 'forMany' | 'recipients' | 'randomSeed'>): Plan['kept'] {
  const chance = chanceOf(randomSeed)
  const someone = weighted(recipients.count)
  const turns: Record<Channel, number> = { in_app: 0, email: 0, sms: 0, chat: 0, push: 0 }
  for (let trial = 0; trial < 2000; trial++) {
    const { lacks } = recipients.at(someone(chance))
    // Not SENT_IN_VAIN: else a channel by which few can be reached would make up for them in vain.
    for (const { channel } of pick(chance, trial % 8 === 0 ? forMany : workflows).steps)
      turns[channel] += lacks[channel] === undefined ? 1 : 0.5
  }
  const wanted = (channel: Channel) => (turns[channel] === 0 ? 0 : PROPORTIONS[channel] / turns[channel])
  const most = Math.max(...CHANNELS.map(wanted))
  const share = (channel: Channel) => wanted(channel) / most
  return {
    in_app: share('in_app'),
    email: share('email'),
    sms: share('sms'),
    chat: share('chat'),
    push: share('push')
  }
}

type Step = World['steps'][number]

function isSending({ type }: Step): boolean {
  return (CHANNELS as readonly string[]).includes(type)
}

/** Of the workflows that send anything; steps with mistakes in their content send nothing, unless all have some. */
function workflowPlans(environment: Environment): WorkflowPlan[] {
  const hasSound = environment.steps.some((step) => isSending(step) && isSound(step))
  const isUsable = (step: Step) => isSending(step) && (isSound(step) || !hasSound)
  return environment.workflows.flatMap((workflow) => {
    const steps = environment.steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === workflow._id)
    const sending = steps.filter(isUsable)
    if (sending.length === 0) return []
    const digests = steps.filter(({ type }) => type === 'digest').map(({ stepId }) => stepId)
    const plans = sending.map((step) => stepPlan(environment, workflow, step))
    return [{ payload: payloadPlan(environment, workflow, steps), digests, steps: plans }]
  })
}

function isSound({ issues }: Step): boolean {
  return Object.values(issues?.controls ?? {}).every((each) => each.length === 0)
}

type Workflow = World['workflows'][number]

function payloadPlan(
  { messages }: Environment,
  { identifier, payloadSchema }: Workflow,
  steps: readonly Step[]
): WorkflowPlan['payload'] {
  const controlValues = steps.map((step) => step.controlValues)
  const variables = stepVariables({ earlierSteps: [], payloadSchema, controlValues })
  const { payload } = variables.properties as { payload: Record<string, unknown> }
  const observed = new Map<string, unknown[]>()
  for (const message of messages) {
    if (message.templateIdentifier !== identifier || !isOfTemplate(message, steps)) continue
    for (const [name, value] of Object.entries(message.payload ?? {})) {
      observed.set(name, [...(observed.get(name) ?? []), value])
    }
  }
  const makers = payloadMakers(payload, { observed, texts: textsIn(controlValues) })
  return makers.map(([name, make]) => [`${JSON.stringify(name)}:`, name, make])
}

/** Not so of a message in another language, whose payload would look odd in the template. */
function isOfTemplate(message: World['messages'][number], steps: readonly Step[]): boolean {
  const scope = { payload: message.payload, subscriber: message.subscriber, steps: {} }
  return steps.some(({ type, controlValues }) => {
    const body = type === message.channel ? bodyOf(controlValues ?? {}) : undefined
    return body !== undefined && rendered(compiledText(body), scope) === message.content
  })
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function stepPlan(environment: Environment, workflow: Workflow, step: Step): StepPlan {
  const channel = step.type as Channel
  const { id, organizationId, integrations } = environment
  const values: Record<string, unknown> = step.controlValues ?? {}
  const heading = textAt(values, 'subject') ?? textAt(values, 'title')
  const title = heading ?? workflow.name
  const body = bodyOf(values) ?? title
  const sender = environment.integrations.map(({ credentials }) => credentials.senderName).find(Boolean)
  const { active, usual } = integrationsOf(integrations, channel)
  const providers = usual.map(({ providerId, credentials }) => {
    return { json: `,"providerId":${JSON.stringify(providerId)}`, id: providerId, canSend: Boolean(credentials.from) }
  })
  const fallback = { json: `,"providerId":"${PROVIDERS[channel]}"`, id: PROVIDERS[channel], canSend: true }
  return {
    channel,
    origin: `,"_templateId":"${workflow._id}","_environmentId":"${id}","_messageTemplateId":"${step._id}","_organizationId":"${organizationId}"`,
    reference: `,"workflow":${JSON.stringify(workflow.identifier)},"_messageTemplateId":"${step._id}"`,
    templateIdentifier: `,"templateIdentifier":${JSON.stringify(workflow.identifier)}`,
    content: channel === 'email' ? emailContent(body, title, sender ?? environment.name) : json(body),
    subject: channel === 'email' || (channel === 'in_app' && heading !== undefined) ? json(title) : [],
    title: channel === 'push' ? json(title) : [],
    call: channel === 'in_app' ? callPlan(values) : undefined,
    providers: providers.length > 0 ? providers : [fallback],
    missingIntegration: usual.length > active.length ? MISSING[channel] : undefined
  }
}

/** Those in use, the primary first; `usual` are all of them where none is in use. */
function integrationsOf(integrations: World['integrations'], channel: Channel) {
  const present = integrations.filter((each) => each.channel === channel && !each.deleted)
  const active = present.filter((each) => each.active).sort((one, other) => Number(other.primary) - Number(one.primary))
  return { active, usual: active.length > 0 ? active : present }
}

const json = (source: string): JsonText => quotedText(compiledText(source))

/** For channels that the environment has no integration of. */
const PROVIDERS: Record<Channel, string> = {
  in_app: 'novu',
  email: 'sendgrid',
  sms: 'twilio',
  chat: 'slack',
  push: 'fcm'
}

const missing = (errorId: string, channel: Channel) =>
  failed('warning', errorId, `Subscriber does not have an active ${channel} integration`)

const MISSING: Partial<Record<Channel, string>> = {
  email: missing('mail_unexpected_error', 'email'),
  sms: missing('sms_missing_integration_error', 'sms'),
  chat: missing('chat_missing_integration_error', 'chat')
}

function textAt(values: Record<string, unknown>, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** Code-first steps call it what they like: then it is the longest text. */
function bodyOf(values: Record<string, unknown>): string | undefined {
  const named = textAt(values, 'body') ?? textAt(values, 'content')
  if (named !== undefined) return named
  const { subject, title, avatar, redirect, primaryAction, secondaryAction, skip, editorType, layoutId, ...others } =
    values
  const [longest] = textsIn(others).sort((one, other) => other.length - one.length)
  return longest === '' ? undefined : longest
}

function callPlan(values: Record<string, unknown>): StepPlan['call'] {
  const actions = { primary: objectAt(values, 'primaryAction'), secondary: objectAt(values, 'secondaryAction') }
  const url = textAt(objectAt(values, 'redirect'), 'url') ?? textAt(objectAt(actions.primary, 'redirect'), 'url')
  const buttons = (['primary', 'secondary'] as const).flatMap((type) => {
    const label = textAt(actions[type], 'label')
    return label === undefined ? [] : [[`{"type":"${type}","content":`, ...json(label), '}']]
  })
  if (url === undefined && buttons.length === 0) return undefined
  return {
    target: url === undefined ? [] : ['"type":"redirect","data":{"url":', ...json(url), '},'],
    buttons: buttons.flatMap((button, place) => (place === 0 ? button : [',', ...button]))
  }
}

function objectAt(values: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = values[name]
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function recipientsOf(
  environment: Environment,
  subscribers: readonly Stored<SubscriberResponse>[],
  randomSeed: number
): Plan['recipients'] {
  const contexts = contextsOf(environment)
  const chat = integrationsOf(environment.integrations, 'chat').usual
  const byPhone = chat.length > 0 && chat.every(({ providerId }) => providerId === WHATSAPP)
  const push = integrationsOf(environment.integrations, 'push').usual[0]?.providerId ?? PROVIDERS.push
  const known: (Recipient | undefined)[] = Array(subscribers.length)
  const at = (place: number): Recipient => {
    known[place] ??= recipientOf(subscribers[place] as Stored<SubscriberResponse>, place)
    return known[place]
  }
  return { count: subscribers.length, at }

  function recipientOf(subscriber: Stored<SubscriberResponse>, place: number): Recipient {
    const { _id, subscriberId, email, phone, channels = [] } = subscriber
    const chance = chanceOf((randomSeed + place + 1) * 0x9e3779b1)
    const tokens = channels.flatMap(({ credentials }) => credentials.deviceTokens ?? [])
    const hasChat = byPhone
      ? phone
      : channels.some(({ credentials }) => credentials.webhookUrl ?? credentials.channel ?? credentials.alertUid)
    return {
      document: subscriber,
      subscriberId,
      json: `,"_subscriberId":"${_id}","subscriber":${JSON.stringify(subscriber)}`,
      reference: `,"subscriberId":${JSON.stringify(subscriberId)}`,
      email: email ? `,"email":${JSON.stringify(email)}` : '',
      phone: phone ? `,"phone":${JSON.stringify(phone)}` : '',
      deviceTokens: `,"deviceTokens":${JSON.stringify(tokens.length > 0 ? tokens : [deviceToken(chance, push)])}`,
      lacks: {
        ...(!email && { email: NO_EMAIL }),
        ...(!phone && { sms: NO_PHONE }),
        ...(!hasChat && { chat: byPhone ? NO_CHAT_PHONE : NO_CHAT })
      },
      context: pick(chance, contexts.own.get(subscriberId) ?? contexts.all)
    }
  }
}

const NO_EMAIL = failed('warning', 'mail_unexpected_error', 'Subscriber does not have an email address')
const NO_PHONE = failed('warning', 'no_subscriber_phone', 'Subscriber does not have active phone')
const NO_CHAT = failed('warning', 'no_subscriber_chat_channel_id', 'Subscriber does not have active chat channel id')
const NO_CHAT_PHONE = failed(
  'warning',
  'no_subscriber_chat_phone_number',
  'Subscriber does not have phone number specified'
)

/** What the seed's own messages show: of each subscriber, and all; tenants where they show none. */
function contextsOf({ messages }: Environment): { own: Map<string, Context[]>; all: Context[] } {
  const shown = messages.map(({ subscriber, contextKeys = [] }) => ({ subscriber, context: contextOf(contextKeys) }))
  if (!shown.some(({ context }) => context.json !== '')) {
    return { own: new Map(), all: TENANTS.map((keys) => contextOf(keys)) }
  }
  const own = new Map<string, Context[]>()
  for (const { subscriber, context } of shown) {
    if (subscriber) own.set(subscriber.subscriberId, [...(own.get(subscriber.subscriberId) ?? []), context])
  }
  return { own, all: shown.map(({ context }) => context) }
}

function contextOf(keys: readonly string[]): Context {
  return { json: keys.length > 0 ? `,"contextKeys":${JSON.stringify(keys)}` : '', canonical: canonicalContext(keys) }
}

const TENANTS = [
  [],
  [],
  [],
  [],
  ['tenant:acme'],
  ['tenant:globex'],
  ['tenant:initech'],
  ['region:eu', 'tenant:umbrella']
]
