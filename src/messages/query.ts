import { type Static, Type } from '@sinclair/typebox'
import { CHANNELS } from '../core/enums.js'
import { strictObject, stringEnum } from '../core/typebox.js'

/** `type:id`, neither of them empty. */
export const CONTEXT_KEY_PATTERN = '^[^:]+:.+$'

export interface ListMessagesSwitches {
  /** Take any word as a channel. */
  anyChannel: boolean
  /** Take any text as a context key. */
  anyContextKey: boolean
  /** Set no greatest limit. */
  anyLimit: boolean
}

export const MAX_LIMIT = 1000

/** The query of the message list; what it takes depends on the environment's assumptions. */
export function listMessagesQuery({ anyChannel, anyContextKey, anyLimit }: ListMessagesSwitches) {
  const contextKey = anyContextKey ? Type.String() : Type.String({ pattern: CONTEXT_KEY_PATTERN })
  return strictObject({
    channel: Type.Optional(anyChannel ? Type.String(CHANNEL) : stringEnum(CHANNELS, CHANNEL)),
    subscriberId: Type.Optional(Type.String({ description: 'Only those to this subscriber, by its external id' })),
    transactionId: Type.Optional(
      Type.Array(Type.String(), { description: 'Only those of any of these transactions, repeated once per id' })
    ),
    contextKeys: Type.Optional(
      Type.Array(contextKey, {
        description:
          'Only those in exactly this set of contexts, in any order: each `type:id`, repeated once per key. Empty: those in none'
      })
    ),
    page: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Page number, from 0'
    }),
    limit: Type.Integer({
      default: 10,
      minimum: 1,
      ...(!anyLimit && { maximum: MAX_LIMIT }),
      description: 'Messages per page'
    })
  })
}

const CHANNEL = { description: 'Only those of this channel' }

export type ListMessagesQuery = Static<ReturnType<typeof listMessagesQuery>>
