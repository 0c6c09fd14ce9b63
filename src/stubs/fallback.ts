import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import replyFrom from '@fastify/reply-from'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { requireEnvironment } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import type { LatencyService } from '../faults/latency.js'
import { injectFaults } from '../faults/plugin.js'
import type { FaultService } from '../faults/service.js'
import { setReasonHeader } from '../http/errors.js'
import { logCut } from '../http/log.js'
import { pathOf } from '../http/target.js'
import { recordRequestStream, recordResponseStream } from '../journal/streamed-bodies.js'
import { describeFailure } from './fallback-failures.js'
import { toForwardedRequest, toForwardedResponse } from './fallback-headers.js'
import { Slots } from './slots.js'

/**
 * The maximum number of requests that are forwarded at the same time. Each needs up to 0.3 MB for
 * buffers. Without this limit, 1,000 requests would need about 200 MB more memory.
 */
const MAX_CONCURRENT = 64

export interface FallbackOptions {
  environments: EnvironmentService
  faults: FaultService
  latency: LatencyService
  /** The URL of the fallback server. */
  url: string
  /** The API key of the fallback server. */
  key: string
  /** How many milliseconds to wait if the fallback server sends nothing. 0 means no limit. */
  timeout: number
  /** Returns true for a request to Novu's API that neither an operation nor a stub serves. */
  isUnserved: (request: FastifyRequest) => boolean
}

/**
 * Forwards requests to the fallback server. Like requests to operations, they need an API key and
 * are subject to faults. The fallback server gets its own API key instead of the client's. Bodies
 * are streamed in both directions, so they can have any size.
 */
export const fallbackServer = fp<FallbackOptions>(async (app, options) => {
  const forwarder = new Forwarder(options)
  await app.register(replyFrom, {
    base: forwarder.origin,
    disableRequestLogging: true,
    disableCache: true,
    http: {
      // Don't reuse connections. Retries are off, so a request would fail if the fallback server
      // closed the idle connection at the same moment. `maxSockets` must be infinite: with a limit,
      // Node reuses connections even if `keepAlive` is off.
      agentOptions: { keepAlive: false, maxSockets: Number.POSITIVE_INFINITY },
      requestOptions: {
        rejectUnauthorized: true,
        // A getter, because reply-from reads these options on every call of `from` and has no other
        // way to pass a signal for one request.
        get signal() {
          return forwarder.clientSignal
        }
      }
    }
  })

  app.addHook('onRequest', (request, _reply, done) => {
    done(forwarder.findLoop(request))
  })

  // Forward requests in this hook, because Fastify reads the whole body before any later hook.
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!options.isUnserved(request)) return done(null, payload)
    const body = streamBody(request, reply, payload as Readable)
    // If a fault ends the request, nothing reads its body later. Read the start for the journal.
    if (options.faults.list(requireEnvironment(request)).length > 0) body?.read(0)
    injectFaults(options).call(app, request, reply, (error) => {
      if (error) done(error)
      else forwarder.forward(request, reply).catch(done)
    })
  })
})

class Forwarder {
  readonly origin: string
  /**
   * Aborts when the client of the current request disconnects. It is set only during the
   * synchronous call of `from`, so a request can't get another request's signal. On Node 20, an
   * `AsyncLocalStorage` would slow down all promises of the process.
   */
  clientSignal: AbortSignal | undefined
  readonly #options: FallbackOptions
  readonly #basePath: string
  /** Identifies this server in the header `via`. */
  readonly #via = `1.1 notification-mock-${randomUUID()}`
  readonly #slots = new Slots(MAX_CONCURRENT)

  constructor(options: FallbackOptions) {
    const { origin, pathname } = new URL(options.url)
    this.origin = origin
    this.#options = options
    this.#basePath = pathname.replace(/\/$/, '')
  }

