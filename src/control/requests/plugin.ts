import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { environmentOf } from '../../environments/plugin.js'
import type { MalformedQuery, Query } from '../../http/query-string.js'
import { pathOf } from '../../http/target.js'
import type { Services } from '../services.js'
import type { JournalEntry } from './entry.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request in its environment's journal, while it is in progress. Null if it has ended or is not recorded. */
    journalEntry: JournalEntry | null
  }
}

/**
 * Records every request to the service, from its arrival to its end, in the journal of the environment whose key it
 * carries, or in that of the requests without a valid key. Control routes are not recorded, nor what its header
 * `x-mock-unrecorded` says is of someone who only looks on: neither faults, latency nor coverage know of that. Call it
 * before other hooks are added, so that it also records what those reject.
 */
export function recordRequests(app: FastifyInstance, services: Services): void {
  app.decorateRequest('journalEntry', null)
  app.addHook('onRequest', (request, reply, done) => {
    const isOfService = request.routeOptions.config.operation || (request.is404 && !isControlPath(request))
    if (isOfService && request.headers['x-mock-unrecorded'] === undefined) {
      openEntry(request, services)
      // Emitted once the answer is sent, and also when the client disconnects before that: one listener for both.
      reply.raw.on('close', () =>
        endEntry(request, reply, reply.raw.writableFinished ? sizeOf(request, reply) : undefined)
      )
    }
    done()
  })
}

/** Records a request that Fastify rejects before it looks for a route, and so before any hook. */
export function recordUnroutable(request: FastifyRequest, reply: FastifyReply, services: Services): void {
  if (isControlPath(request)) return
  openEntry(request, services)
  endEntry(request, reply, sizeOf(request, reply))
}

/** Ends the request's entry, if it has one. A size of `undefined` says that no answer was sent. */
export function endEntry(request: FastifyRequest, reply: FastifyReply, size: number | undefined): void {
  const { journalEntry: entry } = request
  if (!entry) return
  request.journalEntry = null
  entry.replayed = reply.hasHeader('idempotency-replay')
  entry.hasKey = request.idempotencyKey !== undefined
  entry.errorCode = request.errorCode
  entry.setBody(request.body)
  if (size === undefined) entry.end()
  else entry.end(reply.statusCode, size, reply.getHeader('x-mock-reason') as string | undefined)
}

function openEntry(request: FastifyRequest, { journals, environments, coverage }: Services): void {
  const { method, url, query, raw, headers, routeOptions } = request
  // Authentication uses it too.
  request.environment ??= environmentOf(headers.authorization, environments) as never
  const text = [method, url, ...raw.rawHeaders].join('\n')
  const operation = routeOptions.config?.operation
  const entry = journals.of(request.environment).open(text, operation)
  request.journalEntry = entry
  if (!operation) return
  entry.sent = coverage.sentBits(operation, query as Query | MalformedQuery)
  // The contract has no HEAD.
  entry.ignored = method === 'HEAD'
}

function isControlPath({ url }: FastifyRequest): boolean {
  return /^\/(_mock|docs|health|openapi\.json|favicon\.ico)(?=\/|$)/.test(pathOf(url))
}

function sizeOf(request: FastifyRequest, reply: FastifyReply): number {
  return request.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0)
}
