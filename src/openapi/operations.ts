import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import { faultInjection } from '../control/faults/plugin.js'
import type { StartServices as Services } from '../control/start-services.js'
import { authentication } from '../environments/plugin.js'
import type { Operation } from '../http/operation.js'
import { rejectMalformedQuery } from '../http/query-string.js'
import { integrationRoutes, setIntegrationAsPrimary } from '../integrations/routes.js'
import { listMessages, messageRoutes } from '../messages/routes.js'
import { retrieveWorkflowStep, workflowStepRoutes } from '../workflow-steps/routes.js'

/** In the order of the document. */
export const OPERATIONS: readonly Operation[] = [setIntegrationAsPrimary, listMessages, retrieveWorkflowStep]

/** What each request passes, in this order, before the route. */
const HOOKS: FastifyPluginCallback<Services>[] = [authentication, rejectMalformedQuery, faultInjection]
const ROUTES = [integrationRoutes, messageRoutes, workflowStepRoutes]

/** Registers the operations. Throws for a route that serves none: it would not be in the document or the journal. */
export function registerOperations(app: FastifyInstance, services: Services): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.operation) throw new Error(`the route ${method} ${url} serves no operation: see defineOperation`)
  })
  for (const operation of OPERATIONS) services.coverage.include(operation)
  for (const plugin of [...HOOKS, ...ROUTES]) app.register(plugin, services)
}
