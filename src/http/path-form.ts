import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Assumptions } from '../domain/assumptions.js'
import { headerText } from './errors.js'
import { leaveUnlogged } from './log.js'
import { pathOf, redactedTarget } from './target.js'

interface Options {
  /** The paths of the operations, with parameters in the form `:name`. */
  paths: readonly string[]
  assumptionFor: (request: FastifyRequest) => Assumptions['path-form']
}

/**
 * Returns a hook for requests without a route. If the assumption `path-form` is `lenient`, the hook
 * corrects a path such as `/V1/Messages/` and routes the request again. Add this hook before the
 * journal's hook. Otherwise, the journal would record such a request twice.
 */
export function routeOtherPathForms(
  app: FastifyInstance,
  { paths, assumptionFor }: Options
): onRequestHookHandler {
  const forms = paths.map(toPathForm)
  return (request, reply, done) => {
    if (!request.is404 || assumptionFor(request) !== 'lenient') return done()
    const path = pathOf(request.url)
    const usualPath = toUsualPath(path, forms)
    if (usualPath === path) return done()
    reply.hijack()
    leaveUnlogged(reply)
    const { raw } = request
    // Fastify expects `originalUrl` to be the URL that the client sent.
    Object.assign(raw, { originalUrl: request.url })
    raw.url = request.url.replace(path, () => usualPath)
    reply.raw.setHeader('x-mock-reason', headerText(describeForm(path, usualPath)))
    app.routing(raw as IncomingMessage, reply.raw)
  }
}

interface PathForm {
  /** Matches the path in any case, with or without a slash at the end. */
  pattern: RegExp
  segments: readonly string[]
}

function toPathForm(path: string): PathForm {
  const source = path.replace(/:\w+/g, '[^/]+')
  return { pattern: new RegExp(`^${source}/?$`, 'i'), segments: path.split('/') }
}

/**
 * Returns the path in the operation's own spelling, with unchanged parameters. If no operation has
 * this path, only changes `/V1/` or `/V2/` at its start to lower case.
 */
function toUsualPath(path: string, forms: readonly PathForm[]): string {
  const form = forms.find(({ pattern }) => pattern.test(path))
  if (!form) return path.replace(/^\/V(?=[12]\/)/, '/v')
  const sent = path.split('/')
  const segments = form.segments.map((segment, index) =>
    segment.startsWith(':') ? sent[index] : segment
  )
  return segments.join('/')
}

function describeForm(path: string, usualPath: string): string {
  return `${redactedTarget(path)} is read as ${redactedTarget(usualPath)} (assumption path-form)`
}
