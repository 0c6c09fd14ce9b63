import { attempt, StartError } from '../../core/errors.js'
import type { SeedStep, SeedWorkflow } from '../../seeds/format.js'
import { isObject, recordIn, stepPath } from '../answers.js'
import { CONTRACT_NAMES } from '../contract-names.js'
import type { Answer } from '../target.js'
import { askFor, notAnObject } from './asking.js'
import { inContract, note, STEP } from './contract.js'
import { noteStep } from './positions.js'
import { earlierSteps } from './progress.js'
import type { ReadOptions } from './read.js'

/** A step that the user names: `order-shipped/email-step`. */
export interface NamedStep {
  workflow: string
  step: string
}

/** A step as a target answers it. */
type AnsweredStep = Record<string, unknown> & Record<'workflowId' | 'workflowDatabaseId', string>

/**
 * Reads the steps of workflows into the progress: those that are named, those that messages name, and those that stand
 * before them. Without names of workflows, those of all that messages name.
 */
export async function readSteps(options: ReadOptions, workflows: readonly string[], named: readonly NamedStep[]) {
  const { progress } = options
  const asked = workflows.length > 0 ? workflows : progress.workflows()
  for (const workflow of new Set([...asked, ...named.map((each) => each.workflow)])) {
    const own = named.filter((each) => each.workflow === workflow).map(({ step }) => step)
    const candidates = progress.candidates(workflow)
    const name = candidates.find((each) => each.name !== '')?.name ?? ''
    await readWorkflow(options, { workflow, name, steps: [...own, ...candidates.map(({ step }) => step)] })
    if (own.length + candidates.length > 0) continue
    const remedy = `name its steps with --step ${workflow}/<stepId>`
    note(progress.notes, `workflow ${workflow} has no steps here, as no message names one: ${remedy}`)
  }
}

async function readWorkflow(
  options: ReadOptions,
  { workflow, name, steps }: { workflow: string; name: string; steps: string[] }
): Promise<void> {
  const { progress } = options
  for (const step of steps) {
    if (progress.wasAsked(workflow, step)) continue
    const found = await askStep(options, workflow, step)
    progress.save(() => {
      progress.setAsked(workflow, step)
      if (found) steps.push(...addStep(options, found, name))
    })
  }
}

async function askStep({ target, progress }: ReadOptions, workflow: string, step: string) {
  const path = stepPath(workflow, step)
  // A 404 is an answer also as a page of a gateway.
  const ask = () => askFor(target, path, (each) => (each.status === 404 ? undefined : notAnObject(each)))
  let answer = await ask()
  // Of a gateway, or of a service that has no such step: asking once more tells.
  if (answer.status === 200 && !stepIn(answer)) answer = await ask()
  if (answer.status === 401 || answer.status === 403) {
    throw new StartError(`${target.url}${path} answers ${answer.status}: the key may not read workflows`)
  }
  const found = stepIn(answer)
  progress.state.positions ??= {}
  if (found) noteStep(answer, progress.state.positions)
  return found
}

function stepIn(answer: Answer): AnsweredStep | undefined {
  const record = attempt(() => recordIn<AnsweredStep>(answer))
  return typeof record?.workflowId === 'string' && typeof record.workflowDatabaseId === 'string' ? record : undefined
}

/** Returns the steps before it. */
function addStep({ progress, replacement }: ReadOptions, found: AnsweredStep, name: string): string[] {
  const { workflowId, workflowDatabaseId, origin, ...fields } = found
  if (isObject(fields.controls) && 'values' in fields.controls) {
    delete fields.controls.values
    // Added to the answer: a step that has none does not have an empty one.
    if (Object.keys(fields).at(-1) === 'controlValues' && isEmpty(fields.controlValues)) delete fields.controlValues
  }
  const step = inContract<SeedStep>(STEP, fields, progress.notes)
  if (!step) return []
  const workflow = {
    _id: workflowDatabaseId,
    identifier: workflowId,
    ...(name !== '' && { name }),
    ...(origin !== undefined && { origin: CONTRACT_NAMES.get(origin) ?? String(origin) })
  } as Omit<SeedWorkflow, 'steps'>
  const earlier = earlierSteps(step)
  progress.addStep(workflow, step._id ?? step.stepId ?? '', replacement.step(step))
  return earlier
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}
