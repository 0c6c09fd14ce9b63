import { STATUS_CODES } from 'node:http'
import type {
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  preValidationHookHandler
} from 'fastify'
import fp from 'fastify-plugin'
import { requireEnvironment } from '../environments/plugin.js'
import { type ErrorResponse, JSON_TYPE, SERVER_ERROR, sendErrorResponse } from '../http/errors.js'
import { logFault } from '../http/log.js'
import {
  endEntry,
  endEntryWithoutResponse,
  keepRequestBody,
  keepResponseBody
} from '../journal/plugin.js'
import { setImmediate } from '../platform/timers.js'
import type { LatencyService } from './latency.js'
import type { FaultEffect } from './schemas.js'
import type { FaultService } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The effect of the request's fault. Undefined if the request has no fault. */
    effect: FaultEffect | undefined
  }
}

interface FaultServices {
  faults: FaultService
  latency: LatencyService
}

/**
 * A fault to inject. `id` is the id of a rule, or `header` if the request chose the fault with
 * `x-mock-fault`.
 */
interface Fault {
  id: string
  effect: FaultEffect
}

/**
 * Delays requests by their environment's latency, and injects faults. Delays, errors and resets are
 * injected before the operation runs. Truncated and lost responses are injected after the operation
 * has run, so the operation's changes are stored.
 */
export const faultInjection = fp<FaultServices>(
  async (app, services) => {
    app.addHook('preValidation', injectFaults(services))
  },
  { name: 'fault-injection', dependencies: ['authentication'] }
)

/**
 * Returns the hook of `faultInjection`. It runs after the body is read and before validation, so
 * that faults are also injected into invalid requests.
 */
export function injectFaults(services: FaultServices): preValidationHookHandler {
  const { faults, latency } = services
  return (request, reply, done) => {
    const environment = requireEnvironment(request)
    const { delay, spread } = latency.get(environment)
    const hasLatency = delay > 0 || spread > 0
    const mayHaveFault =
      faults.list(environment).length > 0 || request.headers['x-mock-fault'] !== undefined
    // Nearly all requests have neither latency nor a fault, so they continue without a promise.
    if (!hasLatency && !mayHaveFault) return done()
    inject(services, request, reply).then((isHandled) => {
      if (!isHandled) done()
    }, done)
  }
}

/**
 * Delays the request, then injects the error or reset of its fault, if any. Returns whether an
 * error or reset was injected. If so, the operation must not run.
 */
