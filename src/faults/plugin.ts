import { STATUS_CODES } from 'node:http'
import { setImmediate } from 'node:timers'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { requireEnvironment } from '../environments/plugin.js'
import { type ErrorResponse, JSON_TYPE, SERVER_ERROR, sendErrorResponse } from '../http/errors.js'
import { logFault } from '../http/log.js'
import { endEntry, keepAnswer, keepBody } from '../journal/plugin.js'
import type { FaultEffect } from './schemas.js'
import type { FaultService, LatencyService } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The effect to inject after the operation has run. */
    effect: FaultEffect | undefined
  }
}

/** What is injected into a request: by a rule of this id, or by its `header`. */
type Fault = { id: string; effect: FaultEffect }

/**
 * Delays requests by the latency of their environment, and injects faults by its rules or the header `x-mock-fault`:
 * before the operation a delay, an error or a reset; after it, with its work stored, a truncated or lost answer.
 */
export const faultInjection = fp<{ faults: FaultService; latency: LatencyService }>(
  async (app, { faults, latency }) => {
    // The body has been read, but the request is not validated yet: invalid requests can be hit too.
    app.addHook('preValidation', (request, reply, done) => {
      const environment = requireEnvironment(request)
      const { headers } = request
      const { delay, spread } = latency.get(environment)
      const isPlain = delay === 0 && spread === 0 && faults.list(environment).length === 0
      // As nearly all requests, without a promise.
      if (isPlain && headers['x-mock-fault'] === undefined) return done()
      inject(request, reply).then((isAnswered) => void (isAnswered || done()), done)
    })

    /** Does what comes before the operation, and returns whether that is in place of it. */
    async function inject(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
      const environment = requireEnvironment(request)
      const { journalEntry } = request
      const fault = await faultOf(request)
      const { status, delay: ownDelay = 0, abort, lostResponse } = fault?.effect ?? {}
      const delay = latency.draw(request) + ownDelay
      request.effect = fault?.effect
      if (fault && journalEntry) {
        journalEntry.faulted = fault.id
        journalEntry.injected = Boolean(status || abort || lostResponse)
      }
      if (delay > 0) {
        // The journal shows it while the request is delayed.
        if (journalEntry) keepBody(journalEntry, request.body)
        // A delayed operation runs even if its client disconnects: until then its key stays in use.
        const release = request.idempotencyKey?.hold()
        await latency.wait(delay).finally(release)
      }
      if (!fault) return false
      if (status === undefined) {
        logFault(reply, nameOf(fault), wordsOf(fault.effect))
        if (abort === 'reset') resetConnection(request, reply)
        return abort === 'reset'
      }
      sendErrorResponse(reply, injectedError(fault, status, environment.random.uuid), environment)
      return true
    }

    /** Returns the fault that the header of a request asks for, or else that of the first rule that applies. */
    async function faultOf(request: FastifyRequest): Promise<Fault | undefined | null> {
      const { journalEntry, headers } = request
      const header = faults.acceptsHeader ? headers['x-mock-fault'] : undefined
      if (header === undefined)
        return journalEntry && faults.apply(requireEnvironment(request), journalEntry)
      // Only now, as it brings the schemas of control routes, which a start does without.
      const { parseEffect } = await import('./routes.js')
      return { id: 'header', effect: parseEffect(String(header)) }
    }
  },
  { name: 'fault-injection', dependencies: ['authentication'] }
)

/** Closes the connection before or in the middle of the response, if a fault of the request asks for that. */
export const injectIntoResponse: onSendHookHandler = (request, reply, payload, done) => {
  const { effect } = request
  if (effect?.lostResponse) resetConnection(request, reply)
  else if (effect?.abort === 'truncate') sendHalf(request, reply, payload)
  else done(null, payload)
}

/**
 * Returns the last hook before the client. It delays responses to requests that were rejected before `preValidation`, and
 * sends all responses of one turn of the event loop at its end, which is up to a fifth cheaper than one by one.
 */
export function delayResponse(latency: LatencyService): onSendHookHandler {
  return (request, _reply, payload, done) => {
    const delay = latency.draw(request)
    if (delay === 0) setImmediate(done, null, payload)
    else latency.wait(delay).then(() => done(null, payload))
  }
}

/** Closes the connection without sending any of the answer. */
function resetConnection(request: FastifyRequest, reply: FastifyReply): void {
  // Before the client can know, as it may send the request again at once.
  request.idempotencyKey?.release()
  reply.hijack()
  endEntry(request, reply, undefined)
  request.raw.socket.resetAndDestroy()
}

/** Sends half of the body with the content-length of the whole, then closes the connection. */
function sendHalf(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const whole = Buffer.from((payload as Buffer | string | null) ?? '')
  const half = whole.subarray(0, Math.floor(whole.length / 2))
  request.idempotencyKey?.release()
  reply.hijack()
  const headers = reply.getHeaders() as Record<string, string>
  reply.raw.writeHead(reply.statusCode, {
    ...headers,
    'content-type': JSON_TYPE,
    'content-length': whole.length
  })
  if (request.journalEntry) keepAnswer(request.journalEntry, half)
  endEntry(request, reply, half.length)
  reply.raw.write(half, () => request.raw.socket.destroy())
}

/** The fault as the log names it. */
const nameOf = ({ id }: Fault) => (id === 'header' ? 'x-mock-fault' : id)

/** What a fault without a status does, for the log. */
function wordsOf({ abort, lostResponse, delay }: FaultEffect): string {
  if (abort) return abort === 'reset' ? 'connection reset' : 'answer truncated'
  return lostResponse ? 'answer lost' : `delayed by ${delay} ms`
}

const MESSAGES: Record<number, string> = { 429: 'API rate limit exceeded', 500: SERVER_ERROR }

/** What the deployed service sends with a 429, with figures of ours. */
const RATE_LIMITED = {
  'ratelimit-limit': '60',
  'ratelimit-remaining': '0',
  'ratelimit-reset': '1',
  'ratelimit-policy':
    '60;w=1;burst=66;comment="token bucket";category="global";cost="single";serviceLevel="free"'
}

/** Returns the error of a fault. Words and headers are those of the deployed service, where they are known. */
function injectedError(fault: Fault, status: number, uuid: () => string): ErrorResponse {
  const { headers = {}, body } = fault.effect
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return {
    status,
    fault: nameOf(fault),
    message: MESSAGES[status] ?? STATUS_CODES[status] ?? 'Error',
    reason: `injected by ${fault.id === 'header' ? 'the header x-mock-fault' : `${fault.id}, see GET /_mock/faults`}`,
    headers: { ...(status === 429 && RATE_LIMITED), ...Object.fromEntries(sent) },
    ...(body !== undefined && { body }),
    ...(status === 422 && { errors: {} }),
    ...(status === 500 && { errorId: uuid() })
  }
}
