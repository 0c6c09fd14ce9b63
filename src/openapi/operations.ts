import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import { faultInjection } from '../control/faults/plugin.js'
import type { Services } from '../control/services.js'
import { authentication } from '../environments/plugin.js'
import { rejectMalformedQuery } from '../http/query-string.js'
import { idempotencyKeys } from '../idempotency/plugin.js'
import { integrationRoutes } from '../integrations/routes.js'
import { messageRoutes } from '../messages/routes.js'
import { workflowStepRoutes } from '../workflow-steps/routes.js'

/** What each request passes, in this order. */
const HOOKS: FastifyPluginCallback<Services>[] = [authentication, rejectMalformedQuery, idempotencyKeys, faultInjection]
const ROUTES = [integrationRoutes, messageRoutes, workflowStepRoutes]

/** Registers the operations. Throws for a route that serves none: it would not be in the document or the journal. */
export function registerOperations(app: FastifyInstance, services: Services): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.operation) throw new Error(`the route ${method} ${url} serves no operation: see defineOperation`)
    services.coverage.include(config.operation)
  })
  for (const plugin of [...HOOKS, ...ROUTES]) app.register(plugin, services)
}
