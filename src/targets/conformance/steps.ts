import { STEP_TYPES } from '../../core/enums.js'
import type { MessageResponse } from '../../messages/schemas.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import { recordIn, type Sample, stepPath } from '../answers.js'
import { Failure, needed, Skipped } from '../outcome.js'
import type { Target } from '../target.js'
import type { SubjectOptions } from './options.js'

interface Source extends Pick<Target, 'ask'> {
  options: SubjectOptions
  sample(): Promise<Sample>
}

/** A step that was found, by these names. */
export interface StepName {
  workflowId: string
  stepId: string
  step: WorkflowStep
}

const MAX_WORKFLOWS = 3
const MAX_STEPS = 3
/** How many workflows of messages are tried. */
const MAX_TRIED = 5

/**
 * Finds steps: those of the workflows that are named, or else of those that messages name; the steps that are named, or
 * else those that have the names that the service gives them.
 */
export async function stepsOf(source: Source): Promise<StepName[]> {
  const { workflows, steps } = source.options
  const isNamed = workflows.length > 0
  const candidates = isNamed ? workflows : await workflowsOfMessages(source)
  const found: StepName[] = []
  for (const workflowId of candidates) {
    const own = await stepsOfWorkflow(source, workflowId)
    if (isNamed && own.length === 0) {
      throw new Failure(
        steps.length > 0
          ? `--workflow ${workflowId} with --step ${steps.join(', ')}: the target has no such step, or no such workflow`
          : `--workflow ${workflowId}: no step of it was found; name one with --step`
      )
    }
    if (own.some(({ step }) => found.some((other) => other.step._id === step._id))) continue
    found.push(...own)
    if (new Set(found.map((each) => each.workflowId)).size === MAX_WORKFLOWS) break
  }
  const remedy =
    steps.length > 0 ? 'name a workflow with --workflow too' : 'name a workflow and a step with --workflow and --step'
  needed(found.length > 0, `no step could be found by asking: ${remedy}`)
  return found
}

async function stepsOfWorkflow({ ask, options }: Source, workflowId: string): Promise<StepName[]> {
  const names = options.steps.length > 0 ? options.steps : USUAL_STEP_IDS
  const found: StepName[] = []
  for (const stepId of names) {
    const answer = await ask(stepPath(workflowId, stepId))
    if (answer.status === 200) found.push({ workflowId, stepId, step: recordIn(answer) })
    else if (answer.status !== 404 && answer.status !== 400) recordIn(answer)
    if (found.length === MAX_STEPS) break
  }
  return found
}

/** The service makes them of the names that its editor gives to new steps. */
const USUAL_STEP_IDS = STEP_TYPES.map((type) => `${type.replace('_', '-')}-step`)

async function workflowsOfMessages({ sample }: Source): Promise<string[]> {
  const { messages } = await sample().catch((error) => {
    if (error instanceof Skipped) return { messages: [] as MessageResponse[] }
    throw error
  })
  const ids = messages.flatMap(({ _templateId, template }) => [template?._id, _templateId])
  return [...new Set(ids.filter((id) => typeof id === 'string' && id !== ''))].slice(0, MAX_TRIED) as string[]
}
