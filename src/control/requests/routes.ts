import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import { parseTime } from '../../core/clock.js'
import { OPERATION_IDS } from '../../core/enums.js'
import { invalidFields } from '../../core/errors.js'
import { ref, strictObject, stringEnum } from '../../core/typebox.js'
import { controlRoutes } from '../../http/control-route.js'
import { RecordedRequest, Verification, VerificationResult } from './schemas.js'
import type { Journal } from './service.js'
import { streamRequests } from './stream.js'
import { matches } from './verification.js'
import { type JournalServices, verifyRequests } from './verifier.js'

const JournalQuery = strictObject({
  operation: Type.Optional(stringEnum(OPERATION_IDS)),
  method: Type.Optional(Type.String()),
  path: Type.Optional(Type.String({ description: 'Exactly this path' })),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  since: Type.Optional(Type.String({ description: 'Only requests at or after this time, ISO 8601 with its zone' })),
  after: Type.Integer({ default: 0, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Only later sequences' })
})

const LIST = { querystring: JournalQuery, response: strictObject({ requests: Type.Array(ref(RecordedRequest)) }) }

const route = controlRoutes({ tag: 'Requests' })
const keylessRoute = controlRoutes({ tag: 'Requests', access: 'server' })

/** Lists, streams and verifies the recorded requests of an environment. */
export const journalRoutes: FastifyPluginAsyncTypebox<JournalServices> = async (app, { journals, environments }) => {
  app.route({
    ...route('GET', '/requests', { ...LIST, id: 'listRequests', summary: 'List recorded requests, newest last' }),
    handler: ({ environment, query }) => ({ requests: listRequests(journals.of(environment), query) })
  })

  app.route({
    ...route('DELETE', '/requests', {
      id: 'clearRequests',
      summary: 'Remove all recorded requests'
    }),
    handler: ({ environment }, reply) => {
      journals.of(environment).clear()
      return reply.code(204).send()
    }
  })

  app.route({
    ...route('GET', '/requests/stream', {
      id: 'streamRequests',
      summary: 'Stream requests as they end',
      description:
        'Server-sent events: one `request` event for each request that ends. `Last-Event-ID` resumes after that event.',
      response: Type.String(),
      responseType: 'text/event-stream'
    }),
    // A stream without a body would never end.
    exposeHeadRoute: false,
    handler: (request, reply) => streamRequests(journals.of(request.environment), request, reply)
  })

  app.route({
    ...route('POST', '/requests/verify', {
      id: 'verifyRequests',
      summary: 'Verify that expected requests were made',
      body: ref(Verification),
      response: ref(VerificationResult),
      errors: [417]
    }),
    handler: ({ environment, body }, reply) => {
      const disconnected = new AbortController()
      reply.raw.once('close', () => disconnected.abort())
      return verifyRequests({ journals, environments }, environment, body, disconnected.signal)
    }
  })
}

/** Lists the requests without a valid key, which belong to no environment. */
export const keylessRequestRoutes: FastifyPluginAsyncTypebox<JournalServices> = async (app, { journals }) => {
  app.route({
    ...keylessRoute('GET', '/requests/keyless', {
      ...LIST,
      id: 'listKeylessRequests',
      summary: 'List requests without a valid key, newest last'
    }),
    handler: ({ query }) => ({ requests: listRequests(journals.of(undefined), query) })
  })
}

function listRequests(journal: Journal, { after, since, ...pattern }: Static<typeof JournalQuery>): RecordedRequest[] {
  const from = since === undefined ? undefined : parseTime(since)
  if (since !== undefined && from === undefined) {
    throw invalidFields({ since: { messages: ['since must be a time in ISO 8601, with its zone'], value: since } })
  }
  return journal
    .requests(after)
    .filter((entry) => matches(entry, pattern))
    .filter(({ time }) => from === undefined || Date.parse(time) >= from)
}
