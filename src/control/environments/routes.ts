import { type Static, Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { assumptionIssue } from '../../core/assumptions.js'
import { isoTime } from '../../core/clock.js'
import { invalidFields, noFieldErrors } from '../../core/errors.js'
import { dateTime, namedObject, ref, strictObject } from '../../core/typebox.js'
import { NewEnvironment, ProfileName } from '../../environments/schemas.js'
import { controlRoutes } from '../../http/control-route.js'
import { MAX_SEED, rejectAborted, withSeedErrors } from '../seed-requests.js'
import type { Services } from '../services.js'

const identity = {
  environmentId: Type.String({ description: 'Identifier of the environment' }),
  organizationId: Type.String({ description: 'Owning organization' }),
  name: Type.String({ description: 'Display name' })
}

const CreatedEnvironment = namedObject('CreatedEnvironment', 'A new environment, and the key to it', {
  ...identity,
  apiKey: Type.String({ description: 'The key to the environment. It is returned only here' }),
  profile: ref(ProfileName)
})
export type CreatedEnvironment = Static<typeof CreatedEnvironment>

const ListedEnvironment = namedObject('ListedEnvironment', 'An environment, without its keys', {
  ...identity,
  profile: ref(ProfileName),
  createdAt: dateTime('When it was created')
})

/** Creates, lists and removes environments. */
export const environmentRoutes: FastifyPluginAsync<Services> = async (app, { environments, seeds }) => {
  const route = controlRoutes(app, { tag: 'Environments', access: 'server' })

  route('POST', '/environments', {
    id: 'createEnvironment',
    summary: 'Create an environment',
    description:
      'Empty, from a seed, or as a fork of another environment or of one of its snapshots, which keeps all ids.',
    body: ref(NewEnvironment),
    bodyLimit: MAX_SEED,
    response: ref(CreatedEnvironment),
    status: 201,
    errors: [404],
    handler: async ({ body }, reply) => {
      rejectUnknownAssumptions(body.assumptions)
      if (body.snapshot !== undefined && body.from === undefined) throw invalidFields(SNAPSHOT_WITHOUT_FROM)
      const { environment, apiKey } = await withSeedErrors(() =>
        seeds.createEnvironment(body, () => rejectAborted(reply))
      )
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
      environments: environments.list().map(({ id, organizationId, name, profile, createdAt }) => {
        return { environmentId: id, organizationId, name, profile, createdAt: isoTime(createdAt) }
      })
    })
  })

  route('DELETE', '/environments/:id', {
    id: 'removeEnvironment',
    summary: 'Remove an environment and all its data',
    params: strictObject({
      id: Type.String({ description: 'The id, or the name if only one environment has it' })
    }),
    errors: [404],
    handler: async ({ params }) => environments.remove(environments.find(params.id))
  })
}

const SNAPSHOT_WITHOUT_FROM = {
  snapshot: { messages: ['snapshot needs from: the environment that the snapshot was taken of'] }
}

function rejectUnknownAssumptions(assumptions: Record<string, string> = {}): void {
  const errors = noFieldErrors()
  for (const [id, value] of Object.entries(assumptions)) {
    const issue = assumptionIssue(id, value)
    if (issue) errors[`assumptions.${id}`] = { messages: [issue], value }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}
