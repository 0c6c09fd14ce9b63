import cors from '@fastify/cors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Assumptions } from '../domain/assumptions.js'
import { DomainError } from '../domain/errors.js'
import { pathOf } from './target.js'

type CorsAssumption = Assumptions['cors']

interface Options {
  assumptionFor: (request: FastifyRequest) => CorsAssumption
}

/**
 * Allows pages of any origin to send requests and to read the responses. With the assumption `cors`
 * set to `absent`, pages can call only the mock's own paths, such as `/_mock`, and not Novu's API.
 */
export const crossOriginRequests = fp<Options>(async (app, { assumptionFor }) => {
  // @fastify/cors responds to every preflight, so reject preflights before it runs.
  app.addHook('onRequest', (request, _reply, done) => {
    const isRejected = isRejectedPreflight(request, assumptionFor(request))
    done(isRejected ? preflightError(request) : undefined)
  })
  app.addHook('onRequest', (request, reply, done) => {
    allowPrivateNetwork(request, reply)
    done()
  })
  await app.register(cors, OPTIONS)
  app.addHook('onRequest', (request, reply, done) => {
    if (isClosedToPages(request, assumptionFor(request))) removeCorsHeaders(reply)
    done()
  })
})

/**
 * Accepts a browser's private network preflight, so that a page on the internet can call this
 * server on the browser's machine or local network.
 */
function allowPrivateNetwork({ method, headers }: FastifyRequest, reply: FastifyReply): void {
  const isRequested = headers['access-control-request-private-network'] === 'true'
  if (method === 'OPTIONS' && isRequested)
    reply.header('access-control-allow-private-network', 'true')
}

/**
 * Returns whether the request is a preflight that gets a 404. Every OPTIONS request counts as a
 * preflight.
 */
export function isRejectedPreflight(request: FastifyRequest, assumption: CorsAssumption): boolean {
  return request.method === 'OPTIONS' && isClosedToPages(request, assumption)
}

function isClosedToPages({ url }: FastifyRequest, assumption: CorsAssumption): boolean {
  return assumption === 'absent' && NOVU_PATH.test(pathOf(url))
}

/** Matches the paths of Novu's API, whether this server mocks them or not. */
const NOVU_PATH = /^\/v[12]\//i

const OPTIONS = {
  // Repeat the page's origin instead of sending `*`, which browsers reject for a request with
  // `credentials: 'include'`.
  origin: true,
  credentials: true,
  methods: 'GET, HEAD, POST, PUT, PATCH, DELETE',
  exposedHeaders:
    'idempotency-key, idempotency-replay, retry-after, x-mock-change, x-mock-reason, ' +
    'x-mock-fallback, x-mock-stub, x-request-id',
  strictPreflight: false
}

function preflightError({ method, url }: FastifyRequest): DomainError {
  return new DomainError('not-found', `Cannot ${method} ${pathOf(url)}`, { reason: NO_PAGES })
}

const NO_PAGES =
  "Novu's API sends no CORS headers, so a web page can't call it (assumption cors); " +
  'send the request from your server, or through the proxy of your dev server'

/** Removes the headers that allow pages of other origins to read a response. */
export function removeCorsHeaders(reply: FastifyReply): void {
  for (const name of Object.keys(reply.getHeaders())) {
    if (name.startsWith('access-control-')) reply.removeHeader(name)
  }
}
