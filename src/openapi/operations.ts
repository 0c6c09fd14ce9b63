import type { FastifyInstance } from 'fastify'
import { faultInjection } from '../control/faults/plugin.js'
import type { Services } from '../control/services.js'
import { authentication } from '../environments/plugin.js'
import { rejectMalformedQuery } from '../http/query-string.js'
import { idempotencyKeys } from '../idempotency/plugin.js'
import { integrationRoutes } from '../integrations/routes.js'
import { messageRoutes } from '../messages/routes.js'
import { workflowStepRoutes } from '../workflow-steps/routes.js'

interface Options extends Services {
  /** Whether a request can ask for a fault by its header `x-mock-fault`. */
  faultHeader: boolean
}

/**
 * Registers the operations of the service, and before them what each request passes, in this order. Throws for a route
 * that serves no operation: it would be in no document, and neither recorded nor open to faults.
 */
export function registerOperations(app: FastifyInstance, options: Options): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.operation) throw new Error(`the route ${method} ${url} serves no operation: see defineOperation`)
  })
  app.register(authentication, options)
  app.register(rejectMalformedQuery)
  app.register(idempotencyKeys, options)
  app.register(faultInjection, options)
  app.register(integrationRoutes, options)
  app.register(messageRoutes, options)
  app.register(workflowStepRoutes, options)
}
