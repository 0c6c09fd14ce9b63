import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { requireEnvironment } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import { isRejectedPreflight } from '../http/cors.js'
import { pathOf } from '../http/target.js'
import type { Operation } from '../schema/operation.js'
import { describeChange } from './changes.js'
import type { JournalEntry } from './entry.js'
import type { RedactionOf } from './redaction.js'
import type { JournalService } from './service.js'

export interface JournalServices {
  journals: JournalService
  environments: EnvironmentService
  redactionOf: RedactionOf
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The journal entry of a request in progress. Null if the request has ended or isn't recorded.
     */
    journalEntry: JournalEntry | null
  }
}

/** How many bytes of a request body the journal keeps. */
export const MAX_REQUEST_BODY = 65_536

/**
 * Returns the hook that records API requests. Requests with a valid key are recorded in the journal
 * of their environment, and all others in the journal of unauthenticated requests. An entry ends
 * when the response has been sent or the connection is lost.
 *
 * A request with the header `x-mock-unrecorded` isn't recorded. Fault rules, latency and coverage
 * ignore such a request too.
 */
export function openRecord({ journals, environments }: JournalServices): onRequestHookHandler {
  // The CORS plugin adds a route that matches every preflight request, so `is404` is false even for
  // rejected preflight requests.
  const hasNoRoute = (request: FastifyRequest) => {
    const { cors } = request.environment?.assumptions ?? environments.defaultAssumptions
    return request.is404 || isRejectedPreflight(request, cors)
  }

  return (request, reply, done) => {
    // Read `routeOptions` only once, because Fastify creates a new object on each access.
    const { operation } = request.routeOptions.config
    const isApiRequest = operation || (hasNoRoute(request) && !isControlPath(request))
    if (isApiRequest && request.headers['x-mock-unrecorded'] === undefined) {
      openEntry(request, journals, operation)
      // Node emits `close` after it has sent the response, and also if the client disconnects
      // first.
      const { raw } = reply
      raw.on('close', () => {
        if (raw.writableFinished) endEntry(request, reply, responseSizeOf(request, reply))
        else endEntryWithoutResponse(request, reply)
      })
    }
    done()
  }
}

/**
 * Records a request whose path Fastify can't decode. Fastify rejects such a request without running
 * any hooks.
 */
export function recordUnroutable(
  request: FastifyRequest,
  reply: FastifyReply,
  { journals }: JournalServices
): void {
  if (isControlPath(request)) return
  openEntry(request, journals)
  endEntry(request, reply, responseSizeOf(request, reply))
}

/** Keeps the request body, or only the start of a long body. */
export function keepRequestBody(entry: JournalEntry, body: unknown): void {
  if (!Buffer.isBuffer(body) || body.length === 0) return
  // Copy the start of a long body, because a slice would keep the whole buffer in memory.
  const isLong = body.length > MAX_REQUEST_BODY
  entry.body = isLong ? Buffer.from(body.subarray(0, MAX_REQUEST_BODY)) : body
  entry.bodyLength = body.length
}

/** Before a response is sent, keeps its body, or only the start of a long body. */
export const keepResponse: onSendHookHandler = ({ journalEntry }, _reply, payload, done) => {
  if (journalEntry) keepResponseBody(journalEntry, payload)
  done()
}

export function keepResponseBody(entry: JournalEntry, payload: unknown): void {
  if (entry.method === 'HEAD' || !Buffer.isBuffer(payload) || payload.length === 0) return
  entry.journal.keepResponse(entry, payload)
}

/**
 * Ends the request's entry, if there is one, with the response that was sent. `size` is the length
 * of the response body in bytes.
 */
export function endEntry(request: FastifyRequest, reply: FastifyReply, size: number): void {
  const entry = detachEntry(request, reply)
  if (!entry) return
  // Read the headers from Node, because Fastify's reply doesn't list headers that Node adds, such
  // as `date`.
  entry.head = (reply.raw as { _header?: string })._header
  entry.status = reply.statusCode
  entry.size = size
  entry.reason = reply.getHeader('x-mock-reason') as string | undefined
  entry.journal.end(entry)
}

/** Ends the request's entry, if there is one, without a response. */
export function endEntryWithoutResponse(request: FastifyRequest, reply: FastifyReply): void {
  const entry = detachEntry(request, reply)
  if (!entry) return
  entry.journal.forgetResponse(entry)
  entry.journal.end(entry)
}

/**
 * Completes the entry's data, and removes the entry from the request so that it can't end twice.
 */
function detachEntry(request: FastifyRequest, reply: FastifyReply): JournalEntry | null {
  const { journalEntry: entry } = request
  if (!entry) return null
  request.journalEntry = null
  entry.replayed = reply.hasHeader('idempotency-replay')
  entry.hasKey = request.idempotencyKey !== undefined
  entry.errorCode = request.errorCode
  entry.lastReading = request.environment?.lastReading ?? entry.time
  entry.changed = request.changed
  keepRequestBody(entry, request.body)
  return entry
}

function openEntry(request: FastifyRequest, journals: JournalService, operation?: Operation): void {
  request.journalEntry = journals.of(request.environment).open(request, operation)
}

function isControlPath({ url }: FastifyRequest): boolean {
  return /^\/(_mock|docs|health|openapi\.json|favicon\.ico)(?=\/|$)/.test(pathOf(url))
}

function responseSizeOf(request: FastifyRequest, reply: FastifyReply): number {
  if (request.method === 'HEAD') return 0
  // If a forwarded response has no `content-length`, its bytes were counted while they were sent.
  return Number(reply.getHeader('content-length') ?? request.journalEntry?.size ?? 0)
}

/**
 * Returns the hook that records what a successful control request changed in its environment. The
 * hook sets the response header `x-mock-change` to the sequence number of the change.
 */
export function recordChanges(services: JournalServices): onSendHookHandler {
  return (request, reply, payload, done) => {
    // Requests with a journal entry are API requests, not control requests. Skip them before
    // reading `routeOptions`, because Fastify creates a new object on each access.
    if (!request.journalEntry) recordChange(services, request, reply, payload)
    done()
  }
}

function recordChange(
  { journals, environments, redactionOf }: JournalServices,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown
): void {
  const { method, headers, routeOptions } = request
  const { control } = routeOptions.config
  const isRead = method === 'GET' || method === 'HEAD' || control?.changesNothing
  if (control?.access !== 'environment' || isRead || reply.statusCode >= 300) return
  const environment = requireEnvironment(request)
  // If the environment was removed during the request, `journals.of` would recreate its journal.
  environments.assertExists(environment)
  const { id: operation, summary } = control
  const details = describeChange(request, payload, redactionOf(headers.authorization))
  const { body, url } = request
  const sequence = journals.of(environment).addChange(
    { operation, summary, ...details },
    {
      time: environment.lastReading,
      method,
      url,
      body: typeof body === 'string' ? body : JSON.stringify(body)
    }
  )
  reply.header('x-mock-change', sequence)
}
