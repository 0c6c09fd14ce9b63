import type { Db } from '../db/open.js'
import { MAX_CANDIDATES } from '../domain/suggestions.js'

/** In SQL: through drizzle the operation takes a tenth longer. */
export function workflowStepRepository({ client }: Db) {
  const workflowBy = (column: 'id' | 'identifier') =>
    client.prepare<[number, string], Record<'id' | 'identifier', string>>(
      `SELECT id, identifier FROM workflows WHERE dataset = ? AND ${column} = ?`
    )
  const values = <Params extends unknown[], Value>(sql: string) =>
    client.prepare<Params, Value>(sql).pluck()
  // As a BLOB it is sent as it is stored: a string would have to be encoded again.
  const stepBy = (column: 'id' | 'step_id') =>
    values<[number, string, string], Buffer>(
      `SELECT CAST(document AS BLOB) FROM workflow_steps WHERE dataset = ? AND workflow_id = ? AND ${column} = ?`
    )
  const stepByNames = values<[number, string, string], Buffer>(
    `SELECT CAST(steps.document AS BLOB) FROM workflows JOIN workflow_steps AS steps
     ON steps.dataset = workflows.dataset AND workflow_id = workflows.id
     WHERE workflows.dataset = ? AND identifier = ? AND step_id = ?`
  )
  const workflow = { id: workflowBy('id'), name: workflowBy('identifier') }
  const step = { id: stepBy('id'), name: stepBy('step_id') }
  const identifiers = values<[number], string>(
    `SELECT identifier FROM workflows WHERE dataset = ? LIMIT ${MAX_CANDIDATES}`
  )
  const stepIds = values<[number, string], string>(
    `SELECT step_id FROM workflow_steps WHERE dataset = ? AND workflow_id = ? LIMIT ${MAX_CANDIDATES}`
  )

  return {
    /** `name` is the identifier. */
    findWorkflow: (dataset: number, by: 'id' | 'name', value: string) =>
      workflow[by].get(dataset, value),

    /** Returns the identifiers of the first workflows, some hundreds at most. */
    listWorkflows: (dataset: number): string[] => identifiers.all(dataset),

    /** Returns the `stepId`s of the first steps of a workflow, some hundreds at most. */
    listSteps: (dataset: number, workflowId: string): string[] => stepIds.all(dataset, workflowId),

    /** Returns the step's document in UTF-8. `name` is the `stepId`. */
    findStep: (dataset: number, workflowId: string, by: 'id' | 'name', value: string) =>
      step[by].get(dataset, workflowId, value),

    /** Returns the same for the names of both, by one statement: as nearly all requests ask. */
    findNamed: (dataset: number, identifier: string, stepId: string) =>
      stepByNames.get(dataset, identifier, stepId)
  }
}
