import { jsonIn, type Page, type Parameters } from '../../answers.js'
import { check, checkSame, needed } from '../../outcome.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import type { Subject } from '../subject.js'

const FIELDS = contract('totalCount, hasMore, data, pageSize, page of the paginated message list')
const PARAMETERS = contract('page: Page number (zero-based default); limit: Number of messages per page')
const WALKED = 40

export const PAGING: ConformanceCase[] = [
  {
    id: 'paging.defaults',
    tier: 'behaviour',
    rule: 'Without parameters, `page` is 0 and `limit` is 10.',
    basis: contract('`page` defaults to 0; `limit` defaults to 10'),
    needs: [],
    async run({ list }) {
      const page = await list()
      check(page.page === 0, `${page.answer.request}: page is ${page.page}, must be 0`)
      check(page.pageSize === 10, `${page.answer.request}: pageSize is ${page.pageSize}, must be 10`)
      checkSame(idsOf(page), idsOf(await list(paged(10, 0))), 'the page without parameters and that of page=0&limit=10')
    }
  },
  {
    id: 'paging.page',
    tier: 'behaviour',
    rule: '`page` is the number that was asked for.',
    basis: FIELDS,
    needs: [],
    async run({ list }) {
      for (const number of [0, 1, 3]) {
        const { page, answer } = await list(paged(2, number))
        check(page === number, `${answer.request}: page is ${page}, must be ${number}`)
      }
    }
  },
  {
    id: 'paging.page-size',
    tier: 'behaviour',
    rule: '`pageSize` is the limit that was asked for, not the number that was returned.',
    basis: contract('pageSize: Messages per page'),
    needs: [],
    async run({ list }) {
      for (const limit of [1, 7, 100, 1000]) {
        const { pageSize, answer } = await list(paged(limit, 10_000))
        check(pageSize === limit, `${answer.request}: pageSize is ${pageSize}, must be ${limit}`)
      }
    }
  },
  {
    id: 'paging.length',
    tier: 'behaviour',
    rule: 'A page has as many messages as its limit says, unless it is the last.',
    basis: contract('limit: Number of messages per page'),
    needs: ['messages'],
    async run({ list, sample }) {
      const { messages } = await sample()
      for (const limit of [1, 2, 3, 10, 25, 100]) {
        const page = await list(paged(limit, 0))
        const expected = Math.min(limit, messages.length)
        const { length } = page.data
        check(length === expected, `${page.answer.request}: ${length} messages, must be ${expected}`)
      }
    }
  },
  {
    id: 'paging.zero-based',
    tier: 'behaviour',
    rule: 'Page 0 is the first: page 1 of one message each is the second message.',
    basis: PARAMETERS,
    needs: ['messages'],
    async run({ list, sample }) {
      const { messages } = await sample()
      needed(messages.length > 1, 'it needs two messages')
      for (const number of [0, 1]) {
        const page = await list(paged(1, number))
        check(
          page.data[0]?._id === messages[number]?._id,
          `${page.answer.request}: it is not message ${number} of the list`
        )
      }
    }
  },
  {
    id: 'paging.joined',
    tier: 'behaviour',
    rule: 'Pages joined are the list, without gaps and doubles.',
    basis: PARAMETERS,
    needs: ['messages'],
    async run({ list, sample }) {
      const { messages, isComplete } = await sample()
      const expected = messages.slice(0, WALKED).map(({ _id }) => _id)
      for (const limit of [3, 7]) {
        const joined: unknown[] = []
        for (let number = 0; joined.length < expected.length && number <= WALKED / limit; number++) {
          joined.push(...idsOf(await list(paged(limit, number))))
        }
        const isAll = isComplete && messages.length <= WALKED
        checkSame(
          isAll ? joined : joined.slice(0, expected.length),
          expected,
          `the pages of ${limit} joined, and the list`
        )
      }
    }
  },
  {
    id: 'paging.documents',
    tier: 'behaviour',
    rule: 'A message is the same on pages of any size.',
    basis: PARAMETERS,
    needs: ['messages'],
    async run({ list, sample }) {
      const { messages } = await sample()
      for (const number of [0, 1]) {
        const page = await list(paged(2, number))
        checkSame(
          page.data,
          messages.slice(number * 2, number * 2 + 2),
          `${page.answer.request}: its messages and those of the list`
        )
      }
    }
  },
  {
    id: 'paging.repeated',
    tier: 'behaviour',
    rule: 'The same question has the same answer.',
    basis: settled('List messages: its order is total'),
    needs: [],
    async run({ list }) {
      const [first, second] = [await list(paged(20, 0)), await list(paged(20, 0))]
      checkSame(jsonIn(second.answer), jsonIn(first.answer), `${first.answer.request}: two answers`)
    }
  },
  {
    id: 'paging.has-more',
    tier: 'behaviour',
    rule: '`hasMore` is true on a full page that others follow.',
    basis: contract('hasMore: Whether more messages are available'),
    needs: ['messages'],
    async run({ list, sample }) {
      const { messages } = await sample()
      needed(messages.length > 1, 'it needs two messages')
      for (const limit of [1, Math.min(100, messages.length - 1)]) {
        const page = await list(paged(limit, 0))
        check(page.hasMore === true, `${page.answer.request}: hasMore is ${page.hasMore}, and there are more messages`)
      }
    }
  },
  {
    id: 'paging.last',
    tier: 'behaviour',
    rule: '`hasMore` is false on the last page; if there is no total, on a page that is not full.',
    basis: contract('hasMore: Whether more messages are available'),
    needs: ['messages'],
    async run(subject) {
      for (const { filter, count } of await countedLists(subject)) {
        for (const limit of [count + 1, count].filter((each) => each <= 1000)) {
          const page = await subject.list([...filter, ['limit', limit]])
          const isFull = page.totalCount === undefined && limit === count
          check(
            page.hasMore === isFull,
            `${page.answer.request}: hasMore is ${page.hasMore}, must be ${isFull}: it has all ${count} messages`
          )
        }
      }
    }
  },
  {
    id: 'paging.past-end',
    tier: 'behaviour',
    rule: 'A page past the end is empty, and nothing follows it.',
    basis: settled('List messages: a page past the end'),
    needs: [],
    async run({ list }) {
      const page = await list(paged(100, 1_000_000))
      const { answer, data, hasMore } = page
      check(data.length === 0, `${answer.request}: ${data.length} messages, must be none`)
      check(hasMore === false, `${answer.request}: hasMore is ${hasMore}, must be false`)
    }
  },
  {
    id: 'paging.total',
    tier: 'behaviour',
    rule: '`totalCount` is the number of all messages that the filters find.',
    basis: contract('totalCount: Total number of messages available'),
    needs: ['messages'],
    async run(subject) {
      for (const { filter, count } of await countedLists(subject)) {
        const { totalCount, answer } = await subject.list([...filter, ['limit', 1]])
        needed(totalCount !== undefined, 'the target gives no totals')
        check(totalCount === count, `${answer.request}: totalCount is ${totalCount}, must be ${count}`)
      }
    }
  },
  {
    id: 'paging.total-same',
    tier: 'behaviour',
    rule: '`totalCount` is the same on all pages.',
    basis: contract('totalCount: Total number of messages available'),
    needs: [],
    async run({ list }) {
      const pages = [await list(paged(2, 0)), await list(paged(3, 1)), await list(paged(10, 100_000))]
      const [first] = pages
      needed(first?.totalCount !== undefined, 'the target gives no totals')
      for (const { totalCount, answer } of pages) {
        check(
          totalCount === first.totalCount,
          `${answer.request}: totalCount is ${totalCount}, and ${first.totalCount} on page 0`
        )
      }
    }
  },
  {
    id: 'paging.whole-doubles',
    tier: 'behaviour',
    rule: '`page` and `limit` may be written as whole numbers with decimals, such as `2.0`.',
    basis: contract('page: number; limit: number'),
    needs: [],
    async run({ list }) {
      const written = await list([
        ['limit', '2.0'],
        ['page', '1.0']
      ])
      checkSame(
        idsOf(written),
        idsOf(await list(paged(2, 1))),
        `${written.answer.request}: its messages and those of limit=2&page=1`
      )
    }
  },
  ...refusedValues()
]

