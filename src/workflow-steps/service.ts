import type { Db } from '../db/open.js'
import { type Assumptions, mayNeedVendorNames, withVendorNames } from '../domain/assumptions.js'
import { DomainError } from '../domain/errors.js'
import { ID_PATTERN, idFromSlug, parseId } from '../domain/ids.js'
import { didYouMean } from '../domain/suggestions.js'
import type { Environment } from '../environments/service.js'
import { workflowStepRepository } from './repository.js'
import type { WorkflowStep } from './schemas.js'

export type WorkflowStepService = ReturnType<typeof workflowStepService>

export function workflowStepService({ db }: { db: Db }) {
  const repository = workflowStepRepository(db)

  return {
    /**
     * Returns a step of a workflow as this environment presents it, as JSON in UTF-8. Either is named by its `_id`, its
     * identifier (`stepId`) or a slug, of which only the id at its end counts; assumption `step-lookup` says in which forms.
     *
     * Throws `not-found` when the environment has no such workflow or step; for the step `bad-request` where the
     * environment assumes so.
     */
    retrieve(environment: Environment, workflowId: string, stepId: string): Buffer {
      const { name, assumptions, datasets } = environment
      const { workflows } = datasets
      const isNamed = [workflowId, stepId].every(
        (text) => deriveId(text, assumptions) === undefined
      )
      const named = isNamed ? repository.findNamed(workflows, workflowId, stepId) : undefined
      if (named) return toResponse(named, assumptions)
      const workflow = find(assumptions, workflowId, 'wf', (by, value) =>
        repository.findWorkflow(workflows, by, value)
      )
      if (!workflow) {
        const hint = didYouMean(workflowId, repository.listWorkflows(workflows))
        const reason = `environment ${name} has no workflow with _id, identifier or slug ${workflowId}${hint}`
        if (assumptions['unknown-workflow'] === 'named')
          throw new DomainError('not-found', `Workflow with id ${workflowId} not found`, { reason })
        throw new DomainError('not-found', 'Workflow cannot be found', {
          reason,
          facts: { workflowId }
        })
      }
      const { id, identifier } = workflow
      const step = find(assumptions, stepId, 'st', (by, value) =>
        repository.findStep(workflows, id, by, value)
      )
      if (step) return toResponse(step, assumptions)
      const hint = didYouMean(stepId, repository.listSteps(workflows, id))
      const reason = `workflow ${identifier} has no step with _id, stepId or slug ${stepId}${hint}`
      if (assumptions['unknown-step'] === 'not-found')
        throw new DomainError('not-found', `Step with id ${stepId} not found`, { reason })
      throw new DomainError('bad-request', 'No step found', {
        reason,
        facts: { stepId, workflowId }
      })
    }
  }
}

/** Takes the text as an `_id`, then as a name, then as a slug. */
function find<Found>(
  assumptions: Assumptions,
  text: string,
  kind: 'wf' | 'st',
  lookUp: (by: 'id' | 'name', value: string) => Found | undefined
): Found | undefined {
  const id = deriveId(text, assumptions)
  const found = (id === undefined ? undefined : lookUp('id', id)) ?? lookUp('name', text)
  const slugId = found
    ? undefined
    : idFromSlug(text, assumptions['step-lookup'] === 'any-kind' ? 'any' : kind)
  return slugId === undefined ? found : lookUp('id', slugId)
}

const deriveId = (text: string, assumptions: Assumptions): string | undefined =>
  assumptions['step-lookup'] === 'any-kind' ? ID_PATTERN.exec(text)?.[0] : parseId(text)

/** Returns the stored bytes unless an assumption changes them: a step may be large, and parsing it takes time. */
function toResponse(document: Buffer, assumptions: Assumptions): Buffer {
  const translate = mayNeedVendorNames(document, assumptions)
  const twice = assumptions['control-values'] === 'twice'
  if (!translate && !twice) return document
  const parsed: WorkflowStep = JSON.parse(document.toString())
  const step = translate ? withVendorNames(parsed) : parsed
  const controlValues = step.controlValues ?? {}
  const controls = { ...step.controls, values: controlValues }
  return Buffer.from(JSON.stringify(twice ? { ...step, controls, controlValues } : step))
}
