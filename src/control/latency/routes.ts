import type { FastifyPluginAsync } from 'fastify'
import { invalidFields } from '../../core/errors.js'
import { ref } from '../../core/typebox.js'
import { controlRoutes } from '../../http/control-route.js'
import type { Services } from '../services.js'
import { Latency, LatencySetting } from './schemas.js'
import { latencyErrors } from './service.js'

/** How much later the answers to one environment come. */
export const latencyRoutes: FastifyPluginAsync<Services> = async (app, { latency }) => {
  const route = controlRoutes(app, { tag: 'Faults' })

  route('GET', '/latency', {
    id: 'getLatency',
    summary: 'Get the latency',
    response: ref(Latency),
    handler: async ({ environment }) => latency.get(environment.key)
  })

  route('PUT', '/latency', {
    id: 'setLatency',
    summary: 'Set the latency',
    description:
      'Every request with a key of the environment is delayed from then on, whatever its answer, but for one whose path can not be decoded; control routes are not. The delays are drawn by the random generator of the environment. A reset of the faults goes back to the latency of the start.',
    body: ref(LatencySetting),
    response: ref(Latency),
    handler: async ({ environment, body }) => {
      const errors = latencyErrors('', body)
      if (Object.keys(errors).length > 0) throw invalidFields(errors)
      latency.set(environment.key, body)
      return latency.get(environment.key)
    }
  })
}
