import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { preparedOnUse } from '../db/prepared-on-use.js'
import { workflowSteps, workflows } from '../db/schema.js'
import { MAX_CANDIDATES } from '../domain/suggestions.js'

export type StoredWorkflow = Pick<typeof workflows.$inferSelect, 'id' | 'identifier'>

/** Reads workflows and their steps. Steps are returned as UTF-8 JSON. */
export class WorkflowStepRepository {
  readonly #statements: ReturnType<typeof prepareStatements>

  constructor(db: Db) {
    this.#statements = prepareStatements(db)
  }

  findWorkflowById(dataset: number, id: string): StoredWorkflow | undefined {
    return this.#statements.findWorkflowById.get({ dataset, id })
  }

  findWorkflowByIdentifier(dataset: number, identifier: string): StoredWorkflow | undefined {
    return this.#statements.findWorkflowByIdentifier.get({ dataset, identifier })
  }

  /** Returns the identifiers of up to 200 workflows. */
  listWorkflows(dataset: number): string[] {
    return this.#statements.listWorkflows.all({ dataset }).map(({ identifier }) => identifier)
  }

  findStepById(dataset: number, workflow: string, id: string): Buffer | undefined {
    return this.#statements.findStepById.get({ dataset, workflow, id })?.document
  }

  findStepByStepId(dataset: number, workflow: string, stepId: string): Buffer | undefined {
    return this.#statements.findStepByStepId.get({ dataset, workflow, stepId })?.document
  }

  /**
   * Finds a step by its `stepId` and its workflow's `identifier`. Nearly all requests use these two
   * names, so a single statement finds both the workflow and the step.
   */
  findStepByNames(dataset: number, identifier: string, stepId: string): Buffer | undefined {
    return this.#statements.findStepByNames.get({ dataset, identifier, stepId })?.document
  }

  /** Returns the `stepId` of up to 200 steps of a workflow. */
  listSteps(dataset: number, workflow: string): string[] {
    return this.#statements.listSteps.all({ dataset, workflow }).map(({ stepId }) => stepId)
  }
}

function prepareStatements({ orm }: Db) {
  const { placeholder } = sql
  const hasIdentifier = eq(workflows.identifier, placeholder('identifier'))
  const hasStepId = eq(workflowSteps.stepId, placeholder('stepId'))
  const isStepOfWorkflow = and(
    eq(workflowSteps.dataset, placeholder('dataset')),
    eq(workflowSteps.workflowId, placeholder('workflow'))
  )
  // A BLOB can be sent directly. A string would have to be encoded first.
  const document = sql<Buffer>`CAST(${workflowSteps.document} AS BLOB)`

  const findWorkflow = (condition: SQL) =>
    orm
      .select({ id: workflows.id, identifier: workflows.identifier })
      .from(workflows)
      .where(and(eq(workflows.dataset, placeholder('dataset')), condition))
      .prepare()
  const findStep = (condition: SQL) =>
    orm.select({ document }).from(workflowSteps).where(and(isStepOfWorkflow, condition)).prepare()

  return preparedOnUse({
    findWorkflowById: () => findWorkflow(eq(workflows.id, placeholder('id'))),
    findWorkflowByIdentifier: () => findWorkflow(hasIdentifier),
    listWorkflows: () =>
      orm
        .select({ identifier: workflows.identifier })
        .from(workflows)
        .where(eq(workflows.dataset, placeholder('dataset')))
        .limit(MAX_CANDIDATES)
        .prepare(),
    findStepById: () => findStep(eq(workflowSteps.id, placeholder('id'))),
    findStepByStepId: () => findStep(hasStepId),
    findStepByNames: () =>
      orm
        .select({ document })
        .from(workflows)
        .innerJoin(
          workflowSteps,
          and(
            eq(workflowSteps.dataset, workflows.dataset),
            eq(workflowSteps.workflowId, workflows.id)
          )
        )
        .where(and(eq(workflows.dataset, placeholder('dataset')), hasIdentifier, hasStepId))
        .prepare(),
    listSteps: () =>
      orm
        .select({ stepId: workflowSteps.stepId })
        .from(workflowSteps)
        .where(isStepOfWorkflow)
        .limit(MAX_CANDIDATES)
        .prepare()
  })
}
