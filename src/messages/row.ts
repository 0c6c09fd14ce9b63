import type { MessageResponse } from './schemas.js'

/** The fields of a message that are also stored in columns of its row. */
interface MessageDocument extends Pick<MessageResponse, 'createdAt' | 'channel' | 'transactionId'> {
  _id: string
  subscriber?: { subscriberId: string } | undefined
  contextKeys?: readonly string[] | undefined
}

/** Returns the row of a message: its JSON and the columns for filtering and sorting the list. */
export function toMessageRow(message: MessageDocument) {
  return {
    id: message._id,
    createdAt: Date.parse(message.createdAt),
    channel: message.channel,
    subscriberId: message.subscriber?.subscriberId ?? null,
    transactionId: message.transactionId,
    context: canonicalContext(message.contextKeys ?? []),
    document: JSON.stringify(message)
  }
}

/** Returns a string that identifies a set of context keys. Ignores their order and duplicates. */
export const canonicalContext = (contextKeys: readonly string[]): string =>
  JSON.stringify([...new Set(contextKeys)].sort())
