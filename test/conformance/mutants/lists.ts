import type { Exchange, ProxiedRequest } from '../proxy.js'
import { each, isList, type Json, type Mutant, onAnswers, onPage, restatus, rewrite, withChanges } from './mutant.js'

/** Targets whose pages, filters and order are wrong. */
export const LIST_MUTANTS: readonly Mutant[] = [
  ...onPage({
    'a full page is short by one': ['paging.length', (page) => page.data.length === page.pageSize && page.data.pop()],
    '`hasMore` is true on the last page, where its limit is exactly reached': [
      'paging.counts',
      (page) => (page.hasMore ||= page.data.length === page.pageSize)
    ],
    '`hasMore` is always false': ['paging.length', (page) => (page.hasMore = false)],
    '`hasMore` is always true': ['paging.page', (page) => (page.hasMore = true)],
    '`pageSize` is the number that was returned': ['paging.page', (page) => (page.pageSize = page.data.length)],
    '`page` begins with 1': ['paging.page', (page) => page.page++],
    '`totalCount` is that of the page': ['paging.counts', (page) => (page.totalCount = page.data.length)],
    '`totalCount` is lower on later pages': ['paging.counts', (page) => (page.totalCount -= page.page)],
    '`totalCount` ignores filters': [
      'paging.counts',
      async (page) => {
        if (page.totalCount > 0) page.totalCount = 44
      }
    ],
    'pages overlap by one message': ['paging.joined', (page) => page.page > 0 && page.data.unshift(page.data[0])],
    'a message is cut short on small pages': [
      'paging.joined',
      (page, exchange) => page.pageSize < 5 && each((message) => delete message.payload)(page, exchange)
    ],
    'the order of a page changes': ['paging.joined', (page) => page.data.sort(() => Math.random() - 0.5)],
    'the oldest of a page is first': ['filter.order', (page) => page.data.reverse()],
    'messages of one time are listed the other way round': [
      'filter.order-ties',
      (page) => page.data.sort((one: Json, two: Json) => byAge(one, two) || byId(two, one))
    ],
    'a page has one message more than its limit': [
      'paging.length',
      (page) =>
        page.data.length === page.pageSize && page.data.push({ ...page.data[0], _id: 'ffffffffffffffffffffffff' })
    ],
    'a message is lost between two pages': ['paging.joined', (page) => page.page > 0 && page.data.shift()],
    '`hasMore` is true on the first page only': ['paging.joined', (page) => (page.hasMore &&= page.page === 0)],
    'a page is a 206': ['wire.list.shape', (_, { answer }) => (answer.status = 206)],
    'every message has a new field, and the last one lacks `status`': [
      'wire.list.shape',
      (page) => {
        each((message) => Object.assign(message, { a: 1, b: 2 }))(page, undefined as never)
        delete page.data.at(-1)?.status
      }
    ],
    'messages are sorted by `_id`': ['filter.order', (page) => page.data.sort(byId)]
  }),
  ...onQueries({
    'the default limit is 20': [
      'paging.page',
      (path) => (/limit=/.test(path) ? path : withParameter(path, 'limit=20'))
    ],
    'pages are counted from 1': [
      'paging.joined',
      (path) => path.replace(/page=([1-9]\d{0,5})(?=&|$)/, (_, page) => `page=${page - 1}`)
    ],
    'a page past the end is the first': ['paging.page', (path) => path.replace(/page=\d{5,}/, 'page=0')],
    'a limit above 50 is 50': ['paging.page', (path) => path.replace(/limit=(\d{3,}|[6-9]\d)/, 'limit=50')],
    'whole numbers with decimals are refused': ['paging.page', (path) => path.replace(/=(\d)\.0/g, '=$1.5')],
    'a negative page is page 0': ['live.paging-bounds', (path) => path.replace('page=-1', 'page=0')],
    'a limit that is no number is the default': [
      'live.paging-bounds',
      (path) => path.replace('limit=none', 'limit=10')
    ],
    'the filter `channel` is ignored': ['filter.channel', (path) => path.replace('channel=', 'unread=')],
    'the channel `push` finds nothing': [
      'filter.channel',
      (path) => path.replace('channel=push', 'transactionId=none')
    ],
    'the filter `subscriberId` is ignored': ['filter.subscriber', (path) => path.replace('subscriberId=', 'unread=')],
    'a subscriber is found by a part of its id': [
      'filter.exact',
      (path) => path.replace(/subscriberId=(user-[a-z]{2})(?=&|$)/, 'subscriberId=$1a').replace('user-adaa', 'user-ada')
    ],
    'the filter `transactionId` is ignored': [
      'filter.transaction',
      (path) => path.replaceAll('transactionId=', 'unread=')
    ],
    'only the first transaction id counts': [
      'filter.transaction',
      (path) => path.replace(/(transactionId=[^&]*)(&transactionId=[^&]*)+/, '$1')
    ],
    'brackets make another parameter': ['filter.spellings', (path) => path.replaceAll('[]', '_')],
    'indexes make another parameter': ['filter.spellings', (path) => path.replace(/\[\d\]/g, '_')],
    'transaction ids are split at commas': [
      'filter.spellings',
      (path) => path.replace(/transactionId=([^&]*)%2C/, 'transactionId=$1&transactionId=')
    ],
    'an unknown transaction is no filter': ['filter.and', (path) => path.replace(/transactionId=ffffffff\w*/, '')],
    'the filter `contextKeys` is ignored': ['filter.context', (path) => path.replaceAll('contextKeys=', 'unread=')],
    'only the first context key counts': [
      'filter.context',
      (path) => path.replace(/(contextKeys=[^&]*)(&contextKeys=[^&]*)+/, '$1')
    ],
    'an empty `contextKeys` is no filter': ['filter.empty', (path) => path.replace(/contextKeys=(?=&|$)/, '')],
    'an unknown context is no filter': ['filter.and', (path) => path.replace(/contextKeys=tenant%3Affffffff\w*/, '')],
    'with a channel, the subscriber is ignored': [
      'filter.and',
      (path) => (/channel=/.test(path) ? path.replace('subscriberId=', 'unread=') : path)
    ],
    'with a transaction, the channel is ignored': [
      'filter.and',
      (path) => (/transactionId=/.test(path) ? path.replace('channel=', 'unread=') : path)
    ],
    'an empty `channel` finds nothing': [
      'filter.empty',
      (path) => path.replace(/channel=(?=&|$)/, 'transactionId=none')
    ],
    'an unknown parameter finds nothing': ['filter.empty', (path) => path.replace('conformance=', 'transactionId=')],
    'a subscriber is found whatever the capitals of its id': [
      'filter.exact',
      (path) => path.replace(/(subscriberId=)([^&]+)/, (_, name, id) => name + id.toLowerCase())
    ],
    'a transaction is found by the beginning of its id': [
      'filter.exact',
      (path) => path.replace(/transactionId=order-471(?=&|$)/, 'transactionId=order-4711')
    ],
    'a context is found whatever the capitals of its key': [
      'filter.exact',
      (path) =>
        path.replace(/(contextKeys=)([^&]+)/, (_, name, key) => `${name}${decodeURIComponent(key).toLowerCase()}`)
    ],
    'a plus in a query is a plus': ['filter.blank', (path) => path.replaceAll('+', '%2B')],
    'an escaped plus in a query is a blank': ['filter.blank', (path) => path.replaceAll('%2B', '%20')],
    'with a context, the transaction is ignored': [
      'filter.and',
      (path) => (/contextKeys=/.test(path) ? path.replace('transactionId=', 'unread=') : path)
    ],
    'a filter is forgotten on later pages': [
      'paging.joined',
      (path) => (/page=[1-9]/.test(path) ? path.replace('channel=', 'unread=') : path)
    ],
    'a filtered list is not paged': [
      'paging.joined',
      (path) => (/channel=/.test(path) ? path.replace('page=', 'unread=') : path)
    ]
  }),
  ...onAnswers({
    'the filters are joined by OR': [
      'filter.and',
      async ({ request, answer, ask }) => {
        if (!isList(request) || answer.status !== 200) return
        const [path = '', query = ''] = request.path.split('?')
        const parts = query.split('&')
        const filters = parts.filter((part) => /^(channel|subscriberId)=./.test(part))
        if (filters.length < 2) return
        const rest = parts.filter((part) => !filters.includes(part))
        const pages = await Promise.all(filters.map((filter) => ask(`${path}?${[filter, ...rest].join('&')}`)))
        const all = new Map(pages.flatMap(({ json }) => json.data.map((message: Json) => [message._id, message])))
        answer.json = { ...answer.json, data: [...all.values()].sort(byTime) }
      }
    ],
    'a key on a GET is kept': [
      'filter.idempotency-key',
      ({ request, answer, memory }) => {
        const key = request.headers['idempotency-key']
        if (!isList(request) || key === undefined) return
        answer.text = (memory.get(key) as string | undefined) ?? answer.text
        memory.set(key, answer.text)
      }
    ],
    'HEAD is not served': [
      'wire.head',
      ({ request, answer }) => (request.method === 'HEAD' ? restatus(answer, 405) : undefined)
    ],
    'the totals leave out a channel': [
      'paging.counts',
      ({ request, answer }) => {
        if (!isList(request) || answer.status !== 200 || !/channel=email/.test(request.path)) return
        answer.json = { ...answer.json, totalCount: answer.json.totalCount + 1 }
      }
    ]
  }),
  ...withChanges({
    'context keys find messages in further contexts': [
      'filter.context',
      withContexts((asked, own) => asked.every((key) => own.includes(key)))
    ],
    'context keys find messages in any of these contexts': [
      'filter.context',
      withContexts((asked, own) => asked.some((key) => own.includes(key)))
    ],
    'the order of context keys matters': [
      'filter.context',
      emptyUnless((keys) => keys.join() === [...keys].sort().join())
    ],
    'a context key that is given twice counts twice': [
      'filter.context-twice',
      emptyUnless((keys) => new Set(keys).size === keys.length)
    ]
  })
]

