import type { MessageResponse } from './schemas.js'

/** The fields of a message that its columns are taken from. */
interface MessageDocument extends Pick<MessageResponse, 'createdAt' | 'channel' | 'transactionId'> {
  _id: string
  subscriber?: { subscriberId: string } | undefined
  contextKeys?: readonly string[] | undefined
}

/** Returns the columns of a message: its JSON, and everything that the list filters or sorts by. */
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

/** Returns the same string for equal sets of context keys, whatever their order and repetitions. */
export const canonicalContext = (contextKeys: readonly string[]): string =>
  JSON.stringify([...new Set(contextKeys)].sort())
