import type { FastifyPluginAsync } from 'fastify'
import { ASSUMPTION_IDS, type Assumptions, REGISTER } from '../../core/assumptions.js'
import { controlRoute } from '../../http/control-route.js'
import { JSON_TYPE } from '../../http/errors.js'
import { AssumptionList, Health, NotReady, OpenApiDocument } from './schemas.js'

/** What is left to do before the server can be used; empty when it can. */
export interface Readiness {
  missing: readonly string[]
}

/** Whether the server can be used. Takes any query, as health checks may add to it what they like. */
export const healthRoute: FastifyPluginAsync<{ readiness: Readiness }> = async (app, { readiness }) => {
  app.route({
    ...controlRoute({
      id: 'health',
      method: 'GET',
      url: '/health',
      summary: 'Check whether the server is ready',
      tag: 'Server',
      access: 'open',
      response: Health,
      otherResponses: { 503: { description: 'Not ready', schema: NotReady } }
    }),
    handler: (_request, reply) => {
      const { missing } = readiness
      if (missing.length === 0) return reply.send({ status: 'ok' })
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
    ...controlRoute({
      id: 'listAssumptions',
      method: 'GET',
      url: '/assumptions',
      summary: 'List the assumptions',
      description: 'An assumption settles what the contract leaves open or the deployed service does differently.',
      tag: 'Server',
      access: 'open',
      response: AssumptionList
    }),
    handler: () => ({ assumptions: ASSUMPTION_IDS.map((id) => ({ id, ...REGISTER[id], value: assumptions[id] })) })
  })

  let json: Promise<string> | undefined
  app.route({
    ...controlRoute({
      id: 'readControlDocument',
      method: 'GET',
      url: '/openapi.json',
      summary: 'Get this document',
      tag: 'Server',
      access: 'open',
      response: OpenApiDocument
    }),
    handler: async (_request, reply) => {
      json ??= document().then((made) => JSON.stringify(made))
      return reply.type(JSON_TYPE).send(await json)
    }
  })
}
