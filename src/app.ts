import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController
} from 'fastify'
import fp from 'fastify-plugin'
import type { Logger } from 'pino'
import type { Config } from './config.js'
import { healthRoute } from './control/server/routes.js'
import type { Clock } from './domain/clock.js'
import { parseQuery } from './domain/query-string.js'
import { authentication, identifyEnvironment } from './environments/plugin.js'
import { delayResponse, faultInjection, injectIntoResponse } from './faults/plugin.js'
import { checkHeaders } from './http/check-headers.js'
import { crossOriginRequests } from './http/cors.js'
import { rejectCrossSite } from './http/cross-site.js'
import { errorHandler } from './http/errors.js'
import { logResponse } from './http/log.js'
import { isUnmocked, notFound, type ServedPath } from './http/not-found.js'
import { routeOtherPathForms } from './http/path-form.js'
import { rejectMalformedQuery } from './http/query-string.js'
import { createRequestIds } from './http/request-id.js'
import { rejectMalformedRequest, rejectOnSocket } from './http/socket-errors.js'
import { pathOf } from './http/target.js'
import { COMPILERS } from './http/validation.js'
import { integrationRoutes } from './integrations/routes.js'
import { keepResponse, openRecord, recordChanges, recordUnroutable } from './journal/plugin.js'
import { redactForLog } from './journal/redaction.js'
import { serveLazily } from './lazy-loading.js'
import { messageRoutes } from './messages/routes.js'
import { OPERATIONS } from './operations.js'
import type { SeedService } from './seeds/service.js'
import type { Services } from './services.js'
import { unmockedRequests } from './stubs/plugin.js'
import { workflowStepRoutes } from './workflow-steps/routes.js'

export { createServices, type Services } from './services.js'

type AppConfig =
  | 'data'
  | 'cors'
  | 'inspector'
  | 'requestTimeout'
  | 'fallback'
  | 'fallbackKey'
  | 'fallbackTimeout'

export interface AppOptions extends Pick<Config, AppConfig> {
  services: Services
  /** Loads the seed service, which only the control routes need. */
  loadSeeds: () => Promise<SeedService>
  clock: Clock
  logger: Logger
}

/**
 * Values that both Fastify instances use. One instance is created at startup, the other when a
 * request first needs its routes.
 */
interface Shared {
  /** The routes of both instances, so that a 404 can suggest any of them. */
  served: ServedPath[]
  genReqId: ReturnType<typeof createRequestIds>
}

/** Returns the server with all its routes. It doesn't listen yet. */
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
    // End open streams, waiting requests and delays, because they would keep the server from
    // closing.
    services.journals.close()
    environments.close()
    services.latency.close()
  })
  return app
}

/**
 * Returns a Fastify instance with the hooks that run before and after every route, in request
 * order. `registerOperations` adds the hooks that only operations need.
 */
