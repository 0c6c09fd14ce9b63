import type { Exchange } from '../proxy.js'
import { each, type Json, type Mutant, onAnswers, onPage, onPaths, restatus } from './mutant.js'

/** Targets whose pages, filters and order are wrong. */
export const LIST_MUTANTS: readonly Mutant[] = [
  ...onPage({
    'paging.length: a full page is short by one': (page) =>
      page.data.length === page.pageSize && page.data.pop(),
    'paging.length: `hasMore` is always false': (page) => (page.hasMore = false),
    'paging.length: a page has one message more than its limit': ({ data, pageSize }) =>
      data.length === pageSize && data.push({ ...data[0], _id: 'ffffffffffffffffffffffff' }),
    'paging.page: `hasMore` is always true': (page) => (page.hasMore = true),
    'paging.page: `pageSize` is the number that was returned': (page) =>
      (page.pageSize = page.data.length),
    'paging.page: `page` begins with 1': (page) => page.page++,
    'paging.counts: `hasMore` is true on the last page, where its limit is exactly reached': (
      page
    ) => (page.hasMore ||= page.data.length === page.pageSize),
    'paging.counts: `totalCount` is that of the page': (page) =>
      (page.totalCount = page.data.length),
    'paging.counts: `totalCount` is lower on later pages': (page) => (page.totalCount -= page.page),
    'paging.counts: `totalCount` ignores filters': (page) => (page.totalCount &&= 44),
    'paging.counts: the totals leave out a channel': (page, { request }) =>
      /channel=email/.test(request.path) && page.totalCount++,
    'paging.joined: pages overlap by one message': (page) =>
      page.page > 0 && page.data.unshift(page.data[0]),
    'paging.joined: a message is cut short on small pages': (page, exchange) =>
      page.pageSize < 5 && each((message) => delete message.payload)(page, exchange),
    'paging.joined: the order of a page changes': (page) =>
      page.data.sort(() => Math.random() - 0.5),
    'paging.joined: a message is lost between two pages': (page) =>
      page.page > 0 && page.data.shift(),
    'paging.joined: `hasMore` is true on the first page only': (page) =>
      (page.hasMore &&= page.page === 0),
    'filter.order: the oldest of a page is first': (page) => page.data.reverse(),
    'filter.order: messages are sorted by `_id`': (page) => page.data.sort(byId),
    'filter.order-ties: messages of one time are listed the other way round': (page) =>
      page.data.sort((one: Json, two: Json) => byAge(one, two) || byId(two, one)),
    'wire.list.shape: a page is a 206': (_, { answer }) => (answer.status = 206),
    'wire.list.shape: every message has a new field, and the last one lacks `status`'({ data }) {
      for (const message of data) Object.assign(message, { a: 1, b: 2 })
      delete data.at(-1)?.status
    },
    'filter.context: context keys find messages in further contexts': withContexts((asked, own) =>
      asked.every((key) => own.includes(key))
    ),
    'filter.context: context keys find messages in any of these contexts': withContexts(
      (asked, own) => asked.some((key) => own.includes(key))
    ),
    'filter.context: the order of context keys matters': emptyUnless(
      (keys) => keys.join() === [...keys].sort().join()
    ),
    'filter.context-twice: a context key that is given twice counts twice': emptyUnless(
      (keys) => new Set(keys).size === keys.length
    ),
    async 'filter.and: the filters are joined by OR'(page, { request, ask }) {
      const [path = '', query = ''] = request.path.split('?')
      const parts = query.split('&')
      const filters = parts.filter((part) => /^(channel|subscriberId)=./.test(part))
      if (filters.length < 2) return
      const rest = parts.filter((part) => !filters.includes(part))
      const pages = await Promise.all(
        filters.map((filter) => ask(`${path}?${[filter, ...rest].join('&')}`))
      )
      const all = new Map(
        pages.flatMap(({ json }) => json.data.map((message: Json) => [message._id, message]))
      )
      page.data = [...all.values()].sort((one, two) => byAge(one, two) || byId(one, two))
    },
    'filter.idempotency-key: a key on a GET is kept'(_, { request, answer, memory }) {
      const key = request.headers['idempotency-key']
      if (key === undefined) return
      answer.text = (memory.get(key) as string | undefined) ?? answer.text
      memory.set(key, answer.text)
    }
  }),
  ...onPaths({
    'paging.page: the default limit is 20': (path) =>
      path.replace(/\/messages$/, '/messages?limit=20'),
    'paging.page: a page past the end is the first': (path) =>
      path.replace(/page=\d{5,}/, 'page=0'),
    'paging.page: a limit above 50 is 50': (path) =>
      path.replace(/limit=(\d{3,}|[6-9]\d)/, 'limit=50'),
    'paging.page: whole numbers with decimals are refused': (path) =>
      path.replace(/=(\d)\.0/g, '=$1.5'),
    'paging.joined: pages are counted from 1': (path) =>
      path.replace(/page=([1-9]\d{0,5})(?=&|$)/, (_, page) => `page=${page - 1}`),
    'paging.joined: a filter is forgotten on later pages': (path) =>
      /page=[1-9]/.test(path) ? path.replace('channel=', 'unread=') : path,
    'paging.joined: a filtered list is not paged': (path) =>
      /channel=/.test(path) ? path.replace('page=', 'unread=') : path,
    'live.paging-bounds: a negative page is page 0': (path) => path.replace('page=-1', 'page=0'),
    'live.paging-bounds: a limit that is no number is the default': (path) =>
      path.replace('limit=none', 'limit=10'),
    'live.paging-bounds: a limit above the greatest is the greatest': (path) =>
      path.replace('limit=1001', 'limit=1000'),
    'live.malformed-context-key: a malformed context key finds all messages': (path) =>
      path.replace('contextKeys=conformance', ''),
    'live.unknown-subscriber-filter: an unknown subscriber finds all messages': (path) =>
      path.replace(/subscriberId=ffffffff\w*/, ''),
    'filter.channel: the filter `channel` is ignored': (path) =>
      path.replace('channel=', 'unread='),
    'filter.channel: the channel `push` finds nothing': (path) =>
      path.replace('channel=push', 'transactionId=none'),
    'filter.subscriber: the filter `subscriberId` is ignored': (path) =>
      path.replace('subscriberId=', 'unread='),
    'filter.transaction: the filter `transactionId` is ignored': (path) =>
      path.replaceAll('transactionId=', 'unread='),
    'filter.transaction: only the first transaction id counts': (path) =>
      path.replace(/(transactionId=[^&]*)(&transactionId=[^&]*)+/, '$1'),
    'filter.context: the filter `contextKeys` is ignored': (path) =>
      path.replaceAll('contextKeys=', 'unread='),
    'filter.context: only the first context key counts': (path) =>
      path.replace(/(contextKeys=[^&]*)(&contextKeys=[^&]*)+/, '$1'),
    'filter.spellings: brackets make another parameter': (path) => path.replaceAll('[]', '_'),
    'filter.spellings: indexes make another parameter': (path) => path.replace(/\[\d\]/g, '_'),
    'filter.spellings: transaction ids are split at commas': (path) =>
      path.replace(/transactionId=([^&]*)%2C/, 'transactionId=$1&transactionId='),
    'filter.empty: an empty `contextKeys` is no filter': (path) =>
      path.replace(/contextKeys=(?=&|$)/, ''),
    'filter.empty: an empty `channel` finds nothing': (path) =>
      path.replace(/channel=(?=&|$)/, 'transactionId=none'),
    'filter.empty: an unknown parameter finds nothing': (path) =>
      path.replace('conformance=', 'transactionId='),
    'filter.and: an unknown transaction is no filter': (path) =>
      path.replace(/transactionId=ffffffff\w*/, ''),
    'filter.and: an unknown context is no filter': (path) =>
      path.replace(/contextKeys=tenant%3Affffffff\w*/, ''),
    'filter.and: with a channel, the subscriber is ignored': (path) =>
      /channel=/.test(path) ? path.replace('subscriberId=', 'unread=') : path,
    'filter.and: with a transaction, the channel is ignored': (path) =>
      /transactionId=/.test(path) ? path.replace('channel=', 'unread=') : path,
    'filter.and: with a context, the transaction is ignored': (path) =>
      /contextKeys=/.test(path) ? path.replace('transactionId=', 'unread=') : path,
    'filter.exact: a subscriber is found by a part of its id': (path) =>
      path
        .replace(/subscriberId=(user-[a-z]{2})(?=&|$)/, 'subscriberId=$1a')
        .replace('user-adaa', 'user-ada'),
    'filter.exact: a subscriber is found whatever the capitals of its id': (path) =>
      path.replace(/(subscriberId=)([^&]+)/, (_, name, id) => name + id.toLowerCase()),
    'filter.exact: a transaction is found by the beginning of its id': (path) =>
      path.replace(/transactionId=order-471(?=&|$)/, 'transactionId=order-4711'),
    'filter.exact: a context is found whatever the capitals of its key': (path) =>
      path.replace(
        /(contextKeys=)([^&]+)/,
        (_, name, key) => `${name}${decodeURIComponent(key).toLowerCase()}`
      ),
    'filter.blank: a plus in a query is a plus': (path) => path.replaceAll('+', '%2B'),
    'filter.blank: an escaped plus in a query is a blank': (path) => path.replaceAll('%2B', '%20')
  }),
  ...onAnswers({
    'wire.head: HEAD is not served': ({ request, answer }) =>
      request.method === 'HEAD' && restatus(answer, 405)
  })
]

const byId = (one: Json, two: Json) => (one._id < two._id ? 1 : -1)
const byAge = (one: Json, two: Json) => Date.parse(two.createdAt) - Date.parse(one.createdAt)

const keysIn = ({ request }: Exchange) =>
  new URL(request.path, 'http://target').searchParams.getAll('contextKeys')

/** Finds by another rule the messages of the contexts that were asked for. */
function withContexts(isFound: (asked: string[], own: string[]) => boolean) {
  return async (page: Json, exchange: Exchange) => {
    const asked = keysIn(exchange).filter(Boolean)
    if (asked.length === 0) return
    const { json } = await exchange.ask('/v1/messages?limit=1000')
    const data = json.data.filter((message: Json) => isFound(asked, message.contextKeys ?? []))
    Object.assign(page, { data, totalCount: data.length, hasMore: false })
  }
}

function emptyUnless(isFound: (keys: string[]) => boolean) {
  return (page: Json, exchange: Exchange) =>
    isFound(keysIn(exchange)) || Object.assign(page, { data: [], totalCount: 0, hasMore: false })
}