/** Mutants that understand a query of the list as another. */
function onQueries(edits: Record<string, readonly [caughtBy: string, edit: (path: string) => string]>): Mutant[] {
  return Object.entries(edits).map(([name, [caughtBy, edit]]) => ({
    name,
    caughtBy,
    change: {
      request({ request }) {
        if (isList(request)) rewrite(request, /^.*$/, edit(request.path).replaceAll('$', '$$$$'))
      }
    }
  }))
}

function withParameter(path: string, parameter: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${parameter}`
}

const byId = (one: Json, two: Json) => (one._id < two._id ? 1 : -1)
const byAge = (one: Json, two: Json) => Date.parse(two.createdAt) - Date.parse(one.createdAt)
const byTime = (one: Json, two: Json) => byAge(one, two) || byId(one, two)

const keysIn = ({ path }: ProxiedRequest) => new URL(path, 'http://target').searchParams.getAll('contextKeys')

/** Finds by another rule the messages of the contexts that were asked for. */
function withContexts(isFound: (asked: string[], own: string[]) => boolean) {
  return {
    async answer({ request, answer, ask }: Exchange) {
      const asked = keysIn(request).filter(Boolean)
      if (!isList(request) || answer.status !== 200 || asked.length === 0) return
      const { json } = await ask('/v1/messages?limit=1000')
      const data = json.data.filter((message: Json) => isFound(asked, message.contextKeys ?? []))
      answer.json = { ...answer.json, data, totalCount: data.length, hasMore: false }
    }
  }
}

function emptyUnless(isFound: (keys: string[]) => boolean) {
  return {
    answer({ request, answer }: Exchange) {
      if (!isList(request) || answer.status !== 200 || isFound(keysIn(request))) return
      answer.json = { ...answer.json, data: [], totalCount: 0, hasMore: false }
    }
  }
}
