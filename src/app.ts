import cors from '@fastify/cors'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController
} from 'fastify'
import type { Logger } from 'pino'
import { faultInjection } from './control/faults/plugin.js'
import { faultService } from './control/faults/service.js'
import { registerControl } from './control/index.js'
import { recordRequests, recordUnroutable } from './control/requests/plugin.js'
import { journalService } from './control/requests/service.js'
import type { Readiness } from './control/server/routes.js'
import { assume } from './core/assumptions.js'
import type { Clock } from './core/clock.js'
import { DomainError } from './core/errors.js'
import type { Db } from './db/open.js'
import { authentication } from './environments/plugin.js'
import { type EnvironmentDefaults, environmentService } from './environments/service.js'
import { answerClientError, answerError, errorAnswers, refuseSocket } from './http/errors.js'
import { unservedRoutes } from './http/not-found.js'
import { parseQuery, rejectMalformedQuery } from './http/query-string.js'
import { shownTarget } from './http/target.js'
import { COMPILERS } from './http/validation.js'
import { idempotencyKeys } from './idempotency/plugin.js'
import { idempotencyService } from './idempotency/service.js'
import { integrationService } from './integrations/service.js'
import { messageService } from './messages/service.js'
import { documentation } from './openapi/docs-page.js'
import { controlDocument } from './openapi/documents.js'
import { registerOperations } from './openapi/operations.js'
import { seedService } from './seeds/service.js'
import { workflowStepService } from './workflow-steps/service.js'

export type Services = ReturnType<typeof buildServices>

interface ServiceOptions {
  db: Db
  clock: Clock
  defaults: EnvironmentDefaults
  /** Requests that each journal keeps. */
  journal: number
}

/** The service layer over one database. What it keeps in memory stays right as long as all changes go through it. */
export function buildServices({ db, clock, defaults, journal }: ServiceOptions) {
  const journals = journalService({ capacity: journal, clock })
  const faults = faultService()
  const environments = environmentService({ db, clock, defaults })
  environments.subscribe({
    onRemoved({ key }) {
      journals.drop(key)
      faults.clear(key)
    },
    onReset(environment, parts) {
      if (parts.includes('requests')) journals.clear(environment.key)
      if (parts.includes('faults')) faults.clear(environment.key)
    }
  })
  return {
    journals,
    faults,
    environments,
    messages: messageService({ db, environments }),
    integrations: integrationService({ db, environments }),
    workflowSteps: workflowStepService({ db }),
    idempotency: idempotencyService({ db, environments }),
    seeds: seedService({ db, clock, environments })
  }
}

export interface AppOptions {
  services: Services
  clock: Clock
  defaults: EnvironmentDefaults
  readiness: Readiness
  /** Whether any web page may call. */
  cors: boolean
  /** Whether a request can ask for a fault by its header `x-mock-fault`. */
  faultHeader: boolean
  /** What environments are managed with from other machines; undefined: they can't be. */
  adminToken: string | undefined
  logger: Logger
}

/** The server, complete but not listening. A request walks through it from top to bottom. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { services, clock, defaults, logger } = options
  const assumptions = assume(defaults.profile, defaults.assumptions)
  const app = serverWithoutRoutes(options)

  recordRequests(app, { ...services, adminToken: options.adminToken, faultHeader: options.faultHeader })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done(request.headers.host === undefined && request.raw.httpVersion === '1.1' ? HOST_MISSING : undefined)
  })
  app.addHook('onSend', answerTogether)
  if (logger.isLevelEnabled('debug')) app.addHook('onResponse', async (request, reply) => logRequest(request, reply))
  if (options.cors) app.register(cors, { exposedHeaders: EXPOSED_HEADERS, strictPreflight: false })
  app.register(errorAnswers, { clock })
  app.register(unservedRoutes, { environments: services.environments, assumptions })
  app.register(documentation, { environments: services.environments, assumptions })
  app.register(async (operations) => {
    operations.register(authentication, services)
    operations.register(rejectMalformedQuery)
    operations.register(idempotencyKeys, services)
    operations.register(faultInjection, { faults: services.faults, faultHeader: options.faultHeader })
    registerOperations(operations, services)
  })
  registerControl(app, services, { ...options, assumptions, document: controlDocument })
  // Streams and waits would keep a server that closes waiting for ever.
  app.addHook('preClose', async () => services.journals.close())
  return app
}

const EXPOSED_HEADERS = 'idempotency-key, idempotency-replay, retry-after, x-mock-reason, x-request-id'
const MAX_BODY = 1024 * 1024
const MAX_HEADERS = 256 * 1024

function serverWithoutRoutes({ services, clock, logger, adminToken, faultHeader }: AppOptions): FastifyInstance {
  let count = 0
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => requestName(headers['x-request-id']) ?? `req-${(++count).toString(36)}`,
    bodyLimit: MAX_BODY,
    // Without a Host header Node would answer by itself, with no body.
    http: { maxHeaderSize: MAX_HEADERS, requireHostHeader: false },
    routerOptions: { maxParamLength: MAX_HEADERS, querystringParser: parseQuery as never },
    schemaController: { compilersFactory: COMPILERS },
    // A request that has come in is answered even while closing.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      answerError(error, request, reply as never, clock)
      recordUnroutable(request, reply as never, { ...services, adminToken, faultHeader })
    },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, clock)
  })
  app.decorateRequest('environment')

  // The operations take no body, whatever it says it is: it is read and kept as it came.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.server.on('checkExpectation', (request) => refuseSocket(request.socket, NO_EXPECTATIONS, clock))
  app.server.on('connect', (_request, socket) => refuseSocket(socket as never, NO_TUNNELS, clock))
  return app
}

/** A client's own name for the request, if it is fit to be written in a log line and sent back. */
function requestName(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[\w.:-]{1,64}$/.test(header) ? header : undefined
}

/**
 * Writes all answers of one turn of the event loop at its end. Written one by one, each would wake its client anew, which
 * is up to a fifth of what a request costs. (A handler should not return the reply that it has sent: Fastify would listen
 * for its end, which is a tenth.)
 */
function answerTogether<Payload>(
  _request: FastifyRequest,
  _reply: FastifyReply,
  payload: Payload,
  done: (error: null, payload: Payload) => void
): void {
  setImmediate(done, null, payload)
}

function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { method, url } = request
  request.log.debug(
    { method, url: shownTarget(url), statusCode: reply.statusCode, ms: reply.elapsedTime },
    'request answered'
  )
}

const HOST_MISSING = new DomainError('bad-request', 'Missing Host header', {
  reason: 'HTTP/1.1 asks for a Host header'
})
const NO_EXPECTATIONS = {
  status: 417,
  message: 'Expectation failed',
  reason: 'the only Expect that is met is 100-continue'
}
const NO_TUNNELS = { status: 405, message: 'CONNECT is not allowed', reason: 'this is no proxy' }
