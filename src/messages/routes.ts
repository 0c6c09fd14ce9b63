import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Assumptions } from '../domain/assumptions.js'
import { DomainError, invalidFields } from '../domain/errors.js'
import type { Query } from '../domain/query-string.js'
import { requireEnvironment } from '../environments/plugin.js'
import { JSON_TYPE, setReasonHeader } from '../http/errors.js'
import { operationRoute } from '../http/operation.js'
import { defineOperation } from '../schema/operation.js'
import { EXAMPLE_QUERY, type ListMessagesQuery, MAX_LIMIT, MessageQuery } from './filters.js'
import { MessagesPage } from './schemas.js'
import type { MessageService } from './service.js'

export const listMessages = defineOperation({
  id: 'listMessages',
  method: 'GET',
  url: '/v1/messages',
  summary: 'List messages',
  description:
    'A page of the messages of the environment that the API key belongs to, newest first.',
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

type LenientFilters = Pick<ListMessagesQuery, 'channel' | 'contextKeys'>

/** Filters that are searched for as they were sent, since the environment's assumptions allow any text. */
const lenientFilters = new WeakMap<object, LenientFilters>()

export const messageRoutes: FastifyPluginAsyncTypebox<{ messages: MessageService }> = async (
  app,
  { messages }
) => {
  app.route({
    ...operationRoute(listMessages),
    preValidation: (request, _reply, done) => {
      const { assumptions } = requireEnvironment(request)
      if (LENIENT.some(([id, position]) => assumptions[id] === position)) {
        // A copy, as the journal has the query as it was sent.
        const query = { ...(request.query as object as Query) }
        request.query = query as never
        lenientFilters.set(request, takeLenientFilters(query, assumptions))
      }
      done()
    },
    handler: (request, reply) => {
      const environment = requireEnvironment(request)
      const { query } = request
      const lenient = lenientFilters.get(request)
      const { body, reason } = messages.list(
        environment,
        lenient ? { ...query, ...lenient } : query
      )
      if (reason !== undefined) setReasonHeader(reply, reason)
      reply.type(JSON_TYPE).send(body)
    }
  })
}

/** The positions that let through what the schema would reject. */
const LENIENT = [
  ['paging-bounds', 'lenient'],
  ['unknown-channel-filter', 'empty-page'],
  ['malformed-context-key', 'empty-page']
] as const

/**
 * Takes from the query what the schema would reject and the environment's assumptions let through. Rejects what a lenient
 * environment rejects in its own way: with `bad-request` a limit that is too large, with `invalid` what is no number.
 */
function takeLenientFilters(query: Query, assumptions: Assumptions): LenientFilters {
  if (assumptions['paging-bounds'] === 'lenient') readLenientPaging(query)
  const { channel, contextKeys } = query
  const filters: LenientFilters = {}
  if (
    assumptions['unknown-channel-filter'] === 'empty-page' &&
    typeof channel === 'string' &&
    channel !== ''
  ) {
    filters.channel = channel
    delete query.channel
  }
  const keys = [contextKeys].flat()
  // Else absent, or what the schema rejects.
  if (
    assumptions['malformed-context-key'] === 'empty-page' &&
    keys.every((key) => typeof key === 'string')
  ) {
    filters.contextKeys = keys.filter((key) => key !== '')
    delete query.contextKeys
  }
  return filters
}

/** Without a limit, or with 0, a lenient environment uses the default. What is no number it does not name the field of. */
function readLenientPaging(query: Query): void {
  const { limit } = query
  const words = ['page', 'limit'].filter((name) => Number.isNaN(Number(query[name] ?? 0)))
  if (words.length > 0) {
    const messages = words.map(
      (name) => `${name} must be a number conforming to the specified constraints`
    )
    throw invalidFields({ general: { messages, value: 'No Value Recorded' } })
  }
  if (typeof limit !== 'string') return
  if (/^(0+(\.0+)?)?$/.test(limit)) delete query.limit
  else if (/^\d+(\.0+)?$/.test(limit) && Number(limit) > MAX_LIMIT) {
    const reason = `limit is ${limit}, the greatest is ${MAX_LIMIT} (assumption paging-bounds)`
    throw new DomainError('bad-request', `Limit can not be larger then ${MAX_LIMIT}`, { reason })
  }
}
