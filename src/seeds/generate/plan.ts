import { CHANNELS, type Channel } from '../../core/enums.js'
import type { MessageCTA } from '../../messages/schemas.js'
import { canGenerate, type EnvironmentData, type EnvironmentInput } from '../environment-data.js'
import { inferringPayloadSchema } from '../resolve/step-variables.js'
import { isPersonal, valueMaker } from './payload.js'
import { type Budget, compile, compileEmail } from './templates.js'

/** Everything about a workflow that is the same in each of its triggers. */
export type WorkflowPlan = ReturnType<typeof planningWorkflow> extends Generator<unknown, infer Plan> ? Plan : never

/** Everything about a step that is the same in each of its messages. */
export type StepPlan = ReturnType<typeof planStep>

type Step = EnvironmentData['steps'][number]

/**
 * Returns the plans of the workflows that send, with a step for each of their steps. Those whose content has issues send
 * only if all have.
 */
export function* planningWorkflows(environment: EnvironmentInput): Generator<void, WorkflowPlan[]> {
  const sending = environment.steps.filter((step) => canGenerate({ steps: [step] }))
  const sound = sending.filter(({ issues }) => Object.values(issues?.controls ?? {}).every((each) => each.length === 0))
  const usable = new Set(sound.length > 0 ? sound : sending)
  const stepsOf = new Map<string, Step[]>(environment.workflows.map(({ _id }) => [_id, []]))
  for (const step of environment.steps) stepsOf.get(step.workflowDatabaseId)?.push(step)
  const plans: WorkflowPlan[] = []
  const senders = sendersOf(environment)
  for (const workflow of environment.workflows) {
    const plan = yield* planningWorkflow(senders, workflow, stepsOf.get(workflow._id) ?? [], usable)
    if (plan.steps.length > 0) plans.push(plan)
  }
  return plans
}

function* planningWorkflow(
  senders: Senders,
  { identifier, name, payloadSchema, _id: id }: EnvironmentInput['workflows'][number],
  all: readonly Step[],
  usable: ReadonlySet<Step>
) {
  const steps: StepPlan[] = []
  for (const step of all) {
    yield
    if (usable.has(step)) steps.push(planStep(senders, step, name))
  }
  const controlValues = all.map((step) => step.controlValues)
  const declared = payloadSchema ?? (yield* inferringPayloadSchema(controlValues, { loopItems: true }))
  const schema = { properties: {}, ...declared, type: 'object' }
  // Only then may a payload go to many subscribers at once.
  const isImpersonal = !Object.keys(schema.properties).some(isPersonal)
  const digests = all.filter(({ type }) => type === 'digest').map(({ stepId }) => stepId)
  return { id, identifier, payload: valueMaker(schema), isImpersonal, digests, steps }
}

/** Of a hundred messages, how many are of each channel, as far as the workflows have steps of it. */
const PROPORTIONS: Record<Channel, number> = { in_app: 42, email: 30, push: 14, sms: 9, chat: 5 }

/** Returns the share of each channel's steps that is sent, which leads to the proportions. */
export function sendRatesOf(workflows: readonly WorkflowPlan[]): Record<Channel, number> {
  const steps = workflows.flatMap((workflow) => workflow.steps)
  const wanted = (channel: Channel) => PROPORTIONS[channel] / steps.filter((step) => step.channel === channel).length
  const most = Math.max(...CHANNELS.map(wanted).filter(Number.isFinite))
  return Object.fromEntries(CHANNELS.map((channel) => [channel, wanted(channel) / most])) as Record<Channel, number>
}

/** What the messages of all steps are sent by. */
type Senders = ReturnType<typeof sendersOf>

function sendersOf(environment: EnvironmentInput) {
  const name = environment.integrations.map(({ credentials }) => credentials.senderName).find(Boolean)
  const providers = CHANNELS.map((channel) => [channel, providersOf(environment, channel)])
  return { name: name ?? environment.name, providers: Object.fromEntries(providers) as Record<Channel, string[]> }
}

/** For channels that the environment has no integration of. */
const DEFAULT_PROVIDERS = { in_app: 'novu', email: 'sendgrid', sms: 'twilio', chat: 'slack', push: 'fcm' }

/** Returns the providers of the channel's active integrations, the primary first; where none is active, of all. */
function providersOf({ integrations }: EnvironmentInput, channel: Channel): string[] {
  const present = integrations.filter((each) => each.channel === channel && !each.deleted)
  const active = present.filter((each) => each.active).sort((one, other) => Number(other.primary) - Number(one.primary))
  const providers = (active.length > 0 ? active : present).map(({ providerId }) => providerId)
  return providers.length > 0 ? providers : [DEFAULT_PROVIDERS[channel]]
}

function planStep(senders: Senders, { _id: id, type, controlValues }: Step, name: string) {
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
    providers: senders.providers[channel],
    content: channel === 'email' ? compileEmail(body, title, senders.name) : compile(body),
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

/** The control values of an in-app step, as far as they have this form. */
interface Action {
  label?: unknown
  redirect?: { url?: unknown } | null
}

function compileCallToAction(controlValues: object) {
  const values = controlValues as Action & Record<`${'primary' | 'secondary'}Action`, Action | null | undefined>
  const url = textOf(values.redirect?.url) ?? textOf(values.primaryAction?.redirect?.url)
  const target = url === undefined ? undefined : compile(url)
  const labels = (['primary', 'secondary'] as const).flatMap((type) => {
    const label = textOf(values[`${type}Action`]?.label)
    return label === undefined ? [] : [{ type, label: compile(label) }]
  })
  return (pressed: 'primary' | 'secondary' | undefined, scope: object, budget?: Budget): MessageCTA => {
    const link: MessageCTA = target ? { type: 'redirect', data: { url: target(scope, budget) } } : {}
    const buttons = labels.map(({ type, label }) => ({ type, content: label(scope, budget) }))
    if (buttons.length === 0) return { ...link, action: { buttons } }
    const type = buttons.find((button) => button.type === pressed)?.type
    if (type === undefined) return { ...link, action: { status: 'pending', buttons } }
    return { ...link, action: { status: 'done', buttons, result: { type } } }
  }
}
