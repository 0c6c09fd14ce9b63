import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { OperationId } from '../../core/enums.js'
import { environmentOf } from '../../environments/plugin.js'
import type { EnvironmentService } from '../../environments/service.js'
import { MalformedQuery, parseQuery } from '../../http/query-string.js'
import { pathOf } from '../../http/target.js'
import { bodyOf } from '../../idempotency/plugin.js'
import type { Body, Described, Entry, Kind } from './recorded-request.js'
import { redactionOf, type Secrets } from './redaction.js'
import type { JournalService } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request in its environment's journal. Always there when an operation is run. */
    journalEntry: Entry | undefined
  }
  interface FastifyContextConfig {
    /** How requests to an operation are described; no other route has it. */
    described?: Kind
  }
}

interface Options {
  journals: JournalService
  environments: EnvironmentService
  /** Shown in no journal. */
  adminToken: string | undefined
}

/**
 * Keeps the journal: every request to the service, from its coming to its end, in that of the environment whose key it
 * carries, and without a valid key in one of its own. Control routes are in none. Register it before the routes.
 */
export const journalling = fp<Options & { faultHeader: boolean }>(
  async (app, { journals, environments, adminToken, faultHeader }) => {
    const secrets = secretsOf(environments, adminToken)
    const headers = headersRead(faultHeader)
    const unserved = kindOf({ operation: undefined, query: NOTHING, headers, secrets })
    app.decorateRequest('journalEntry', undefined)

    app.addHook('onRoute', (route) => {
      const { operation } = route.config ?? {}
      if (!operation) return
      const query = new Set(Object.keys(operation.querystring?.properties ?? {}))
      const described = kindOf({ operation: operation.id, query, headers, secrets })
      route.config = { ...route.config, described }
    })

    app.addHook('onRequest', (request, reply, done) => {
      open(request)
      // Also when the client goes away before the answer; after the answer it does nothing.
      if (request.journalEntry) reply.raw.on('close', () => endEntry(request, reply, NO_ANSWER))
      done()
    })

    app.addHook('onResponse', (request, reply, done) => {
      // What is refused by an earlier hook has none yet.
      if (!request.journalEntry) open(request)
      endEntry(request, reply, { size: sizeOf(request, reply) })
      done()
    })

    function open(request: FastifyRequest): void {
      const kind = request.routeOptions.config.described ?? (isUnserved(request) ? unserved : undefined)
      if (!kind) return
      // Authentication goes by it too.
      request.environment ??= environmentOf(request.headers.authorization, environments) as never
      request.journalEntry = journals.of(request.environment).open(kind, textOf(request))
      if (kind === unserved) request.journalEntry.mark({ unserved: true })
    }
  },
  { name: 'journalling' }
)

/** Notes a request that Fastify refuses before it looks for a route, and so before any hook. */
export function noteUnroutable(
  request: FastifyRequest,
  reply: FastifyReply,
  { journals, environments, adminToken }: Options
): void {
  if (isOfControl(request)) return
  const environment = environmentOf(request.headers.authorization, environments)
  const secrets = secretsOf(environments, adminToken)
  const kind = kindOf({ operation: undefined, query: NOTHING, headers: HEADERS_READ, secrets })
  const entry = journals.of(environment).open(kind, textOf(request))
  entry.mark({ unserved: true })
  entry.close({ status: reply.statusCode, size: sizeOf(request, reply), reason: reasonOf(reply) })
}

/** Ends the request's entry, if it has one and it is not ended yet; without a size, it was never answered. */
export function endEntry(request: FastifyRequest, reply: FastifyReply, { size }: { size?: number }): void {
  const { journalEntry: entry } = request
  if (!entry) return
  if (reply.hasHeader('idempotency-replay')) entry.mark({ replayed: true })
  entry.setBody(bodyOf(request))
  entry.close(size === undefined ? NO_ANSWER : { status: reply.statusCode, size, reason: reasonOf(reply) })
}

export const NO_ANSWER = {}

