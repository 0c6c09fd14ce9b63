import { type Static, Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { ASSUMPTION_IDS, type Assumptions, assumptionRow } from '../../core/assumptions.js'
import { remembered } from '../../core/remember.js'
import { freeObject, namedObject, recordOf, ref, strictObject, stringEnum } from '../../core/typebox.js'
import { controlRoutes } from '../../http/control-route.js'
import { serversOf } from '../../http/operation.js'
import { readPackagedSeeds } from '../../seeds/packaged.js'

/** Answers 200 whenever the server listens, which is the last step of its start. Takes any query, as checks add some. */
export const healthRoute: FastifyPluginAsync = async (app) => {
  controlRoutes(app, { tag: 'Server', access: 'open' })('GET', '/health', {
    id: 'health',
    summary: 'Check whether the server is ready',
    response: strictObject({ status: stringEnum(['ok'], { description: 'Always `ok`' }) }),
    handler: async () => ({ status: 'ok' })
  })
}

export const ListedAssumption = Type.Object(
  {
    id: Type.String({ description: 'Name of the assumption' }),
    sentence: Type.String({ description: 'The question that it settles' }),
    values: recordOf(Type.String(), 'What each position does, by its name'),
    document: Type.String({ description: 'The position of the profile `document`' }),
    live: Type.String({ description: 'The position of the profile `live`' }),
    value: Type.String({ description: 'The position for environments that do not set their own' })
  },
  { description: 'One assumption, its positions, and the one that applies' }
)
export type ListedAssumption = Static<typeof ListedAssumption>

export const Scenario = namedObject('Scenario', 'A seed that comes with the package', {
  name: Type.String({ description: 'The name to ask for it by' }),
  description: Type.String({ description: 'What it is for, in a sentence' })
})
export type Scenario = Static<typeof Scenario>

type Options = { assumptions: Assumptions; document: () => Promise<object> }

/** Routes about the server itself, open to everyone: they reveal nothing about any environment. */
export const serverRoutes: FastifyPluginAsync<Options> = async (app, { assumptions, document }) => {
  const route = controlRoutes(app, { tag: 'Server', access: 'open' })

  route('GET', '/assumptions', {
    id: 'listAssumptions',
    summary: 'List the assumptions',
    description: 'An assumption settles what the contract leaves open or the deployed service does differently.',
    response: strictObject({ assumptions: Type.Array(ListedAssumption, { description: 'All assumptions' }) }),
    handler: async () => ({
      assumptions: ASSUMPTION_IDS.map((id) => ({ id, ...assumptionRow(id), value: assumptions[id] }))
    })
  })

  const rememberedSeeds = remembered(async () => readPackagedSeeds())
  route('GET', '/scenarios', {
    id: 'listScenarios',
    summary: 'List the packaged seeds',
    description: 'What `scenario` names, for a new environment and for a seed that is loaded.',
    response: strictObject({ scenarios: Type.Array(ref(Scenario), { description: 'All of them, the default first' }) }),
    handler: async () => ({ scenarios: await rememberedSeeds() })
  })

  route('GET', '/openapi.json', {
    id: 'getControlDocument',
    summary: 'Get this document',
    response: freeObject('An OpenAPI document'),
    handler: async (request) => ({ ...(await document()), servers: serversOf(request) })
  })
}