async function inject(
  { faults, latency }: FaultServices,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<boolean> {
  const fault = await chooseFault(faults, request)
  if (fault) attachFault(fault, request)
  const delay = latency.draw(request) + (fault?.effect.delay ?? 0)
  if (delay > 0) await delayOperation(latency, request, delay)
  if (!fault) return false

  const { status, abort } = fault.effect
  if (status !== undefined) {
    const environment = requireEnvironment(request)
    sendErrorResponse(reply, injectedError(fault, status, environment.random.uuid), environment)
    return true
  }
  logFault(reply, nameOf(fault), describeEffect(fault.effect))
  if (abort !== 'reset') return false
  resetConnection(request, reply)
  return true
}

/**
 * Returns the fault in the request's `x-mock-fault` header, or else the fault of the first rule
 * that applies.
 */
async function chooseFault(
  faults: FaultService,
  request: FastifyRequest
): Promise<Fault | undefined> {
  const { journalEntry, headers } = request
  const header = faults.acceptsHeader ? headers['x-mock-fault'] : undefined
  if (header !== undefined) {
    // Load this module on demand, because the schemas that it needs would slow down every start.
    const { parseFaultHeader } = await import('./fault-header.js')
    return { id: 'header', effect: parseFaultHeader(String(header)) }
  }
  // Rules don't apply to requests that aren't recorded.
  return journalEntry ? faults.apply(requireEnvironment(request), journalEntry) : undefined
}

function attachFault({ id, effect }: Fault, request: FastifyRequest): void {
  request.effect = effect
  const { journalEntry } = request
  if (!journalEntry) return
  journalEntry.faulted = id
  journalEntry.injected = Boolean(effect.status || effect.abort || effect.lostResponse)
}

async function delayOperation(
  latency: LatencyService,
  request: FastifyRequest,
  delay: number
): Promise<void> {
  // Add the body to the journal entry now, so that the journal shows it during the delay.
  if (request.journalEntry) keepRequestBody(request.journalEntry, request.body)
  // Even if the client disconnects, the operation runs after the delay. Keep the idempotency key in
  // use until the delay ends.
  const release = request.idempotencyKey?.hold()
  await latency.wait(delay).finally(release)
}

/**
 * Drops or truncates the response if the request's fault requires it. Otherwise, sends the response
 * unchanged.
 */
export const injectIntoResponse: onSendHookHandler = (request, reply, payload, done) => {
  const { effect } = request
  if (effect?.lostResponse) resetConnection(request, reply)
  else if (effect?.abort === 'truncate') sendHalf(request, reply, payload)
  else done(null, payload)
}

/**
 * Returns the last hook before a response is sent. If a request was rejected before
 * `preValidation`, `injectFaults` didn't delay it, so this hook delays the response. All other
 * responses wait for `setImmediate`, because sending the responses of one turn of the event loop
 * together takes up to 20% less time than sending them one by one.
 */
export function delayResponse(latency: LatencyService): onSendHookHandler {
  return (request, _reply, payload, done) => {
    const delay = latency.draw(request)
    if (delay === 0) setImmediate(done, null, payload)
    else latency.wait(delay).then(() => done(null, payload))
  }
}

/** Closes the connection without a response. */
function resetConnection(request: FastifyRequest, reply: FastifyReply): void {
  // Release the idempotency key before the connection closes, because the client may repeat the
  // request as soon as it closes.
  request.idempotencyKey?.release()
  reply.hijack()
  endEntryWithoutResponse(request, reply)
  request.raw.socket.resetAndDestroy()
}

/**
 * Sends half of the body with the `content-length` of the whole body, then closes the connection.
 */
function sendHalf(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const whole = Buffer.from((payload as Buffer | string | null) ?? '')
  const half = whole.subarray(0, Math.floor(whole.length / 2))
  request.idempotencyKey?.release()
  reply.hijack()
  reply.raw.writeHead(reply.statusCode, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': JSON_TYPE,
    'content-length': whole.length
  })
  if (request.journalEntry) keepResponseBody(request.journalEntry, half)
  endEntry(request, reply, half.length)
  reply.raw.write(half, () => request.raw.socket.destroy())
}

/** Returns the fault's name for the log. */
function nameOf({ id }: Fault): string {
  return id === 'header' ? 'x-mock-fault' : id
}

/** Returns the log message for an effect without a `status`. */
function describeEffect({ abort, lostResponse, delay }: FaultEffect): string {
  if (abort === 'reset') return 'connection reset'
  if (abort === 'truncate') return 'response truncated'
  return lostResponse ? 'response lost' : `delayed by ${delay} ms`
}

const MESSAGES: Record<number, string> = { 429: 'API rate limit exceeded', 500: SERVER_ERROR }

/** The headers that Novu sends with status 429. The numbers in their values are invented. */
const RATE_LIMIT_HEADERS = {
  'ratelimit-limit': '60',
  'ratelimit-remaining': '0',
  'ratelimit-reset': '1',
  'ratelimit-policy':
    '60;w=1;burst=66;comment="token bucket";category="global";cost="single";serviceLevel="free"'
}

/** Returns the error response for a fault. Uses Novu's message and headers where they are known. */
function injectedError(fault: Fault, status: number, uuid: () => string): ErrorResponse {
  const { headers = {}, body } = fault.effect
  const ownHeaders = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const source =
    fault.id === 'header' ? 'the header x-mock-fault' : `${fault.id}, see GET /_mock/faults`
  return {
    status,
    fault: nameOf(fault),
    message: MESSAGES[status] ?? STATUS_CODES[status] ?? 'Error',
    reason: `injected by ${source}`,
    headers: {
      ...(status === 429 && RATE_LIMIT_HEADERS),
      ...Object.fromEntries(ownHeaders)
    },
    ...(body !== undefined && { body }),
    ...(status === 422 && { errors: {} }),
    ...(status === 500 && { errorId: uuid() })
  }
}
