import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { assumptionIssue } from '../../core/assumptions.js'
import { isoTime } from '../../core/clock.js'
import { type FieldErrors, invalidFields } from '../../core/errors.js'
import { ref } from '../../core/typebox.js'
import { NewEnvironment } from '../../environments/schemas.js'
import type { EnvironmentService } from '../../environments/service.js'
import { controlRoutes } from '../../http/control-route.js'
import { loadGenerator, needsGenerator } from '../../seeds/generate/load.js'
import type { SeedService } from '../../seeds/service.js'
import { MAX_SEED, withSeedErrors } from '../state/routes.js'
import { EnvironmentList, EnvironmentMade, EnvironmentParams } from './schemas.js'

interface Options {
  environments: EnvironmentService
  seeds: SeedService
}

const route = controlRoutes({ tag: 'Environments', access: 'server' })

/** Creates, lists and removes environments. */
export const environmentRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { environments, seeds }) => {
  app.route({
    ...route('POST', '/environments', {
      id: 'makeEnvironment',
      summary: 'Create an environment',
      description:
        'Empty, from a seed, or as a fork of another environment or of one of its snapshots, which keeps all ids.',
      body: ref(NewEnvironment),
      response: ref(EnvironmentMade),
      status: 201,
      errors: [404]
    }),
    bodyLimit: MAX_SEED,
    handler: async ({ body }) => {
      rejectUnknownAssumptions(body.assumptions)
      if (body.snapshot !== undefined && body.from === undefined) throw invalidFields(SNAPSHOT_WITHOUT_FROM)
      if (needsGenerator(body.seed)) await loadGenerator()
      const { environment, apiKey } = withSeedErrors(() => seeds.make(body))
      const { id, organizationId, name, profile } = environment
      return { environmentId: id, organizationId, name, apiKey, profile }
    }
  })

  app.route({
    ...route('GET', '/environments', {
      id: 'listEnvironments',
      summary: 'List environments, oldest first',
      response: EnvironmentList
    }),
    handler: async () => ({
      environments: environments.list().map(({ id, organizationId, name, profile, createdAt }) => {
        return { environmentId: id, organizationId, name, profile, createdAt: isoTime(createdAt) }
      })
    })
  })

  app.route({
    ...route('DELETE', '/environments/:id', {
      id: 'removeEnvironment',
      summary: 'Remove an environment and all its data',
      params: EnvironmentParams,
      errors: [404]
    }),
    handler: async ({ params }) => environments.remove(environments.find(params.id))
  })
}

const SNAPSHOT_WITHOUT_FROM = {
  snapshot: { messages: ['snapshot needs from: the environment that the snapshot was taken of'] }
}

function rejectUnknownAssumptions(assumptions: Record<string, string> = {}): void {
  const errors: FieldErrors = {}
  for (const [id, value] of Object.entries(assumptions)) {
    const issue = assumptionIssue(id, value)
    if (issue) errors[`assumptions.${id}`] = { messages: [issue], value }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}
