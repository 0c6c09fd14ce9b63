/** What a run may do, and what of the target it is told. */
export interface SubjectOptions {
  allowChanges: boolean
  workflows: readonly string[]
  steps: readonly string[]
  integrations: readonly string[]
  /** An integration of another environment of the organization. */
  foreignIntegration?: string | undefined
}
