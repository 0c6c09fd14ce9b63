import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { assumptionComplaint } from '../../core/assumptions.js'
import { isoTime } from '../../core/clock.js'
import { type FieldErrors, invalidFields } from '../../core/errors.js'
import { ref } from '../../core/typebox.js'
import { NewEnvironment } from '../../environments/schemas.js'
import type { Environment, EnvironmentService } from '../../environments/service.js'
import { controlRoute } from '../../http/control-route.js'
import { loadGenerator, needsGenerator } from '../../seeds/generate/load.js'
import type { SeedService } from '../../seeds/service.js'
import { MAX_SEED, withSeedErrors } from '../state/routes.js'
import { EnvironmentList, type EnvironmentListed, EnvironmentMade, EnvironmentParams } from './schemas.js'

interface Options {
  environments: EnvironmentService
  seeds: SeedService
}

/** Creates, lists and removes environments. */
export const environmentRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { environments, seeds }) => {
  app.route({
    ...controlRoute({
      id: 'makeEnvironment',
      method: 'POST',
      url: '/environments',
      summary: 'Create an environment',
      description:
        'Empty, from a seed, or as a fork of another environment or of one of its snapshots, which keeps all ids.',
      tag: 'Environments',
      access: 'server',
      body: ref(NewEnvironment),
      response: ref(EnvironmentMade),
      status: 201,
      errors: [404]
    }),
    bodyLimit: MAX_SEED,
    handler: async ({ body }, reply) => {
      rejectUnknownAssumptions(body.assumptions)
      if (body.snapshot !== undefined && body.from === undefined) throw invalidFields(SNAPSHOT_WITHOUT_FROM)
      if (needsGenerator(body.seed)) await loadGenerator()
      const { environment, apiKey } = withSeedErrors(() => seeds.make(body))
      return reply.code(201).send(toEnvironmentMade(environment, apiKey))
    }
  })

  app.route({
    ...controlRoute({
      id: 'listEnvironments',
      method: 'GET',
      url: '/environments',
      summary: 'List environments, oldest first',
      tag: 'Environments',
      access: 'server',
      response: EnvironmentList
    }),
    handler: () => ({ environments: environments.list().map(toEnvironmentListed) })
  })

  app.route({
    ...controlRoute({
      id: 'removeEnvironment',
      method: 'DELETE',
      url: '/environments/:id',
      summary: 'Remove an environment and all its data',
      tag: 'Environments',
      access: 'server',
      params: EnvironmentParams,
      errors: [404]
    }),
    handler: ({ params }, reply) => {
      environments.remove(environments.find(params.id))
      return reply.code(204).send()
    }
  })
}

const SNAPSHOT_WITHOUT_FROM = {
  snapshot: { messages: ['snapshot needs from: the environment that the snapshot was taken of'] }
}

function toEnvironmentMade({ id, organizationId, name, profile }: Environment, apiKey: string): EnvironmentMade {
  return { environmentId: id, organizationId, name, apiKey, profile }
}

function toEnvironmentListed({ id, organizationId, name, profile, createdAt }: Environment): EnvironmentListed {
  return { environmentId: id, organizationId, name, profile, createdAt: isoTime(createdAt) }
}

function rejectUnknownAssumptions(assumptions: Record<string, string> = {}): void {
  const errors: FieldErrors = {}
  for (const [id, value] of Object.entries(assumptions)) {
    const complaint = assumptionComplaint(id, value)
    if (complaint) errors[`assumptions.${id}`] = { messages: [complaint], value }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}
