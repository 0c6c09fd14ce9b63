import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { registerControl } from './control/index.js'
import { TestService } from './control/report/service.js'
import { documentation } from './openapi/docs-routes.js'
import { controlDocument } from './openapi/documents.js'
import { startPage } from './openapi/start-page.js'
import type { SeedService } from './seeds/service.js'
import type { Services } from './services.js'

export interface LazyRouteOptions {
  services: Services
  seeds: SeedService
  /** Whether browsers get the inspector at `/`. */
  inspector: boolean
  /** Returns the address on which the server listens. */
  address: () => string | AddressInfo | null
}

/**
 * Registers every route except the operations and `/health`: the control routes, the OpenAPI
 * documents, the docs and the inspector. `app.ts` imports this module on the first request for any
 * of these routes.
 */
export function registerLazyRoutes(app: FastifyInstance, options: LazyRouteOptions): void {
  const { services, seeds, inspector, address } = options
  const { environments, adminToken } = services
  app.register(documentation, { environments, inspector })
  app.register(startPage, { inspector, adminToken, address })
  app.register(async (scope) =>
    registerControl(scope, {
      ...services,
      seeds,
      tests: new TestService(services),
      document: controlDocument,
      assumptions: environments.defaultAssumptions
    })
  )
}
