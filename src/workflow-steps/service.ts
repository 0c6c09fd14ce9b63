import type { Db } from '../db/open.js'
import { type Assumptions, mayNeedVendorNames, withVendorNames } from '../domain/assumptions.js'
import { DomainError } from '../domain/errors.js'
import { ID_PATTERN, idFromSlug, parseId } from '../domain/ids.js'
import { didYouMean } from '../domain/suggestions.js'
import type { Environment } from '../environments/service.js'
import { type StoredWorkflow, WorkflowStepRepository } from './repository.js'
import type { WorkflowStep } from './schemas.js'

export class WorkflowStepService {
  readonly #repository: WorkflowStepRepository

  constructor({ db }: { db: Db }) {
    this.#repository = new WorkflowStepRepository(db)
  }

  /**
   * Returns a step as UTF-8 JSON, in the form that the environment's assumptions require.
   * The workflow and the step can each be given by `_id`, by name (`identifier` or `stepId`) or by
   * slug. The name at the start of a slug is ignored.
   *
   * Throws `not-found` if the environment has no such workflow. If the workflow has no such step,
   * throws `not-found` or `bad-request`, depending on the assumption `unknown-step`.
   */
  retrieve(environment: Environment, workflowId: string, stepId: string): Buffer {
    const { assumptions } = environment
    const documentByNames = this.#findByNames(environment, workflowId, stepId)
    if (documentByNames) return toResponse(documentByNames, assumptions)
    const workflow = this.#findWorkflow(environment, workflowId)
    if (!workflow) throw this.#workflowNotFound(environment, workflowId)
    const document = this.#findStep(environment, workflow, stepId)
    if (!document) throw this.#stepNotFound(environment, workflow, workflowId, stepId)
    return toResponse(document, assumptions)
  }

  /**
   * Finds the step by the names of the workflow and the step, in a single query. If a parameter may
   * be an id, returns undefined without a query, because ids are tried before names.
   */
  #findByNames(
    { assumptions, datasets }: Environment,
    workflowId: string,
    stepId: string
  ): Buffer | undefined {
    const mayBeId = readId(workflowId, assumptions) ?? readId(stepId, assumptions)
    if (mayBeId !== undefined) return undefined
    return this.#repository.findStepByNames(datasets.workflows, workflowId, stepId)
  }

  #findWorkflow(
    { assumptions, datasets }: Environment,
    workflowId: string
  ): StoredWorkflow | undefined {
    const dataset = datasets.workflows
    for (const { kind, value } of readingsOf(workflowId, 'wf', assumptions)) {
      const workflow =
        kind === 'id'
          ? this.#repository.findWorkflowById(dataset, value)
          : this.#repository.findWorkflowByIdentifier(dataset, value)
      if (workflow) return workflow
    }
    return undefined
  }

  #findStep(
    { assumptions, datasets }: Environment,
    workflow: StoredWorkflow,
    stepId: string
  ): Buffer | undefined {
    const dataset = datasets.workflows
    for (const { kind, value } of readingsOf(stepId, 'st', assumptions)) {
      const document =
        kind === 'id'
          ? this.#repository.findStepById(dataset, workflow.id, value)
          : this.#repository.findStepByStepId(dataset, workflow.id, value)
      if (document) return document
    }
    return undefined
  }

  #workflowNotFound(environment: Environment, workflowId: string): DomainError {
    const { assumptions, datasets, name } = environment
    const hint = didYouMean(workflowId, this.#repository.listWorkflows(datasets.workflows))
    const reason =
      `environment ${name} has no workflow with the _id, identifier or slug ` +
      `${workflowId}${hint}`
    if (assumptions['unknown-workflow'] === 'named') {
      return new DomainError('not-found', `Workflow with id ${workflowId} not found`, { reason })
    }
    const facts = { workflowId }
    return new DomainError('not-found', 'Workflow cannot be found', { reason, facts })
  }

  #stepNotFound(
    { assumptions, datasets }: Environment,
    workflow: StoredWorkflow,
    workflowId: string,
    stepId: string
  ): DomainError {
    const hint = didYouMean(stepId, this.#repository.listSteps(datasets.workflows, workflow.id))
    const reason =
      `workflow ${workflow.identifier} has no step with the _id, stepId or slug ` +
      `${stepId}${hint}`
    if (assumptions['unknown-step'] === 'not-found') {
      return new DomainError('not-found', `Step with id ${stepId} not found`, { reason })
    }
    const facts = { stepId, workflowId }
    return new DomainError('bad-request', 'No step found', { reason, facts })
  }
}

interface Reading {
  kind: 'id' | 'name'
  value: string
}

/**
 * Returns the possible meanings of a path parameter in the order in which to try them: `_id`, name,
 * slug.
 */
function readingsOf(parameter: string, slugKind: 'wf' | 'st', assumptions: Assumptions): Reading[] {
  const readings: Reading[] = [{ kind: 'name', value: parameter }]
  const id = readId(parameter, assumptions)
  if (id !== undefined) readings.unshift({ kind: 'id', value: id })
  const acceptsAnyKind = assumptions['step-lookup'] === 'any-kind'
  const slugId = idFromSlug(parameter, acceptsAnyKind ? 'any' : slugKind)
  if (slugId !== undefined) readings.push({ kind: 'id', value: slugId })
  return readings
}

function readId(parameter: string, assumptions: Assumptions): string | undefined {
  if (assumptions['step-lookup'] !== 'any-kind') return parseId(parameter)
  return ID_PATTERN.test(parameter) ? parameter : undefined
}

/**
 * Returns the step in the form that the assumptions require. If the stored step already has this
 * form, returns its bytes without parsing them, because parsing a large step takes time.
 */
function toResponse(document: Buffer, assumptions: Assumptions): Buffer {
  const needsVendorNames = mayNeedVendorNames(document, assumptions)
  const repeatsValues = assumptions['control-values'] === 'twice'
  if (!needsVendorNames && !repeatsValues) return document
  const stored: WorkflowStep = JSON.parse(document.toString())
  const step = needsVendorNames ? withVendorNames(stored) : stored
  if (!repeatsValues) return Buffer.from(JSON.stringify(step))
  const controlValues = step.controlValues ?? {}
  const controls = { ...step.controls, values: controlValues }
  return Buffer.from(JSON.stringify({ ...step, controls, controlValues }))
}
