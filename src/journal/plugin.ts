import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { attempt } from '../domain/errors.js'
import { requireEnvironment } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import { pathOf } from '../http/target.js'
import type { Operation } from '../schema/operation.js'
import type { RedactionOf } from './describe.js'
import type { JournalEntry } from './entry.js'
import type { Change } from './schemas.js'
import type { JournalService } from './service.js'

export interface JournalServices {
  journals: JournalService
  environments: EnvironmentService
  redactionOf: RedactionOf
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The request in its environment's journal, while it is in progress. Null if it has ended or is not recorded. */
    journalEntry: JournalEntry | null
  }
}

/**
 * Returns the hook that records a request to the API in the journal of `request.environment`, or in the journal of
 * unauthenticated requests, and that closes the record when the response has been sent or the connection is lost. A
 * request with the header `x-mock-unrecorded` isn't recorded, and neither faults, latency nor coverage see it.
 */
export function openRecord(services: JournalServices): onRequestHookHandler {
  return (request, reply, done) => {
    // Read once: Fastify creates the options at each access.
    const { operation } = request.routeOptions.config
    const isApiRequest = operation || (request.is404 && !isControlPath(request))
    if (isApiRequest && request.headers['x-mock-unrecorded'] === undefined) {
      openEntry(request, services, operation)
      // `close` comes after the response has been sent, and also when the client disconnects before that.
      const { raw } = reply
      raw.on('close', () =>
        endEntry(request, reply, raw.writableFinished ? sizeOf(request, reply) : undefined)
      )
    }
    done()
  }
}

/** Records a request that Fastify rejects before it looks for a route, and so before any hook. */
export function recordUnroutable(
  request: FastifyRequest,
  reply: FastifyReply,
  services: JournalServices
): void {
  if (isControlPath(request)) return
  openEntry(request, services)
  endEntry(request, reply, sizeOf(request, reply))
}

/** Bytes of a body that are kept. */
const MAX_BODY = 65_536

/** Keeps the body of a request, or its beginning. */
export function keepBody(entry: JournalEntry, body: unknown): void {
  if (!Buffer.isBuffer(body) || body.length === 0) return
  // A slice would keep the whole buffer in memory.
  entry.body = body.length > MAX_BODY ? Buffer.from(body.subarray(0, MAX_BODY)) : body
  entry.bodyLength = body.length
}

/** Keeps the body that the client is about to receive, or its beginning. */
export const keepResponse: onSendHookHandler = ({ journalEntry }, _reply, payload, done) => {
  if (journalEntry) keepAnswer(journalEntry, payload)
  done()
}

/** Keeps what the client is about to receive, or its beginning. */
export function keepAnswer(entry: JournalEntry, payload: unknown): void {
  if (
    Buffer.isBuffer(payload) &&
    payload.length > 0 &&
    entry.method !== 'HEAD' &&
    entry.journal.capacity > 0
  ) {
    entry.answer = entry.journal.answers.keep(payload)
  }
}

/** Ends the request's entry, if it has one. A size of `undefined` says that no answer was sent. */
export function endEntry(
  request: FastifyRequest,
  reply: FastifyReply,
  size: number | undefined
): void {
  const { journalEntry: entry } = request
  if (!entry) return
  request.journalEntry = null
  entry.replayed = reply.hasHeader('idempotency-replay')
  entry.hasKey = request.idempotencyKey !== undefined
  entry.errorCode = request.errorCode
  entry.changed = request.changed
  keepBody(entry, request.body)
  if (size === undefined) entry.answer = undefined
  else {
    // What Node has written before the body, as nothing else has all headers.
    entry.head = (reply.raw as { _header?: string })._header
    entry.status = reply.statusCode
    entry.size = size
    entry.reason = reply.getHeader('x-mock-reason') as string | undefined
  }
  entry.journal.end(entry)
}

function openEntry(
  request: FastifyRequest,
  { journals }: JournalServices,
  operation?: Operation
): void {
  request.journalEntry = journals.of(request.environment).open(request, operation)
}

function isControlPath({ url }: FastifyRequest): boolean {
  return /^\/(_mock|docs|health|openapi\.json|favicon\.ico)(?=\/|$)/.test(pathOf(url))
}

function sizeOf(request: FastifyRequest, reply: FastifyReply): number {
  return request.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0)
}

/**
 * Returns the hook that records what a successful control request changed in its environment, and sets the number of
 * that change as `x-mock-change`.
 */
export function recordChanges({
  journals,
  environments,
  redactionOf
}: JournalServices): onSendHookHandler {
  return (request, reply, payload, done) => {
    // Requests to operations have an entry. Checked first, as Fastify creates `routeOptions` at each access.
    if (request.journalEntry) return done()
    const { method, headers, routeOptions } = request
    const { control } = routeOptions.config
    const isRead = method === 'GET' || method === 'HEAD' || control?.changesNothing
    if (control?.access === 'environment' && !isRead && reply.statusCode < 300) {
      const environment = requireEnvironment(request)
      // A removed environment must not get a new journal.
      environments.assertExists(environment)
      const { text } = redactionOf(headers.authorization)
      const { id: operation, summary } = control
      const change = { operation, summary, ...changeBy(request, payload, text) }
      reply.header('x-mock-change', journals.of(environment).addChange(change))
    }
    done()
  }
}

const WORDS: Record<string, string> = {
  POST: 'added',
  PATCH: 'changed',
  PUT: 'set',
  DELETE: 'removed'
}

/** Returns what a control request has changed, as far as its path, its body and its answer say, each name as `text` has it. */
function changeBy(
  { method, url, params, body }: FastifyRequest,
  payload: unknown,
  text: (value: string) => string
): Pick<Change, 'target' | 'changed'> {
  const answer = (typeof payload === 'string' && attempt(() => JSON.parse(payload))) || {}
  const [path = '', action] = pathOf(url).replace('/_mock/', '').split('/')
  // A reset, or a restored snapshot.
  const parts: string[] | undefined = answer.parts
  const [about] = Object.values(params as Record<string, string>)
  const target = about === undefined ? {} : { target: text(about) }
  if (parts)
    return { ...target, changed: parts.map((part) => ({ kind: part, action: 'set back' })) }
  if (path === 'seed')
    return { changed: [{ kind: 'data', action: answer.mode === 'replace' ? 'replaced' : 'added' }] }
  const isAdvance = action === 'advance'
  const { _id, id = _id ?? about, name = answer.subject, channel } = answer
  const fields = method === 'PATCH' || isAdvance ? Object.keys(body as object) : []
  const record = {
    kind: path.replace(/s$/, ''),
    action: isAdvance ? 'advanced' : (WORDS[method] ?? method),
    ...(typeof id === 'string' && { id: text(id) }),
    ...(typeof name === 'string' && name !== id && { name: text(name) }),
    ...(typeof channel === 'string' && { channel }),
    ...(fields.length > 0 && { fields })
  }
  return { ...target, changed: [record] }
}
