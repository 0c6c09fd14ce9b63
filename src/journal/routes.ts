import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { OPERATION_IDS } from '../domain/enums.js'
import { DomainError } from '../domain/errors.js'
import { requireEnvironment } from '../environments/plugin.js'
import type { Environment } from '../environments/service.js'
import { type AddRoute, listOf } from '../http/control-route.js'
import { parseTimeField } from '../http/validation.js'
import { ref, strictObject, stringEnum } from '../schema/typebox.js'
import type { JournalServices } from './plugin.js'
import {
  Change,
  RecordedExchange,
  RecordedRequest,
  Verification,
  VerificationResult
} from './schemas.js'
import { streamRequests } from './stream.js'
import { matches, verifyRequests } from './verification.js'

const sequence = (description: string, options = {}) =>
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    format: 'int64',
    description,
    ...options
  })
const text = (description: string) => Type.Optional(Type.String({ description }))

const STATUS = 'Only this status, or class of them such as 4xx; `none` for what was not answered'
export const JournalQuery = strictObject({
  operation: Type.Optional(
    stringEnum(OPERATION_IDS, { description: 'Only requests of this operation' })
  ),
  method: text('Only requests with this method'),
  status: Type.Optional(Type.String({ pattern: '^([1-5](\\d\\d|xx)|none)$', description: STATUS })),
  path: text('Exactly this path'),
  pathPrefix: text('Only paths that begin with this'),
  text: text(
    'Only requests with all these words in method, path, parameters, ids, body or reason; in any case'
  ),
  since: text('Only requests at or after this time, ISO 8601 with its zone'),
  after: sequence(
    'Only later sequences; all requests if there is none so great, as after a start',
    { default: 0 }
  ),
  before: Type.Optional(sequence('Only earlier sequences')),
  order: stringEnum(['oldest', 'newest'], { default: 'oldest', description: 'Which come first' }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: 'At most this many, the first ones; all if left out' })
  )
})
export type JournalQuery = Static<typeof JournalQuery>

const CHANGES_AFTER = 'Begins with the changes after this sequence; with the next one if left out'

/** Lists, streams and verifies the recorded requests of an environment. */
export function journalRoutes(route: AddRoute, services: JournalServices): void {
  const { journals } = services
  route(
    'GET',
    '/requests',
    'listRequests',
    'List recorded requests',
    listing(services, ofEnvironment)
  )
  route(
    'GET',
    '/requests/:sequence(\\d+)',
    'getRequest',
    'Get a recorded request',
    getting(services, ofEnvironment)
  )

  route('DELETE', '/requests', 'clearRequests', 'Remove all recorded requests', {
    handler: async ({ environment }) => journals.of(environment).clear()
  })

  route(
    'GET',
    '/requests/changes',
    'listChanges',
    'List what was done between the requests, newest last',
    {
      description:
        'The last 200 control calls that changed something. Removing the requests removes them too.',
      response: listOf('changes', ref(Change), 'The changes, newest last'),
      handler: async ({ environment }) => ({ changes: journals.of(environment).changes() })
    }
  )

  route('GET', '/requests/stream', 'streamRequests', 'Stream requests as they end', {
    description:
      'Server-sent events: `request` as one ends, which `Last-Event-ID` resumes after, and `change`.',
    querystring: strictObject({ changesAfter: Type.Optional(sequence(CHANGES_AFTER)) }),
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
    handler: ({ environment, body, raw }) =>
      verifyRequests(services, environment, body, () => raw.socket.destroyed)
  })
}

/** Lists the requests without a valid key, which belong to no environment. */
export function unauthenticatedRequestRoutes(
  route: AddRoute<'server'>,
  services: JournalServices
): void {
  route(
    'GET',
    '/requests/unauthenticated',
    'listUnauthenticatedRequests',
    'List requests without a valid key',
    listing(services, unauthenticated)
  )
  route(
    'GET',
    '/requests/unauthenticated/:sequence(\\d+)',
    'getUnauthenticatedRequest',
    'Get an unauthenticated request',
    getting(services, unauthenticated)
  )
}

type JournalOwner = (request: FastifyRequest) => Environment | undefined
const ofEnvironment: JournalOwner = (request) => requireEnvironment(request)
const unauthenticated: JournalOwner = () => undefined

/** Lists the requests of one journal. */
const listing = ({ journals }: JournalServices, ownerOf: JournalOwner) => ({
  querystring: JournalQuery,
  response: listOf(
    'requests',
    ref(RecordedRequest),
    'The requests, in the order that was asked for'
  ),
  handler: async (request: FastifyRequest & { query: Static<typeof JournalQuery> }) => {
    const {
      order,
      limit,
      after,
      before,
      since,
      status = '.*',
      text = '',
      pathPrefix = '',
      ...pattern
    } = request.query
    const from = since === undefined ? 0 : parseTimeField('since', since)
    const end = before ?? Number.POSITIVE_INFINITY
    const wanted = new RegExp(`^(${status.replace('xx', '..')})$`)
    const recorded = journals.of(ownerOf(request)).requests(after)
    const requests: RecordedRequest[] = []
    for (const entry of order === 'newest' ? recorded.reverse() : recorded) {
      if (requests.length === limit) break
      const outcome = entry.status === 0 && entry.endSequence > 0 ? 'none' : `${entry.status}`
      if (entry.sequence >= end || entry.time < from) continue
      if (!wanted.test(outcome) || !matches(entry, pattern)) continue
      const request = entry.journal.describe(entry)
      if (request.path.startsWith(pathPrefix) && hasWords(request, text)) requests.push(request)
    }
    return { requests }
  }
})

/** Gets a request of one journal. */
const getting = ({ journals }: JournalServices, ownerOf: JournalOwner) => ({
  params: strictObject({ sequence: Type.String({ description: 'Number in its journal' }) }),
  response: ref(RecordedExchange),
  handler: async (request: FastifyRequest & { params: { sequence: string } }) => {
    const { params } = request
    const entry = journals.of(ownerOf(request)).find(Number(params.sequence))
    if (entry) return entry.journal.describe(entry, true)
    throw new DomainError('not-found', `Request ${params.sequence} not found`, {
      reason:
        'the journal does not have this request, or no longer: the oldest ones are replaced by new ones'
    })
  }
})

/** Whether a request has all words of a text, in any case. */
function hasWords(
  { method, path, operation, query, headers, body, reason, status }: RecordedRequest,
  text: string
) {
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((each) => `${name}=${each}`)
  )
  const ids = [headers['idempotency-key'], headers['x-request-id']]
  const all = [method, path, operation, ...parameters, ...ids, body, reason, status]
    .join('\n')
    .toLowerCase()
  const words = text.toLowerCase().split(/\s+/)
  return words.every((word) => all.includes(word))
}
