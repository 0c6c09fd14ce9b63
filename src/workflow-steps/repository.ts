import type { Db } from '../db/open.js'

export interface WorkflowRef {
  id: string
  identifier: string
}

/** Written as SQL: what a query costs on its way through drizzle is a good part of what a step costs. */
export function workflowStepRepository({ client }: Db) {
  const workflow = (column: 'id' | 'identifier') =>
    client.prepare<[number, string], WorkflowRef>(
      `SELECT id, identifier FROM workflows WHERE dataset = ? AND ${column} = ?`
    )
  const step = (column: 'id' | 'step_id') =>
    client
      .prepare<[number, string, string], Buffer>(
        `SELECT CAST(document AS BLOB) FROM workflow_steps WHERE dataset = ? AND workflow_id = ? AND ${column} = ?`
      )
      .pluck()
  const workflowById = workflow('id')
  const workflowByIdentifier = workflow('identifier')
  const stepById = step('id')
  const stepByStepId = step('step_id')

  return {
    findWorkflowById(dataset: number, id: string): WorkflowRef | undefined {
      return workflowById.get(dataset, id)
    },

    findWorkflowByIdentifier(dataset: number, identifier: string): WorkflowRef | undefined {
      return workflowByIdentifier.get(dataset, identifier)
    },

    /** The step's document in UTF-8. */
    findStepById(dataset: number, workflowId: string, id: string): Buffer | undefined {
      return stepById.get(dataset, workflowId, id)
    },

    /** The step's document in UTF-8. */
    findStepByStepId(dataset: number, workflowId: string, stepId: string): Buffer | undefined {
      return stepByStepId.get(dataset, workflowId, stepId)
    }
  }
}
