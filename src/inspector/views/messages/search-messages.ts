import type { AttachedEnvironment, MessageResponse } from '../../../client/index.js'

export type Message = MessageResponse

/** The maximum `limit` of a search. */
const PAGE_SIZE = 1000

/** The query parameter for each filter name that a search can contain, as in `channel:email`. */
const FILTERS: Record<string, 'channel' | 'subscriberId' | 'transactionId' | 'contextKeys'> = {
  channel: 'channel',
  subscriber: 'subscriberId',
  subscriberId: 'subscriberId',
  transaction: 'transactionId',
  transactionId: 'transactionId',
  context: 'contextKeys',
  contextKeys: 'contextKeys'
}

/** Returns the words of a search. Quotes keep words together, as in `"subscriber:ada byron"`. */
const wordsOf = (searchText: string): string[] =>
  [...searchText.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = quoted ?? '']) => word)

/**
 * Splits a word such as `channel:email`. If the filter isn't known, the whole word is text to
 * search for.
 */
function parseWord(word: string) {
  const [key = '', value = ''] = word.split(/:(.*)/s)
  const filter = FILTERS[key]
  if (filter === undefined) return { filter: 'text' as const, value: word }
  return { filter, value: word === 'context:none' ? '' : value }
}

/** Returns the channel that a search filters by. */
export const channelOf = (searchText: string): string | undefined =>
  wordsOf(searchText)
    .map(parseWord)
    .find(({ filter }) => filter === 'channel')?.value

/** Returns the search text with its channel replaced or, if `channel` is undefined, removed. */
export function withChannel(searchText: string, channel: string | undefined): string {
  const others = searchText.replace(/(^|\s)channel:\S*/g, '').trim()
  return [channel && `channel:${channel}`, others].filter(Boolean).join(' ')
}

/** Loads the first `pages` pages of messages that match a search such as `tea channel:email`. */
export async function searchMessages(
  { messages }: Pick<AttachedEnvironment, 'messages'>,
  searchText: string,
  pages: number
) {
  const query: Record<string, string[]> = {}
  for (const { filter, value } of wordsOf(searchText).map(parseWord)) {
    query[filter] = [...(query[filter] ?? []), value]
  }
  const { text, ...filters } = query
  const search = { ...filters, ...(text && { text: text.join(' ') }), limit: PAGE_SIZE }
  const data: Message[] = []
  for (let page = 0; ; page += 1) {
    const found = await messages.search({ ...search, page })
    data.push(...found.messages)
    if (!found.hasMore || page + 1 >= pages) return { ...found, messages: data }
  }
}
