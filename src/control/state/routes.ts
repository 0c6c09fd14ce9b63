import { Kind, type Static, Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { RESET_PARTS } from '../../core/enums.js'
import { invalidFields } from '../../core/errors.js'
import { runInSlices } from '../../core/slices.js'
import { freeObject, namedEnum, namedObject, ref, strictObject, stringEnum } from '../../core/typebox.js'
import { Snapshot, SnapshotDifferences } from '../../environments/schemas.js'
import { controlRoutes, sendInChunks } from '../../http/control-route.js'
import { MAX_SEED, rejectAborted, withSeedErrors } from '../seed-requests.js'
import type { Services } from '../services.js'

const SEED_MODES = ['merge', 'replace'] as const

const SeedQuery = strictObject({
  mode: stringEnum(SEED_MODES, {
    default: 'merge',
    description: 'merge: add to what is there; replace: become what the seed describes, also for later resets'
  }),
  scenario: Type.Optional(
    Type.String({
      description:
        'Name of a packaged seed, whose first environment is loaded in place of a body: `GET /_mock/scenarios` lists them'
    })
  )
})

const SeedDocument = freeObject('A seed with one environment')

/** Published as the object that it describes, and taken as any text: the reader of seeds knows lines and columns. */
const SeedText = Type.Unsafe<string>({ ...SeedDocument, [Kind]: 'Any' })

export const ResetPart = namedEnum('ResetPart', 'What can be reset', RESET_PARTS)
export type ResetPart = Static<typeof ResetPart>
const Parts = Type.Array(ref(ResetPart), { minItems: 1, description: 'What to reset; everything if left out' })

const ONE_AT_A_TIME = 'scenario can not be combined with a seed in the body: load one after the other'

const ResetRequest = namedObject(
  'ResetRequest',
  'What to reset; data is the records, the profile and the assumptions',
  { parts: Type.Optional(Parts) }
)

export const ResetResult = namedObject('ResetResult', 'What was reset', {
  parts: Type.Array(ref(ResetPart), { description: 'What was reset' }),
  duration: Type.Number({ minimum: 0, description: 'How long it took, in milliseconds' })
})
export type ResetResult = Static<typeof ResetResult>

const SnapshotParams = strictObject({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the snapshot' })
})

/** Reads, replaces and resets the state of one environment. */
export const stateRoutes: FastifyPluginAsync<Services> = async (app, { environments, seeds }) => {
  const route = controlRoutes(app, { tag: 'State' })

  route('GET', '/state', {
    id: 'exportState',
    summary: 'Export this environment as a seed',
    description:
      'In JSON, or in YAML if the Accept header asks for it. An environment with this seed answers byte for byte the same.',
    response: SeedDocument,
    handler: async (request, reply) => {
      const { environment, headers } = request
      // What Accept names first counts.
      const format = /json|yaml|\*/i.exec(headers.accept ?? '')?.[0].toLowerCase() === 'yaml' ? 'yaml' : 'json'
      reply.type(`application/${format}; charset=utf-8`)
      return sendInChunks(request, reply, seeds.export(environment, format))
    }
  })

  route('POST', '/seed', {
    id: 'loadSeed',
    summary: 'Load a seed into this environment',
    description:
      'JSON or YAML with one environment, or a packaged scenario, whose own name, ids and keys are ignored. The whole seed is checked first, and nothing of it is loaded if it has an error. Until all of it is loaded, other requests see the former state.',
    querystring: SeedQuery,
    body: SeedText,
    bodyLimit: MAX_SEED,
    textBody: true,
    response: strictObject({ mode: stringEnum(SEED_MODES, { description: 'How it was loaded' }) }),
    handler: async ({ environment, body, query: { mode, scenario } }, reply) => {
      const requested = scenario === undefined ? { seed: body } : { scenario }
      if (scenario !== undefined && body.trim() !== '') throw invalidFields({ scenario: { messages: [ONE_AT_A_TIME] } })
      await withSeedErrors(() => seeds.load(environment, requested, mode, () => rejectAborted(reply)))
      return { mode }
    }
  })

  route('POST', '/reset', {
    id: 'resetEnvironment',
    summary: 'Reset this environment to its baseline',
    description: 'The baseline is the state in which the environment was created or seeded.',
    body: ref(ResetRequest),
    response: ref(ResetResult),
    handler: async ({ environment, body: { parts = [...RESET_PARTS] } }) =>
      timed(parts, () => environments.reset(environment, parts))
  })
}

/** Takes, lists, restores and removes the snapshots of one environment. */
export const snapshotRoutes: FastifyPluginAsync<Services> = async (app, { environments }) => {
  const route = controlRoutes(app, { tag: 'State' })

  route('GET', '/snapshots', {
    id: 'listSnapshots',
    summary: 'List the snapshots',
    response: strictObject({
      snapshots: Type.Array(ref(Snapshot), { description: 'All snapshots of the environment' })
    }),
    handler: async ({ environment }) => ({ snapshots: environments.listSnapshots(environment) })
  })

  route('PUT', '/snapshots/:name', {
    id: 'takeSnapshot',
    summary: 'Take a snapshot',
    description: 'Stores the present state under the name, in place of an earlier snapshot of that name.',
    params: SnapshotParams,
    response: ref(Snapshot),
    handler: async ({ environment, params }) => environments.snapshot(environment, params.name)
  })

  route('POST', '/snapshots/:name/restore', {
    id: 'restoreSnapshot',
    summary: 'Restore a snapshot',
    description:
      'Restores data, clock and idempotency keys unless parts are given. To get a snapshot in a new environment, create that with from and snapshot.',
    params: SnapshotParams,
    body: ref(ResetRequest),
    response: ref(ResetResult),
    errors: [404],
    handler: async ({ environment, params, body: { parts = RESTORED } }) =>
      timed(parts, () => environments.restore(environment, params.name, parts))
  })

  route('GET', '/snapshots/:name/differences', {
    id: 'compareWithSnapshot',
    summary: 'Compare the present state with a snapshot',
    description:
      'Tells what was added, removed and changed since the snapshot was taken, as of the moment of the request: other requests are answered meanwhile.',
    params: SnapshotParams,
    response: ref(SnapshotDifferences),
    errors: [404],
    handler: async ({ environment, params }, reply) =>
      runInSlices(environments.comparing(environment, params.name), () => rejectAborted(reply))
  })

  route('DELETE', '/snapshots/:name', {
    id: 'removeSnapshot',
    summary: 'Remove a snapshot',
    params: SnapshotParams,
    errors: [404],
    handler: async ({ environment, params }) => environments.removeSnapshot(environment, params.name)
  })
}

/** Recorded requests and faults stay: a restore happens within a test, which still looks at its requests. */
const RESTORED: ResetPart[] = ['data', 'clock', 'idempotency']

function timed(parts: ResetPart[], reset: () => void): ResetResult {
  const started = performance.now()
  reset()
  return { parts, duration: Math.round((performance.now() - started) * 1000) / 1000 }
}
