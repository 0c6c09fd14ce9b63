import { CHANNELS } from '../../../domain/enums.js'
import type { Parameters } from '../../paths.js'
import { check, checkSame, needed, pageOf } from '../../response-checks.js'
import { type ConformanceCase, contract } from '../case.js'

const WALKED = 40
/** The contract has no greatest limit, and services have one. */
const MAX_LIMIT = 100

export const PAGING: readonly ConformanceCase[] = [
  {
    id: 'paging.page',
    rule: '`page` and `pageSize` are what was asked for, 0 and 10 if nothing was, also written as `2.0`; past the end there is an empty page.',
    basis: contract(
      '`page` defaults to 0; `limit` defaults to 10; pageSize: Messages per page; page: Current page number'
    ),
    async run({ ask }) {
      const asked = {
        '': [10, 0],
        'limit=2&page=0': [2, 0],
        'limit=2.0&page=1.0': [2, 1],
        'limit=7&page=3': [7, 3]
      }
      const past = { 'limit=100&page=100000': [100, 100_000] }
      for (const [query, expected] of Object.entries({ ...asked, ...past })) {
        const { data, hasMore, page, pageSize, answer } = pageOf(
          await ask(`/v1/messages${query && `?${query}`}`)
        )
        const isAsked = pageSize === expected[0] && page === expected[1]
        check(
          isAsked,
          `pageSize is ${pageSize} and page ${page}, must be ${expected.join(' and ')}`,
          answer
        )
        check(
          data.length <= Number(pageSize),
          `${data.length} messages, must be ${pageSize} or fewer`,
          answer
        )
        const isRight = !(query in past) || (data.length === 0 && hasMore === false)
        check(
          isRight,
          `past the end there are ${data.length} messages, and hasMore is ${hasMore}`,
          answer
        )
      }
    }
  },
  {
    id: 'paging.length',
    rule: 'A page has as many messages as its limit says, unless it is the last; then `hasMore` is true if others follow.',
    basis: contract(
      'limit: Number of messages per page; hasMore: Whether more messages are available'
    ),
    async run({ list, sample }) {
      const { messages } = await sample()
      for (const limit of [1, 2, 3, 10, 25, 100, messages.length - 1].filter((each) => each > 0)) {
        const { data, hasMore, answer } = await list({ limit, page: 0 })
        const expected = Math.min(limit, messages.length)
        check(data.length === expected, `${data.length} messages, must be ${expected}`, answer)
        const isMore = hasMore === true || limit >= messages.length
        check(isMore, `hasMore is ${hasMore}, and there are more messages`, answer)
      }
    }
  },
  {
    id: 'paging.joined',
    rule: 'Pages joined are the list, or that of a filter, without gaps and doubles, from page 0 on, and a message is the same on any page.',
    basis: contract('page: Page number (zero-based default); limit: Number of messages per page'),
    async run({ list, sample }) {
      const { messages: all, isComplete } = await sample()
      for (const filter of [{}, { channel: all[0]?.channel ?? '' }]) {
        const messages = all.filter(({ channel }) => channel === (filter.channel ?? channel))
        for (const limit of [1, 3, 7]) {
          const joined: unknown[] = []
          for (let page = 0; joined.length < messages.length && page <= WALKED / limit; page++) {
            const { data, hasMore, answer } = await list({ ...filter, limit, page })
            joined.push(...data)
            const isMore = hasMore === true || joined.length >= messages.length
            check(isMore, `hasMore is ${hasMore}, and there are more messages`, answer)
          }
          const isAll = isComplete && joined.length >= messages.length
          const expected = isAll ? messages : messages.slice(0, joined.length)
          checkSame(joined, expected, `the pages of ${limit} joined, and the list`)
        }
      }
    }
  },
  {
    id: 'paging.counts',
    rule: '`hasMore` is false on the last page; if there is no total, it may be true on a full one. `totalCount` is the number of all messages that the filters find, on each page.',
    basis: contract(
      'hasMore: Whether more messages are available; totalCount: Total number of messages available'
    ),
    async run({ sample, list }) {
      const { messages } = await sample()
      const transactions = messages.slice(0, 1).map(({ transactionId }) => ({ transactionId }))
      const filters: Parameters[] = [
        {},
        ...transactions,
        ...CHANNELS.map((channel) => ({ channel }))
      ]
      let isCounted = false
      for (const filter of filters) {
        const { length: count } = (await list({ ...filter, limit: MAX_LIMIT })).data
        if (count === 0 || count >= MAX_LIMIT) continue
        isCounted = true
        for (const limit of [count + 1, count]) {
          const { hasMore, totalCount, answer } = await list({ ...filter, limit })
          const mayBeTrue = totalCount === undefined && limit === count
          check(
            hasMore === false || mayBeTrue,
            `hasMore is ${hasMore}: it has all ${count} messages`,
            answer
          )
        }
        for (const page of [0, 1, 100_000]) {
          const { totalCount = count, answer } = await list({ ...filter, limit: 2, page })
          check(totalCount === count, `totalCount is ${totalCount}, must be ${count}`, answer)
        }
      }
      needed(isCounted, `all lists have ${MAX_LIMIT} messages or more`)
    }
  }
]
