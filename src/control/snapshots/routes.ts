import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ResetPart } from '../../core/enums.js'
import { ref } from '../../core/typebox.js'
import { Snapshot } from '../../environments/schemas.js'
import type { EnvironmentService } from '../../environments/service.js'
import { controlRoute } from '../../http/control-route.js'
import { timed } from '../state/routes.js'
import { ResetDone, ResetRequest } from '../state/schemas.js'
import { SnapshotList, SnapshotParams } from './schemas.js'

interface Options {
  environments: EnvironmentService
}

/** Takes, lists, restores and removes the snapshots of one environment. */
export const snapshotRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { environments }) => {
  app.route({
    ...controlRoute({
      id: 'listSnapshots',
      method: 'GET',
      url: '/snapshots',
      summary: 'List the snapshots',
      tag: 'State',
      response: SnapshotList
    }),
    handler: ({ environment }) => ({ snapshots: environments.listSnapshots(environment) })
  })

  app.route({
    ...controlRoute({
      id: 'keepSnapshot',
      method: 'PUT',
      url: '/snapshots/:name',
      summary: 'Take a snapshot',
      description: 'Stores the present state under the name, in place of an earlier snapshot of that name.',
      tag: 'State',
      params: SnapshotParams,
      response: ref(Snapshot)
    }),
    handler: ({ environment, params }) => environments.snapshot(environment, params.name)
  })

  app.route({
    ...controlRoute({
      id: 'restoreSnapshot',
      method: 'POST',
      url: '/snapshots/:name/restore',
      summary: 'Restore a snapshot',
      description:
        'Restores data, clock and idempotency keys unless parts are given. To get a snapshot in a new environment, create that with from and snapshot.',
      tag: 'State',
      params: SnapshotParams,
      body: ref(ResetRequest),
      response: ref(ResetDone),
      errors: [404]
    }),
    handler: ({ environment, params, body: { parts = RESTORED } }) =>
      timed(parts, () => environments.restore(environment, params.name, parts))
  })

  app.route({
    ...controlRoute({
      id: 'removeSnapshot',
      method: 'DELETE',
      url: '/snapshots/:name',
      summary: 'Remove a snapshot',
      tag: 'State',
      params: SnapshotParams,
      errors: [404]
    }),
    handler: ({ environment, params }, reply) => {
      environments.removeSnapshot(environment, params.name)
      return reply.code(204).send()
    }
  })
}

/** Recorded requests and faults stay: a restore happens within a test, which still looks at its requests. */
const RESTORED: ResetPart[] = ['data', 'clock', 'idempotency']
