import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ref, strictObject } from '../../core/typebox.js'
import { controlSchema, readBody } from '../../http/control-operation.js'
import { JSON_TYPE } from '../../http/errors.js'
import { FaultEffect, FaultRule, NewFaultRule } from './schemas.js'
import type { FaultService } from './service.js'

/** Lists, adds and removes the fault rules of an environment. */
export const faultRoutes: FastifyPluginAsyncTypebox<{ faults: FaultService }> = async (app, { faults }) => {
  app.get(
    '/faults',
    {
      schema: controlSchema({
        operationId: 'listFaults',
        summary: 'List fault rules with their counters',
        tag: 'Faults',
        answer: strictObject({ faults: Type.Array(ref(FaultRule)) })
      })
    },
    async (request, reply) => reply.type(JSON_TYPE).send({ faults: faults.list(request.environment.key) })
  )

  app.post(
    '/faults',
    {
      schema: controlSchema({
        operationId: 'addFault',
        summary: 'Add a fault rule',
        tag: 'Faults',
        body: ref(NewFaultRule),
        answer: ref(FaultRule),
        status: 201
      })
    },
    async (request, reply) => {
      const rule = readBody(request, NewFaultRule, [FaultEffect])
      return reply.code(201).type(JSON_TYPE).send(faults.add(request.environment.key, rule))
    }
  )

  app.delete(
    '/faults',
    { schema: controlSchema({ operationId: 'clearFaults', summary: 'Remove all fault rules', tag: 'Faults' }) },
    async (request, reply) => {
      faults.clear(request.environment.key)
      return reply.code(204).send()
    }
  )

  app.delete(
    '/faults/:id',
    {
      schema: controlSchema({
        operationId: 'removeFault',
        summary: 'Remove a fault rule',
        tag: 'Faults',
        params: strictObject({ id: Type.String() }),
        refusals: [404]
      })
    },
    async (request, reply) => {
      faults.remove(request.environment.key, (request.params as { id: string }).id)
      return reply.code(204).send()
    }
  )
}
