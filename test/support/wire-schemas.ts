import type { TSchema } from '@sinclair/typebox'
import { namedSchemas } from '../../src/core/typebox.js'
import { Integration } from '../../src/integrations/schemas.js'
import { MessagesPage } from '../../src/messages/schemas.js'
import { WorkflowStep } from '../../src/workflow-steps/schemas.js'

/** Every named schema of the contract, dependencies first. */
export const wireSchemas: readonly TSchema[] = namedSchemas(Integration, MessagesPage, WorkflowStep)
