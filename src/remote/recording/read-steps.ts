import { StartError } from '../../domain/errors.js'
import { maskSecrets } from '../../domain/masking.js'
import { isObject } from '../../schema/validation.js'
import type { SeedStep, SeedWorkflow } from '../../seeds/format.js'
import { withDocumentedNames } from '../documented-names.js'
import { stepPath } from '../paths.js'
import { objectProblem, requestUntilUsable } from '../patient-requests.js'
import { findRecord, type TargetResponse } from '../response-checks.js'
import type { ReadMessages, ReadOptions } from './read-messages.js'
import { toSeedStep } from './seed-record.js'

/** A step given with `--step`, such as `order-shipped/email-step`. */
export interface NamedStep {
  workflow: string
  step: string
}

export type ReadWorkflow = SeedWorkflow & { steps: SeedStep[] }

interface NamedRecords {
  workflows: readonly string[]
  steps: readonly NamedStep[]
}

type RawStep = Record<string, unknown> & Record<'workflowId' | 'workflowDatabaseId', string>

/**
 * Reads the named workflows. If none is named, reads all workflows that messages refer to. Always
 * reads the workflows of named steps. Returns the workflows sorted by identifier, with these steps:
 *
 * 1. the named steps
 * 2. the steps that messages refer to
 * 3. the steps that come before any of these in the workflow
 */
export function readSteps(
  options: ReadOptions,
  read: ReadMessages,
  named: NamedRecords
): Promise<ReadWorkflow[]> {
  return new StepReader(options, read).read(named)
}

class StepReader {
  readonly #options: ReadOptions
  readonly #known: ReadMessages['workflows']
  /** The workflows that were read, by `_id`. */
  readonly #workflows = new Map<string, ReadWorkflow>()

  constructor(options: ReadOptions, { workflows }: ReadMessages) {
    this.#options = options
    this.#known = workflows
  }

  async read({ workflows, steps }: NamedRecords): Promise<ReadWorkflow[]> {
    const fromMessages = workflows.length > 0 ? workflows : this.#known.keys()
    for (const workflow of new Set([...fromMessages, ...steps.map((named) => named.workflow)])) {
      const namedSteps = steps.filter((named) => named.workflow === workflow)
      await this.#readWorkflow(
        workflow,
        namedSteps.map(({ step }) => step)
      )
    }
    for (const workflow of this.#workflows.values())
      workflow.steps.sort((one, two) => earlierSteps(one).length - earlierSteps(two).length)
    return [...this.#workflows.values()].sort((one, two) =>
      (one.identifier ?? '') < (two.identifier ?? '') ? -1 : 1
    )
  }

  async #readWorkflow(workflow: string, namedSteps: readonly string[]): Promise<void> {
    const candidate =
      this.#known.get(workflow) ?? [...this.#known.values()].find(({ id }) => id === workflow)
    const stepIds = new Set([...namedSteps, ...(candidate?.steps ?? [])])
    if (stepIds.size === 0) {
      const shownId = maskSecrets(workflow)
      const fix = `add them with --step ${shownId}/<stepId>`
      this.#options.deviations.add(
        `workflow ${shownId} has no steps in the seed because no message names its steps; ${fix}`
      )
    }
    // The loop also reads the steps that it adds to the set.
    for (const stepId of stepIds) {
      const rawStep = await this.#requestStep(workflow, stepId)
      const step = rawStep && this.#addStep(rawStep, candidate?.name ?? '')
      if (step) for (const earlier of earlierSteps(step)) stepIds.add(earlier)
    }
  }

  async #requestStep(workflow: string, stepId: string): Promise<RawStep | undefined> {
    const { target } = this.#options
    const path = stepPath(workflow, stepId)
    let response = await requestUntilUsable(target, path, stepProblem)
    // A 200 without a step may come from a gateway, so repeat the request once. If the second
    // response has no step either, treat the step as missing.
    if (response.status === 200 && !stepIn(response))
      response = await requestUntilUsable(target, path, stepProblem)
    const { status } = response
    if (status !== 401 && status !== 403) return stepIn(response)
    const url = target.url + target.maskSecrets(path)
    throw new StartError(
      `${url} returned ${status}: the key can't read workflows; use a key that can`
    )
  }

  /**
   * Adds a step to its workflow and returns it. Returns undefined if a seed can't contain the step.
   */
  #addStep(rawStep: RawStep, workflowName: string): SeedStep | undefined {
    const { deviations, names } = this.#options
    const { workflowId, workflowDatabaseId, origin, ...fields } = rawStep
    const step = toSeedStep(withoutControlValues(fields), deviations)
    if (!step) return undefined
    const ids = { _id: workflowDatabaseId, identifier: workflowId, origin }
    const workflow = this.#workflows.get(workflowDatabaseId) ?? {
      ...(withDocumentedNames(ids) as SeedWorkflow),
      ...(workflowName && { name: workflowName }),
      steps: []
    }
    this.#workflows.set(workflowDatabaseId, workflow)
    const isKnown = workflow.steps.some(
      ({ _id, stepId }) => _id === step._id && stepId === step.stepId
    )
    if (!isKnown) workflow.steps.push(step)
    names.addSchema([step.controls, step.variables])
    return step
  }
}

/** Removes the fields that the assumption `control-values` adds in the profile `live`. */
function withoutControlValues(fields: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(fields.controls) || !('values' in fields.controls)) return fields
  const { values: _, ...controls } = fields.controls
  const step = { ...fields, controls }
  // The assumption adds an empty `controlValues` as the last field. If `controlValues` comes
  // earlier, it is the step's own field.
  const isAdded =
    Object.keys(fields).at(-1) === 'controlValues' && JSON.stringify(fields.controlValues) === '{}'
  if (!isAdded) return step
  const { controlValues: _added, ...rest } = step as typeof step & { controlValues?: unknown }
  return rest
}

/**
 * Returns a problem unless the response can be used. A 404 can always be used, even if it is a
 * gateway's HTML page, because it means that the step doesn't exist.
 */
function stepProblem(response: TargetResponse): string | undefined {
  return response.status === 404 ? undefined : objectProblem(response)
}

function stepIn(response: TargetResponse): RawStep | undefined {
  const step = findRecord<RawStep>(response)
  const isStep = typeof step?.workflowId === 'string' && typeof step.workflowDatabaseId === 'string'
  return isStep ? step : undefined
}

/** Returns the ids of the earlier steps of the workflow, which the step's variables list. */
function earlierSteps({ variables }: SeedStep): string[] {
  const { properties } = (variables ?? {}) as { properties?: { steps?: { properties?: object } } }
  return Object.keys(properties?.steps?.properties ?? {})
}
