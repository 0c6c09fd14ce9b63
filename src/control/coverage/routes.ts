import type { FastifyPluginAsync } from 'fastify'
import { ref } from '../../core/typebox.js'
import { controlRoutes } from '../../http/control-route.js'
import type { Services } from '../services.js'
import { Coverage } from './schemas.js'

/** Reports how much of the contract the requests of one environment have met. */
export const coverageRoutes: FastifyPluginAsync<Services> = async (app, { coverage }) => {
  const route = controlRoutes(app, { tag: 'Coverage' })

  route('GET', '/coverage', {
    id: 'getCoverage',
    summary: 'Report how much of the contract the requests have met',
    description:
      'Of the requests with a key of this environment, since it was created or its coverage was cleared. The journal and resets do not matter.',
    response: ref(Coverage),
    handler: async ({ environment }) => coverage.of(environment)
  })

  route('DELETE', '/coverage', {
    id: 'clearCoverage',
    summary: "Clear this environment's coverage",
    description: "The server's coverage keeps what was counted.",
    handler: async ({ environment }) => coverage.clear(environment)
  })
}

/** Reports the same for all requests. */
export const serverCoverageRoutes: FastifyPluginAsync<Services> = async (app, { coverage }) => {
  const route = controlRoutes(app, { tag: 'Coverage', access: 'server' })

  route('GET', '/coverage/server', {
    id: 'getServerCoverage',
    summary: 'Report how much of the contract all requests have met',
    description: 'Those of all environments, also of removed ones, and those without a valid key.',
    response: ref(Coverage),
    handler: async () => coverage.ofServer()
  })

  route('DELETE', '/coverage/server', {
    id: 'clearServerCoverage',
    summary: 'Clear the coverage of the server and of all environments',
    handler: async () => coverage.clearAll()
  })
}
