import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { workflowSteps, workflows } from '../db/schema.js'

export interface WorkflowRef {
  id: string
  identifier: string
}

export function workflowStepRepository({ orm }: Db) {
  const collection = sql.placeholder('collection')
  const workflow = { id: workflows.id, identifier: workflows.identifier }
  const step = { document: sql<Buffer>`CAST(${workflowSteps.document} AS BLOB)` }
  const ofWorkflow = and(
    eq(workflowSteps.collection, collection),
    eq(workflowSteps.workflowId, sql.placeholder('workflowId'))
  )

  const workflowById = orm
    .select(workflow)
    .from(workflows)
    .where(and(eq(workflows.collection, collection), eq(workflows.id, sql.placeholder('id'))))
    .prepare()
  const workflowByIdentifier = orm
    .select(workflow)
    .from(workflows)
    .where(and(eq(workflows.collection, collection), eq(workflows.identifier, sql.placeholder('identifier'))))
    .prepare()
  const stepById = orm
    .select(step)
    .from(workflowSteps)
    .where(and(ofWorkflow, eq(workflowSteps.id, sql.placeholder('id'))))
    .prepare()
  const stepByStepId = orm
    .select(step)
    .from(workflowSteps)
    .where(and(ofWorkflow, eq(workflowSteps.stepId, sql.placeholder('stepId'))))
    .prepare()

  return {
    findWorkflowById(inCollection: number, id: string): WorkflowRef | undefined {
      return workflowById.get({ collection: inCollection, id })
    },

    findWorkflowByIdentifier(inCollection: number, identifier: string): WorkflowRef | undefined {
      return workflowByIdentifier.get({ collection: inCollection, identifier })
    },

    /** The step's document in UTF-8. */
    findStepById(inCollection: number, workflowId: string, id: string): Buffer | undefined {
      return stepById.get({ collection: inCollection, workflowId, id })?.document
    },

    /** The step's document in UTF-8. */
    findStepByStepId(inCollection: number, workflowId: string, stepId: string): Buffer | undefined {
      return stepByStepId.get({ collection: inCollection, workflowId, stepId })?.document
    }
  }
}
