import { STEP_TYPES } from '../../core/enums.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import { Breach, needed, recordIn, type Sample, type Sent, Skipped, stepPath } from '../answers.js'
import type { Target } from '../target.js'
import type { SubjectOptions } from './integrations.js'

interface Source extends Pick<Target, 'ask'> {
  options: SubjectOptions
  sample(): Promise<Sample>
}

/** A step that was found, by these names. */
export interface StepName {
  workflowId: string
  stepId: string
  step: WorkflowStep
  request: Sent
}

const MAX_WORKFLOWS = 3
const MAX_STEPS = 3
/** How many workflows of messages are tried. */
const MAX_TRIED = 5

/** The service makes them of the names that its editor gives to new steps. */
const USUAL_STEP_IDS = STEP_TYPES.map((type) => `${type.replace('_', '-')}-step`)

/**
 * Finds steps: those of the workflows that are named, or else of those that messages name; the steps that are named, or
 * else those that have the names that the service gives them.
 */
export async function stepsOf(source: Source): Promise<StepName[]> {
  const { workflows, steps } = source.options
  const isNamed = workflows.length > 0
  const found: StepName[] = []
  for (const workflowId of isNamed ? workflows : await workflowsOfMessages(source)) {
    const own = await stepsOfWorkflow(source, workflowId)
    if (isNamed && own.length === 0) {
      throw new Breach(`no step of --workflow ${workflowId} was found; name one with --step`)
    }
    if (own.some(({ step }) => found.some((other) => other.step._id === step._id))) continue
    found.push(...own)
    if (new Set(found.map((each) => each.workflowId)).size === MAX_WORKFLOWS) break
  }
  const flags = `--workflow <id>${steps.length > 0 ? '' : ' --step <id>'}`
  needed(found.length > 0, 'no step was found by asking', flags)
  return found
}

async function stepsOfWorkflow({ ask, options }: Source, workflowId: string) {
  const found: StepName[] = []
  for (const stepId of options.steps.length > 0 ? options.steps : USUAL_STEP_IDS) {
    const answer = await ask(stepPath(workflowId, stepId))
    // A refusal may be any, where the contract is silent; what is neither that nor a step is judged as one.
    if (answer.status < 400 || answer.status >= 500) {
      found.push({ workflowId, stepId, step: recordIn(answer), request: answer })
    }
    if (found.length === MAX_STEPS) break
  }
  return found
}

async function workflowsOfMessages({ sample }: Source): Promise<string[]> {
  const messages = await sample().then(
    (found) => found.messages,
    (error) => {
      if (error instanceof Skipped) return []
      throw error
    }
  )
  const ids = messages.flatMap(({ _templateId, template }) => [template?._id, _templateId])
  return [...new Set(ids.filter((id) => typeof id === 'string' && id !== ''))].slice(0, MAX_TRIED) as string[]
}
