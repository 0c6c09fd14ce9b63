import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { OPERATION_IDS } from '../../core/enums.js'
import { ref, strictObject, stringEnum } from '../../core/typebox.js'
import { type AddRoute, listOf } from '../../http/control-route.js'
import { timeOf } from '../../http/validation.js'
import type { Services } from '../services.js'
import { Change, RecordedRequest, RequestPattern, Verification, VerificationResult } from './schemas.js'
import { streamRequests } from './stream.js'
import { matches, verifyRequests } from './verify.js'

const sequence = (description: string, options = {}) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, format: 'int64', description, ...options })
const text = (description: string) => Type.Optional(Type.String({ description }))

const JournalQuery = strictObject({
  operation: Type.Optional(stringEnum(OPERATION_IDS, { description: 'Only requests of this operation' })),
  method: text('Only requests with this method'),
  status: RequestPattern.properties.status,
  path: text('Exactly this path'),
  since: text('Only requests at or after this time, ISO 8601 with its zone'),
  after: sequence('Only later sequences; all requests if there is none so great, as after a start', { default: 0 }),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'At most this many, the oldest ones; all if left out' }))
})

const CHANGES_AFTER = 'Begins with the changes after this sequence; with the next one if left out'
const StreamQuery = strictObject({ changesAfter: Type.Optional(sequence(CHANGES_AFTER)) })

/** Lists, streams and verifies the recorded requests of an environment. */
export function journalRoutes(route: AddRoute, services: Services): void {
  const { journals } = services

  route('GET', '/requests', 'listRequests', 'List recorded requests, newest last', listing(services))

  route('DELETE', '/requests', 'clearRequests', 'Remove all recorded requests', {
    handler: async ({ environment }) => journals.of(environment).clear()
  })

  route('GET', '/requests/changes', 'listChanges', 'List what was done between the requests, newest last', {
    description: 'The last 200 control calls that changed something. Removing the requests removes them too.',
    response: listOf('changes', ref(Change), 'The changes, newest last'),
    handler: async ({ environment }) => ({ changes: journals.of(environment).changes() })
  })

  route('GET', '/requests/stream', 'streamRequests', 'Stream requests as they end', {
    description: 'Server-sent events: `request` as one ends, which `Last-Event-ID` resumes after, and `change`.',
    querystring: StreamQuery,
    response: Type.String(),
    responseType: 'text/event-stream',
    handler: (request, reply) =>
      streamRequests(journals.of(request.environment), request, reply, request.query.changesAfter)
  })

  route('POST', '/requests/verify', 'verifyRequests', 'Verify that expected requests were made', {
    changesNothing: true,
    body: ref(Verification),
    response: ref(VerificationResult),
    errors: [417],
    handler: async ({ environment, body }, reply) => {
      const disconnected = new AbortController()
      reply.raw.once('close', () => disconnected.abort())
      return verifyRequests(services, environment, body, disconnected.signal)
    }
  })
}

/** Lists the requests without a valid key, which belong to no environment. */
export function keylessRequestRoutes(route: AddRoute, services: Services): void {
  const summary = 'List requests without a valid key, newest last'
  route('GET', '/requests/keyless', 'listKeylessRequests', summary, listing(services))
}

/** Lists requests of the environment, or without one those without a valid key. */
const listing = ({ journals }: Services) => ({
  querystring: JournalQuery,
  response: listOf('requests', ref(RecordedRequest), 'The requests, newest last'),
  handler: async ({ environment, query }: FastifyRequest<{ Querystring: Static<typeof JournalQuery> }>) => {
    const { after, since, limit, ...pattern } = query
    const from = since === undefined ? 0 : timeOf('since', since)
    const recorded = journals.of(environment).requests(after)
    const wanted = recorded.filter((entry) => entry.time >= from && matches(entry, pattern)).slice(0, limit)
    return { requests: wanted.map((entry) => entry.journal.describe(entry)) }
  }
})
