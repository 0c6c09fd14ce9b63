import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { ref, strictObject } from '../../core/typebox.js'
import { controlRoutes } from '../../http/control-route.js'
import type { Services } from '../services.js'
import { FaultRule, NewFaultRule } from './schemas.js'

/** Lists, adds and removes the fault rules of an environment. */
export const faultRoutes: FastifyPluginAsync<Services> = async (app, { faults }) => {
  const route = controlRoutes(app, { tag: 'Faults' })

  route('GET', '/faults', {
    id: 'listFaults',
    summary: 'List fault rules with their counters',
    response: strictObject({
      faults: Type.Array(ref(FaultRule), { description: 'All rules, in the order they were added' })
    }),
    handler: async ({ environment }) => ({ faults: faults.list(environment.key) })
  })

  route('POST', '/faults', {
    id: 'addFault',
    summary: 'Add a fault rule',
    body: ref(NewFaultRule),
    response: ref(FaultRule),
    status: 201,
    handler: async ({ environment, body }) => {
      await faults.check([body])
      // Throws if it has been removed meanwhile: nothing would ever remove the rule.
      void environment.datasets
      return faults.add(environment.key, body)
    }
  })

  route('DELETE', '/faults', {
    id: 'clearFaults',
    summary: 'Remove all fault rules',
    handler: async ({ environment }) => faults.clear(environment.key)
  })

  route('DELETE', '/faults/:id', {
    id: 'removeFault',
    summary: 'Remove a fault rule',
    params: strictObject({ id: Type.String({ description: 'Identifier of the rule' }) }),
    errors: [404],
    handler: async ({ environment, params }) => faults.remove(environment.key, params.id)
  })
}
