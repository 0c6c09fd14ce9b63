import type { FastifyInstance } from 'fastify'
import { faultInjection } from '../control/faults/plugin.js'
import type { FaultService } from '../control/faults/service.js'
import { authentication } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import { rejectMalformedQuery } from '../http/query-string.js'
import { idempotencyKeys } from '../idempotency/plugin.js'
import type { IdempotencyService } from '../idempotency/service.js'
import { integrationRoutes } from '../integrations/routes.js'
import type { IntegrationService } from '../integrations/service.js'
import { messageRoutes } from '../messages/routes.js'
import type { MessageService } from '../messages/service.js'
import { workflowStepRoutes } from '../workflow-steps/routes.js'
import type { WorkflowStepService } from '../workflow-steps/service.js'

interface OperationServices {
  environments: EnvironmentService
  integrations: IntegrationService
  idempotency: IdempotencyService
  messages: MessageService
  workflowSteps: WorkflowStepService
  faults: FaultService
  /** Whether a request can ask for a fault by its header `x-mock-fault`. */
  faultHeader: boolean
}

/**
 * Registers the operations of the service, and before them what each request passes, in this order. Throws for a route
 * that serves no operation: it would be in no document, and neither recorded nor open to faults.
 */
export function registerOperations(app: FastifyInstance, services: OperationServices): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.operation) throw new Error(`the route ${method} ${url} serves no operation: see defineOperation`)
  })
  app.register(authentication, services)
  app.register(rejectMalformedQuery)
  app.register(idempotencyKeys, services)
  app.register(faultInjection, services)
  app.register(integrationRoutes, services)
  app.register(messageRoutes, services)
  app.register(workflowStepRoutes, services)
}
