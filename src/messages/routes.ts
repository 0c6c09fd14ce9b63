import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Query } from '../domain/query-string.js'
import { requireEnvironment } from '../environments/plugin.js'
import { JSON_TYPE, setReasonHeader } from '../http/errors.js'
import { operationRoute } from '../http/operation.js'
import { defineOperation } from '../schema/operation.js'
import { EXAMPLE_QUERY, MessageQuery } from './filters.js'
import { acceptsLenientQueries, type LenientFilters, splitLenientQuery } from './lenient-query.js'
import { MessagesPage } from './schemas.js'
import type { MessageService } from './service.js'

export const listMessages = defineOperation({
  id: 'listMessages',
  method: 'GET',
  url: '/v1/messages',
  summary: 'List messages',
  description: "Returns one page of the messages in the API key's environment, newest first.",
  tag: 'Messages',
  querystring: MessageQuery,
  response: MessagesPage,
  errors: [
    { status: 400 },
    { status: 401 },
    {
      status: 404,
      under: ['unknown-subscriber-filter', 'not-found'],
      example: '/v1/messages?subscriberId=user-none'
    },
    { status: 422, example: '/v1/messages?page=-1' }
  ],
  examples: { query: EXAMPLE_QUERY, idempotencyKey: 'list-messages-0001' }
})

/** For each request, the filters that were removed from its query before validation. */
const lenientFilters = new WeakMap<object, LenientFilters>()

export const messageRoutes: FastifyPluginAsyncTypebox<{ messages: MessageService }> = async (
  app,
  { messages }
) => {
  app.route({
    ...operationRoute(listMessages),
    preValidation: (request, _reply, done) => {
      const { assumptions } = requireEnvironment(request)
      if (acceptsLenientQueries(assumptions)) {
        // Replace the query instead of changing it, because the journal refers to the original
        // object.
        const { checked, lenient } = splitLenientQuery(
          request.query as object as Query,
          assumptions
        )
        request.query = checked as never
        lenientFilters.set(request, lenient)
      }
      done()
    },
    handler: (request, reply) => {
      const environment = requireEnvironment(request)
      const lenient = lenientFilters.get(request)
      const query = lenient ? { ...request.query, ...lenient } : request.query
      const { body, reason } = messages.list(environment, query)
      if (reason !== undefined) setReasonHeader(reply, reason)
      reply.type(JSON_TYPE).send(body)
    }
  })
}
