import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import cors from '@fastify/cors'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
  type onSendHookHandler
} from 'fastify'
import type { Logger } from 'pino'
import { redactedForLog } from './control/requests/describe.js'
import { keepAnswer, recordRequests, recordUnroutable } from './control/requests/plugin.js'
import { healthRoute } from './control/server/routes.js'
import type { StartServices } from './control/start-services.js'
import type { Clock } from './core/clock.js'
import { attempt, DomainError } from './core/errors.js'
import { environmentOf } from './environments/plugin.js'
import { errorHandler } from './http/errors.js'
import { logAnswer } from './http/log.js'
import { notFound, type Served } from './http/not-found.js'
import { parseQuery } from './http/query-string.js'
import { rejectInTurn, rejectMalformedRequest } from './http/socket-errors.js'
import { pathOf } from './http/target.js'
import { COMPILERS } from './http/validation.js'
import { registerOperations } from './openapi/operations.js'
import type { SeedService } from './seeds/service.js'

export { type StartServices, startServices } from './control/start-services.js'

export interface AppOptions {
  services: StartServices
  /** Loads the service that only control routes need. */
  loadSeeds: () => Promise<SeedService>
  clock: Clock
  /** The data file, if the data are kept in one. */
  data?: string | undefined
  /** Whether any web page may call. */
  cors: boolean
  /** Whether browsers get the inspector at `/`. */
  inspector: boolean
  /** How long a client may take to send a request, in milliseconds; 0 for as long as it likes. */
  requestTimeout: number
  logger: Logger
}

/**
 * Returns the server, complete but not listening: an app that serves the operations and `/health`, and behind the same
 * listener one with all other routes, which is loaded when the first of them is asked for. Hooks are in the order in which
 * a request passes them.
 */
export function buildApp(options: AppOptions): FastifyInstance {
  const { services, logger } = options
  let count = 0
  const shared: Shared = { served: [], nextId: () => `req-${(++count).toString(36)}` }
  let support: Promise<FastifyInstance> | undefined
  const app = createApp(options, shared)
  // Fastify's own would take the requests of both.
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    if (isOfService(request.url ?? '')) return app.routing(request, response)
    loadSupport().then(
      ({ routing }) => routing(request, response),
      (error) => app.routing(Object.assign(request, { loadError: error }), response)
    )
  })

  // Node never loads again what it could not load for want of file descriptors.
  const loading = setTimeout(() => loadSupport().catch(() => {}), PRELOAD_AFTER).unref()

  services.environments.subscribe({
    onExpiryError: (error, { id }) =>
      logger.error({ err: error, environment: id }, 'unused environment can not be removed')
  })
  app.register(async (scope) => registerOperations(scope, services))
  app.register(healthRoute, services)
  app.addHook('preClose', async () => {
    clearTimeout(loading)
    // Otherwise open streams, waits and delays would keep the server from closing.
    services.journals.close()
    services.environments.close()
    services.latency.close()
  })
  // Routes that could not be loaded were answered for where they were asked; they do not keep the server from closing.
  app.addHook('onClose', async () => {
    const loaded = await support?.catch(() => undefined)
    await loaded?.close()
  })
  return app

  function loadSupport(): Promise<FastifyInstance> {
    support ??= createSupport()
    return support
  }

  async function createSupport(): Promise<FastifyInstance> {
    const { registerSupport } = await import('./support.js')
    const instance = createApp(options, shared)
    await registerSupport(instance, { ...options, address: () => app.server.address() })
    await instance.ready()
    return instance
  }
}

/** How long after a start all other routes are loaded if nobody has asked for one, in milliseconds: when CI has long begun. */
const PRELOAD_AFTER = 10_000

