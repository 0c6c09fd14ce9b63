import { attempt, StartError } from '../../core/errors.js'
import type { SeedStep, SeedWorkflow } from '../../seeds/format.js'
import { type Answer, isObject } from '../answers.js'
import { recordIn } from '../checks.js'
import { withContractNames } from '../contract-names.js'
import { stepPath } from '../paths.js'
import { askFor, notAnObject } from './asking.js'
import { inContract, note, STEP } from './contract.js'
import type { ReadMessages, ReadOptions } from './messages.js'

/** A step that the user names: `order-shipped/email-step`. */
export interface NamedStep {
  workflow: string
  step: string
}

type AnsweredStep = Record<string, unknown> & Record<'workflowId' | 'workflowDatabaseId', string>

/**
 * Reads the steps of workflows: those that are named, those that messages name, and those that stand before them. Without
 * names of workflows, those of all that messages name. Returns the workflows with their steps.
 */
export async function readSteps(
  options: ReadOptions,
  { workflows: known }: ReadMessages,
  { workflows, steps: named }: { workflows: readonly string[]; steps: readonly NamedStep[] }
): Promise<SeedWorkflow[]> {
  const found = new Map<string, SeedWorkflow & { steps: SeedStep[] }>()
  const asked = workflows.length > 0 ? workflows : known.keys()
  for (const workflow of new Set([...asked, ...named.map((each) => each.workflow)])) {
    const own = named.filter((each) => each.workflow === workflow).map(({ step }) => step)
    const candidate = known.get(workflow) ?? [...known.values()].find(({ id }) => id === workflow)
    // It grows while it is iterated: the steps before a step are told by that.
    const steps = new Set([...own, ...(candidate?.steps ?? [])])
    if (steps.size === 0) {
      const remedy = `name its steps with --step ${workflow}/<stepId>`
      note(options.notes, `workflow ${workflow} has no steps here, as no message names one: ${remedy}`)
    }
    for (const step of steps) {
      const answered = await askStep(options, workflow, step)
      for (const earlier of answered ? addStep(answered, candidate?.name ?? '') : []) steps.add(earlier)
    }
  }
  for (const { steps } of found.values()) steps.sort((one, two) => earlierSteps(one).length - earlierSteps(two).length)
  return [...found.values()].sort((one, two) => ((one.identifier ?? '') < (two.identifier ?? '') ? -1 : 1))

  /** Returns the steps before it. */
  function addStep({ workflowId, workflowDatabaseId, origin, ...fields }: AnsweredStep, name: string): string[] {
    if (isObject(fields.controls) && 'values' in fields.controls) {
      delete fields.controls.values
      // Added to the answer: a step that has none does not have an empty one.
      const isAdded = Object.keys(fields).at(-1) === 'controlValues' && JSON.stringify(fields.controlValues) === '{}'
      if (isAdded) delete fields.controlValues
    }
    const step = inContract<SeedStep>(STEP, fields, options.notes)
    if (!step) return []
    const identity = withContractNames({ _id: workflowDatabaseId, identifier: workflowId, origin }) as SeedWorkflow
    const workflow = found.get(workflowDatabaseId) ?? { ...identity, ...(name && { name }), steps: [] }
    found.set(workflowDatabaseId, workflow)
    const { steps } = workflow
    if (!steps.some(({ _id, stepId }) => _id === step._id && stepId === step.stepId)) steps.push(step)
    options.names.addSchema([step.controls, step.variables])
    return earlierSteps(step)
  }
}

async function askStep({ target }: ReadOptions, workflow: string, step: string): Promise<AnsweredStep | undefined> {
  const path = stepPath(workflow, step)
  // A 404 is an answer also as a page of a gateway.
  const ask = () => askFor(target, path, (each) => (each.status === 404 ? undefined : notAnObject(each)))
  let answer = await ask()
  // Of a gateway, or of a service that has no such step: asking once more tells.
  if (answer.status === 200 && !stepIn(answer)) answer = await ask()
  if (answer.status !== 401 && answer.status !== 403) return stepIn(answer)
  throw new StartError(`${target.url}${path} answers ${answer.status}: the key may not read workflows`)
}

function stepIn(answer: Answer): AnsweredStep | undefined {
  const record = attempt(() => recordIn<AnsweredStep>(answer))
  return typeof record?.workflowId === 'string' && typeof record.workflowDatabaseId === 'string' ? record : undefined
}

/** The steps that a step's variables name: those before it in its workflow. */
function earlierSteps({ variables }: SeedStep): string[] {
  const { properties } = (variables ?? {}) as { properties?: { steps?: { properties?: object } } }
  return Object.keys(properties?.steps?.properties ?? {})
}
