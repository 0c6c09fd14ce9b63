import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ref, strictObject } from '../../core/typebox.js'
import { controlRoutes } from '../../http/control-route.js'
import { FaultRule, NewFaultRule } from './schemas.js'
import type { FaultService } from './service.js'

const route = controlRoutes({ tag: 'Faults' })

/** Lists, adds and removes the fault rules of an environment. */
export const faultRoutes: FastifyPluginAsyncTypebox<{ faults: FaultService }> = async (app, { faults }) => {
  app.route({
    ...route('GET', '/faults', {
      id: 'listFaults',
      summary: 'List fault rules with their counters',
      response: strictObject({ faults: Type.Array(ref(FaultRule)) })
    }),
    handler: ({ environment }) => ({ faults: faults.list(environment.key) })
  })

  app.route({
    ...route('POST', '/faults', {
      id: 'addFault',
      summary: 'Add a fault rule',
      body: ref(NewFaultRule),
      response: ref(FaultRule),
      status: 201
    }),
    handler: ({ environment, body }, reply) => reply.code(201).send(faults.add(environment.key, body))
  })

  app.route({
    ...route('DELETE', '/faults', {
      id: 'clearFaults',
      summary: 'Remove all fault rules'
    }),
    handler: ({ environment }, reply) => {
      faults.clear(environment.key)
      return reply.code(204).send()
    }
  })

  app.route({
    ...route('DELETE', '/faults/:id', {
      id: 'removeFault',
      summary: 'Remove a fault rule',
      params: strictObject({ id: Type.String() }),
      errors: [404]
    }),
    handler: ({ environment, params }, reply) => {
      faults.remove(environment.key, params.id)
      return reply.code(204).send()
    }
  })
}
