import type { FastifyInstance } from 'fastify'
import type { IdempotencyService } from '../idempotency/service.js'
import { integrationRoutes } from '../integrations/routes.js'
import type { IntegrationService } from '../integrations/service.js'
import { messageRoutes } from '../messages/routes.js'
import type { MessageService } from '../messages/service.js'
import { workflowStepRoutes } from '../workflow-steps/routes.js'
import type { WorkflowStepService } from '../workflow-steps/service.js'

interface OperationServices {
  integrations: IntegrationService
  idempotency: IdempotencyService
  messages: MessageService
  workflowSteps: WorkflowStepService
}

/**
 * Registers the operations of the service. Throws for a route that serves no operation: it would be in no document, and
 * neither recorded nor open to faults.
 */
export function registerOperations(app: FastifyInstance, services: OperationServices): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.operation) throw new Error(`the route ${method} ${url} serves no operation: see defineOperation`)
  })
  app.register(integrationRoutes, services)
  app.register(messageRoutes, services)
  app.register(workflowStepRoutes, services)
}