/** Values that are no page number or no limit in any profile. */
function refusedValues(): ConformanceCase[] {
  const values = { page: ['-1', '1.5', 'none'], limit: ['-1', '1.5', 'none'] }
  return Object.entries(values).map(([name, texts]) => ({
    id: `paging.refused-${name}`,
    tier: 'behaviour',
    rule: `A \`${name}\` that is no whole number, or below 0, is refused with 422 on \`${name}\`.`,
    basis: settled('List messages: which page and limit are accepted'),
    needs: [],
    async run({ ask }) {
      for (const text of texts) {
        const answer = await ask(`/v1/messages?${name}=${text}`)
        check(answer.status === 422, `${answer.request}: status ${answer.status}, must be 422`)
        const { errors } = jsonIn(answer) as { errors?: object }
        const named = Object.keys(errors ?? {}).join(', ')
        check(named === name, `${answer.request}: errors names ${named || 'nothing'}, must name ${name}`)
      }
    }
  }))
}

function paged(limit: number, page: number): Parameters {
  return [
    ['limit', limit],
    ['page', page]
  ]
}

function idsOf({ data }: Page): unknown[] {
  return data.map(({ _id }) => _id)
}

const MAX_COUNTED = 999

/** Returns lists, with their lengths, as counted on one page: of all messages and of those of single filters. */
async function countedLists({ sample, list }: Subject): Promise<{ filter: Parameters; count: number }[]> {
  const { messages } = await sample()
  const filters: Parameters[] = [
    [],
    ...messages.slice(0, 1).map(({ transactionId }): Parameters => [['transactionId', transactionId]]),
    ...['email', 'sms', 'in_app'].map((channel): Parameters => [['channel', channel]])
  ]
  const counted: { filter: Parameters; count: number }[] = []
  for (const filter of filters) {
    const { data } = await list([...filter, ['limit', 1000]])
    // What is longer than a page can't be counted so.
    if (data.length > 0 && data.length <= MAX_COUNTED) counted.push({ filter, count: data.length })
  }
  needed(counted.length > 0, 'all lists are longer than a page of 1000')
  return counted
}
