import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { suggest } from '../domain/suggestions.js'
import { pathOf } from './target.js'

/** A path that has routes, and their methods. */
export interface ServedPath {
  url: string
  pattern: RegExp
  methods: string[]
}

interface NotFoundOptions {
  /** Collects the paths of this app's routes. It may already contain another app's paths. */
  served: ServedPath[]
  /** Whether the error explains what is not mocked. Otherwise it is a plain 404. */
  explains: (request: FastifyRequest) => boolean
}

/**
 * Rejects requests without a route and suggests the path that was probably meant. Register it
 * before the routes, which it collects. Needs no API key, because there is nothing to protect.
 */
export const notFound = fp<NotFoundOptions>(async (app, options) => {
  app.addHook('onRoute', ({ url, method }) => addRoute(options.served, url, [method].flat()))

  // A not-found handler would run after Fastify has read the body and checked its type and length.
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

/** Returns what the client can request instead. */
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

/** Returns a served path that differs only in its slashes, its version or its case. */
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

/** Returns a served path that differs from the request only in likely typos. */
function suggestPath(served: readonly ServedPath[], path: string): string | undefined {
  const segments = normalize(path).split('/')
  const candidates = served.flatMap(({ url }) => {
    if (url === '/' || isControlPath(url) !== isControlPath(path)) return []
    return correctSegments(segments, url.split('/')) ?? []
  })
  return suggest(normalize(path), candidates)
}

/**
 * Returns the URL of a route with the request's segments as its parameters, or undefined if a
 * segment is too different.
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

/** Removes repeated slashes and the one at the end. */
function normalize(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

function isControlPath(path: string): boolean {
  return /^\/_mock(\/|$)/.test(path)
}
