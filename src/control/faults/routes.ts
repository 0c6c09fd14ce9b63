import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ref, strictObject } from '../../core/typebox.js'
import { controlRoute } from '../../http/control-route.js'
import { FaultRule, NewFaultRule } from './schemas.js'
import type { FaultService } from './service.js'

/** Lists, adds and removes the fault rules of an environment. */
export const faultRoutes: FastifyPluginAsyncTypebox<{ faults: FaultService }> = async (app, { faults }) => {
  app.route({
    ...controlRoute({
      id: 'listFaults',
      method: 'GET',
      url: '/faults',
      summary: 'List fault rules with their counters',
      tag: 'Faults',
      response: strictObject({ faults: Type.Array(ref(FaultRule)) })
    }),
    handler: ({ environment }) => ({ faults: faults.list(environment.key) })
  })

  app.route({
    ...controlRoute({
      id: 'addFault',
      method: 'POST',
      url: '/faults',
      summary: 'Add a fault rule',
      tag: 'Faults',
      body: ref(NewFaultRule),
      response: ref(FaultRule),
      status: 201
    }),
    handler: ({ environment, body }, reply) => reply.code(201).send(faults.add(environment.key, body))
  })

  app.route({
    ...controlRoute({
      id: 'clearFaults',
      method: 'DELETE',
      url: '/faults',
      summary: 'Remove all fault rules',
      tag: 'Faults'
    }),
    handler: ({ environment }, reply) => {
      faults.clear(environment.key)
      return reply.code(204).send()
    }
  })

  app.route({
    ...controlRoute({
      id: 'removeFault',
      method: 'DELETE',
      url: '/faults/:id',
      summary: 'Remove a fault rule',
      tag: 'Faults',
      params: strictObject({ id: Type.String() }),
      errors: [404]
    }),
    handler: ({ environment, params }, reply) => {
      faults.remove(environment.key, params.id)
      return reply.code(204).send()
    }
  })
}
