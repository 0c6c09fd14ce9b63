import { isoTime } from '../../core/clock.js'
import { slugify, slugOf } from '../../core/slug.js'
import { Integration } from '../../integrations/schemas.js'
import { SubscriberResponse } from '../../messages/schemas.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { Stored, WorkflowDocument } from '../environment-data.js'
import type { SeedIntegration, SeedStep, SeedSubscriber, SeedWorkflow } from '../format.js'
import { isIncomplete } from '../read.js'
import { type EnvironmentBuilder, inOrder, type SeedLocation, type TakenNames, timesOf, unusedName } from './builder.js'
import { defaultControls } from './step-controls.js'
import { inferPayloadSchema, stepVariables } from './step-variables.js'

/** About what the defaults of a record take, in characters of JSON. */
const DEFAULTS = 250

export function addIntegration(builder: EnvironmentBuilder, seed: SeedIntegration, location: SeedLocation): void {
  // What has an issue is missing.
  const { providerId = '', channel, name = providerId } = seed
  const isStored = (other: string) => builder.stored('integrations', 'identifier', other) !== undefined
  const { identifier = unusedName(slugify(name) || channel, builder.identifiers, isStored) } = seed
  const { _id = builder.recordId('integrations', identifier) } = seed
  const integration = inOrder(Integration, {
    credentials: {},
    active: true,
    deleted: false,
    primary: false,
    ...seed,
    ...builder.owner,
    _id,
    name,
    identifier,
    ...timesOf(seed, ['deletedAt'], location)
  })
  for (const field of ['deletedAt', 'deletedBy'] as const) {
    if (integration[field] !== undefined && !integration.deleted) location.at(field).report('needs deleted: true')
  }
  builder.identifiers.set(identifier, builder.identifiers.get(identifier) ?? 1)
  builder.countAdded(DEFAULTS, location)
  builder.claimNames('integrations', ['identifier', identifier], _id, location)
  if (channel && integration.primary && !integration.deleted) builder.claimPrimary(integration, location.at('primary'))
  builder.add('integrations', identifier, integration)
}

export function addSubscriber(builder: EnvironmentBuilder, seed: SeedSubscriber, location: SeedLocation): void {
  const subscriber = subscriberOf(builder, seed, location)
  // It has an issue: messages may refer to the one that was meant.
  if (seed.subscriberId === undefined) builder.unknown.add('subscribers')
  else builder.claimNames('subscribers', ['subscriberId', seed.subscriberId], subscriber._id, location)
  builder.add('subscribers', seed.subscriberId, subscriber)
  builder.countAdded(DEFAULTS, location)
}

/** Also for one that is embedded in a message and is none of the environment's. */
export function subscriberOf(
  builder: EnvironmentBuilder,
  seed: SeedSubscriber,
  location: SeedLocation
): Stored<SubscriberResponse> {
  const times = timesOf(seed, ['createdAt', 'updatedAt', 'lastOnlineAt'], location)
  const { createdAt = isoTime(builder.present()) } = times
  const { _id = builder.recordId('subscribers', seed.subscriberId) } = seed
  return inOrder(SubscriberResponse, {
    deleted: false,
    ...seed,
    ...builder.owner,
    _id,
    updatedAt: createdAt,
    ...times,
    createdAt
  })
}

/** Adds a workflow, with a step for each of its steps. */
export function addWorkflow(builder: EnvironmentBuilder, seed: SeedWorkflow, location: SeedLocation): void {
  const { name, identifier = slugify(name ?? ''), origin = 'external', payloadSchema, steps = [] } = seed
  // What has an issue is missing: messages may refer to the one that was meant.
  if (isIncomplete(seed)) builder.unknown.add('steps')
  if (identifier === '' && isIncomplete(seed)) builder.unknown.add('workflows')
  else if (identifier === '') {
    const needed = name === undefined ? 'identifier or name' : 'identifier: its name has no slug'
    location.report(`must have ${needed}`)
  }
  if (identifier === '') return
  const { _id = builder.recordId('workflows', identifier) } = seed
  const workflow = { _id, identifier, name: name ?? identifier, origin, ...(payloadSchema && { payloadSchema }) }
  builder.claimNames('workflows', ['identifier', identifier], _id, location)

  const resolved: WorkflowStep[] = []
  const replaced = builder.existing?.find('workflows', 'identifier', identifier)
  const storedSteps = replaced ? (builder.existing?.stepsOf(replaced._id) ?? []) : []
  const givenIds = steps.map((step) => step._id)
  const payload = payloadSchema ?? inferPayloadSchema(steps.map((step) => step.controlValues))
  const stepIds: TakenNames = new Map(steps.map(({ stepId }) => [stepId, 1]))
  for (const [index, step] of steps.entries()) {
    const { type, stepId = unusedName(slugify(step.name ?? '') || slugify(defaultName(type)), stepIds) } = step
    const { variables = stepVariables(resolved, payload) } = step
    const stored = storedSteps.find((each) => each.stepId === stepId && !givenIds.includes(each._id))
    const { _id = stored?._id ?? builder.derivedId('workflow', identifier, 'step', stepId) } = step
    const added = stepOf(workflow, { ...step, _id, stepId, variables })
    // Each step has the payload and the results of all steps before it.
    builder.countAdded(JSON.stringify(added).length, location.at('steps', index))
    builder.claimNames('steps', ['stepId', stepId, identifier], added._id, location.at('steps', index))
    resolved.push(added)
  }
  builder.add('workflows', identifier, workflow, resolved)
}

function stepOf(
  { _id: workflowDatabaseId, identifier: workflowId, origin }: WorkflowDocument,
  seed: SeedStep & Pick<WorkflowStep, 'stepId' | 'variables'> & { _id: string }
): WorkflowStep {
  const { _id, type, name = defaultName(type), controls = defaultControls(type), slug = slugOf(name, 'st', _id) } = seed
  return inOrder(WorkflowStep, { ...seed, controls, name, slug, origin, workflowId, workflowDatabaseId })
}

/** `In-App Step`, `SMS Step`, `Email Step` */
function defaultName(type: SeedStep['type']): string {
  const word = { in_app: 'In-App', sms: 'SMS' }[type as string] ?? type.charAt(0).toUpperCase() + type.slice(1)
  return `${word} Step`
}