/** The paths of the operations, and what a start is watched by. */
const SERVICE = /^\/(v[12]\/|health(?![^?#]))/

/** Whether a URL is of the service, also with the host that a proxy is sent, and with encoded letters. */
function isOfService(url: string): boolean {
  if (SERVICE.test(url)) return true
  return /%|^h/i.test(url) && SERVICE.test(attempt(() => decodeURI(pathOf(url))) ?? url)
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const EXPOSED_HEADERS = 'idempotency-key, idempotency-replay, retry-after, x-mock-change, x-mock-reason, x-request-id'
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/
const MAX_BODY = 1024 * 1024
const MAX_HEADERS = 256 * 1024
/** How often Node looks for requests that take too long, in milliseconds. */
const CHECK_INTERVAL = 30_000

/** What the two apps have in common. */
interface Shared {
  /** What the routes of both serve. */
  served: Served[]
  /** Returns an id for a request that brings none. */
  nextId: () => string
}

/** Returns an app with what every request passes, whichever route it is for, and no route. */
function createApp(options: AppOptions, { served, nextId }: Shared): FastifyInstance {
  const { services, logger } = options
  const app = createServer(options, nextId)
  recordRequests(app, services)
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, raw } = request
    reply.header('x-request-id', request.id)
    // Fastify would reject a body whose type it can't parse, and here any is read as it comes.
    if (headers['content-type'] !== undefined && !MEDIA_TYPE.test(headers['content-type']))
      delete headers['content-type']
    if ('loadError' in raw) done(raw.loadError as Error)
    else if (raw.httpVersion !== '1.1') done()
    else if (headers.expect !== undefined && !CONTINUE.test(headers.expect)) done(NO_EXPECTATIONS)
    else done(headers.host === undefined ? HOST_MISSING : undefined)
  })
  app.addHook('onSend', sendTogether(services))
  if (logger.isLevelEnabled('debug')) {
    app.addHook('onResponse', async (_request, reply) => logAnswer(reply))
  }
  if (options.cors) app.register(cors, { methods: METHODS, exposedHeaders: EXPOSED_HEADERS, strictPreflight: false })
  app.register(notFound, {
    served,
    explains: (request) => sourcesOf(request, options).assumptions['unserved-route'] === 'explain'
  })
  return app
}

/** An error has the time, the ids and the assumptions of the environment whose key is sent, also where none is needed. */
function sourcesOf({ environment, headers }: FastifyRequest, { services, clock }: AppOptions) {
  const { environments } = services
  const found = environment ?? environmentOf(headers.authorization, environments)
  return found ?? { now: clock, random: { uuid: randomUUID }, assumptions: environments.defaultAssumptions }
}

function createServer(options: AppOptions, nextId: Shared['nextId']): FastifyInstance {
  const { services, clock, logger, requestTimeout } = options
  const handleError = errorHandler((request) => sourcesOf(request, options), options.data)
  const { environments, adminToken } = services
  // The id stands in each line of the log.
  const isSecret = (id: string, authorization: string) =>
    (authorization.includes(id) && id.length > 3) || id === adminToken || environments.isApiKey(id)
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines about a request have its id (see `http/log.ts`): few requests are logged, and a logger for each takes time.
    childLoggerFactory: (parent) => parent,
    genReqId: ({ headers: { 'x-request-id': id, authorization = '' } }) =>
      typeof id === 'string' && REQUEST_ID.test(id) && !isSecret(id, authorization) ? id : nextId(),
    bodyLimit: MAX_BODY,
    requestTimeout,
    http: {
      // Here too, as Node derives the time for the headers from it.
      requestTimeout,
      maxHeaderSize: MAX_HEADERS,
      // Otherwise Node would answer requests without a Host header itself, without a body.
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL, requestTimeout || CHECK_INTERVAL)
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
  app.decorateRequest('environment')
  app.decorateRequest('errorCode')
  app.decorateRequest('changed')
  app.decorateRequest('redacted', function (text) {
    return logger.isLevelEnabled('info') ? redactedForLog(services.redactionOf, this, text) : text
  })

  // The operations take no body. One that is sent is kept as it is, whatever its content type.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  // However many fit. By default Node 20 drops those beyond a thousand, the key among them, and later versions refuse.
  app.server.maxHeadersCount = 0
  // Rejected like any request, after the earlier ones on its connection.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket) => rejectInTurn(socket as Socket, NO_TUNNELS, clock))
  return app
}

/** An id that a client may give its request, as it is safe to log and to send back. */
const REQUEST_ID = /^[\w.:-]{1,64}$/

/**
 * Sends all answers of one turn of the event loop at its end: up to a fifth cheaper than one by one. Those to requests that
 * have been refused before they were delayed are delayed here.
 */
function sendTogether({ latency }: StartServices): onSendHookHandler<unknown> {
  return (request, _reply, payload, done) => {
    if (request.journalEntry) keepAnswer(request.journalEntry, payload)
    const delay = latency.draw(request)
    if (delay === 0) setImmediate(done, null, payload)
    else latency.wait(delay).then(() => done(null, payload))
  }
}

const HOST_MISSING = new DomainError('bad-request', 'Missing Host header', {
  reason: 'HTTP/1.1 asks for a Host header'
})
/** As Node recognises it. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i
const NO_EXPECTATIONS = new DomainError('expectation-failed', 'Expectation failed', {
  reason: 'the only Expect that is met is 100-continue'
})
const NO_TUNNELS = { status: 405, message: 'CONNECT is not allowed', reason: 'this server is no proxy' }
