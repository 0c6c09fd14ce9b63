import type { FastifyPluginAsync } from 'fastify'
import { ASSUMPTION_IDS, type Assumptions, assumptionRow } from '../../core/assumptions.js'
import { controlRoutes } from '../../http/control-route.js'
import { AssumptionList, Health, NotReady, OpenApiDocument } from './schemas.js'

/** What is left to do before the server can be used; empty when it can. */
export interface Readiness {
  missing: readonly string[]
}

const route = controlRoutes({ tag: 'Server', access: 'open' })

/** Whether the server can be used. Takes any query, as health checks may add to it what they like. */
export const healthRoute: FastifyPluginAsync<{ readiness: Readiness }> = async (app, { readiness }) => {
  app.route({
    ...route('GET', '/health', {
      id: 'health',
      summary: 'Check whether the server is ready',
      response: Health,
      otherResponses: { 503: { description: 'Not ready', schema: NotReady } }
    }),
    handler: async (_request, reply) => {
      const { missing } = readiness
      if (missing.length === 0) return { status: 'ok' }
      return reply.code(503).header('Retry-After', '1').send({ status: 'starting', missing })
    }
  })
}

interface Options {
  assumptions: Assumptions
  /** Makes the document of the control routes. */
  document: () => Promise<object>
}

/** Routes about the server itself, open to everyone: they reveal nothing about any environment. */
export const serverRoutes: FastifyPluginAsync<Options> = async (app, { assumptions, document }) => {
  app.route({
    ...route('GET', '/assumptions', {
      id: 'listAssumptions',
      summary: 'List the assumptions',
      description: 'An assumption settles what the contract leaves open or the deployed service does differently.',
      response: AssumptionList
    }),
    handler: async () => ({
      assumptions: ASSUMPTION_IDS.map((id) => ({ id, ...assumptionRow(id), value: assumptions[id] }))
    })
  })

  let made: Promise<object> | undefined
  app.route({
    ...route('GET', '/openapi.json', {
      id: 'readControlDocument',
      summary: 'Get this document',
      response: OpenApiDocument
    }),
    handler: () => {
      made ??= document()
      return made
    }
  })
}
