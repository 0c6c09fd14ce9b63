import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Stub } from '../domain/stub.js'
import { authenticateRequest, requireEnvironment } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import type { LatencyService } from '../faults/latency.js'
import { injectFaults } from '../faults/plugin.js'
import type { FaultService } from '../faults/service.js'
import { JSON_TYPE } from '../http/errors.js'
import { notMockedError, type ServedPath, type UnservedRoute } from '../http/not-found.js'
import { pathOf } from '../http/target.js'
import type { StubService } from './service.js'

interface Options {
  environments: EnvironmentService
  faults: FaultService
  latency: LatencyService
  stubs: StubService
  served: readonly ServedPath[]
  assumptionFor: (request: FastifyRequest) => UnservedRoute
}

/**
 * The maximum number of warnings to log. Each new path causes a warning, so without this limit,
 * paths with ids could flood the log.
 */
const MAX_WARNINGS = 100

/**
 * Responds to the requests that `notFound` let through: requests to paths of Novu's API that no
 * operation serves, and requests that a stub serves. As with operations, a request needs an API
 * key, its body is read for the journal, and it can get a fault.
 */
export const unmockedRequests = fp<Options>(async (app, options) => {
  const { environments, stubs, latency } = options
  const warned = new Set<string>()

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) authenticateRequest(request, environments)
    done()
  })
  app.setNotFoundHandler({ preValidation: injectFaults(options) }, async (request, reply) => {
    const environment = requireEnvironment(request)
    environments.assertExists(environment)
    const stub = stubs.find(environment, request.method, pathOf(request.url))
    if (!stub) throw createError(request)
    if (stub.delay) await latency.wait(stub.delay)
    return sendStub(stub, request, reply)
  })

  /**
   * Returns the error for a request without a stub. The first error per method and path is logged
   * as a warning.
   */
  function createError(request: FastifyRequest) {
    const error = notMockedError(options.served, request, options.assumptionFor(request))
    const target = `${request.method} ${pathOf(request.url)}`
    if (warned.has(target) || warned.size === MAX_WARNINGS) return error
    warned.add(target)
    error.details.logLevel = 'warn'
    return error
  }
})

function sendStub(stub: Stub, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (request.journalEntry) request.journalEntry.stub = stub.id
  const isText = typeof stub.body === 'string'
  const body = isText ? (stub.body as string) : JSON.stringify(stub.body)
  if (body !== undefined) reply.type(isText ? 'text/plain; charset=utf-8' : JSON_TYPE)
  reply.code(stub.status).headers(lowerCaseNames(stub.headers)).header('x-mock-stub', stub.id)
  return reply.send(body === undefined ? undefined : Buffer.from(body))
}

function lowerCaseNames(headers: Stub['headers'] = {}): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return Object.fromEntries(entries)
}
