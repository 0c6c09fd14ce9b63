import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../core/errors.js'
import { pathOf } from './target.js'

interface Served {
  url: string
  pattern: RegExp
  methods: Set<string>
}

interface Options {
  /** Whether the answer says what is not served, rather than a plain 404. */
  explains: (request: FastifyRequest) => boolean
}

/**
 * Rejects requests that no route serves, and suggests the path that was probably meant. Register it before the routes,
 * of which it takes note. Needs no key, as there is nothing to protect.
 */
export const notFound = fp<Options>(
  async (app, { explains }) => {
    const served = new Map<string, Served>()

    app.addHook('onRoute', ({ url, method }) => {
      const entry = served.get(url) ?? { url, pattern: patternOf(url), methods: new Set<string>() }
      for (const name of [method].flat()) entry.methods.add(name)
      if (!url.includes('*')) served.set(url, entry)
    })

    // Not a not-found handler: before that Fastify would read the body, and check its type and length.
    app.addHook('onRequest', (request, reply, done) => done(request.is404 ? errorFor(request, reply) : undefined))

    function errorFor(request: FastifyRequest, reply: FastifyReply): DomainError {
      const path = pathOf(request.url)
      const atPath = serving(path)
      const explain = explains(request)
      if (explain && atPath) {
        const allowed = [...atPath.methods].sort().join(', ')
        reply.header('Allow', allowed)
        return new DomainError('method-not-allowed', `${request.method} is not allowed for ${path}`, {
          reason: `this path takes ${allowed}`
        })
      }
      const reason = atPath ? `this path takes ${[...atPath.methods].sort().join(', ')}` : hint(path)
      if (explain && /^\/v[12]\//.test(path)) {
        return new DomainError('not-served', `${request.method} ${path} is not served by this mock`, { reason })
      }
      return new DomainError('not-found', `Cannot ${request.method} ${path}`, { reason })
    }

    function serving(path: string): Served | undefined {
      return [...served.values()].find(({ pattern }) => pattern.test(path))
    }

    function hint(path: string): string {
      const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
      const bare = plain.replace(/^(\/v\d+)+(?=\/)/i, '')
      const versioned = plain.replace(/^.*(?=\/v\d\/)/, '')
      for (const candidate of [plain, versioned, `/v1${bare}`, `/v2${bare}`, plain.toLowerCase()]) {
        if (serving(candidate)) return `did you mean ${candidate}? ${difference(plain, candidate)}`
      }
      return `served are ${[...served.values()]
        .filter(({ url }) => /^\/v\d/.test(url))
        .map(({ url, methods }) => `${[...methods].filter((name) => name !== 'HEAD').join(', ')} ${url}`)
        .join('; ')}`
    }
  },
  { name: 'not-found' }
)

function difference(asked: string, meant: string): string {
  if (asked === meant) return 'There is a slash too many'
  if (/^(\/v\d+){2}/i.test(asked)) return 'The client adds the version itself: its base URL should not have one'
  if (asked.endsWith(meant)) return 'The base URL should have no path'
  if (!/^\/v\d/i.test(asked)) return `The path lacks its ${meant.slice(0, 3)}`
  return 'The path has another version or other letters'
}

function patternOf(url: string): RegExp {
  const source = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]*')
  return new RegExp(`^${source}$`)
}
