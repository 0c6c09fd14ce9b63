import { type Static, Type } from '@sinclair/typebox'
import { CHANNELS } from '../core/enums.js'
import { CONTEXT_KEY_PATTERN } from '../core/ids.js'
import { strictObject, stringEnum } from '../core/typebox.js'

export const MAX_LIMIT = 1000

export const MessageQuery = strictObject(
  {
    channel: Type.Optional(stringEnum(CHANNELS, { description: 'Only messages of this channel' })),
    subscriberId: Type.Optional(Type.String({ description: 'Only messages to this subscriber, by its external id' })),
    transactionId: Type.Optional(
      Type.Array(Type.String(), { description: 'Only messages of any of these transactions, repeated once per id' })
    ),
    contextKeys: Type.Optional(
      Type.Array(Type.String({ pattern: CONTEXT_KEY_PATTERN }), {
        description:
          'Only messages in exactly this set of contexts, in any order: each `type:id`, repeated once per key. Empty: messages in no context'
      })
    ),
    page: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      format: 'int64',
      description: 'Page number, from 0'
    }),
    limit: Type.Integer({ default: 10, minimum: 1, maximum: MAX_LIMIT, description: 'Messages per page' })
  },
  // A list is repeated, not split at commas.
  { style: 'form', explode: true }
)

/** A query that finds a message of the default seed. Not in the schema: the docs page would filter by it unasked. */
export const EXAMPLE_QUERY = {
  channel: 'email',
  subscriberId: 'user-ada',
  transactionId: ['order-4711'],
  contextKeys: ['tenant:acme'],
  page: 0,
  limit: 10
}

/** A validated query. `channel` may be any text: some environments accept unknown channels, and find nothing. */
export type ListMessagesQuery = Omit<Static<typeof MessageQuery>, 'channel'> & { channel?: string }
