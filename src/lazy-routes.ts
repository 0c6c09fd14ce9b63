import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { registerControl } from './control/index.js'
import { testService } from './control/report/service.js'
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
  /** Returns the address that the server listens on. */
  address: () => string | AddressInfo | null
}

/**
 * Registers every route but the operations and `/health`: the control routes, the OpenAPI
 * documents, the docs and the inspector. `lazy-loading.ts` imports this module when the first of
 * them is requested.
 */
export function registerLazyRoutes(app: FastifyInstance, options: LazyRouteOptions): void {
  const { services, seeds, inspector, address } = options
  const { environments, adminToken } = services
  app.register(documentation, { environments })
  app.register(startPage, { inspector, adminToken, address })
  app.register(async (scope) =>
    registerControl(scope, {
      ...services,
      seeds,
      tests: testService(services),
      document: controlDocument,
      assumptions: environments.defaultAssumptions
    })
  )
}
