import type { FastifyInstance } from 'fastify'
import { registerControl } from './control/index.js'
import { testService } from './control/report/service.js'
import { documentation } from './openapi/docs-page.js'
import { controlDocument } from './openapi/documents.js'
import { startPage } from './openapi/pages.js'
import type { SeedService } from './seeds/service.js'
import type { StartServices } from './services.js'

interface Options extends Pick<Parameters<typeof startPage>[1], 'inspector' | 'address'> {
  services: StartServices
  loadSeeds: () => Promise<SeedService>
}

/** Registers all routes but those of the operations: the control routes, the documents, the pages and the manual. */
export async function registerSupport(app: FastifyInstance, options: Options): Promise<void> {
  const { services, inspector, address } = options
  const { environments, adminToken } = services
  const own = {
    seeds: await options.loadSeeds(),
    tests: testService(services),
    document: controlDocument
  }
  app.register(documentation, { environments })
  app.register(startPage, { inspector, adminToken, address })
  const assumptions = environments.defaultAssumptions
  app.register(async (scope) => registerControl(scope, { ...services, ...own, assumptions }))
}
