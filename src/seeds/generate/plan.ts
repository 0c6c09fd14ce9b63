import { createHash } from 'node:crypto'
import { CHANNELS, type Channel } from '../../core/enums.js'
import { createRandom } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { EnvironmentData, Stored } from '../environment-data.js'
import { stepVariables } from '../resolve/step-variables.js'
import { type Environment, integrationsOf, PROVIDERS } from './channels.js'
import { pick, weighted } from './draw.js'
import { MISSING } from './outcomes.js'
import { type Recipients, recipientsOf } from './recipients.js'
import { compiledText, emailContent, type JsonText, quotedText, rendered } from './texts.js'
import { isPersonal, type Maker, payloadMakers } from './values.js'

/** Whether there is anything to make messages of: a step that sends. */
export function canGenerate({ steps }: Pick<EnvironmentData, 'steps'>): boolean {
  return steps.some(isSending)
}

/** What is settled before the first message is made. */
export interface Plan {
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
  recipients: Recipients
  /** Of the steps of each channel, the share that is sent. */
  kept: Record<Channel, number>
}

export interface WorkflowPlan {
  payload: [json: string, name: string, make: Maker][]
  digests: string[]
  steps: StepPlan[]
}

/** Everything about a step that is the same in each of its messages, as JSON. */
export interface StepPlan {
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

export interface Provider {
  json: string
  id: string
  canSend: boolean
}

/** The same for the same environment, options and present. */
export function planOf(
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
  const chance = createRandom(randomSeed)
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

type Step = EnvironmentData['steps'][number]

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

type Workflow = EnvironmentData['workflows'][number]

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
function isOfTemplate(message: EnvironmentData['messages'][number], steps: readonly Step[]): boolean {
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

const json = (source: string): JsonText => quotedText(compiledText(source))

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