function isUnserved(request: FastifyRequest): boolean {
  return request.is404 && !isOfControl(request)
}

function isOfControl({ url }: FastifyRequest): boolean {
  return /^\/(_mock|docs|health|openapi\.json|favicon\.ico)(?=\/|$)/.test(pathOf(url))
}

/** What the server reads of requests to an operation, or to none. */
interface Reads {
  operation: OperationId | undefined
  /** Names of the query parameters. */
  query: ReadonlySet<string>
  /** Names of the headers. */
  headers: ReadonlySet<string>
  secrets: Secrets
}

const NOTHING: ReadonlySet<string> = new Set()

function secretsOf(environments: EnvironmentService, adminToken: string | undefined): Secrets {
  return { isKey: (word) => environments.resolve(word) !== undefined, adminToken }
}

/** Method, target, and names and values of the headers by turns, a line each, as none of them can hold a line's end. */
function textOf({ method, url, raw }: FastifyRequest): string {
  return raw.rawHeaders.length === 0 ? `${method}\n${url}` : `${method}\n${url}\n${raw.rawHeaders.join('\n')}`
}

function kindOf({ operation, query: known, headers: read, secrets }: Reads): Kind {
  return {
    operation,
    describe(text: string, body: Body | undefined, reason: string | undefined): Described {
      const [method = '', url = '', ...rawHeaders] = text.split('\n')
      const sent = pairs(rawHeaders)
      const authorization = sent.find(([name]) => name === 'authorization')?.[1]
      const redaction = redactionOf(secrets, authorization)
      const query = redaction.named(parameters(url))
      const headers = redaction.named(sent)
      const cut = body !== undefined && body.bytes.length < body.length
      return {
        method,
        path: redaction.text(pathOf(url)),
        query,
        headers,
        ...(body && { body: redaction.body(body.bytes, cut) }),
        ...(cut && { bodyLength: body.length }),
        ...(reason !== undefined && { reason: redaction.text(reason) }),
        unread: {
          query: Object.keys(query).filter((name) => !known.has(name)),
          headers: Object.keys(headers).filter((name) => !read.has(name))
        }
      }
    }
  }
}

/** As the operations read them; as they were sent, where they can't be read. */
function parameters(url: string): [string, string][] {
  const text = /\?([^#]*)/.exec(url)?.[1] ?? ''
  const query = parseQuery(text)
  if (query instanceof MalformedQuery) {
    return text.split('&').map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name, value.join('=')]
    })
  }
  return Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)])
  )
}

/** From names and values by turns, as node has them. */
function pairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, place): [string, string][] =>
    place % 2 === 0 ? [[name.toLowerCase(), rawHeaders[place + 1] ?? '']] : []
  )
}

function sizeOf(request: FastifyRequest, reply: FastifyReply): number {
  return request.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0)
}

function reasonOf(reply: FastifyReply): string | undefined {
  const reason = reply.getHeader('x-mock-reason')
  return reason === undefined ? undefined : String(reason)
}

function headersRead(faultHeader: boolean): ReadonlySet<string> {
  return faultHeader ? new Set([...HEADERS_READ, 'x-mock-fault']) : HEADERS_READ
}

/** Those that the server reads, and those that every client sends and that mean nothing for an answer. */
const HEADERS_READ: ReadonlySet<string> = new Set([
  ...['authorization', 'idempotency-key', 'content-type', 'content-encoding', 'content-length', 'host', 'origin'],
  ...['x-request-id', 'connection', 'transfer-encoding', 'expect', 'upgrade', 'upgrade-insecure-requests'],
  ...['access-control-request-headers', 'access-control-request-method', 'proxy-connection', 'max-forwards'],
  ...['accept', 'accept-encoding', 'accept-language', 'user-agent', 'cookie', 'referer', 'dnt', 'priority', 'te'],
  ...['sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-user', 'sec-gpc', 'cache-control', 'pragma'],
  ...['sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform', 'keep-alive', 'traceparent', 'tracestate', 'forwarded'],
  ...['via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']
])
