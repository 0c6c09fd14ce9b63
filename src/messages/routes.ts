import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Assumptions } from '../core/assumptions.js'
import { DomainError } from '../core/errors.js'
import { ref } from '../core/typebox.js'
import { JSON_TYPE } from '../http/errors.js'
import { operationSchema } from '../http/operation.js'
import { type Query, readQuery } from '../http/query-string.js'
import { giveReason } from '../http/reasons.js'
import { type ListMessagesQuery, type ListMessagesSwitches, listMessagesQuery, MAX_LIMIT } from './query.js'
import { MessagesPage } from './schemas.js'
import type { MessageService } from './service.js'

interface Options {
  messages: MessageService
  /** What the published document assumes. */
  assumptions: Assumptions
}

export const messageRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { messages, assumptions }) => {
  app.get(
    '/messages',
    {
      schema: operationSchema({
        operationId: 'listMessages',
        summary: 'List messages',
        description: 'A page of the messages of the environment that the API key belongs to, newest first.',
        tag: 'Messages',
        querystring: querySchema(assumptions),
        answer: ref(MessagesPage),
        refusals: [400, 401, 404, 422]
      })
    },
    (request, reply) => {
      const { environment } = request
      const { body, reason } = messages.list(
        environment,
        readListQuery(request.query as Query, environment.assumptions)
      )
      if (reason !== undefined) giveReason(reply, reason)
      reply.type(JSON_TYPE).send(body)
    }
  )
}

/**
 * Reads the query by what the environment takes; a filter that is empty is none, but for `contextKeys=`, which asks for
 * messages in no context. Refuses with `invalid`, and with `bad-request` a limit that is too large, where the
 * environment does so.
 */
function readListQuery(query: Query, assumptions: Assumptions): ListMessagesQuery {
  const read = readQuery(withLimit(query, assumptions), querySchema(assumptions)) as ListMessagesQuery
  if (read.transactionId?.length === 0) delete read.transactionId
  if (read.limit > MAX_LIMIT) {
    throw new DomainError('bad-request', `Limit can not be larger then ${MAX_LIMIT}`, {
      reason: `limit is ${read.limit}, the greatest is ${MAX_LIMIT} (assumption paging-bounds)`
    })
  }
  return read
}

/** A limit of nothing, and an empty one, mean the default where the environment is lenient. */
function withLimit(query: Query, assumptions: Assumptions): Query {
  const { limit } = query
  const isNothing = typeof limit === 'string' && /^(0+(\.0+)?)?$/.test(limit)
  return isNothing && assumptions['paging-bounds'] === 'lenient' ? { ...query, limit: '10' } : query
}

const schemas = new Map<string, ReturnType<typeof listMessagesQuery>>()

/** One schema for each position of the switches, so that each is compiled once. */
function querySchema(assumptions: Assumptions): ReturnType<typeof listMessagesQuery> {
  const key = `${assumptions['unknown-channel-filter']} ${assumptions['malformed-context-key']} ${assumptions['paging-bounds']}`
  const known = schemas.get(key)
  if (known) return known
  const switches: ListMessagesSwitches = {
    anyChannel: assumptions['unknown-channel-filter'] === 'empty-page',
    anyContextKey: assumptions['malformed-context-key'] === 'empty-page',
    anyLimit: assumptions['paging-bounds'] === 'lenient'
  }
  const schema = listMessagesQuery(switches)
  schemas.set(key, schema)
  return schema
}
