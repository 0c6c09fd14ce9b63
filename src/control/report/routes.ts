import { isoTime, steadyClock } from '../../core/clock.js'
import { VERSION } from '../../core/package.js'
import { ref } from '../../core/typebox.js'
import type { AddRoute } from '../../http/control-route.js'
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
export function reportRoutes(route: AddRoute, options: Services & { tests: TestService }): void {
  const { tests, coverage, environments, startedAt } = options
  route('GET', '/report', 'getReport', 'Get what all tests have done', {
    description:
      'Each environment that was created by a request is taken for one of a test, and is in the report after its removal too. Secrets are left out.',
    response: ref(RunRecord),
    handler: async (_request, reply) => {
      const { profile, assumptions } = environments.defaults
      const run: RunRecord['run'] = {
        started: isoTime(startedAt),
        duration: steadyClock() - startedAt,
        version: VERSION,
        profile,
        assumptions,
        node: process.version
      }
      const rest = { dropped: tests.dropped(), others: tests.others(), run, coverage: coverage.ofServer() }
      reply.type('application/json; charset=utf-8')
      // Those of tests are JSON already.
      return `{"tests":[${tests.records().join()}],${JSON.stringify(rest).slice(1)}`
    }
  })
}
