import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ref, strictObject } from '../../core/typebox.js'
import { controlSchema, readBody } from '../../http/control-operation.js'
import { JSON_TYPE } from '../../http/errors.js'
import { Fault, FaultEffect, NewFault } from './schemas.js'
import type { FaultService } from './service.js'

/** What shall go wrong in an environment. */
export const faultRoutes: FastifyPluginAsyncTypebox<{ faults: FaultService }> = async (app, { faults }) => {
  app.get(
    '/faults',
    {
      schema: controlSchema({
        operationId: 'listFaults',
        summary: 'The rules, and what each has done',
        tag: 'Faults',
        answer: strictObject({ faults: Type.Array(ref(Fault)) })
      })
    },
    async (request, reply) => reply.type(JSON_TYPE).send({ faults: faults.list(request.environment) })
  )

  app.post(
    '/faults',
    {
      schema: controlSchema({
        operationId: 'addFault',
        summary: 'Let something go wrong',
        tag: 'Faults',
        body: ref(NewFault),
        answer: ref(Fault),
        status: 201
      })
    },
    async (request, reply) => {
      const fault = readBody(request, NewFault, [FaultEffect])
      return reply.code(201).type(JSON_TYPE).send(faults.add(request.environment, fault))
    }
  )

  app.delete(
    '/faults',
    { schema: controlSchema({ operationId: 'clearFaults', summary: 'Drop all rules', tag: 'Faults' }) },
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
        summary: 'Drop one rule',
        tag: 'Faults',
        params: strictObject({ id: Type.String() }),
        refusals: [404]
      })
    },
    async (request, reply) => {
      faults.remove(request.environment, (request.params as { id: string }).id)
      return reply.code(204).send()
    }
  )
}
