import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { MalformedQuery, type Query } from '../domain/query-string.js'
import { authenticateRequest, requireEnvironment } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import type { LatencyService } from '../faults/latency.js'
import { injectFaults } from '../faults/plugin.js'
import type { FaultService } from '../faults/service.js'
import { JSON_TYPE } from '../http/errors.js'
import { notMockedError, type ServedPath, type UnservedRoute } from '../http/not-found.js'
import { malformedQueryError } from '../http/query-string.js'
import { pathOf } from '../http/target.js'
import type { Redaction, RedactionOf } from '../journal/redaction.js'
import { runFunction } from './functions.js'
import type { StubResponse } from './schemas.js'
import type { StubMatch, StubService } from './service.js'

interface Options {
  environments: EnvironmentService
  faults: FaultService
  latency: LatencyService
  stubs: StubService
  redactionOf: RedactionOf
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
 * operation serves, and requests that a stub serves. Like requests to operations, they need an API
 * key, the journal stores their bodies, and they are subject to faults.
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
    const match = stubs.find(environment, request.method, pathOf(request.url))
    if (!match) throw createError(request)
    const { stub } = match
    if (request.journalEntry) request.journalEntry.stub = stub.id
    reply.header('x-mock-stub', stub.id)
    if (stub.delay) await latency.wait(stub.delay)
    if (stub.function === undefined) return sendResponse(stub, reply)
    return sendFromFunction(match, request, reply)
  })

  /** Sends the response of the stub's function. Throws `stub-failed` if the function fails. */
  async function sendFromFunction(
    match: StubMatch,
    request: FastifyRequest,
    reply: FastifyReply
  ): Promise<FastifyReply> {
    try {
      const response = await Promise.race([callFunction(match, request), disconnected(reply)])
      // If the connection is closed, do nothing more. The server may be closing, and its database
      // may already be closed.
      return response === undefined ? reply.hijack() : sendResponse(response, reply)
    } catch (error) {
      throw redactReason(error, options.redactionOf(request.headers.authorization))
    }
  }

  async function callFunction({ stub, params }: StubMatch, request: FastifyRequest) {
    const { query } = request
    if (query instanceof MalformedQuery) throw malformedQueryError(query)
    const [apiKey = ''] = environments.apiKeysOf(requireEnvironment(request))
    const { authorization: _authorization, ...headers } = request.headers
    return runFunction(stub, stubs.functions.find(stub.function ?? ''), {
      apiKey,
      params,
      query: query as Query,
      headers,
      body: parseBody(request)
    })
  }

  /**
   * Returns the error for a request that no stub matches. Only the first error for each method and
   * path is logged as a warning.
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

/** Resolves when the connection is closed. */
const disconnected = ({ raw }: FastifyReply): Promise<undefined> =>
  new Promise((resolve) => raw.once('close', () => resolve(undefined)))

/** Sends a stub's fixed response, or the response that a stub's function returned. */
function sendResponse({ status = 200, headers, body }: StubResponse, reply: FastifyReply) {
  const isText = typeof body === 'string'
  const text = isText ? body : JSON.stringify(body)
  if (text !== undefined) reply.type(isText ? 'text/plain; charset=utf-8' : JSON_TYPE)
  reply.code(status).headers(lowerCaseNames(headers))
  return reply.send(text === undefined ? undefined : Buffer.from(text))
}

/**
 * Returns the parsed body if the content type is JSON. Otherwise, returns the body as text, or
 * undefined if it is empty.
 */
function parseBody({ headers, body }: FastifyRequest): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined
  const text = body.toString()
  if (!/^[^;]*json/i.test(headers['content-type'] ?? '')) return text
  try {
    return JSON.parse(text)
  } catch {
    throw new DomainError('bad-request', 'Malformed JSON in the request body', {
      reason: "the content type is JSON, so the body is parsed for the stub's function"
    })
  }
}

/** Removes secrets from the error's reason, which may contain what the stub's function threw. */
function redactReason(error: unknown, redaction: Redaction): unknown {
  if (error instanceof DomainError) error.details.reason = redaction.redact(error.details.reason)
  return error
}

function lowerCaseNames(headers: StubResponse['headers'] = {}): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return Object.fromEntries(entries)
}
