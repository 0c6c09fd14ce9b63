import { type Channel, isChannel } from '../../domain/enums.js'
import type { MessageCTA } from '../../messages/schemas.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { EnvironmentInput, WorkflowDocument } from '../format.js'
import { inferPayloadSchema } from '../resolve/step-defaults.js'
import { createValueMaker } from './payload.js'
import { compile, compileEmail, type Scope } from './templates.js'

/** The parts of a workflow that are the same for all its triggers. */
export type WorkflowPlan = ReturnType<typeof planWorkflow>

/** The parts of a step that are the same for all its messages. */
export type StepPlan = ReturnType<typeof planStep>

/** Returns a plan for each workflow that sends messages. */
export function planWorkflows(environment: EnvironmentInput): WorkflowPlan[] {
  const sendingSteps = findSendingSteps(environment)
  return environment.workflows
    .map((workflow) => planWorkflow(environment, workflow, sendingSteps))
    .filter(({ steps }) => steps.length > 0)
}

/** Returns the steps that send messages. Omits steps with issues, unless all steps have issues. */
function findSendingSteps({ steps }: EnvironmentInput): ReadonlySet<WorkflowStep> {
  const channelSteps = steps.filter(({ type }) => isChannel(type))
  const validSteps = channelSteps.filter(({ issues }) =>
    Object.values(issues?.controls ?? {}).every(({ length }) => length === 0)
  )
  return new Set(validSteps.length > 0 ? validSteps : channelSteps)
}

function planWorkflow(
  environment: EnvironmentInput,
  { _id: id, identifier, name, payloadSchema }: WorkflowDocument,
  sendingSteps: ReadonlySet<WorkflowStep>
) {
  const steps = environment.steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === id)
  const controlValues = steps.map((step) => step.controlValues)
  const schema = payloadSchema ?? inferPayloadSchema(controlValues, { loopItems: true })
  return {
    id,
    identifier,
    payload: createValueMaker({ properties: {}, ...schema, type: 'object' }),
    digests: steps.filter(({ type }) => type === 'digest').map(({ stepId }) => stepId),
    steps: steps
      .filter((step) => sendingSteps.has(step))
      .map((step) => planStep(environment, step, name))
  }
}

/** The provider for each channel, used if the environment has no integration for the channel. */
const DEFAULT_PROVIDERS = {
  in_app: 'novu',
  email: 'sendgrid',
  sms: 'twilio',
  chat: 'slack',
  push: 'fcm'
}

/**
 * Returns the providers of the channel's active integrations, starting with the primary one. Falls
 * back to the providers of inactive integrations, and then to the default provider.
 */
function providersOf({ integrations }: EnvironmentInput, channel: Channel): string[] {
  const existing = integrations.filter(
    (integration) => integration.channel === channel && !integration.deleted
  )
  const active = existing
    .filter((integration) => integration.active)
    .sort((a, b) => Number(b.primary) - Number(a.primary))
  const providers = (active.length > 0 ? active : existing).map(({ providerId }) => providerId)
  return providers.length > 0 ? providers : [DEFAULT_PROVIDERS[channel]]
}

function planStep(environment: EnvironmentInput, step: WorkflowStep, workflowName: string) {
  const { _id: id, type, controlValues } = step
  const channel = type as Channel
  const values: Record<string, unknown> = controlValues ?? {}
  const heading = nonEmptyString(values.subject) ?? nonEmptyString(values.title)
  const title = heading ?? workflowName
  const body = findBody(values) ?? title
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

/**
 * Returns the control value that contains the message's body: `body` or `content`. If both are
 * empty, returns the longest string, because a code-first step can use any name for the body.
 */
function findBody(values: Record<string, unknown>): string | undefined {
  const body = nonEmptyString(values.body) ?? nonEmptyString(values.content)
  if (body !== undefined) return body
  const [longest] = stringsIn(values).sort((a, b) => b.length - a.length)
  return longest
}

function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(stringsIn)
  const string = nonEmptyString(value)
  return string === undefined ? [] : [string]
}

/** The usual form of an action or redirect in the control values of an in-app step. */
interface Action {
  label?: unknown
  url?: unknown
  redirect?: Action | null
}

function compileCallToAction(controlValues: object) {
  const values = controlValues as {
    [Name in 'redirect' | 'primaryAction' | 'secondaryAction']?: Action | null
  }
  const url =
    nonEmptyString(values.redirect?.url) ?? nonEmptyString(values.primaryAction?.redirect?.url)
  const target = url === undefined ? undefined : compile(url)
  const labels = (['primary', 'secondary'] as const).flatMap((type) => {
    const label = nonEmptyString(values[`${type}Action`]?.label)
    return label === undefined ? [] : [{ type, label: compile(label) }]
  })
  return (pressed: 'primary' | 'secondary' | undefined, scope: Scope): MessageCTA => {
    const link: MessageCTA = target ? { type: 'redirect', data: { url: target(scope) } } : {}
    const buttons = labels.map(({ type, label }) => ({ type, content: label(scope) }))
    const pressedButton = buttons.find(({ type }) => type === pressed)
    if (pressedButton) {
      const result = { type: pressedButton.type }
      return { ...link, action: { status: 'done', buttons, result } }
    }
    return { ...link, action: { ...(buttons.length > 0 && { status: 'pending' }), buttons } }
  }
}
