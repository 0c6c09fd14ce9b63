import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { parseTime } from '../../core/clock.js'
import { invalidFields } from '../../core/errors.js'
import { ref, strictObject, stringEnum } from '../../core/typebox.js'
import type { EnvironmentService } from '../../environments/service.js'
import { controlSchema, readBody, readParameters } from '../../http/control-operation.js'
import { JSON_TYPE } from '../../http/errors.js'
import { OPERATIONS, RecordedRequest, RequestPattern, Verification, VerificationResult } from './schemas.js'
import type { Journal, JournalService } from './service.js'
import { streamRequests } from './stream.js'
import { matches } from './verification.js'
import { verifyRequests } from './verifier.js'

interface Options {
  journals: JournalService
  environments: EnvironmentService
}

const JournalQuery = strictObject({
  operation: Type.Optional(stringEnum(OPERATIONS)),
  method: Type.Optional(Type.String()),
  path: Type.Optional(Type.String({ description: 'Exactly this path' })),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  since: Type.Optional(Type.String({ description: 'Only requests at or after this time, ISO 8601 with its zone' })),
  after: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Only requests with a greater sequence'
  })
})

const JournalPage = strictObject({ requests: Type.Array(ref(RecordedRequest)) })

/** Lists, streams and verifies the recorded requests of an environment. */
export const journalRoutes: FastifyPluginAsyncTypebox<Options> = async (app, services) => {
  const { journals } = services
  app.get(
    '/requests',
    {
      schema: controlSchema({
        operationId: 'listRequests',
        summary: 'List recorded requests, newest last',
        tag: 'Requests',
        querystring: JournalQuery,
        answer: JournalPage
      })
    },
    async (request, reply) =>
      reply.type(JSON_TYPE).send({ requests: listRequests(journals.of(request.environment), request) })
  )

  app.delete(
    '/requests',
    { schema: controlSchema({ operationId: 'clearRequests', summary: 'Empty the journal', tag: 'Requests' }) },
    async (request, reply) => {
      journals.of(request.environment).clear()
      return reply.code(204).send()
    }
  )

  app.get(
    '/requests/stream',
    {
      schema: controlSchema({
        operationId: 'streamRequests',
        summary: 'Stream requests as they end',
        description:
          'Server-sent events: one `request` event for each request that ends. `Last-Event-ID` resumes after that event.',
        tag: 'Requests',
        answer: Type.String(),
        answerType: 'text/event-stream'
      }),
      // A stream without a body would never end.
      exposeHeadRoute: false
    },
    (request, reply) => streamRequests(journals.of(request.environment), request, reply)
  )

  app.post(
    '/requests/verify',
    {
      schema: controlSchema({
        operationId: 'verifyRequests',
        summary: 'Verify that expected requests were made',
        tag: 'Requests',
        body: ref(Verification),
        answer: ref(VerificationResult),
        refusals: [400, 417]
      })
    },
    async (request, reply) => {
      const disconnected = new AbortController()
      reply.raw.once('close', () => disconnected.abort())
      const verification = readBody(request, Verification, [RequestPattern])
      const result = await verifyRequests(services, request.environment, verification, disconnected.signal)
      return reply.type(JSON_TYPE).send(result)
    }
  )
}

/** Lists the requests without a valid key, which belong to no environment. */
export const keylessRequestRoutes: FastifyPluginAsyncTypebox<Pick<Options, 'journals'>> = async (app, { journals }) => {
  app.get(
    '/requests/keyless',
    {
      schema: controlSchema({
        operationId: 'listKeylessRequests',
        summary: 'List requests without a valid key, newest last',
        tag: 'Requests',
        access: 'server',
        querystring: JournalQuery,
        answer: JournalPage,
        refusals: [403]
      })
    },
    async (request, reply) => reply.type(JSON_TYPE).send({ requests: listRequests(journals.of(undefined), request) })
  )
}

function listRequests(journal: Journal, request: FastifyRequest): RecordedRequest[] {
  const { after, since, ...pattern } = readParameters(request, JournalQuery)
  const from = since === undefined ? undefined : parseTime(since)
  if (since !== undefined && from === undefined) {
    throw invalidFields({ since: { messages: ['since must be a time in ISO 8601, with its zone'], value: since } })
  }
  return journal
    .requests(after)
    .filter((entry) => matches(entry, pattern))
    .filter(({ time }) => from === undefined || Date.parse(time) >= from)
}
