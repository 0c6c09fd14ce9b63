import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { environmentOf } from '../../environments/plugin.js'
import type { EnvironmentService } from '../../environments/service.js'
import { pathOf } from '../../http/target.js'
import { bodyOf } from '../../idempotency/plugin.js'
import { createDescribe } from './details.js'
import type { Describe, JournalEntry, RecordedOperation } from './entry.js'
import type { Journal, JournalService } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request in its environment's journal, while it is in progress. Null if it has ended or is not recorded. */
    journalEntry: JournalEntry | null
    /** The journal of the entry. Set before an operation runs, and stays when the request has ended. */
    journal: Journal | null
  }
}

interface Options {
  journals: JournalService
  environments: EnvironmentService
  /** Hidden in every journal. */
  adminToken: string | undefined
  /** Whether the header `x-mock-fault` is read. */
  faultHeader: boolean
}

/**
 * Records every request to the service, from its arrival to its end, in the journal of the environment whose key it
 * carries, or in that of the requests without a valid key. Control routes are not recorded. Call it before other hooks
 * are added, so that it also records what those reject.
 */
export function recordRequests(app: FastifyInstance, options: Options): void {
  const describe = describeOf(options)
  app.decorateRequest('journalEntry', null)
  app.decorateRequest('journal', null)
  app.addHook('onRequest', (request, reply, done) => {
    const { operation } = request.routeOptions.config
    if (operation || (request.is404 && !isControlPath(request))) {
      openEntry(request, operation, options, describe)
      // Emitted once the answer is sent, and also when the client disconnects before that: one listener for both.
      reply.raw.on('close', () =>
        endEntry(request, reply, reply.raw.writableFinished ? sizeOf(request, reply) : undefined)
      )
    }
    done()
  })
}

/** Records a request that Fastify rejects before it looks for a route, and so before any hook. */
export function recordUnroutable(request: FastifyRequest, reply: FastifyReply, options: Options): void {
  if (isControlPath(request)) return
  openEntry(request, undefined, options, describeOf(options))
  endEntry(request, reply, sizeOf(request, reply))
}

/** Ends the request's entry, if it has one. A size of `undefined` says that no answer was sent. */
export function endEntry(request: FastifyRequest, reply: FastifyReply, size: number | undefined): void {
  const { journalEntry: entry, journal } = request
  if (!entry) return
  request.journalEntry = null
  if (reply.hasHeader('idempotency-replay')) entry.addFlags({ replayed: true })
  entry.setBody(bodyOf(request))
  journal?.end(entry, size === undefined ? {} : { status: reply.statusCode, size, reason: reasonOf(reply) })
}

function openEntry(
  request: FastifyRequest,
  operation: RecordedOperation | undefined,
  { journals, environments }: Options,
  describe: Describe
): void {
  const { method, url, raw } = request
  // Authentication uses it too.
  request.environment ??= environmentOf(request.headers.authorization, environments) as never
  request.journal = journals.of(request.environment)
  request.journalEntry = request.journal.open({ method, url, rawHeaders: raw.rawHeaders, operation }, describe)
  if (!operation) request.journalEntry.addFlags({ unserved: true })
}

function describeOf({ environments, adminToken, faultHeader }: Options): Describe {
  const isKey = (word: string) => environments.resolve(word) !== undefined
  return createDescribe({ isKey, adminToken }, { faultHeader })
}

function isControlPath({ url }: FastifyRequest): boolean {
  return /^\/(_mock|docs|health|openapi\.json|favicon\.ico)(?=\/|$)/.test(pathOf(url))
}

function sizeOf(request: FastifyRequest, reply: FastifyReply): number {
  return request.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0)
}

function reasonOf(reply: FastifyReply): string | undefined {
  const reason = reply.getHeader('x-mock-reason')
  return reason === undefined ? undefined : String(reason)
}
