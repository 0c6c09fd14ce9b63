import { and, eq, sql } from 'drizzle-orm'
import { MAX_CANDIDATES } from '../core/suggest.js'
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
  const isOfWorkflow = and(
    eq(workflowSteps.dataset, dataset),
    eq(workflowSteps.workflowId, sql.placeholder('workflowId'))
  )
  const stepBy = (column: typeof workflowSteps.id | typeof workflowSteps.stepId) =>
    orm
      // As a BLOB it is sent as it is stored: a string would have to be encoded again.
      .select({ document: sql<Buffer>`CAST(${workflowSteps.document} AS BLOB)` })
      .from(workflowSteps)
      .where(and(isOfWorkflow, eq(column, value)))
      .prepare()
  const workflow = { id: workflowBy(workflows.id), name: workflowBy(workflows.identifier) }
  const step = { id: stepBy(workflowSteps.id), name: stepBy(workflowSteps.stepId) }
  const workflowNames = orm
    .select({ name: workflows.identifier })
    .from(workflows)
    .where(eq(workflows.dataset, dataset))
    .limit(MAX_CANDIDATES)
    .prepare()
  const stepNames = orm
    .select({ name: workflowSteps.stepId })
    .from(workflowSteps)
    .where(isOfWorkflow)
    .limit(MAX_CANDIDATES)
    .prepare()

  return {
    /** `name` is the identifier. */
    findWorkflow: (dataset: number, by: 'id' | 'name', value: string): WorkflowRef | undefined =>
      workflow[by].get({ dataset, value }),

    /** Returns the identifiers of the first workflows, some hundreds at most. */
    listWorkflows: (dataset: number): string[] => workflowNames.all({ dataset }).map(({ name }) => name),

    /** Returns the `stepId`s of the first steps of a workflow, some hundreds at most. */
    listSteps: (dataset: number, workflowId: string): string[] =>
      stepNames.all({ dataset, workflowId }).map(({ name }) => name),

    /** Returns the step's document in UTF-8. `name` is the `stepId`. */
    findStep: (dataset: number, workflowId: string, by: 'id' | 'name', value: string): Buffer | undefined =>
      step[by].get({ dataset, workflowId, value })?.document
  }
}
