import type { MessageResponse } from '../../../client/index.js'
import { reasonOf, type ServiceResponse } from '../../shell/session.js'
import { SEARCH_PARAMETERS } from '../records/search.js'

export type Message = MessageResponse

/** The maximum `limit` of a list request. */
const PAGE_SIZE = 1000

/**
 * Parses a search such as `ada channel:email tenant:acme`. `channel:`, `subscriber:` and
 * `transaction:` are filters. Any other name with a colon is a context key. A word without a colon
 * is returned with the name `q`.
 */
function parseSearch(text: string): [name: string, value: string][] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = quoted ?? '']) => {
    const [key = '', value] = word.split(/:(.*)/s)
    if (value === undefined) return ['q', word]
    const name = SEARCH_PARAMETERS.find(
      (parameter) => parameter === key || parameter === `${key}Id`
    )
    return name ? [name, value] : ['contextKeys', word === 'context:none' ? '' : word]
  })
}

/**
 * Loads the first pages of messages that match a search. Words without a colon are treated as
 * transactionIds. If no message matches and the search has only one word without a colon, that word
 * is treated as a subscriberId.
 */
export async function searchMessages(
  get: (path: string) => Promise<ServiceResponse>,
  searchText: string,
  pages: number
) {
  const search = parseSearch(searchText)
  const loadWordsAs = (wordFilter: string) => {
    const filters = search.map(([name, value]) => [name === 'q' ? wordFilter : name, value])
    return loadPages(get, filters, pages)
  }
  const byTransaction = await loadWordsAs('transactionId')
  const words = search.filter(([name]) => name === 'q' || name === 'subscriberId')
  if (byTransaction.data.length > 0 || words.length !== 1) return byTransaction
  return loadWordsAs('subscriberId')
}

async function loadPages(
  get: (path: string) => Promise<ServiceResponse>,
  filters: readonly string[][],
  pages: number
) {
  const data: Message[] = []
  for (let page = 0; ; page += 1) {
    const query = new URLSearchParams({ page: String(page), limit: String(PAGE_SIZE) })
    for (const [name = '', value = ''] of filters) query.append(name, value)
    const response = await get(`/v1/messages?${query}`)
    // With some profiles, the response has no `totalCount`.
    const list = response.json as { data: Message[]; totalCount?: number; hasMore: boolean }
    data.push(...list.data)
    if (!list.hasMore || page + 1 >= pages) return { ...list, data, reason: reasonOf(response) }
  }
}
