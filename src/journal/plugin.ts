import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { requireEnvironment } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
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
     * The request's journal entry while it is in progress. Null if it has ended or isn't recorded.
     */
    journalEntry: JournalEntry | null
  }
}

/** The bytes of a request body that are kept. */
const MAX_BODY = 65_536

/**
 * Returns the hook that records a request to the API in the journal of `request.environment`, or in
 * the journal of unauthenticated requests, and that closes the record when the response has been
 * sent or the connection is lost. A request with the header `x-mock-unrecorded` isn't recorded, and
 * faults, latency and coverage ignore it.
 */
export function openRecord({ journals }: JournalServices): onRequestHookHandler {
  return (request, reply, done) => {
    // Read once: Fastify creates the options at each access.
    const { operation } = request.routeOptions.config
    const isApiRequest = operation || (request.is404 && !isControlPath(request))
    if (isApiRequest && request.headers['x-mock-unrecorded'] === undefined) {
      openEntry(request, journals, operation)
      // Node emits `close` after the response has been sent, and also if the client disconnects
      // before.
      const { raw } = reply
      raw.on('close', () => {
        if (raw.writableFinished) endEntry(request, reply, responseSizeOf(request, reply))
        else endEntryWithoutResponse(request, reply)
      })
    }
    done()
  }
}

/** Records a request that Fastify rejects before it looks for a route, and so before any hook. */
export function recordUnroutable(
  request: FastifyRequest,
  reply: FastifyReply,
  { journals }: JournalServices
): void {
  if (isControlPath(request)) return
  openEntry(request, journals)
  endEntry(request, reply, responseSizeOf(request, reply))
}

/** Keeps the body of a request, or its start. */
export function keepRequestBody(entry: JournalEntry, body: unknown): void {
  if (!Buffer.isBuffer(body) || body.length === 0) return
  // Copy a long body: a slice would keep the whole buffer in memory.
  entry.body = body.length > MAX_BODY ? Buffer.from(body.subarray(0, MAX_BODY)) : body
  entry.bodyLength = body.length
}

/** Keeps the response body that is about to be sent, or its start. */
export const keepResponse: onSendHookHandler = ({ journalEntry }, _reply, payload, done) => {
  if (journalEntry) keepResponseBody(journalEntry, payload)
  done()
}

export function keepResponseBody(entry: JournalEntry, payload: unknown): void {
  if (entry.method === 'HEAD' || entry.journal.capacity === 0) return
  if (!Buffer.isBuffer(payload) || payload.length === 0) return
  entry.response = entry.journal.responses.keep(payload)
}

/**
 * Ends the request's entry, if it has one, with the response that was sent. `size` is the bytes of
 * its body.
 */
export function endEntry(request: FastifyRequest, reply: FastifyReply, size: number): void {
  const entry = detachEntry(request, reply)
  if (!entry) return
  // Only the head that Node wrote has all headers.
  entry.head = (reply.raw as { _header?: string })._header
  entry.status = reply.statusCode
  entry.size = size
  entry.reason = reply.getHeader('x-mock-reason') as string | undefined
  entry.journal.end(entry)
}

/** Ends the request's entry, if it has one, when the client got no response. */
export function endEntryWithoutResponse(request: FastifyRequest, reply: FastifyReply): void {
  const entry = detachEntry(request, reply)
  if (!entry) return
  entry.response = undefined
  entry.journal.end(entry)
}

/**
 * Completes the entry with the facts about the request, and removes it from the request so that it
 * ends once.
 */
function detachEntry(request: FastifyRequest, reply: FastifyReply): JournalEntry | null {
  const { journalEntry: entry } = request
  if (!entry) return null
  request.journalEntry = null
  entry.replayed = reply.hasHeader('idempotency-replay')
  entry.hasKey = request.idempotencyKey !== undefined
  entry.errorCode = request.errorCode
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
  return request.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0)
}

/**
 * Returns the hook that records what a successful control request changed in its environment, and
 * sends the number of that change as `x-mock-change`.
 */
export function recordChanges(services: JournalServices): onSendHookHandler {
  return (request, reply, payload, done) => {
    // Requests to operations have an entry. Checked first, because Fastify creates `routeOptions`
    // at each access.
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
  // A removed environment must not get a new journal.
  environments.assertExists(environment)
  const { id: operation, summary } = control
  const details = describeChange(request, payload, redactionOf(headers.authorization))
  const sequence = journals.of(environment).addChange({ operation, summary, ...details })
  reply.header('x-mock-change', sequence)
}
