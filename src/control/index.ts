import type { FastifyInstance } from 'fastify'
import type { Assumptions } from '../core/assumptions.js'
import { authentication } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import { controlRequests } from '../http/control-route.js'
import { rejectMalformedQuery } from '../http/query-string.js'
import type { SeedService } from '../seeds/service.js'
import { serverAccess } from './access.js'
import { clockRoutes } from './clock/routes.js'
import { environmentRoutes } from './environments/routes.js'
import { faultRoutes } from './faults/routes.js'
import type { FaultService } from './faults/service.js'
import { journalRoutes, keylessRequestRoutes } from './requests/routes.js'
import type { JournalService } from './requests/service.js'
import { healthRoute, type Readiness, serverRoutes } from './server/routes.js'
import { snapshotRoutes } from './snapshots/routes.js'
import { stateRoutes } from './state/routes.js'

export interface ControlServices {
  environments: EnvironmentService
  seeds: SeedService
  journals: JournalService
  faults: FaultService
}

export interface ControlOptions {
  readiness: Readiness
  /** The assumptions of environments that have no own ones. */
  assumptions: Assumptions
  adminToken: string | undefined
  /** Makes the document of the control routes. */
  document: () => Promise<object>
}

/** Registers the control routes: `/health`, and under `/_mock` those of the server and of one environment. */
export function registerControl(app: FastifyInstance, services: ControlServices, options: ControlOptions): void {
  app.register(healthRoute, options)
  const prefix = '/_mock'

  app.register(
    async (open) => {
      open.register(rejectMalformedQuery)
      open.register(controlRequests)
      open.register(serverRoutes, options)
    },
    { prefix }
  )

  app.register(
    async (ofServer) => {
      ofServer.register(serverAccess, options)
      ofServer.register(rejectMalformedQuery)
      ofServer.register(controlRequests)
      ofServer.register(environmentRoutes, services)
      ofServer.register(keylessRequestRoutes, services)
    },
    { prefix }
  )

  app.register(
    async (ofEnvironment) => {
      ofEnvironment.register(authentication, services)
      ofEnvironment.register(rejectMalformedQuery)
      ofEnvironment.register(controlRequests)
      ofEnvironment.register(stateRoutes, services)
      ofEnvironment.register(snapshotRoutes, services)
      ofEnvironment.register(journalRoutes, services)
      ofEnvironment.register(faultRoutes, services)
      ofEnvironment.register(clockRoutes, services)
    },
    { prefix }
  )
}
