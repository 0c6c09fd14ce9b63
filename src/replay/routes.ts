import { DomainError } from '../domain/errors.js'
import type { AddRoute } from '../http/control-route.js'
import { ref } from '../schema/typebox.js'
import { ReplayedRequest, ReplayState } from './schemas.js'
import type { ReplayService } from './service.js'

/** Adds the routes for a test that `notification-mock open` has reopened. */
export function replayRoutes(route: AddRoute, { replays }: { replays: ReplayService }): void {
  route('GET', '/replay', 'getReplay', 'List the requests of the reopened test', {
    description: 'Responds with 404 unless `notification-mock open` created the environment.',
    response: ref(ReplayState),
    errors: [404],
    handler: async ({ environment }) => replays.require(environment).state()
  })

  route('POST', '/replay/next', 'repeatNextRequest', 'Repeat the next recorded request', {
    description: 'Compares the response with the recorded one.',
    changesNothing: true,
    response: ref(ReplayedRequest),
    errors: [404, 409],
    handler: async ({ environment }) => {
      const replay = replays.require(environment)
      if (replay.isSending) {
        throw new DomainError('exists', 'A request is being repeated', {
          reason: 'try again later'
        })
      }
      if (replay.next) return replay.repeatNext()
      throw new DomainError('not-found', 'All recorded requests were repeated', {
        reason: 'run notification-mock open again to start over'
      })
    }
  })
}
