import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import cors from '@fastify/cors'
import {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController
} from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './config.js'
import { healthRoute } from './control/server/routes.js'
import type { Clock } from './domain/clock.js'
import { parseQuery } from './domain/query-string.js'
import { authentication, identifyEnvironment } from './environments/plugin.js'
import { delayResponse, faultInjection, injectIntoResponse } from './faults/plugin.js'
import { checkHeaders } from './http/check-headers.js'
import { errorHandler } from './http/errors.js'
import { logResponse } from './http/log.js'
import { notFound, type ServedPath } from './http/not-found.js'
import { rejectMalformedQuery } from './http/query-string.js'
import { createRequestIds } from './http/request-id.js'
import { rejectMalformedRequest, rejectOnSocket } from './http/socket-errors.js'
import { COMPILERS } from './http/validation.js'
import { integrationRoutes } from './integrations/routes.js'
import { keepResponse, openRecord, recordChanges, recordUnroutable } from './journal/plugin.js'
import { redactForLog } from './journal/redaction.js'
import { serveLazily } from './lazy-loading.js'
import { messageRoutes } from './messages/routes.js'
import { OPERATIONS } from './operations.js'
import type { SeedService } from './seeds/service.js'
import type { Services } from './services.js'
import { workflowStepRoutes } from './workflow-steps/routes.js'

export { createServices, type Services } from './services.js'

export interface AppOptions extends Pick<Config, 'data' | 'cors' | 'inspector' | 'requestTimeout'> {
  services: Services
  /** Loads the service that only control routes need. */
  loadSeeds: () => Promise<SeedService>
  clock: Clock
  logger: Logger
}

/** What both Fastify instances share. */
interface Shared {
  /** The routes of both, so that a 404 can suggest any of them. */
  served: ServedPath[]
  genReqId: ReturnType<typeof createRequestIds>
}

/** Returns the server, complete but not listening. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { services, logger } = options
  const { environments, adminToken } = services
  const isSecret = (id: string) => id === adminToken || environments.isApiKey(id)
  const shared: Shared = { served: [], genReqId: createRequestIds(isSecret) }

  const app = createApp(options, shared)
  app.register(async (scope) => registerOperations(scope, services))
  app.register(healthRoute, services)
  serveLazily(app, async () => {
    const { registerLazyRoutes } = await import('./lazy-routes.js')
    const lazyApp = createApp(options, shared)
    const seeds = await options.loadSeeds()
    registerLazyRoutes(lazyApp, { ...options, seeds, address: () => app.server.address() })
    await lazyApp.ready()
    return lazyApp
  })

  environments.subscribe({
    onExpiryError: (error, { id }) =>
      logger.error({ err: error, environment: id }, 'expired environment could not be removed')
  })
  app.addHook('preClose', async () => {
    // Otherwise open streams, waits and delays would keep the server from closing.
    services.journals.close()
    environments.close()
    services.latency.close()
  })
  return app
}

/**
 * Returns a Fastify instance with everything that a request passes before and after its route, in
 * this order. The request lifecycle of an operation goes on in `registerOperations`.
 */
function createApp(options: AppOptions, shared: Shared): FastifyInstance {
  const { services, clock, logger } = options
  const identify = identifyEnvironment(services.environments)
  const handleError = errorHandler((request) => errorSources(request, options), options.data)
  const app = fastify({
    ...serverOptions(options),
    loggerInstance: logger as FastifyBaseLogger,
    genReqId: shared.genReqId,
    // A path that can't be decoded never reaches the hooks below.
    frameworkErrors: (error, request, reply) => {
      identify(request)
      handleError(error, request, reply as never)
      recordUnroutable(request, reply as never, services)
    },
    clientErrorHandler: (error, socket) => rejectMalformedRequest(error, socket, clock)
  })
  configureServer(app, clock)
  decorateRequests(app, options)
  app.setErrorHandler(handleError)

  // onRequest: before the body is read.
  app.addHook('onRequest', (request, _reply, done) => {
    identify(request) // API key → environment; rejects nothing yet
    done()
  })
  app.addHook('onRequest', openRecord(services)) // the journal opens a record
  app.addHook('onRequest', checkHeaders) // 400 or 417 for what HTTP forbids
  if (options.cors) app.register(cors, CORS)
  app.register(notFound, {
    served: shared.served,
    explains: (request) =>
      errorSources(request, options).assumptions['unserved-route'] === 'explain'
  })

  // onSend: from the handler, or from the hook that rejected the request, to the client.
  app.addHook('onSend', keepResponse) // the journal keeps the body
  app.addHook('onSend', recordChanges(services)) // control routes: x-mock-change
  app.addHook('onSend', injectIntoResponse) // faults that truncate or lose the response
  app.addHook('onSend', delayResponse(services.latency))

  // The journal closes the record when the response has been sent or the connection is lost: see
  // openRecord.
  if (logger.isLevelEnabled('debug')) {
    app.addHook('onResponse', async (_request, reply) => logResponse(reply))
  }
  return app
}

