import { setIntegrationAsPrimary } from './integrations/routes.js'
import { listMessages } from './messages/routes.js'
import type { Operation } from './schema/operation.js'
import { retrieveWorkflowStep } from './workflow-steps/routes.js'

/** The operations, in the order in which the OpenAPI document lists them. */
export const OPERATIONS: readonly Operation[] = [
  setIntegrationAsPrimary,
  listMessages,
  retrieveWorkflowStep
]
