import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { workflowSteps, workflows } from '../db/schema.js'

export type WorkflowRef = Pick<typeof workflows.$inferSelect, 'id' | 'identifier'>

export function workflowStepRepository({ orm }: Db) {
  const dataset = sql.placeholder('dataset')
  const value = sql.placeholder('value')
  const workflowBy = (column: typeof workflows.id | typeof workflows.identifier) =>
    orm
      .select({ id: workflows.id, identifier: workflows.identifier })
      .from(workflows)
      .where(and(eq(workflows.dataset, dataset), eq(column, value)))
      .prepare()
  const stepBy = (column: typeof workflowSteps.id | typeof workflowSteps.stepId) =>
    orm
      // As a BLOB it is sent as it is stored: a string would have to be encoded again.
      .select({ document: sql<Buffer>`CAST(${workflowSteps.document} AS BLOB)` })
      .from(workflowSteps)
      .where(
        and(
          eq(workflowSteps.dataset, dataset),
          eq(workflowSteps.workflowId, sql.placeholder('workflowId')),
          eq(column, value)
        )
      )
      .prepare()
  const workflowById = workflowBy(workflows.id)
  const workflowByIdentifier = workflowBy(workflows.identifier)
  const stepById = stepBy(workflowSteps.id)
  const stepByStepId = stepBy(workflowSteps.stepId)

  return {
    findWorkflowById: (dataset: number, id: string): WorkflowRef | undefined =>
      workflowById.get({ dataset, value: id }),

    findWorkflowByIdentifier: (dataset: number, identifier: string): WorkflowRef | undefined =>
      workflowByIdentifier.get({ dataset, value: identifier }),

    /** Returns the step's document in UTF-8. */
    findStepById: (dataset: number, workflowId: string, id: string): Buffer | undefined =>
      stepById.get({ dataset, workflowId, value: id })?.document,

    /** Returns the step's document in UTF-8. */
    findStepByStepId: (dataset: number, workflowId: string, stepId: string): Buffer | undefined =>
      stepByStepId.get({ dataset, workflowId, value: stepId })?.document
  }
}