/**
 * Registers the operations behind the hooks that every request to them passes, in this order.
 * Throws for a route that serves no operation: it would be missing from the OpenAPI document and
 * the journal.
 */
export function registerOperations(app: FastifyInstance, services: Services): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.operation) {
      throw new Error(`the route ${method} ${url} serves no operation: see defineOperation`)
    }
  })
  for (const operation of OPERATIONS) services.coverage.include(operation)

  app.register(authentication, services) // onRequest: 401
  app.register(rejectMalformedQuery, services) // onRequest: 400
  // onRequest, in the operation's route: the idempotency key (409), then a warning for unknown
  // parameters
  app.register(faultInjection, services) // preValidation: latency and faults
  // validation (422), then the handler: service → repository
  app.register(integrationRoutes, services)
  app.register(messageRoutes, services)
  app.register(workflowStepRoutes, services)
}

const CORS = {
  methods: 'GET, HEAD, POST, PUT, PATCH, DELETE',
  exposedHeaders:
    'idempotency-key, idempotency-replay, retry-after, x-mock-change, x-mock-reason, x-request-id',
  strictPreflight: false
}

const MAX_HEADERS = 256 * 1024
const MAX_BODY = 1024 * 1024

/** How often Node looks for requests that take longer than `requestTimeout`, in milliseconds. */
const TIMEOUT_CHECK_INTERVAL = 30_000

function serverOptions({ requestTimeout }: AppOptions): FastifyHttpOptions<Server> {
  return {
    // `http/log.ts` logs rejected requests only, and a child logger per request takes time.
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent) => parent,
    bodyLimit: MAX_BODY,
    requestTimeout,
    http: {
      // Repeated here because Node derives the timeout for the headers from it.
      requestTimeout,
      maxHeaderSize: MAX_HEADERS,
      // `checkHeaders` rejects a missing Host with our error body; Node would send an empty one.
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_INTERVAL, requestTimeout || Infinity)
    },
    routerOptions: { maxParamLength: MAX_HEADERS, querystringParser: parseQuery as never },
    schemaController: { compilersFactory: COMPILERS },
    // Requests that have arrived get their response even while the server closes.
    return503OnClosing: false,
    forceCloseConnections: 'idle'
  }
}

/**
 * Makes Node's server pass on what it would reject by itself, so that every error has the same
 * body.
 */
function configureServer(app: FastifyInstance, clock: Clock): void {
  // Operations read no body. A body of any content type is kept unparsed, for the journal.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  // No limit on the number of headers. By default Node 20 drops those after the 1,000th, perhaps
  // the API key.
  app.server.maxHeadersCount = 0
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response)
  )
  app.server.on('connect', (_request, socket) =>
    rejectOnSocket(socket as Socket, NO_TUNNELS, clock)
  )
}

const NO_TUNNELS = {
  status: 405,
  message: 'CONNECT is not allowed',
  reason: 'this server is not a proxy'
}

function decorateRequests(app: FastifyInstance, { services, logger }: AppOptions): void {
  for (const name of ['environment', 'errorCode', 'changed', 'effect']) app.decorateRequest(name)
  app.decorateRequest('journalEntry', null)
  app.decorateRequest('redacted', function (text) {
    return logger.isLevelEnabled('info') ? redactForLog(services.redactionOf, this, text) : text
  })
}

/**
 * Returns what an error body takes from the request's environment, or from the server if the
 * request has no valid key.
 */
function errorSources({ environment }: FastifyRequest, { services, clock }: AppOptions) {
  if (environment) return environment
  return {
    now: clock,
    random: { uuid: randomUUID },
    assumptions: services.environments.defaultAssumptions
  }
}
