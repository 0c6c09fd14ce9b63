import { ref } from '../../core/typebox.js'
import type { AddRoute } from '../../http/control-route.js'
import type { Services } from '../services.js'
import { Coverage } from './schemas.js'

/** Reports how much of the contract the requests of one environment have met. */
export function coverageRoutes(route: AddRoute, { coverage }: Services): void {
  route('GET', '/coverage', 'getCoverage', 'Report how much of the contract the requests have met', {
    description:
      'Of the requests with a key of this environment, since it was created or its coverage was cleared. The journal and resets do not matter.',
    response: ref(Coverage),
    handler: async ({ environment }) => coverage.of(environment)
  })

  route('DELETE', '/coverage', 'clearCoverage', "Clear this environment's coverage", {
    description: "The server's coverage keeps what was counted.",
    handler: async ({ environment }) => coverage.clear(environment)
  })
}

/** Reports the same for all requests. */
export function serverCoverageRoutes(route: AddRoute, { coverage }: Services): void {
  route('GET', '/coverage/server', 'getServerCoverage', 'Report how much of the contract all requests have met', {
    description: 'Those of all environments, also of removed ones, and those without a valid key.',
    response: ref(Coverage),
    handler: async () => coverage.ofServer()
  })

  route('DELETE', '/coverage/server', 'clearServerCoverage', 'Clear the coverage of all environments and the server', {
    handler: async () => coverage.clearAll()
  })
}
