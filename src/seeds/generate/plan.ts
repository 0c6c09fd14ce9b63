import type { Channel } from '../../core/enums.js'
import type { MessageCTA } from '../../messages/schemas.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import { canGenerate, type EnvironmentInput } from '../environment-data.js'
import { inferPayloadSchema } from '../resolve/step-variables.js'
import { valueMaker } from './payload.js'
import { compile, compileEmail, type Scope } from './templates.js'

/** Everything about a step that is the same in each of its messages. */
export type StepPlan = ReturnType<typeof planStep>

/** Returns the plans of the workflows that send. Steps whose content has issues send only if all have. */
export function planWorkflows(environment: EnvironmentInput) {
  const sending = environment.steps.filter((step) => canGenerate({ steps: [step] }))
  const sound = sending.filter(({ issues }) => Object.values(issues?.controls ?? {}).every((each) => each.length === 0))
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
const DEFAULT_PROVIDERS = { in_app: 'novu', email: 'sendgrid', sms: 'twilio', chat: 'slack', push: 'fcm' }

/** Returns the providers of the channel's active integrations, the primary first; where none is active, of all. */
function providersOf({ integrations }: EnvironmentInput, channel: Channel): string[] {
  const present = integrations.filter((each) => each.channel === channel && !each.deleted)
  const active = present.filter((each) => each.active).sort((one, other) => Number(other.primary) - Number(one.primary))
  const providers = (active.length > 0 ? active : present).map(({ providerId }) => providerId)
  return providers.length > 0 ? providers : [DEFAULT_PROVIDERS[channel]]
}

function planStep(environment: EnvironmentInput, step: WorkflowStep, name: string) {
  const { _id: id, type, controlValues } = step
  const senders = environment.integrations.map(({ credentials }) => credentials.senderName)
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
    content: channel === 'email' ? compileEmail(body, title, senders.find(Boolean) ?? environment.name) : compile(body),
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
  const values = controlValues as { [Name in 'redirect' | 'primaryAction' | 'secondaryAction']?: Action | null }
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