  /** Returns an error if this server already forwarded the request and it came back. */
  findLoop({ headers }: FastifyRequest): DomainError | undefined {
    if (!headers.via?.includes(this.#via)) return undefined
    const message = `The fallback server ${this.origin} leads back to this server`
    return new DomainError('not-forwarded', message, {
      reason:
        'the fallback server forwards requests to this server; set another URL with --fallback'
    })
  }

  /** Forwards a request. Resolves when the response has been sent, or the client disconnects. */
  async forward(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    this.#options.environments.assertExists(requireEnvironment(request))
    const path = pathOf(request.url)
    requireForwardable(path)
    if (request.journalEntry) request.journalEntry.forwarded = true
    const client = new AbortController()
    reply.raw.once('close', () => client.abort())
    await this.#slots.take()
    try {
      client.signal.throwIfAborted()
      const response = await this.#sendRequest(reply, this.#basePath + path, client.signal)
      await this.#sendResponse(response, reply)
      await ended(reply)
    } catch (error) {
      // A client that has disconnected gets no response.
      if (!client.signal.aborted) throw this.#failure(error, request)
    } finally {
      this.#slots.release()
    }
  }

  /**
   * Resolves when the start of the response's body has arrived. If the fallback server fails before
   * that, the client can still get an error response.
   */
  #sendRequest(
    reply: FastifyReply,
    source: string,
    clientSignal: AbortSignal
  ): Promise<IncomingMessage> {
    const { key, timeout } = this.#options
    const forwarding = { key, via: this.#via, hasBody: reply.request.body !== undefined }
    return new Promise((resolve, reject) => {
      this.clientSignal = clientSignal
      withoutLog(reply).from(source, {
        timeout,
        // By default, reply-from retries a GET request up to ten times if the response is a 503.
        retryDelay: () => null,
        rewriteRequestHeaders: (_request, headers) => toForwardedRequest(headers, forwarding),
        rewriteHeaders: () => ({}),
        // Listen at once, because an empty body emits `readable` in the same turn.
        onResponse: (_request, _reply, { stream }) =>
          stream.once('error', reject).once('readable', () => resolve(stream)),
        onError: (_reply, { error }) => reject(error.cause ?? error)
      })
      this.clientSignal = undefined
    })
  }

  async #sendResponse(response: IncomingMessage, reply: FastifyReply): Promise<void> {
    const { request } = reply
    // `truncate` sends half of the body, so read the whole body first to know its length.
    const isTruncated = request.effect?.abort === 'truncate'
    const payload = isTruncated ? await buffer(response) : response
    if (!isTruncated) {
      const isEncoded = response.headers['content-encoding'] !== undefined
      recordResponseStream(response, isEncoded ? null : request.journalEntry)
      response.once('error', (error) => {
        const hasClientLeft = reply.raw.destroyed
        if (!hasClientLeft) recordCut(this.#failure(error, request).details.reason, reply)
      })
    }
    reply.removeHeader('connection')
    reply.code(response.statusCode ?? 0).headers(toForwardedResponse(response.headers))
    reply.header('x-mock-fallback', this.origin)
    if (response.statusCode === 401) setReasonHeader(reply, KEY_REJECTED)
    reply.send(payload)
  }

  #failure(error: unknown, { method, url }: FastifyRequest): DomainError {
    if (error instanceof DomainError) return error
    const message = `${method} ${pathOf(url)} could not be forwarded`
    const failure = describeFailure(error, this.#options.timeout)
    const reason = `the fallback server ${this.origin} ${failure}`
    return new DomainError('not-forwarded', message, { reason, logLevel: 'warn' })
  }
}

/** Resolves when the response has been sent, or the connection is lost. */
const ended = ({ raw }: FastifyReply): Promise<unknown> | undefined =>
  raw.closed ? undefined : once(raw, 'close')

/** Records why the connection is closed in the middle of a response. */
function recordCut(reason: string, reply: FastifyReply): void {
  const { journalEntry } = reply.request
  if (journalEntry) journalEntry.reason = reason
  logCut(reply, reason)
}

const KEY_REJECTED =
  'the fallback server rejected the API key that the mock sent; set the key with --fallback-key'

/**
 * Replaces the request's body with a stream and records its start. Returns undefined if there is no
 * body. After the response, discards what is left of the body, so that the client can send its next
 * request on the same connection.
 */
function streamBody(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable
): Readable | undefined {
  const { method, headers } = request
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0
  // Ignore the body of GET and HEAD requests, as Fastify does.
  if (!hasBody || method === 'GET' || method === 'HEAD') return undefined
  recordRequestStream(payload, request.journalEntry)
  const body = readThrough(payload)
  request.body = body
  reply.raw.once('close', () => body.destroy())
  return body
}

/**
 * Returns a stream with the content of `source`. After the returned stream is destroyed, the
 * remaining content is discarded. Destroying `source` itself would close the client's connection.
 */
function readThrough(source: Readable): Readable {
  const stream = new Readable({
    read: () => source.resume(),
    destroy(error, done) {
      source.resume()
      done(error)
    }
  })
  source.on('data', (chunk) => {
    if (!stream.destroyed && !stream.push(chunk)) source.pause()
  })
  source.once('end', () => {
    if (!stream.destroyed) stream.push(null)
  })
  return stream
}

/** Throws `bad-request` for a path that `URL` would change or reply-from would reject. */
function requireForwardable(path: string): void {
  const isUnchanged = new URL(path, 'http://localhost').pathname === path
  if (isUnchanged && !/(^|\/)\.\.|\.\.(\/|$)/.test(decodeURIComponent(path))) return
  throw new DomainError('bad-request', `${path} can't be forwarded`, {
    reason: 'the path has a . or .. segment, or a character that must be percent-encoded'
  })
}

const SILENT = { info() {}, warn() {} }

/**
 * Returns a reply whose request logs nothing. Otherwise, reply-from would log failures without
 * masking secrets. The error handler logs each failure anyway.
 */
function withoutLog(reply: FastifyReply): FastifyReply {
  const request = Object.create(reply.request, { log: { value: SILENT } })
  return Object.create(reply, { request: { value: request } })
}
