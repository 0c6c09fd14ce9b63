import { slugify, slugOf } from '../../core/slug.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { WorkflowDocument } from '../environment-data.js'
import type { SeedStep, SeedWorkflow } from '../format.js'
import { type EnvironmentBuilder, inOrder, type SeedLocation, unusedName } from './builder.js'
import { defaultControls } from './step-controls.js'
import { inferringPayloadSchema, stepVariables } from './step-variables.js'

/** About what the defaults of a step take, and the result of a step among the variables of a later one, in characters of JSON. */
const DEFAULTS = 3000
const RESULT = 150

/** Adds a workflow, with a step for each of its steps. */
export function* addingWorkflow(
  builder: EnvironmentBuilder,
  seed: SeedWorkflow,
  location: SeedLocation
): Generator<void, void> {
  const { name, identifier = slugify(name ?? ''), origin = 'external', payloadSchema, steps = [] } = seed
  if (identifier === '') {
    const needed = name === undefined ? 'identifier or name' : 'identifier: its name has no slug'
    location.report(`must have ${needed}`)
    return
  }
  const { _id = builder.derivedId('workflow', identifier) } = seed
  const workflow = { _id, identifier, name: name ?? identifier, origin, ...(payloadSchema && { payloadSchema }) }
  builder.claimNames(['workflow', 'identifier', identifier], _id, location)
  builder.data.workflows.push(workflow)

  const resolved: WorkflowStep[] = []
  // It takes long, and steps that an environment holds already have variables.
  const isInferred = !payloadSchema && steps.some(({ variables }) => !variables)
  const controlValues = isInferred ? steps.map((step) => step.controlValues) : []
  const payload = payloadSchema ?? (yield* inferringPayloadSchema(controlValues))
  const stepIds = { names: new Set(steps.map(({ stepId }) => stepId)), suffixes: new Map() }
  const payloadSize = JSON.stringify(payload).length
  let resultsSize = 0
  for (const [index, step] of steps.entries()) {
    yield
    const { type, stepId = unusedName(slugify(step.name ?? '') || slugify(defaultName(type)), stepIds) } = step
    // Each step has the payload and the results of all steps before it.
    builder.countAdded(DEFAULTS + (step.variables ? 0 : payloadSize + resultsSize), location.at('steps', index))
    resultsSize += RESULT + stepId.length
    const { variables = stepVariables(resolved, payload) } = step
    const added = stepOf(builder, workflow, { ...step, stepId, variables })
    builder.claimNames(['step', 'stepId', stepId, identifier], added._id, location.at('steps', index))
    resolved.push(added)
  }
  builder.data.steps.push(...resolved)
  builder.workflows.set(identifier, { workflow, steps: resolved })
}

function stepOf(
  builder: EnvironmentBuilder,
  { _id: workflowDatabaseId, identifier: workflowId, origin }: WorkflowDocument,
  seed: SeedStep & Pick<WorkflowStep, 'stepId' | 'variables'>
): WorkflowStep {
  const { stepId, type, name = defaultName(type), controls = defaultControls(type) } = seed
  const { _id = builder.derivedId('workflow', workflowId, 'step', stepId), slug = slugOf(name, 'st', _id) } = seed
  return inOrder(WorkflowStep, { ...seed, controls, _id, name, slug, origin, workflowId, workflowDatabaseId })
}

/** `In-App Step`, `SMS Step`, `Email Step` */
function defaultName(type: SeedStep['type']): string {
  const word = { in_app: 'In-App', sms: 'SMS' }[type as string] ?? type.charAt(0).toUpperCase() + type.slice(1)
  return `${word} Step`
}
