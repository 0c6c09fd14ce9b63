import { type Static, Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { OPERATION_IDS } from '../../core/enums.js'
import { ref, strictObject, stringEnum } from '../../core/typebox.js'
import { controlRoutes } from '../../http/control-route.js'
import { timeOf } from '../../http/validation.js'
import type { Services } from '../services.js'
import type { JournalEntry } from './entry.js'
import { preparePatterns } from './patterns.js'
import { RecordedRequest, RequestPattern, Verification, VerificationResult } from './schemas.js'
import { describeInTurns, type Journal } from './service.js'
import { streamRequests } from './stream.js'
import { matches, mayMatch } from './verification.js'
import { verifyRequests } from './verifier.js'

const { status } = RequestPattern.properties
const JournalQuery = strictObject({
  operation: Type.Optional(stringEnum(OPERATION_IDS, { description: 'Only requests of this operation' })),
  method: Type.Optional(Type.String({ description: 'Only requests with this method' })),
  status,
  path: Type.Optional(Type.String({ description: 'Exactly this path' })),
  since: Type.Optional(Type.String({ description: 'Only requests at or after this time, ISO 8601 with its zone' })),
  after: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    format: 'int64',
    description: 'Only later sequences'
  })
})

const LIST = {
  querystring: JournalQuery,
  response: strictObject({ requests: Type.Array(ref(RecordedRequest), { description: 'The requests, newest last' }) })
}

/** Lists, streams and verifies the recorded requests of an environment. */
export const journalRoutes: FastifyPluginAsync<Services> = async (app, services) => {
  const route = controlRoutes(app, { tag: 'Requests' })
  const { journals } = services

  route('GET', '/requests', {
    ...LIST,
    id: 'listRequests',
    summary: 'List recorded requests, newest last',
    handler: async ({ environment, query }) => listRequests(journals.of(environment), query)
  })

  route('DELETE', '/requests', {
    id: 'clearRequests',
    summary: 'Remove all recorded requests',
    handler: async ({ environment }) => journals.of(environment).clear()
  })

  route('GET', '/requests/stream', {
    id: 'streamRequests',
    summary: 'Stream requests as they end',
    description:
      'Server-sent events: one `request` event for each request that ends. `Last-Event-ID` resumes after that event.',
    response: Type.String(),
    responseType: 'text/event-stream',
    // A stream without a body would never end.
    exposeHeadRoute: false,
    handler: (request, reply) => streamRequests(journals.of(request.environment), request, reply)
  })

  route('POST', '/requests/verify', {
    id: 'verifyRequests',
    summary: 'Verify that expected requests were made',
    body: ref(Verification),
    response: ref(VerificationResult),
    errors: [417],
    handler: async ({ environment, body }, reply) => {
      const disconnected = new AbortController()
      reply.raw.once('close', () => disconnected.abort())
      const inOrder = (body.inOrder ?? []).map((pattern, index) => [`inOrder[${index}].`, pattern] as const)
      await preparePatterns(['', body], ...inOrder)
      return verifyRequests(services, environment, body, disconnected.signal)
    }
  })
}

/** Lists the requests without a valid key, which belong to no environment. */
export const keylessRequestRoutes: FastifyPluginAsync<Services> = async (app, { journals }) => {
  controlRoutes(app, { tag: 'Requests', access: 'server' })('GET', '/requests/keyless', {
    ...LIST,
    id: 'listKeylessRequests',
    summary: 'List requests without a valid key, newest last',
    handler: async ({ query }) => listRequests(journals.of(undefined), query)
  })
}

async function listRequests(journal: Journal, { after, since, ...pattern }: Static<typeof JournalQuery>) {
  const from = since === undefined ? 0 : timeOf('since', since)
  const wanted = (entry: JournalEntry) => entry.time >= from && mayMatch(entry, pattern)
  await describeInTurns(journal.requests(after).filter(wanted))
  const found = journal.requests(after).filter((entry) => wanted(entry) && matches(entry, pattern))
  return { requests: found.map((entry) => entry.toRecordedRequest()) }
}
