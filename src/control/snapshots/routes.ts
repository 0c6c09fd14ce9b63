import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { ResetPart } from '../../core/enums.js'
import { ref, strictObject } from '../../core/typebox.js'
import { Snapshot } from '../../environments/schemas.js'
import type { EnvironmentService } from '../../environments/service.js'
import { controlRoutes } from '../../http/control-route.js'
import { timed } from '../state/routes.js'
import { ResetDone, ResetRequest } from '../state/schemas.js'

const SnapshotParams = strictObject({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the snapshot' })
})

const route = controlRoutes({ tag: 'State' })

/** Takes, lists, restores and removes the snapshots of one environment. */
export const snapshotRoutes: FastifyPluginAsyncTypebox<{ environments: EnvironmentService }> = async (
  app,
  { environments }
) => {
  app.route({
    ...route('GET', '/snapshots', {
      id: 'listSnapshots',
      summary: 'List the snapshots',
      response: strictObject({ snapshots: Type.Array(ref(Snapshot)) })
    }),
    handler: async ({ environment }) => ({ snapshots: environments.listSnapshots(environment) })
  })

  app.route({
    ...route('PUT', '/snapshots/:name', {
      id: 'keepSnapshot',
      summary: 'Take a snapshot',
      description: 'Stores the present state under the name, in place of an earlier snapshot of that name.',
      params: SnapshotParams,
      response: ref(Snapshot)
    }),
    handler: async ({ environment, params }) => environments.snapshot(environment, params.name)
  })

  app.route({
    ...route('POST', '/snapshots/:name/restore', {
      id: 'restoreSnapshot',
      summary: 'Restore a snapshot',
      description:
        'Restores data, clock and idempotency keys unless parts are given. To get a snapshot in a new environment, create that with from and snapshot.',
      params: SnapshotParams,
      body: ref(ResetRequest),
      response: ref(ResetDone),
      errors: [404]
    }),
    handler: async ({ environment, params, body: { parts = RESTORED } }) =>
      timed(parts, () => environments.restore(environment, params.name, parts))
  })

  app.route({
    ...route('DELETE', '/snapshots/:name', {
      id: 'removeSnapshot',
      summary: 'Remove a snapshot',
      params: SnapshotParams,
      errors: [404]
    }),
    handler: async ({ environment, params }) => environments.removeSnapshot(environment, params.name)
  })
}

/** Recorded requests and faults stay: a restore happens within a test, which still looks at its requests. */
const RESTORED: ResetPart[] = ['data', 'clock', 'idempotency']
