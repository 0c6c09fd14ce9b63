import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { overridesOf } from '../../core/assumptions.js'
import { isoTime } from '../../core/clock.js'
import { ref, strictObject } from '../../core/typebox.js'
import { controlRoutes } from '../../http/control-route.js'
import { MAX_SEED, rejectAborted, withSeedErrors } from '../seed-requests.js'
import type { Services } from '../services.js'
import { CreatedEnvironment, ListedEnvironment, NewEnvironment } from './schemas.js'
import { toWanted } from './wanted.js'

const EnvironmentParams = strictObject({
  id: Type.String({ description: 'The id, or the name if only one environment has it' })
})

/** Creates, lists and removes environments. */
export const environmentRoutes: FastifyPluginAsync<Services> = async (
  app,
  { environments, seeds, faults, latency }
) => {
  const route = controlRoutes(app, { tag: 'Environments', access: 'server' })

  route('POST', '/environments', {
    id: 'createEnvironment',
    summary: 'Create an environment',
    description:
      'Empty, from a seed or a packaged scenario, or as a fork of another environment or of one of its snapshots, which keeps all ids. Nothing is created unless all that is asked for can be.',
    body: ref(NewEnvironment),
    bodyLimit: MAX_SEED,
    response: ref(CreatedEnvironment),
    status: 201,
    errors: [404, 409],
    handler: async ({ body }, reply) => {
      const { faults: rules = [] } = body
      const wanted = toWanted(body)
      await faults.check(rules, 'faults')
      const { environment, apiKey } = await withSeedErrors(() =>
        seeds.createEnvironment(wanted, () => rejectAborted(reply))
      )
      for (const rule of rules) faults.add(environment.key, rule)
      if (body.latency !== undefined) latency.setInitial(environment.key, body.latency)
      const { id, organizationId, name, profile } = environment
      return { environmentId: id, organizationId, name, apiKey, profile }
    }
  })

  route('GET', '/environments', {
    id: 'listEnvironments',
    summary: 'List environments, oldest first',
    response: strictObject({
      environments: Type.Array(ref(ListedEnvironment), { description: 'All environments, oldest first' })
    }),
    handler: async () => ({
      environments: environments.list().map((environment) => {
        const { id, organizationId, name, profile, assumptions, createdAt, ttl } = environment
        const expiresAt = environments.expiresAt(environment)
        return {
          environmentId: id,
          organizationId,
          name,
          profile,
          assumptions: overridesOf(profile, assumptions),
          createdAt: isoTime(createdAt),
          ...(ttl !== null && { ttl }),
          ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) })
        }
      })
    })
  })

  route('GET', '/environments/:id/keys', {
    id: 'listApiKeys',
    summary: 'List the API keys of an environment',
    description:
      'Keys are stored as hashes. So there are those that the seeds of the start name, and those of environments that were created since.',
    params: EnvironmentParams,
    response: strictObject({
      apiKeys: Type.Array(Type.String(), {
        description: 'The keys that the server knows; none if it has their hashes alone'
      })
    }),
    errors: [404],
    handler: async ({ params }, reply) => {
      reply.header('cache-control', 'no-store')
      return { apiKeys: environments.apiKeysOf(environments.find(params.id)) }
    }
  })

  route('DELETE', '/environments/:id', {
    id: 'removeEnvironment',
    summary: 'Remove an environment and all its data',
    params: EnvironmentParams,
    errors: [404],
    handler: async ({ params }) => environments.remove(environments.find(params.id))
  })
}
