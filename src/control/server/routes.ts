import { randomUUID } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { ASSUMPTION_IDS, type Assumptions, describeAssumption } from '../../domain/assumptions.js'
import { dataLost } from '../../domain/errors.js'
import { type AddRoute, controlRoutes, listOf } from '../../http/control-route.js'
import { serversOf } from '../../http/operation.js'
import {
  freeObject,
  namedObject,
  recordOf,
  ref,
  strictObject,
  stringEnum
} from '../../schema/typebox.js'
import { listBuiltInSeeds } from '../../seeds/built-in.js'

export const ListedAssumption = Type.Object({
  id: Type.String({ description: 'Name of the assumption' }),
  description: Type.String({ description: 'The question that the assumption settles' }),
  values: recordOf(Type.String(), 'The effect of each possible value'),
  document: Type.String({ description: 'The value in the profile `document`' }),
  live: Type.String({ description: 'The value in the profile `live`' }),
  value: Type.String({ description: 'The value for environments that do not set their own' })
})
export type ListedAssumption = Static<typeof ListedAssumption>

export const BuiltInSeed = namedObject('BuiltInSeed', 'A seed that comes with the package', {
  name: Type.String({ description: 'Name of the seed, for `scenario` and `--seed`' }),
  description: Type.String({ description: 'The purpose of the seed, in one sentence' })
})
export type BuiltInSeed = Static<typeof BuiltInSeed>

type Options = { assumptions: Assumptions; document: () => Promise<object> }

/**
 * Adds the routes about the server itself. They are open to everyone and reveal nothing about any
 * environment.
 */
export function serverRoutes(route: AddRoute<'open'>, { assumptions, document }: Options): void {
  route('GET', '/assumptions', 'listAssumptions', 'List the assumptions', {
    response: listOf('assumptions', ListedAssumption, 'All assumptions'),
    handler: async () => ({
      assumptions: ASSUMPTION_IDS.map((id) => ({
        id,
        ...describeAssumption(id),
        value: assumptions[id]
      }))
    })
  })

  route('GET', '/seeds', 'listBuiltInSeeds', 'List the built-in seeds', {
    response: listOf('seeds', ref(BuiltInSeed), 'All built-in seeds, the default first'),
    handler: async () => ({ seeds: listBuiltInSeeds() })
  })

  route('GET', '/openapi.json', 'getControlDocument', 'Get the OpenAPI document of /_mock routes', {
    response: freeObject('An OpenAPI document'),
    handler: async (request) => ({ ...(await document()), servers: serversOf(request) })
  })
}

/**
 * A random id of this process. The command `stop` checks this id before ending a process, because
 * the operating system reuses process ids.
 */
const INSTANCE = randomUUID()

/**
 * Responds with 200 as soon as the server listens, because listening is the last step of startup.
 * Responds with 503 once the data file is lost. Accepts any query parameters, because some health
 * checks add them.
 */
export const healthRoute: FastifyPluginAsync<{ fileProblem?: () => string | undefined }> = async (
  app,
  options
) => {
  const route = controlRoutes(app, { tag: 'Server', access: 'open' })
  route('GET', '/health', 'health', 'Check whether the server is ready', {
    response: strictObject({ status: stringEnum(['ok'], { description: 'Always `ok`' }) }),
    errors: [503],
    handler: async (_request, reply) => {
      reply.header('x-mock-instance', INSTANCE)
      const problem = options.fileProblem?.()
      if (problem) throw dataLost(problem)
      return { status: 'ok' }
    }
  })
}