function createApp(options: AppOptions, shared: Shared): FastifyInstance {
  const { services, clock, logger } = options
  const identify = identifyEnvironment(services.environments)
  const unservedRoute = (request: FastifyRequest) =>
    errorSources(request, options).assumptions['unserved-route']
  const handleError = errorHandler((request) => errorSources(request, options), options.data)
  const app = fastify({
    ...serverOptions(options),
    loggerInstance: logger as FastifyBaseLogger,
    genReqId: shared.genReqId,
    // If a path can't be decoded, Fastify skips the hooks below, so do their work here.
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

  // The onRequest hooks run before the body is read.
  app.addHook('onRequest', (request, _reply, done) => {
    identify(request) // finds the API key's environment; doesn't reject unknown keys
    done()
  })
  app.addHook('onRequest', rejectCrossSite) // 403 if another site's page sends no valid API key
  app.addHook('onRequest', routeOtherPathForms(app, pathForms(options))) // `/V1/Messages/`
  app.addHook('onRequest', openRecord(services)) // the journal opens a record
  app.addHook('onRequest', checkHeaders) // 400 without Host, 417 for an unknown Expect
  if (options.cors) {
    app.register(crossOriginRequests, {
      assumptionFor: (request) => errorSources(request, options).assumptions.cors
    })
  }
  const isStubbed = ({ environment, method, url }: FastifyRequest) =>
    environment !== undefined && services.stubs.find(environment, method, pathOf(url)) !== undefined
  app.register(notFound, {
    served: shared.served, // 404 or 405 for a path or method without a route
    assumptionFor: unservedRoute,
    isStubbed
  })
  registerFallback(app, options, (request) => {
    const isUnserved = request.is404 && isUnmocked(shared.served, pathOf(request.url))
    return isUnserved && !isStubbed(request)
  })
  // For the rest of Novu's API, this plugin checks the API key, reads the body, injects faults, and
  // then responds with a stub or 404.
  app.register(unmockedRequests, {
    ...services,
    served: shared.served,
    assumptionFor: unservedRoute
  })

  // The onSend hooks run for every response, whether a handler or a rejecting hook created it.
  app.addHook('onSend', keepResponse) // the journal keeps the body
  app.addHook('onSend', recordChanges(services)) // sets x-mock-change for control routes
  app.addHook('onSend', injectIntoResponse) // faults that truncate or lose the response
  app.addHook('onSend', delayResponse(services.latency))

  // The journal doesn't need an onResponse hook: `openRecord` also closes the record, when the
  // response has been sent or the connection is lost.
  if (logger.isLevelEnabled('debug')) {
    app.addHook('onResponse', async (_request, reply) => logResponse(reply))
  }
  return app
}

/**
 * Registers the plugin that forwards unserved requests to the fallback server, if there is one.
 * Imports the plugin only in that case, because it consists of many modules.
 */
function registerFallback(
  app: FastifyInstance,
  { services, fallback, fallbackKey = 'fallback', fallbackTimeout }: AppOptions,
  isUnserved: (request: FastifyRequest) => boolean
): void {
  if (fallback === undefined) return
  app.register(
    fp(async (scope) => {
      const { fallbackServer } = await import('./stubs/fallback.js')
      await scope.register(fallbackServer, {
        ...services,
        url: fallback,
        key: fallbackKey,
        timeout: fallbackTimeout,
        isUnserved
      })
    })
  )
}

/**
 * Registers the operations and their hooks, in request order. Throws if a route serves no
 * operation, because the OpenAPI document and the journal would lack the route.
 */
export function registerOperations(app: FastifyInstance, services: Services): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.operation) {
      throw new Error(`the route ${method} ${url} serves no operation; use defineOperation`)
    }
  })
  for (const operation of OPERATIONS) services.coverage.include(operation)

  app.register(authentication, services) // onRequest: 401
  app.register(rejectMalformedQuery, services) // onRequest: 400
  // An operation's route adds two onRequest hooks. The first checks the idempotency key (409), the
  // second warns about unknown parameters.
  app.register(faultInjection, services) // preValidation: latency and faults
  // Then each route validates the request (422). Its handler calls a service, which calls a
  // repository.
  app.register(integrationRoutes, services)
  app.register(messageRoutes, services)
  app.register(workflowStepRoutes, services)
}

const MAX_HEADERS = 256 * 1024
const MAX_BODY = 1024 * 1024

/** Milliseconds between Node's checks for requests that exceed `requestTimeout`. */
const TIMEOUT_CHECK_INTERVAL = 30_000

function serverOptions({ requestTimeout }: AppOptions): FastifyHttpOptions<Server> {
  return {
    // `http/log.ts` does the logging. Creating a child logger for every request would cost time.
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent) => parent,
    bodyLimit: MAX_BODY,
    requestTimeout,
    http: {
      // Set `requestTimeout` here too, because Node derives `headersTimeout` from it.
      requestTimeout,
      maxHeaderSize: MAX_HEADERS,
      // `checkHeaders` rejects a missing Host header with an error body. Node would send no body.
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_INTERVAL, requestTimeout || Infinity)
    },
    routerOptions: { maxParamLength: MAX_HEADERS, querystringParser: parseQuery as never },
    schemaController: { compilersFactory: COMPILERS },
    // While the server is closing, keep serving requests on open connections. By default, Fastify
    // responds with 503.
    return503OnClosing: false,
    forceCloseConnections: 'idle'
  }
}

/**
 * Makes the server accept bodies of any type. Also handles requests that Node's HTTP server would
 * reject by itself, so that their error bodies have the usual format.
 */
function configureServer(app: FastifyInstance, clock: Clock): void {
  // Accept every content type and leave the body unparsed. No operation reads it, and the control
  // routes have their own parser.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  // 0 removes the limit. By default, Node 20 drops all headers after the 1,000th, and the API key
  // could be in one of them.
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
    return logger.isLevelEnabled('warn') ? redactForLog(services.redactionOf, this, text) : text
  })
}

function pathForms(options: AppOptions) {
  return {
    paths: OPERATIONS.map(({ url }) => url),
    assumptionFor: (request: FastifyRequest) =>
      errorSources(request, options).assumptions['path-form']
  }
}

/**
 * Returns the clock, random source and assumptions for an error body. They come from the request's
 * environment, or from the server if the request has no valid key.
 */
function errorSources({ environment }: FastifyRequest, { services, clock }: AppOptions) {
  if (environment) return environment
  return {
    now: clock,
    random: { uuid: randomUUID },
    assumptions: services.environments.defaultAssumptions
  }
}
