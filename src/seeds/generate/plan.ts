import { createHash } from 'node:crypto'
import { CHANNELS, type Channel } from '../../core/enums.js'
import type { Random } from '../../core/random.js'
import type { MessageCTA, MessageResponse, SubscriberResponse } from '../../messages/schemas.js'
import type { EnvironmentData, Stored } from '../environment-data.js'
import { inferPayloadSchema } from '../resolve/step-variables.js'
import { NO_INTEGRATION, type Sender } from './delivery.js'
import { canGenerate } from './load.js'
import { isPersonal, payloadMakers, type ValueMaker } from './payload.js'
import {
  createRecipients,
  DEFAULT_PROVIDERS,
  type EnvironmentInput,
  type Recipient,
  usualIntegrations
} from './recipients.js'
import { compile, compileEmail, type Render } from './templates.js'

/** What is settled before the first message is generated. */
export interface Plan {
  environment: EnvironmentInput
  total: number
  days: number
  randomSeed: number
  now: number
  /** The ten digits in the middle of every id, which no id of the environment has. */
  idInfix: string
  workflows: WorkflowPlan[]
  /** The workflows that can be triggered for many subscribers at once. */
  broadcasts: WorkflowPlan[]
  /** The first ones get most messages. */
  recipients: Recipient[]
  /** Of the steps of each channel, the share that is sent. */
  sendRates: Record<Channel, number>
}

export interface WorkflowPlan {
  id: string
  identifier: string
  payload: [name: string, make: ValueMaker][]
  /** The step ids of the digests, whose results the steps after them may show. */
  digests: string[]
  steps: StepPlan[]
}

/** Everything about a step that is the same in each of its messages. */
export interface StepPlan extends Sender {
  id: string
  content: (scope: object) => MessageResponse['content']
  subject: Render | undefined
  title: Render | undefined
  callToAction: (scope: object, pressed: 'primary' | 'secondary' | undefined) => MessageCTA
}

/** Returns the same plan for the same environment, options and present. */
export function createPlan(
  environment: EnvironmentInput,
  subscribers: readonly Stored<SubscriberResponse>[],
  { total, days, randomSeed, now }: Pick<Plan, 'total' | 'days' | 'randomSeed' | 'now'>
): Plan {
  const workflows = workflowPlans(environment)
  const impersonal = workflows.filter(({ payload }) => !payload.some(([name]) => isPersonal(name)))
  const broadcasts = impersonal.length > 0 ? impersonal : workflows
  const recipients = createRecipients(environment, subscribers, randomSeed)
  const idInfix = unusedInfix(environment, [environment.id, randomSeed, total, days, subscribers.length, now])
  const sendRates = sendRatesOf(workflows)
  return { environment, total, days, randomSeed, now, idInfix, workflows, broadcasts, recipients, sendRates }
}

function unusedInfix({ messages }: EnvironmentInput, parts: readonly (string | number)[]): string {
  const ids = messages.flatMap(({ _id, _notificationId, transactionId }) => [_id, _notificationId, transactionId])
  const taken = new Set(ids.map((id) => id.replace(/^txn_/, '').slice(8, 18)))
  for (let attempt = 0; ; attempt++) {
    const hash = createHash('sha256').update(JSON.stringify([...parts, attempt]))
    const infix = hash.digest('hex').slice(0, 10)
    if (!taken.has(infix)) return infix
  }
}

/** Returns an index: of 1,000, the first for a tenth of all draws, and the last for a thirtieth of a percent. */
export function skewedIndex(random: Random, count: number): number {
  const share = random.next()
  return Math.floor(count * share * share * share)
}

/** Of a hundred messages, how many are of each channel, as far as the workflows have steps of it. */
const PROPORTIONS: Record<Channel, number> = { in_app: 42, email: 30, push: 14, sms: 9, chat: 5 }

/** The shares that lead to the proportions, by how many steps of each channel the workflows have. */
function sendRatesOf(workflows: readonly WorkflowPlan[]): Plan['sendRates'] {
  const steps = workflows.flatMap((workflow) => workflow.steps)
  const stepsOf = (channel: Channel) => steps.filter((step) => step.channel === channel).length
  const wanted = (channel: Channel) => PROPORTIONS[channel] / stepsOf(channel)
  const largest = Math.max(...CHANNELS.filter(stepsOf).map(wanted))
  return Object.fromEntries(CHANNELS.map((channel) => [channel, wanted(channel) / largest])) as Plan['sendRates']
}

type Step = EnvironmentData['steps'][number]

