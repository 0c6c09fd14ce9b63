import { Coverage } from '../../coverage/schemas.js'
import { isoTime, steadyClock } from '../../domain/clock.js'
import type { AddRoute } from '../../http/control-route.js'
import { VERSION } from '../../platform/package.js'
import { ref } from '../../schema/typebox.js'
import type { Services } from '../services.js'
import { RunRecord, TestDescription } from './schemas.js'
import type { TestService } from './service.js'

/** Tells an environment of the test that it is made for. */
export function testRoutes(route: AddRoute, { tests }: { tests: TestService }): void {
  route('PUT', '/test', 'describeTest', 'Tell of the test that this environment is made for', {
    description: 'For the report of the run. What is told later is added to what was told before.',
    changesNothing: true,
    body: ref(TestDescription),
    handler: async ({ environment, body }) => tests.describe(environment, body)
  })
}

/** Tells all that the tests have done. */
export function reportRoutes(
  route: AddRoute<'server'>,
  options: Services & { tests: TestService }
): void {
  const { tests, coverage, environments, startedAt } = options
  route('GET', '/report', 'getReport', 'Get what all tests have done', {
    description:
      'Each environment that was created by a request is taken for one of a test, after its removal too.',
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
      // Those of tests are JSON already.
      return `{"tests":[${tests.records().join()}],${JSON.stringify(rest).slice(1)}`
    }
  })
}

/** Reports how much of the contract the requests of one environment have met. */
export function coverageRoutes(route: AddRoute, { coverage }: Services): void {
  route(
    'GET',
    '/coverage',
    'getCoverage',
    'Report how much of the contract the requests have met',
    {
      description:
        'Since it was created or its coverage was cleared; the journal and resets do not matter.',
      response: ref(Coverage),
      handler: async ({ environment }) => coverage.of(environment)
    }
  )

  route('DELETE', '/coverage', 'clearCoverage', "Clear this environment's coverage", {
    description: "The server's coverage keeps what was counted.",
    handler: async ({ environment }) => coverage.clear(environment)
  })
}

/** Reports the same for all requests. */
export function serverCoverageRoutes(route: AddRoute<'server'>, { coverage }: Services): void {
  route(
    'GET',
    '/coverage/server',
    'getServerCoverage',
    'Report how much of the contract all requests have met',
    {
      description:
        'Those of all environments, also of removed ones, and those without a valid key.',
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
