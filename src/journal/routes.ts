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
  'the journal has no such request, or no longer has it: new requests replace the oldest ones'
const CHANGES_AFTER =
  'Starts with the changes after this sequence; without it, sends only new changes'

/** Adds the routes that list, stream, verify and remove the recorded requests of an environment. */
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

/** Adds the routes that list the requests without a valid key, which belong to no environment. */
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
    'List the changes made between the requests, oldest first',
    {
      description:
        'The last 200 control requests that changed something. Removing the requests removes ' +
        'them too.',
      response: listOf('changes', ref(Change), 'The changes, oldest first'),
      handler: async ({ environment }) => ({ changes: journals.of(environment).changes() })
    }
  )
}

function streamRoute(route: AddRoute, { journals }: JournalServices): void {
  route('GET', '/requests/stream', 'streamRequests', 'Stream requests as they end', {
    description:
      'Server-sent events: `request` when a request ends, and `change`. Send `Last-Event-ID` to ' +
      'resume after a request.',
    querystring: strictObject({ changesAfter: Type.Optional(sequenceSchema(CHANGES_AFTER)) }),
    response: Type.String(),
    responseType: 'text/event-stream',
    handler: (request, reply) =>
      streamRequests(journals.of(request.environment), request, reply, request.query.changesAfter)
  })
}

const REQUEST_LIST = {
  querystring: JournalQuery,
  response: listOf('requests', ref(RecordedRequest), 'The requests in the requested order')
}

const REQUEST_DETAILS = {
  params: strictObject({
    sequence: Type.String({ description: "The request's number in its journal" })
  }),
  response: ref(RecordedExchange)
}

function findExchange(journal: Journal, sequence: string): RecordedExchange {
  const entry = journal.find(Number(sequence))
  if (entry) return journal.describer.exchange(entry)
  throw new DomainError('not-found', `Request ${sequence} not found`, { reason: LOST_REQUEST })
}
