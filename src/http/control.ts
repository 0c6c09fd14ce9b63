import type { FastifyPluginAsync } from 'fastify'
import { ASSUMPTION_IDS, type Assumptions, REGISTER } from '../assumptions.js'
import { JSON_TYPE } from './errors.js'

/** What still has to happen before the server can be used; empty once it can. */
export interface Readiness {
  missing: readonly string[]
}

/** Routes of the server itself, open to all: they tell nothing of any environment. */
export const controlRoutes: FastifyPluginAsync<{ assumptions: Assumptions; readiness: Readiness }> = async (
  app,
  { assumptions, readiness }
) => {
  app.get('/health', async (_request, reply) => {
    const { missing } = readiness
    if (missing.length === 0) return reply.type(JSON_TYPE).send({ status: 'ok' })
    return reply.code(503).header('Retry-After', '1').type(JSON_TYPE).send({ status: 'starting', missing })
  })

  // `value` is where the switch stands for environments that do not say otherwise.
  app.get('/_mock/assumptions', async (_request, reply) =>
    reply.type(JSON_TYPE).send({
      assumptions: ASSUMPTION_IDS.map((id) => ({ id, ...REGISTER[id], value: assumptions[id] }))
    })
  )
}
