import { type Static, Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { OPERATION_IDS } from '../../core/enums.js'
import { ref, strictObject, stringEnum } from '../../core/typebox.js'
import { controlRoutes, sendInChunks } from '../../http/control-route.js'
import { JSON_TYPE } from '../../http/errors.js'
import { timeOf } from '../../http/validation.js'
import type { Services } from '../services.js'
import { isDecoded } from './details.js'
import { HAR_HEAD, HAR_TAIL, Har, toHarEntry } from './har.js'
import { preparePatterns } from './patterns.js'
import { Change, RecordedRequest, RequestPattern, Verification, VerificationResult } from './schemas.js'
import type { Journal } from './service.js'
import { streamRequests } from './stream.js'
import { matches, unchanged } from './verification.js'
import { verifyRequests } from './verifier.js'

const { status } = RequestPattern.properties
const FILTERS = {
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
    description: 'Only later sequences; all requests if there is none so great, as after a start of the server'
  }),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'At most this many, the oldest ones; all if left out' }))
}
const JournalQuery = strictObject({
  ...FILTERS,
  format: Type.Optional(stringEnum(['json', 'har'], { description: '`har` gives them as HAR 1.2; `json` by default' }))
})

const RequestList = strictObject(
  { requests: Type.Array(ref(RecordedRequest), { description: 'The requests, newest last' }) },
  { description: 'With the format `json`' }
)

const StreamQuery = strictObject({
  changesAfter: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      format: 'int64',
      description: 'Begins with the changes after this sequence; with the next one if left out'
    })
  ),
  rate: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description:
        'At most this many requests a second, and twice as many at once, in batches. While more come, the newest, a twelfth as many'
    })
  )
})

/** Lists, streams and verifies the recorded requests of an environment. */
export const journalRoutes: FastifyPluginAsync<Services> = async (app, services) => {
  const route = controlRoutes(app, { tag: 'Requests' })
  const { journals } = services

  route('GET', '/requests', {
    querystring: JournalQuery,
    response: Type.Union([RequestList, ref(Har)]),
    id: 'listRequests',
    summary: 'List recorded requests, newest last',
    handler: async (request, reply) => {
      const pieces = listRequests(journals.of(request.environment), request.query)
      return sendInChunks(request, reply.type(JSON_TYPE), pieces)
    }
  })

  route('DELETE', '/requests', {
    id: 'clearRequests',
    summary: 'Remove all recorded requests',
    handler: async ({ environment }) => journals.of(environment).clear()
  })

  route('GET', '/requests/changes', {
    id: 'listChanges',
    summary: 'List what was done to the environment between the requests, newest last',
    description:
      'The last 200 calls of control routes that changed something, and what the server did by itself. Removing the requests removes them too.',
    response: strictObject({ changes: Type.Array(ref(Change), { description: 'The changes, newest last' }) }),
    handler: async ({ environment }) => ({ changes: journals.of(environment).changes.list() })
  })

  route('GET', '/requests/stream', {
    id: 'streamRequests',
    summary: 'Stream requests as they end',
    description:
      'Server-sent events: one `request` event for each request that ends, which `Last-Event-ID` resumes after, and one `change` event for each change.',
    querystring: StreamQuery,
    response: Type.String(),
    responseType: 'text/event-stream',
    // A stream without a body would never end.
    exposeHeadRoute: false,
    handler: (request, reply) => streamRequests(journals.of(request.environment), request, reply, request.query)
  })

  route('POST', '/requests/verify', {
    id: 'verifyRequests',
    summary: 'Verify that expected requests were made',
    changesNothing: true,
    body: ref(Verification),
    response: ref(VerificationResult),
    errors: [417],
    handler: async ({ environment, body }, reply) => {
      const disconnected = new AbortController()
      reply.raw.once('close', () => disconnected.abort())
      const inOrder = (body.inOrder ?? []).map((pattern, index) => [`inOrder[${index}].`, pattern] as const)
      await preparePatterns([['', body], ...inOrder])
      // Throws if it has been removed meanwhile: its journal must not come back.
      void environment.datasets
      return verifyRequests(services, environment, body, disconnected.signal)
    }
  })
}

/** Lists the requests without a valid key, which belong to no environment. */
export const keylessRequestRoutes: FastifyPluginAsync<Services> = async (app, { journals }) => {
  controlRoutes(app, { tag: 'Requests', access: 'server' })('GET', '/requests/keyless', {
    querystring: strictObject(FILTERS),
    response: RequestList,
    id: 'listKeylessRequests',
    summary: 'List requests without a valid key, newest last',
    handler: async (request, reply) =>
      sendInChunks(request, reply.type(JSON_TYPE), listRequests(journals.of(undefined), request.query))
  })
}

/** Returns the answer in pieces, one for each request. Throws `invalid` for a malformed time. */
function listRequests(
  journal: Journal,
  { after, since, limit, format, ...pattern }: Static<typeof JournalQuery>
): Iterable<string> {
  const from = since === undefined ? 0 : timeOf('since', since)
  return pieces()

  function* pieces(): Generator<string, void> {
    let listed = 0
    const isHar = format === 'har'
    yield isHar ? HAR_HEAD : '{"requests":['
    for (const entry of unchanged(journal.requests(after))) {
      if (listed === limit) break
      const isWanted = entry.time >= from && matches(entry, pattern)
      const recorded = isWanted ? entry.toRecordedRequest() : undefined
      const separator = listed > 0 ? ',' : ''
      yield recorded ? separator + JSON.stringify(isHar ? toHarEntry(recorded, isDecoded(entry)) : recorded) : ''
      if (isWanted) listed += 1
    }
    yield isHar ? HAR_TAIL : ']}'
  }
}
