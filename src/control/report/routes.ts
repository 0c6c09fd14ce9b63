import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import { Coverage } from '../../coverage/schemas.js'
import { isoTime, steadyClock } from '../../domain/clock.js'
import type { AddRoute } from '../../http/control-route.js'
import { VERSION } from '../../platform/package.js'
import { ref, strictObject, stringEnum } from '../../schema/typebox.js'
import type { ControlServices } from '../services.js'
import { reportJson } from './report.js'
import { REPORT_STATES, RunRecord, TestDescription } from './schemas.js'
import type { TestService } from './service.js'

/** Adds the route that sets the title, outcome and error of an environment's test. */
export function testRoutes(route: AddRoute, { tests }: { tests: TestService }): void {
  route('PUT', '/test', 'describeTest', 'Describe the test that uses this environment', {
    description:
      'Adds the fields to the test in the report. A later call can add or replace fields.',
    changesNothing: true,
    body: ref(TestDescription),
    handler: async ({ environment, body }) => tests.describe(environment, body)
  })
}

/** Adds the route that returns the report of all tests. */
export function reportRoutes(
  route: AddRoute<'server'>,
  options: ControlServices & { tests: TestService }
): void {
  const { coverage, environments, startedAt } = options
  route('GET', '/report', 'getReport', 'Get the report of all tests', {
    description:
      'Each environment that was created by a request or described with `PUT /_mock/test` ' +
      'counts as one test, even after the environment is removed.',
    querystring: strictObject({
      states: stringEnum(REPORT_STATES, { default: 'off', description: STATES }),
      environment: Type.Optional(Type.String({ description: ENVIRONMENT }))
    }),
    response: ref(RunRecord),
    handler: async (request, reply) => {
      const { profile, assumptions } = environments.defaults
      const server = { version: VERSION, profile, assumptions, node: process.version }
      const run = { started: isoTime(startedAt), duration: steadyClock() - startedAt, ...server }
      reply.type('application/json; charset=utf-8')
      const { states, environment: environmentId } = request.query
      // The response to HEAD has no body, so don't build the report.
      const isHead = request.method === 'HEAD'
      const head = { run, coverage: coverage.ofServer() }
      const pieces = isHead ? [] : reportJson(options, head, { states, environmentId })
      return reply.send(Readable.from(pieces, { objectMode: false }))
    }
  })
}

const ENVIRONMENT = 'Id of an environment, to get only the test of that environment'
const STATES =
  "Which tests' starting states the report includes. `notification-mock open` needs the starting " +
  'state of a test'

/** Adds the routes that return and clear one environment's coverage of the API reference. */
export function coverageRoutes(route: AddRoute, { coverage }: ControlServices): void {
  route(
    'GET',
    '/coverage',
    'getCoverage',
    'Report how much of the API reference the requests cover',
    {
      description:
        'Counts the requests since the environment was created or its coverage was cleared. ' +
        'Clearing the journal and resetting the environment do not change the counts.',
      response: ref(Coverage),
      handler: async ({ environment }) => coverage.of(environment)
    }
  )

  route('DELETE', '/coverage', 'clearCoverage', "Clear this environment's coverage", {
    description: 'The coverage of the whole server does not change.',
    handler: async ({ environment }) => coverage.clear(environment)
  })
}

/** Adds the routes that return and clear the whole server's coverage of the API reference. */
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
        'Counts the requests to all environments, including removed environments, and ' +
        'unauthenticated requests.',
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
