import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { suggest } from '../domain/suggestions.js'
import { pathOf } from './target.js'

/** A path that has routes, with the methods of these routes. */
export interface ServedPath {
  url: string
  pattern: RegExp
  methods: string[]
}

interface NotFoundOptions {
  /** The list to which this app's paths are added. It may already contain another app's paths. */
  served: ServedPath[]
  /** Whether a request gets an error that says it isn't mocked. Otherwise it gets a plain 404. */
  explains: (request: FastifyRequest) => boolean
}

/**
 * Rejects requests that match no route and suggests a similar path. Register it before the routes,
 * because it collects their paths. It doesn't require an API key, because there is nothing to
 * protect.
 */
export const notFound = fp<NotFoundOptions>(async (app, options) => {
  app.addHook('onRoute', ({ url, method }) => addRoute(options.served, url, [method].flat()))

  // Use a hook, because a not-found handler only runs after Fastify has read and checked the body.
  app.addHook('onRequest', (request, reply, done) => {
    done(request.is404 ? createError(request, reply, options) : undefined)
  })
})

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

function createError(
  request: FastifyRequest,
  reply: FastifyReply,
  { explains, served }: NotFoundOptions
): DomainError {
  const { method } = request
  const path = pathOf(request.url)
  const allowed = findPath(served, path)?.methods.join(', ')
  const reason = describeAlternative(served, path, allowed)
  const notFoundError = new DomainError('not-found', `Cannot ${method} ${path}`, { reason })
  if (!explains(request)) return notFoundError
  if (allowed !== undefined) {
    reply.header('Allow', allowed)
    return new DomainError('method-not-allowed', `${method} is not allowed for ${path}`, { reason })
  }
  if (!/^\/v[12]\//.test(path)) return notFoundError
  return new DomainError('not-served', `${method} ${path} is not served by this mock`, { reason })
}

/** Returns text that says what the client can request instead. */
function describeAlternative(
  served: readonly ServedPath[],
  path: string,
  allowed: string | undefined
): string {
  if (allowed !== undefined) return `this path only supports ${allowed}`
  const suggestion = suggestSpelling(served, path) ?? suggestPath(served, path)
  if (suggestion) return `did you mean ${suggestion}?`
  if (isControlPath(path)) return 'GET /_mock/openapi.json lists the control routes'
  const operations = served.filter(({ url }) => /^\/v\d/.test(url)).map(describeOperation)
  return `this mock only serves ${operations.join(', ')}`
}

function describeOperation({ url, methods }: ServedPath): string {
  return `${methods.filter((method) => method !== 'HEAD')} ${url}`
}

/**
 * Returns the served path if the requested path differs from it only in slashes, version or case.
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
 * Returns a route's URL with its parameters replaced by the request's segments. Returns undefined
 * if any other segment is too different.
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

/** Removes repeated slashes and the slash at the end. */
function normalize(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

function isControlPath(path: string): boolean {
  return /^\/_mock(\/|$)/.test(path)
}
