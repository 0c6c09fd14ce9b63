import { useResource } from '../../parts/resource.js'
import { useSession } from '../../shell/session.js'
import type { Message } from './query.js'

/** The fields of a message that its forms show at once. */
export const MAIN_FIELDS = [
  'channel',
  'subscriberId',
  'workflow',
  'transactionId',
  'contextKeys',
  'subject',
  'title',
  'content',
  'status',
  'errorText',
  'read',
  'seen'
]

/** Returns what the fields of a message may want: the workflows that there are, and the subscribers of messages shown. */
export function useSuggestions(messages: readonly Message[]): Record<string, string[]> {
  const { env } = useSession()
  const { value: workflows = [] } = useResource(() => env.workflows.list(), [env])
  const subscribers = messages.flatMap(({ subscriber }) => subscriber?.subscriberId ?? [])
  return {
    workflow: workflows.map(({ identifier }) => identifier),
    subscriberId: [...new Set(subscribers)],
    transactionId: [...new Set(messages.map(({ transactionId }) => transactionId))]
  }
}
