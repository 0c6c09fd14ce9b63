import type { MessageResponse } from './schemas.js'

/** A message's document, as far as its columns are taken from it. */
interface MessageDocument extends Pick<MessageResponse, 'createdAt' | 'channel' | 'transactionId'> {
  _id: string
  subscriber?: { subscriberId: string } | undefined
  contextKeys?: readonly string[] | undefined
}

/** Returns the columns of a message, from its document: the one place that says what can be searched for. */
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

/** Returns one text for a set of context keys, whatever their order and however often each is given. */
export const canonicalContext = (contextKeys: readonly string[]): string =>
  JSON.stringify([...new Set(contextKeys)].sort())
