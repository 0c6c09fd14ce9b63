import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import type { Assumptions } from '../core/assumptions.js'
import { authentication, keepInUse, presentEnvironment } from '../environments/plugin.js'
import { controlRequests } from '../http/control-route.js'
import { serverAccess } from './access.js'
import { noteChanges } from './changes.js'
import { clockRoutes } from './clock/routes.js'
import { coverageRoutes, serverCoverageRoutes } from './coverage/routes.js'
import { environmentRoutes } from './environments/routes.js'
import { faultRoutes } from './faults/routes.js'
import { latencyRoutes } from './latency/routes.js'
import { integrationRecordRoutes, messageRecordRoutes, workflowRecordRoutes } from './records/routes.js'
import { journalRoutes, keylessRequestRoutes } from './requests/routes.js'
import { healthRoute, serverRoutes } from './server/routes.js'
import type { Services } from './services.js'
import { snapshotRoutes, stateRoutes } from './state/routes.js'

interface Options extends Services {
  /** The assumptions of environments that have no own ones. */
  assumptions: Assumptions
  /** Returns the document of the control routes. */
  document: () => Promise<object>
}

/** The plugins of each scope under `/_mock`, hooks first: of the server, of all environments, of one environment. */
const SCOPES: FastifyPluginCallback<Options>[][] = [
  [controlRequests, serverRoutes],
  [serverAccess, controlRequests, environmentRoutes, keylessRequestRoutes, serverCoverageRoutes],
  [
    ...[authentication, keepInUse, presentEnvironment, noteChanges, controlRequests],
    ...[stateRoutes, snapshotRoutes, messageRecordRoutes, integrationRecordRoutes, workflowRecordRoutes],
    ...[journalRoutes, faultRoutes, latencyRoutes, clockRoutes, coverageRoutes]
  ]
]

/**
 * Registers the control routes: `/health`, and under `/_mock` those of the server and of one environment. Throws for a
 * route that serves no control operation, as it would not be in the document.
 */
export function registerControl(app: FastifyInstance, options: Options): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.control) throw new Error(`the route ${method} ${url} serves no control operation: see controlRoutes`)
  })
  app.register(healthRoute)
  for (const plugins of SCOPES) {
    const registerAll = async (scope: FastifyInstance) => {
      for (const plugin of plugins) scope.register(plugin, options)
    }
    app.register(registerAll, { prefix: '/_mock' })
  }
}