/** Of the workflows that send anything. Steps whose content has issues send nothing, unless all steps have some. */
function workflowPlans(environment: EnvironmentInput): WorkflowPlan[] {
  const sending = environment.steps.filter((step) => canGenerate({ steps: [step] }))
  const sound = sending.filter(({ issues }) => Object.values(issues?.controls ?? {}).every((each) => each.length === 0))
  const usable = new Set(sound.length > 0 ? sound : sending)
  return environment.workflows.flatMap((workflow) => {
    const steps = environment.steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === workflow._id)
    const plans = steps.filter((step) => usable.has(step)).map((step) => stepPlan(environment, workflow, step))
    if (plans.length === 0) return []
    const digests = steps.filter(({ type }) => type === 'digest').map(({ stepId }) => stepId)
    const payload = payloadPlan(environment, workflow, steps)
    return [{ id: workflow._id, identifier: workflow.identifier, payload, digests, steps: plans }]
  })
}

type Workflow = EnvironmentData['workflows'][number]

function payloadPlan({ messages }: EnvironmentInput, workflow: Workflow, steps: readonly Step[]) {
  const inferred = inferPayloadSchema(
    steps.map(({ controlValues }) => controlValues),
    { loopItems: true }
  )
  const observed = new Map<string, unknown[]>()
  for (const message of messages) {
    if (message.templateIdentifier !== workflow.identifier || !isOfTemplate(message, steps)) continue
    for (const [name, value] of Object.entries(message.payload ?? {})) {
      observed.set(name, [...(observed.get(name) ?? []), value])
    }
  }
  return payloadMakers(workflow.payloadSchema ?? inferred, { observed, inferred })
}

/** False of a message in another language, whose payload would look odd in the template. */
function isOfTemplate(message: EnvironmentData['messages'][number], steps: readonly Step[]): boolean {
  const scope = { payload: message.payload, subscriber: message.subscriber, steps: {} }
  return steps.some(({ type, controlValues }) => {
    const body = type === message.channel ? bodyOf(controlValues ?? {}) : undefined
    return body !== undefined && compile(body)(scope) === message.content
  })
}

function stepPlan(environment: EnvironmentInput, workflow: Workflow, step: Step): StepPlan {
  const channel = step.type as Channel
  const values: Record<string, unknown> = step.controlValues ?? {}
  const heading = textAt(values, 'subject') ?? textAt(values, 'title')
  const title = heading ?? workflow.name
  const body = bodyOf(values) ?? title
  const sender = environment.integrations.map(({ credentials }) => credentials.senderName).find(Boolean)
  const integrations = usualIntegrations(environment, channel)
  const providers = integrations.map(({ providerId, credentials }) => {
    return { id: providerId, canSend: Boolean(credentials.from) }
  })
  const hasSubject = channel === 'email' || (channel === 'in_app' && heading !== undefined)
  return {
    id: step._id,
    channel,
    content: channel === 'email' ? compileEmail(body, title, sender ?? environment.name) : compile(body),
    subject: hasSubject ? compile(title) : undefined,
    title: channel === 'push' ? compile(title) : undefined,
    callToAction: channel === 'in_app' ? compileCallToAction(values) : () => ({ action: { buttons: [] } }),
    providers: providers.length > 0 ? providers : [{ id: DEFAULT_PROVIDERS[channel], canSend: true }],
    noIntegration: integrations.some(({ active }) => !active) ? NO_INTEGRATION[channel] : undefined
  }
}

function textAt(values: Record<string, unknown>, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function objectAt(values: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = values[name]
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Code-first steps name it as they like: then it is the longest text. */
function bodyOf(values: Record<string, unknown>): string | undefined {
  const named = textAt(values, 'body') ?? textAt(values, 'content')
  if (named !== undefined) return named
  const { subject, title, avatar, redirect, primaryAction, secondaryAction, skip, editorType, layoutId, ...others } =
    values
  const [longest] = textsIn(others).sort((one, other) => other.length - one.length)
  return longest === '' ? undefined : longest
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function compileCallToAction(values: Record<string, unknown>): StepPlan['callToAction'] {
  const [primary, secondary] = [objectAt(values, 'primaryAction'), objectAt(values, 'secondaryAction')]
  const url = textAt(objectAt(values, 'redirect'), 'url') ?? textAt(objectAt(primary, 'redirect'), 'url')
  const target = url === undefined ? undefined : compile(url)
  const labels = (
    [
      ['primary', primary],
      ['secondary', secondary]
    ] as const
  ).flatMap(([type, action]) => {
    const label = textAt(action, 'label')
    return label === undefined ? [] : [{ type, label: compile(label) }]
  })
  return (scope, pressed) => {
    const redirect: MessageCTA = target ? { type: 'redirect', data: { url: target(scope) } } : {}
    const buttons = labels.map(({ type, label }) => ({ type, content: label(scope) }))
    if (buttons.length === 0) return { ...redirect, action: { buttons } }
    const isDone = pressed !== undefined && buttons.some(({ type }) => type === pressed)
    if (!isDone) return { ...redirect, action: { status: 'pending', buttons } }
    return { ...redirect, action: { status: 'done', buttons, result: { type: pressed } } }
  }
}
