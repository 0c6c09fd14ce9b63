import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import cors from '@fastify/cors'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyRequest,
  fastify,
  LogController,
  type onRequestHookHandler
} from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './config.js'
import { healthRoute } from './control/server/routes.js'
import type { Clock } from './domain/clock.js'
import { attempt, DomainError } from './domain/errors.js'
import { parseQuery } from './domain/query-string.js'
import { authentication, environmentOf } from './environments/plugin.js'
import { faultInjection } from './faults/plugin.js'
import { errorHandler, rejectInTurn, rejectMalformedRequest } from './http/errors.js'
import { logAnswer } from './http/log.js'
import { notFound, type Served } from './http/not-found.js'
import { rejectMalformedQuery } from './http/query-string.js'
import { pathOf } from './http/target.js'
import { COMPILERS } from './http/validation.js'
import { integrationRoutes } from './integrations/routes.js'
import { redactedForLog } from './journal/describe.js'
import { keepAnswer, recordRequests, recordUnroutable } from './journal/plugin.js'
import { messageRoutes } from './messages/routes.js'
import { OPERATIONS } from './operations.js'
import type { SeedService } from './seeds/service.js'
import type { StartServices } from './services.js'
import { workflowStepRoutes } from './workflow-steps/routes.js'

export { type StartServices, startServices } from './services.js'

export interface AppOptions extends Pick<Config, 'data' | 'cors' | 'inspector' | 'requestTimeout'> {
  services: StartServices
  /** Loads the service that only control routes need. */
  loadSeeds: () => Promise<SeedService>
  clock: Clock
  logger: Logger
}

interface Parts extends AppOptions {
  served: Served[]
  genReqId: ReturnType<typeof requestIds>
}

/**
 * Returns the server, complete but not listening: an app that serves the operations and `/health`, and behind the same
 * listener one with all other routes, which is loaded when the first of them is asked for.
 */
export function buildApp(options: AppOptions): FastifyInstance {
  const { services, logger } = options
  const parts: Parts = { ...options, served: [], genReqId: requestIds(services) }
  const app = createApp(parts)
  app.register(async (scope) => registerOperations(scope, services))
  app.register(healthRoute, services)

  let support: Promise<FastifyInstance> | undefined
  const loadSupport = async () => {
    const { registerSupport } = await import('./support.js')
    const others = createApp(parts)
    await registerSupport(others, { ...options, address: () => app.server.address() })
    await others.ready()
    return others
  }
  // Fastify's own would take the requests of both.
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    if (isOfService(request.url ?? '')) return app.routing(request, response)
    support ??= loadSupport()
    support.then(
      ({ routing }) => routing(request, response),
      (error) => app.routing(Object.assign(request, { loadError: error }), response)
    )
  })
  services.environments.subscribe({
    onExpiryError: (error, { id }) =>
      logger.error({ err: error, environment: id }, 'unused environment can not be removed')
  })
  app.addHook('preClose', async () => {
    // Otherwise open streams, waits and delays would keep the server from closing.
    for (const each of [services.journals, services.environments, services.latency]) each.close()
  })
  // What could not be loaded was answered for where it was asked; it does not keep the server from closing.
  app.addHook('onClose', async () => (await support?.catch(() => undefined))?.close())
  return app
}

/** What each request passes, in this order, before the route. */
const HOOKS: FastifyPluginCallback<StartServices>[] = [
  authentication,
  rejectMalformedQuery,
  faultInjection
]
const ROUTES = [integrationRoutes, messageRoutes, workflowStepRoutes]

/** Registers the operations. Throws for a route that serves none: it would not be in the document or the journal. */
export function registerOperations(app: FastifyInstance, services: StartServices): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.operation)
      throw new Error(`the route ${method} ${url} serves no operation: see defineOperation`)
  })
  for (const operation of OPERATIONS) services.coverage.include(operation)
  for (const plugin of [...HOOKS, ...ROUTES]) app.register(plugin, services)
}

