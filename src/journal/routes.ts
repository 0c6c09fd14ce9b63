import { Type } from '@sinclair/typebox'
import { DomainError } from '../domain/errors.js'
import { type AddRoute, listOf } from '../http/control-route.js'
import { ref, strictObject } from '../schema/typebox.js'
import { filterRequests, JournalQuery, sequenceSchema } from './filter.js'
import type { Journal } from './journal.js'
import type { JournalServices } from './plugin.js'
import {
  Change,
  RecordedExchange,
  RecordedRequest,
  Verification,
  VerificationResult
} from './schemas.js'
import { streamRequests } from './stream.js'
import { verifyRequests } from './verification.js'

const LOST_REQUEST =
  'the journal has no such request; it may have been removed to make room for newer requests'
const CHANGES_AFTER =
  'Also sends recorded changes with a sequence greater than this. By default, only new changes ' +
  'are sent'
const PENDING_AFTER =
  'Also sends the event `pending` for each request that is still in progress after this many ' +
  'milliseconds'

/** Adds the routes that list, stream, verify and remove an environment's recorded requests. */
export function journalRoutes(route: AddRoute, services: JournalServices): void {
  const { journals } = services
  route('GET', '/requests', 'listRequests', 'List recorded requests', {
    ...REQUEST_LIST,
    handler: async ({ environment, query }) => ({
      requests: filterRequests(journals.of(environment), query)
    })
  })

  route('GET', '/requests/:sequence(\\d+)', 'getRequest', 'Get a recorded request', {
    ...REQUEST_DETAILS,
    handler: async ({ environment, params }) =>
      findExchange(journals.of(environment), params.sequence)
  })

  route('DELETE', '/requests', 'clearRequests', 'Remove all recorded requests', {
    handler: async ({ environment }) => journals.of(environment).clear()
  })

  changeRoutes(route, services)
  streamRoute(route, services)

  route('POST', '/requests/verify', 'verifyRequests', 'Verify that expected requests were made', {
    changesNothing: true,
    body: ref(Verification),
    response: ref(VerificationResult),
    errors: [417],
    handler: ({ environment, body, raw }) =>
      verifyRequests(services, environment, body, () => raw.socket.destroyed)
  })
}

/** Adds the routes that return unauthenticated requests, which don't belong to an environment. */
export function unauthenticatedRequestRoutes(
  route: AddRoute<'server'>,
  { journals }: JournalServices
): void {
  route(
    'GET',
    '/requests/unauthenticated',
    'listUnauthenticatedRequests',
    'List requests without a valid key',
    {
      ...REQUEST_LIST,
      handler: async ({ query }) => ({ requests: filterRequests(journals.of(undefined), query) })
    }
  )

  route(
    'GET',
    '/requests/unauthenticated/:sequence(\\d+)',
    'getUnauthenticatedRequest',
    'Get an unauthenticated request',
    {
      ...REQUEST_DETAILS,
      handler: async ({ params }) => findExchange(journals.of(undefined), params.sequence)
    }
  )
}

function changeRoutes(route: AddRoute, { journals }: JournalServices): void {
  route(
    'GET',
    '/requests/changes',
    'listChanges',
    'List the changes to the environment, oldest first',
    {
      description:
        'Lists the last 200 changes that were made between requests. Removing all recorded ' +
        'requests removes the changes too.',
      response: listOf('changes', ref(Change), 'The changes, oldest first'),
      handler: async ({ environment }) => ({ changes: journals.of(environment).changes() })
    }
  )
}

function streamRoute(route: AddRoute, { journals }: JournalServices): void {
  route('GET', '/requests/stream', 'streamRequests', 'Stream each request when it ends', {
    description:
      'Sends the server-sent event `request` when a request ends, and `change` when the ' +
      'environment is changed. With the header `Last-Event-ID`, the stream resumes after the ' +
      'request with this id.',
    querystring: strictObject({
      changesAfter: Type.Optional(sequenceSchema(CHANGES_AFTER)),
      pendingAfter: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 60_000, description: PENDING_AFTER })
      )
    }),
    response: Type.String(),
    responseType: 'text/event-stream',
    handler: (request, reply) =>
      streamRequests(journals.of(request.environment), request, reply, request.query)
  })
}

const REQUEST_LIST = {
  querystring: JournalQuery,
  response: listOf('requests', ref(RecordedRequest), 'The selected requests, in the given `order`')
}

const REQUEST_DETAILS = {
  params: strictObject({
    sequence: Type.String({ description: "The request's sequence number in the journal" })
  }),
  response: ref(RecordedExchange)
}

function findExchange(journal: Journal, sequence: string): RecordedExchange {
  const entry = journal.find(Number(sequence))
  if (entry) return journal.describer.exchange(entry)
  throw new DomainError('not-found', `Request ${sequence} not found`, { reason: LOST_REQUEST })
}
