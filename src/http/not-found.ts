import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { suggest } from '../domain/suggestions.js'
import { pathOf } from './target.js'

/** What the routes of an app serve. */
export interface Served {
  url: string
  pattern: RegExp
  methods: string[]
}

/**
 * Rejects requests that no route serves, and suggests the path that was probably meant. Register it before the routes,
 * of which it takes note. Needs no key, as there is nothing to protect. `explains` says whether the answer names what is
 * not served; otherwise it is a plain 404.
 */
export const notFound = fp<{ explains: (request: FastifyRequest) => boolean; served: Served[] }>(
  async (app, { explains, served }) => {
    app.addHook('onRoute', ({ url, method }) => {
      if (/[*(]/.test(url)) return
      const source = url.replaceAll('.', '[.]').replace(/:[A-Za-z]+/g, '[^/]*')
      const known = served.find((each) => each.url === url)
      if (known) known.methods = [...known.methods, ...[method].flat()].sort()
      else served.push({ url, pattern: new RegExp(`^${source}$`), methods: [method].flat() })
    })

    // Not a not-found handler: before that Fastify would read the body, and check its type and length.
    app.addHook('onRequest', (request, reply, done) =>
      done(request.is404 ? errorFor(request, reply) : undefined)
    )

    function errorFor(request: FastifyRequest, reply: FastifyReply): DomainError {
      const { method, url } = request
      const path = pathOf(url)
      const allowed = serving(path)?.methods.join(', ')
      const reason = allowed ? `this path takes ${allowed}` : hint(path)
      if (!explains(request))
        return new DomainError('not-found', `Cannot ${method} ${path}`, { reason })
      if (allowed) {
        reply.header('Allow', allowed)
        return new DomainError('method-not-allowed', `${method} is not allowed for ${path}`, {
          reason
        })
      }
      return /^\/v[12]\//.test(path)
        ? new DomainError('not-served', `${method} ${path} is not served by this mock`, { reason })
        : new DomainError('not-found', `Cannot ${method} ${path}`, { reason })
    }

    function serving(path: string): Served | undefined {
      return served.find(({ pattern }) => pattern.test(path))
    }

    function hint(path: string): string {
      const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
      const bare = plain.replace(/^(\/v\d+)+(?=\/)/i, '')
      const versioned = plain.replace(/^.*(?=\/v\d\/)/, '')
      const candidates = [plain, versioned, `/v1${bare}`, `/v2${bare}`, plain.toLowerCase()]
      const meant = candidates.find(serving) ?? nearest(plain)
      if (meant) return `did you mean ${meant}?`
      if (CONTROL.test(path))
        return 'GET /_mock/openapi.json describes the control routes there are'
      const operations = served.filter(({ url }) => /^\/v\d/.test(url))
      return `served are ${operations.map(({ url, methods }) => `${methods.filter((name) => name !== 'HEAD')} ${url}`).join('; ')}`
    }

    /** Returns the path that was probably meant, of those of its kind that have no other words than slips of the pen. */
    function nearest(path: string): string | undefined {
      const asked = path.split('/')
      const urls = served.flatMap(({ url }) => {
        const parts = url.split('/')
        if (
          url === '/' ||
          parts.length !== asked.length ||
          CONTROL.test(url) !== CONTROL.test(path)
        )
          return []
        // The parts that were asked for stand in place of its parameters.
        return parts.map((part, index) => (part.startsWith(':') ? asked[index] : part)).join('/')
      })
      return suggest(path, urls)
    }
  }
)

const CONTROL = /^\/_mock(\/|$)/
