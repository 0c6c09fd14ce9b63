import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Assumptions } from '../domain/assumptions.js'
import { DomainError } from '../domain/errors.js'
import { suggest } from '../domain/suggestions.js'
import { pathOf } from './target.js'

/** A path and the methods that have a route for it. */
export interface ServedPath {
  url: string
  pattern: RegExp
  methods: string[]
}

/**
 * The value of the assumption `unserved-route`, which says how requests without a route are
 * rejected.
 */
export type UnservedRoute = Assumptions['unserved-route']

interface NotFoundOptions {
  /**
   * The list to which the plugin adds this app's paths. It may already contain another app's paths.
   */
  served: ServedPath[]
  assumptionFor: (request: FastifyRequest) => UnservedRoute
  /** Whether a stub responds to a request that has no route. */
  isStubbed: (request: FastifyRequest) => boolean
}

/**
 * Rejects requests whose path or method has no route, before their body is read. The not-found
 * handler responds to the two exceptions: requests that a stub serves, and requests to paths of
 * Novu's API that have no routes. Register this plugin before the routes, because it learns only
 * the paths of routes that are added after it.
 */
export const notFound = fp<NotFoundOptions>(async (app, { served, assumptionFor, isStubbed }) => {
  app.addHook('onRoute', ({ url, method }) => addRoute(served, url, [method].flat()))

  app.addHook('onRequest', (request, reply, done) => {
    const path = pathOf(request.url)
    if (!request.is404 || isUnmocked(served, path) || isStubbed(request)) return done()
    done(unservedError(served, request, reply, assumptionFor(request)))
  })
})

/** Returns whether a path belongs to Novu's API and has no route on this server. */
export function isUnmocked(served: readonly ServedPath[], path: string): boolean {
  return /^\/v[12]\//.test(path) && findPath(served, path) === undefined
}

/** Returns the error for a request to a path that is not mocked. */
export function notMockedError(
  served: readonly ServedPath[],
  { method, url }: FastifyRequest,
  assumption: UnservedRoute
): DomainError {
  const path = pathOf(url)
  const code = assumption === 'not-implemented' ? 'not-implemented' : 'not-mocked'
  const suggestion = suggestPathFor(served, path)
  const nearMiss = suggestion ? `did you mean ${suggestion}? Otherwise ` : ''
  return new DomainError(code, `${method} ${path} is not mocked`, {
    reason: `${nearMiss}${WAYS_OUT}`
  })
}

const WAYS_OUT =
  'add a stub for it with POST /_mock/stubs, or start the server with --stubs novu-client ' +
  '(static responses) or --fallback <url> (forwards the request to another server)'

function addRoute(served: ServedPath[], url: string, methods: string[]): void {
  if (/[*(]/.test(url)) return
  const servedPath = served.find((path) => path.url === url)
  if (servedPath) {
    servedPath.methods = [...servedPath.methods, ...methods].sort()
    return
  }
  const source = url.replaceAll('.', '[.]').replace(/:[A-Za-z]+/g, '[^/]*')
  served.push({ url, pattern: new RegExp(`^${source}$`), methods })
}

function findPath(served: readonly ServedPath[], path: string): ServedPath | undefined {
  return served.find(({ pattern }) => pattern.test(path))
}

function unservedError(
  served: readonly ServedPath[],
  request: FastifyRequest,
  reply: FastifyReply,
  assumption: UnservedRoute
): DomainError {
  const { method } = request
  const path = pathOf(request.url)
  const allowed = findPath(served, path)?.methods.join(', ')
  const reason = describeAlternative(served, path, allowed)
  if (allowed === undefined || assumption === 'not-found') {
    return new DomainError('not-found', `Cannot ${method} ${path}`, { reason })
  }
  reply.header('Allow', allowed)
  return new DomainError('method-not-allowed', `${method} is not allowed for ${path}`, { reason })
}

/** Returns the error's reason, which says what the client can request instead. */
function describeAlternative(
  served: readonly ServedPath[],
  path: string,
  allowed: string | undefined
): string {
  if (allowed !== undefined) return `this path only supports ${allowed}`
  const suggestion = suggestPathFor(served, path)
  if (suggestion) return `did you mean ${suggestion}?`
  if (isControlPath(path)) return 'GET /_mock/openapi.json lists the control routes'
  const operations = served.filter(({ url }) => /^\/v\d/.test(url)).map(describeOperation)
  return `this mock only serves ${operations.join(', ')}`
}

/** Returns the path that the client probably meant; undefined if no served path is similar. */
function suggestPathFor(served: readonly ServedPath[], path: string): string | undefined {
  return suggestSpelling(served, path) ?? suggestPath(served, path)
}

function describeOperation({ url, methods }: ServedPath): string {
  return `${methods.filter((method) => method !== 'HEAD')} ${url}`
}

/**
 * Returns a served path that differs from the requested path only in slashes, version, case or a
 * prefix such as `/api`. Returns undefined if there is none.
 */
function suggestSpelling(served: readonly ServedPath[], path: string): string | undefined {
  const normalized = normalize(path)
  const unversioned = normalized.replace(/^(\/v\d+)+(?=\/)/i, '')
  const withoutPrefix = normalized.replace(/^.*(?=\/v\d\/)/, '')
  const spellings = [
    normalized,
    withoutPrefix,
    `/v1${unversioned}`,
    `/v2${unversioned}`,
    normalized.toLowerCase()
  ]
  return spellings.find((spelling) => findPath(served, spelling))
}

/** Returns the served path that is most similar to the requested path, if any is similar enough. */
function suggestPath(served: readonly ServedPath[], path: string): string | undefined {
  const segments = normalize(path).split('/')
  const candidates = served.flatMap(({ url }) => {
    if (url === '/' || isControlPath(url) !== isControlPath(path)) return []
    return correctSegments(segments, url.split('/')) ?? []
  })
  return suggest(normalize(path), candidates)
}

/**
 * Replaces the parameters in a route's URL with the segments of the requested path. Returns
 * undefined if the numbers of segments differ, or if a fixed segment of the URL isn't similar to
 * the requested segment.
 */
function correctSegments(
  segments: readonly string[],
  urlSegments: readonly string[]
): string | undefined {
  if (segments.length !== urlSegments.length) return undefined
  const corrected = urlSegments.map((urlSegment, index) => {
    const segment = segments[index] ?? ''
    if (urlSegment.startsWith(':')) return segment
    return suggest(segment, [urlSegment])
  })
  return corrected.includes(undefined) ? undefined : corrected.join('/')
}

/** Replaces repeated slashes with one slash, and removes the slash at the end. */
function normalize(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

function isControlPath(path: string): boolean {
  return /^\/_mock(\/|$)/.test(path)
}
