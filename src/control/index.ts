import type { FastifyInstance } from 'fastify'
import type { Assumptions } from '../core/assumptions.js'
import { authentication } from '../environments/plugin.js'
import { controlRequests } from '../http/control-route.js'
import { serverAccess } from './access.js'
import { clockRoutes } from './clock/routes.js'
import { environmentRoutes } from './environments/routes.js'
import { faultRoutes } from './faults/routes.js'
import { journalRoutes, keylessRequestRoutes } from './requests/routes.js'
import { healthRoute, serverRoutes } from './server/routes.js'
import type { Services } from './services.js'
import { snapshotRoutes, stateRoutes } from './state/routes.js'

interface Options extends Services {
  /** The assumptions of environments that have no own ones. */
  assumptions: Assumptions
  adminToken: string | undefined
  /** Makes the document of the control routes. */
  document: () => Promise<object>
}

/**
 * Registers the control routes: `/health`, and under `/_mock` those of the server and of one environment. Throws for a
 * route that serves no control operation, as it would not be in the document.
 */
export function registerControl(app: FastifyInstance, options: Options): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.control) throw new Error(`the route ${method} ${url} serves no control operation: see controlRoutes`)
  })
  app.register(healthRoute)
  app.register(
    async (mock) => {
      mock.register(async (open) => {
        open.register(controlRequests)
        open.register(serverRoutes, options)
      })
      mock.register(async (ofServer) => {
        ofServer.register(serverAccess, options)
        ofServer.register(controlRequests)
        ofServer.register(environmentRoutes, options)
        ofServer.register(keylessRequestRoutes, options)
      })
      mock.register(async (ofEnvironment) => {
        ofEnvironment.register(authentication, options)
        ofEnvironment.register(controlRequests)
        ofEnvironment.register(stateRoutes, options)
        ofEnvironment.register(snapshotRoutes, options)
        ofEnvironment.register(journalRoutes, options)
        ofEnvironment.register(faultRoutes, options)
        ofEnvironment.register(clockRoutes, options)
      })
    },
    { prefix: '/_mock' }
  )
}
