import { countOf } from '../../../domain/count.js'
import { CHANNELS } from '../../../domain/enums.js'
import type { Parameters } from '../../paths.js'
import { check, checkSame, readPage, skipUnless } from '../../response-checks.js'
import type { ServiceUnderTest } from '../../service-under-test.js'
import { apiReference, type ConformanceCase } from '../case.js'

const MAX_WALKED_MESSAGES = 40
/**
 * A `limit` that every service is expected to accept. The API reference defines no maximum, but a
 * service may have one.
 */
const MAX_LIMIT = 100
const PAST_THE_END = 100_000

/** Query strings, and the `pageSize` and `page` that their responses must have. */
const PAGE_REQUESTS: readonly (readonly [query: string, pageSize: number, page: number])[] = [
  ['', 10, 0],
  ['?limit=2&page=0', 2, 0],
  ['?limit=2.0&page=1.0', 2, 1],
  ['?limit=7&page=3', 7, 3]
]

export const PAGING_CASES: readonly ConformanceCase[] = [
  {
    id: 'paging.page',
    rule:
      "The response's `page` and `pageSize` equal the request's `page` and `limit`, which " +
      'default to 0 and 10. A whole number may be written as `2.0`. A page past the end is empty.',
    basis: apiReference(
      '`page` defaults to 0; `limit` defaults to 10; pageSize: Messages per page; ' +
        'page: Current page number'
    ),
    async run(service) {
      for (const [query, pageSize, page] of PAGE_REQUESTS)
        await checkPage(service, query, pageSize, page)
      const query = `?limit=100&page=${PAST_THE_END}`
      const { data, hasMore, response } = await checkPage(service, query, 100, PAST_THE_END)
      const isEmpty = data.length === 0 && hasMore === false
      const messages = countOf(data.length, 'message')
      const problem = `a page past the end has ${messages}, and hasMore is ${hasMore}`
      check(isEmpty, problem, response)
    }
  },
  {
    id: 'paging.length',
    rule:
      'Every page except the last one has exactly `limit` messages. `hasMore` is true if more ' +
      'messages follow.',
    basis: apiReference(
      'limit: Number of messages per page; hasMore: Whether more messages are available'
    ),
    async run({ list, sample }) {
      const { messages } = await sample()
      const limits = [1, 2, 3, 10, 25, 100, messages.length - 1]
      for (const limit of limits.filter((number) => number > 0)) {
        const { data, hasMore, response } = await list({ limit, page: 0 })
        const expected = Math.min(limit, messages.length)
        const problem = `${countOf(data.length, 'message')}, expected ${expected}`
        check(data.length === expected, problem, response)
        const isRight = hasMore === true || limit >= messages.length
        check(isRight, `hasMore is ${hasMore}, but there are more messages`, response)
      }
    }
  },
  {
    id: 'paging.joined',
    rule:
      'Together, the pages contain the complete list without gaps or duplicates, whatever the ' +
      'limit, and with or without a filter.',
    basis: apiReference(
      'page: Page number (zero-based default); limit: Number of messages per page'
    ),
    async run(service) {
      const { messages } = await service.sample()
      const channel = messages[0]?.channel ?? ''
      for (const limit of [1, 3, 7]) await checkJoinedPages(service, {}, limit)
      for (const limit of [1, 3, 7]) await checkJoinedPages(service, { channel }, limit)
    }
  },
  {
    id: 'paging.counts',
    rule:
      '`hasMore` is false on the last page, but may be true if that page is full and there is no ' +
      '`totalCount`. If a page has `totalCount`, it is the number of all messages that match the ' +
      'filters.',
    basis: apiReference(
      'hasMore: Whether more messages are available; ' +
        'totalCount: Total number of messages available'
    ),
    async run(service) {
      const { messages } = await service.sample()
      const transactions = messages.slice(0, 1).map(({ transactionId }) => ({ transactionId }))
      const channels = CHANNELS.map((channel) => ({ channel }))
      let isCounted = false
      for (const filter of [{}, ...transactions, ...channels]) {
        const { data } = await service.list({ ...filter, limit: MAX_LIMIT })
        if (data.length === 0 || data.length >= MAX_LIMIT) continue
        isCounted = true
        await checkCounts(service, filter, data.length)
      }
      skipUnless(isCounted, `every list is empty or has at least ${MAX_LIMIT} messages`)
    }
  }
]

async function checkPage(
  { send }: ServiceUnderTest,
  query: string,
  expectedSize: number,
  expectedPage: number
) {
  const result = readPage(await send(`/v1/messages${query}`))
  const { data, page, pageSize, response } = result
  const isRequested = pageSize === expectedSize && page === expectedPage
  const problem = `pageSize is ${pageSize} and page is ${page}`
  check(isRequested, `${problem}, expected ${expectedSize} and ${expectedPage}`, response)
  const isWithinLimit = data.length <= Number(pageSize)
  check(isWithinLimit, `${countOf(data.length, 'message')}, expected at most ${pageSize}`, response)
  return result
}

async function checkJoinedPages(
  { list, sample }: ServiceUnderTest,
  filter: { channel?: string },
  limit: number
): Promise<void> {
  const { messages, isComplete } = await sample()
  const matching = messages.filter(
    ({ channel }) => filter.channel === undefined || channel === filter.channel
  )
  const joined: unknown[] = []
  const maxPage = MAX_WALKED_MESSAGES / limit
  for (let page = 0; joined.length < matching.length && page <= maxPage; page++) {
    const { data, hasMore, response } = await list({ ...filter, limit, page })
    joined.push(...data)
    const isRight = hasMore === true || joined.length >= matching.length
    check(isRight, `hasMore is ${hasMore}, but there are more messages`, response)
  }
  const isAll = isComplete && joined.length >= matching.length
  const expected = isAll ? matching : matching.slice(0, joined.length)
  checkSame(joined, expected, `the joined pages with limit ${limit} and the list`)
}

async function checkCounts(
  { list }: ServiceUnderTest,
  filter: Parameters,
  count: number
): Promise<void> {
  for (const limit of [count + 1, count]) {
    const { hasMore, totalCount, response } = await list({ ...filter, limit })
    const mayBeTrue = totalCount === undefined && limit === count
    const problem = `hasMore is ${hasMore}, but the page has all ${count} messages`
    check(hasMore === false || mayBeTrue, problem, response)
  }
  for (const page of [0, 1, PAST_THE_END]) {
    const { totalCount = count, response } = await list({ ...filter, limit: 2, page })
    check(totalCount === count, `totalCount is ${totalCount}, expected ${count}`, response)
  }
}
