import { setIntegrationAsPrimary } from './integrations/routes.js'
import { listMessages } from './messages/routes.js'
import type { Operation } from './schema/operation.js'
import { retrieveWorkflowStep } from './workflow-steps/routes.js'

/** The operations, in the order of the OpenAPI document. */
export const OPERATIONS: readonly Operation[] = [
  setIntegrationAsPrimary,
  listMessages,
  retrieveWorkflowStep
]
