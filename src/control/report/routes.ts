import { Coverage } from '../../coverage/schemas.js'
import { isoTime, steadyClock } from '../../domain/clock.js'
import type { AddRoute } from '../../http/control-route.js'
import { VERSION } from '../../platform/package.js'
import { ref } from '../../schema/typebox.js'
import type { ControlServices } from '../services.js'
import { RunRecord, TestDescription } from './schemas.js'
import type { TestService } from './service.js'

/** Describes the test of an environment. */
export function testRoutes(route: AddRoute, { tests }: { tests: TestService }): void {
  route('PUT', '/test', 'describeTest', 'Describe the test of this environment', {
    description: 'Adds the fields to the report of the run. Later calls add to earlier ones.',
    changesNothing: true,
    body: ref(TestDescription),
    handler: async ({ environment, body }) => tests.describe(environment, body)
  })
}

/** Reports everything that the tests did. */
export function reportRoutes(
  route: AddRoute<'server'>,
  options: ControlServices & { tests: TestService }
): void {
  const { tests, coverage, environments, startedAt } = options
  route('GET', '/report', 'getReport', 'Get the report of all tests', {
    description:
      'Counts each environment that a request created as a test, even after its removal.',
    response: ref(RunRecord),
    handler: async (_request, reply) => {
      const { profile, assumptions } = environments.defaults
      const server = { version: VERSION, profile, assumptions, node: process.version }
      const run = { started: isoTime(startedAt), duration: steadyClock() - startedAt, ...server }
      const rest = {
        dropped: tests.dropped(),
        others: tests.others(),
        run,
        coverage: coverage.ofServer()
      }
      reply.type('application/json; charset=utf-8')
      // The test records are JSON already.
      return `{"tests":[${tests.records().join()}],${JSON.stringify(rest).slice(1)}`
    }
  })
}

/** Reports and clears the API reference coverage of one environment. */
export function coverageRoutes(route: AddRoute, { coverage }: ControlServices): void {
  route(
    'GET',
    '/coverage',
    'getCoverage',
    'Report how much of the API reference the requests cover',
    {
      description:
        'Counts requests since the environment was created or its coverage was cleared, ' +
        'regardless of the journal and resets.',
      response: ref(Coverage),
      handler: async ({ environment }) => coverage.of(environment)
    }
  )

  route('DELETE', '/coverage', 'clearCoverage', "Clear this environment's coverage", {
    description: "The server's coverage keeps its counts.",
    handler: async ({ environment }) => coverage.clear(environment)
  })
}

/** Reports and clears the API reference coverage of all requests. */
export function serverCoverageRoutes(
  route: AddRoute<'server'>,
  { coverage }: ControlServices
): void {
  route(
    'GET',
    '/coverage/server',
    'getServerCoverage',
    'Report how much of the API reference all requests cover',
    {
      description:
        'Counts the requests of all environments, including removed ones, and unauthenticated ' +
        'requests.',
      response: ref(Coverage),
      handler: async () => coverage.ofServer()
    }
  )

  route(
    'DELETE',
    '/coverage/server',
    'clearServerCoverage',
    'Clear the coverage of all environments and the server',
    {
      handler: async () => coverage.clearAll()
    }
  )
}