/** The paths of the operations, and what a start is watched by. */
const SERVICE = /^\/(v[12]\/|health(?![^?#]))/

/** Whether a URL is of the service, also with the host that a proxy is sent, and with encoded letters. */
function isOfService(url: string): boolean {
  if (SERVICE.test(url)) return true
  return /%|^h/i.test(url) && SERVICE.test(attempt(() => decodeURI(pathOf(url))) ?? url)
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const EXPOSED_HEADERS =
  'idempotency-key, idempotency-replay, retry-after, x-mock-change, x-mock-reason, x-request-id'

/** Rejects what HTTP itself does not allow, and lets any body be read as it comes. */
const checkHeaders: onRequestHookHandler = ({ id, headers, raw }, reply, done) => {
  reply.header('x-request-id', id)
  const { 'content-type': type, expect, host } = headers
  // Fastify would reject a body whose type it can't parse.
  if (type !== undefined && !MEDIA_TYPE.test(type)) delete headers['content-type']
  if ('loadError' in raw) done(raw.loadError as Error)
  else if (raw.httpVersion !== '1.1') done()
  else if (expect !== undefined && !CONTINUE.test(expect)) done(NO_EXPECTATIONS)
  else done(host === undefined ? HOST_MISSING : undefined)
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/
/** As Node recognises it. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i
const EXPECT = { reason: 'the only Expect that is met is 100-continue' }
const NO_EXPECTATIONS = new DomainError('expectation-failed', 'Expectation failed', EXPECT)
const HOST = { reason: 'HTTP/1.1 asks for a Host header' }
const HOST_MISSING = new DomainError('bad-request', 'Missing Host header', HOST)

/** An error has the time, the ids and the assumptions of the environment whose key is sent, also where none is needed. */
function sourcesOf({ environment, headers }: FastifyRequest, { services, clock }: AppOptions) {
  const { environments } = services
  const found = environment ?? environmentOf(headers.authorization, environments)
  return (
    found ?? {
      now: clock,
      random: { uuid: randomUUID },
      assumptions: environments.defaultAssumptions
    }
  )
}

const MAX_HEADERS = 256 * 1024

/**
 * Returns an app with what every request passes, in this order, whichever route it is for; the hooks of the operations are
 * in `openapi/operations.ts`.
 */
function createApp(options: Parts): FastifyInstance {
  const { services, clock, logger, requestTimeout, genReqId, served } = options
  const handleError = errorHandler((request) => sourcesOf(request, options), options.data)
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines about a request have its id (see `http/log.ts`): few requests are logged, and a logger for each takes time.
    childLoggerFactory: (parent) => parent,
    genReqId,
    bodyLimit: 1024 * 1024,
    requestTimeout,
    http: {
      // Here too, as Node derives the time for the headers from it.
      requestTimeout,
      maxHeaderSize: MAX_HEADERS,
      // Otherwise Node would answer requests without a Host header itself, without a body.
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(30_000, requestTimeout || 30_000)
    },
    routerOptions: { maxParamLength: MAX_HEADERS, querystringParser: parseQuery as never },
    schemaController: { compilersFactory: COMPILERS },
    // Requests that have arrived are answered even while the server closes.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      handleError(error, request, reply as never)
      recordUnroutable(request, reply as never, services)
    },
    clientErrorHandler: (error, socket) => rejectMalformedRequest(error, socket, clock)
  })
  app.setErrorHandler(handleError)
  for (const name of ['environment', 'errorCode', 'changed']) app.decorateRequest(name)
  app.decorateRequest('redacted', function (text) {
    return logger.isLevelEnabled('info') ? redactedForLog(services.redactionOf, this, text) : text
  })

  // The operations take no body. One that is sent is kept as it is, whatever its content type.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  // However many fit. By default Node 20 drops those beyond a thousand, the key among them, and later versions refuse.
  app.server.maxHeadersCount = 0
  // Rejected like any request, after the earlier ones on its connection.
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response)
  )
  app.server.on('connect', (_request, socket) => rejectInTurn(socket as Socket, NO_TUNNELS, clock))

  recordRequests(app, services)
  app.addHook('onRequest', checkHeaders)
  if (options.cors)
    app.register(cors, {
      methods: METHODS,
      exposedHeaders: EXPOSED_HEADERS,
      strictPreflight: false
    })
  const explains = (request: FastifyRequest) =>
    sourcesOf(request, options).assumptions['unserved-route'] === 'explain'
  app.register(notFound, { served, explains })
  // Sends all answers of one turn of the event loop at its end: up to a fifth cheaper than one by one. Those to requests that
  // have been refused before they were delayed are delayed here.
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (request.journalEntry) keepAnswer(request.journalEntry, payload)
    const delay = services.latency.draw(request)
    if (delay === 0) setImmediate(done, null, payload)
    else services.latency.wait(delay).then(() => done(null, payload))
  })
  if (logger.isLevelEnabled('debug'))
    app.addHook('onResponse', async (_request, reply) => logAnswer(reply))
  return app
}

const NO_TUNNELS = {
  status: 405,
  message: 'CONNECT is not allowed',
  reason: 'this server is no proxy'
}

/** Returns a function that returns the id of a request: its own, if that is safe to log and to send back, or a new one. */
function requestIds({ environments, adminToken }: StartServices) {
  let count = 0
  const isSecret = (id: string, authorization: string) =>
    (authorization.includes(id) && id.length > 3) || id === adminToken || environments.isApiKey(id)
  return ({ headers: { 'x-request-id': id, authorization = '' } }: IncomingMessage) => {
    if (typeof id === 'string' && /^[\w.:-]{1,64}$/.test(id) && !isSecret(id, authorization))
      return id
    count += 1
    return `req-${count.toString(36)}`
  }
}
