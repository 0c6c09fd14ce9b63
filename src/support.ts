import type { FastifyInstance } from 'fastify'
import { registerControl } from './control/index.js'
import { testService } from './control/report/service.js'
import type { StartServices } from './control/start-services.js'
import { documentation } from './openapi/docs-page.js'
import { controlDocument } from './openapi/documents.js'
import { startPage } from './openapi/pages.js'
import type { SeedService } from './seeds/service.js'

interface Options {
  services: StartServices
  loadSeeds: () => Promise<SeedService>
  inspector: boolean
  /** Returns the address that the server listens on. */
  address: Parameters<typeof startPage>[1]['address']
}

/** Registers all routes but those of the operations: the control routes, the documents, the pages and the manual. */
export async function registerSupport(app: FastifyInstance, options: Options): Promise<void> {
  const { services, inspector, address, loadSeeds } = options
  const { environments, adminToken } = services
  const seeds = await loadSeeds()
  const assumptions = environments.defaultAssumptions
  app.register(documentation, { environments })
  app.register(startPage, { inspector, adminToken, address })
  const own = { ...services, seeds, tests: testService(services), assumptions, document: controlDocument }
  app.register(async (scope) => registerControl(scope, own))
}
