import type { ProxiedExchange } from '../proxy.js'
import {
  eachMessage,
  type Json,
  onPage,
  onPaths,
  onResponses,
  type PlantedFault,
  replaceStatus
} from './planted-fault.js'

/** Targets with wrong pages, filters or order. */
export const LIST_FAULTS: readonly PlantedFault[] = [
  ...onPage({
    'paging.length: a full page lacks one message': (page) =>
      page.data.length === page.pageSize && page.data.pop(),
    'paging.length: `hasMore` is always false': (page) => (page.hasMore = false),
    'paging.length: a page has one message too many': ({ data, pageSize }) =>
      data.length === pageSize && data.push({ ...data[0], _id: 'ffffffffffffffffffffffff' }),
    'paging.page: `hasMore` is always true': (page) => (page.hasMore = true),
    'paging.page: `pageSize` is the number of returned messages': (page) =>
      (page.pageSize = page.data.length),
    'paging.page: `page` starts at 1': (page) => page.page++,
    'paging.counts: `hasMore` is true on a last page that is full': (page) =>
      (page.hasMore ||= page.data.length === page.pageSize),
    'paging.counts: `totalCount` is the length of the page': (page) =>
      (page.totalCount = page.data.length),
    'paging.counts: `totalCount` is lower on later pages': (page) => (page.totalCount -= page.page),
    'paging.counts: `totalCount` ignores filters': (page) => (page.totalCount &&= 44),
    'paging.counts: the total is wrong for one channel': (page, { request }) =>
      /channel=email/.test(request.path) && page.totalCount++,
    'paging.joined: pages overlap by one message': (page) =>
      page.page > 0 && page.data.unshift(page.data[0]),
    'paging.joined: messages on small pages lack a field': (page, exchange) =>
      page.pageSize < 5 && eachMessage((message) => delete message.payload)(page, exchange),
    'paging.joined: the order of a page changes': (page) =>
      page.data.sort(() => Math.random() - 0.5),
    'paging.joined: a message is lost between two pages': (page) =>
      page.page > 0 && page.data.shift(),
    'paging.joined: `hasMore` is true on the first page only': (page) =>
      (page.hasMore &&= page.page === 0),
    'filter.order: each page lists the oldest message first': (page) => page.data.reverse(),
    'filter.order: messages are sorted by `_id`': (page) => page.data.sort(byId),
    'filter.order-ties: messages of the same time are in reverse order': (page) =>
      page.data.sort((one: Json, two: Json) => byAge(one, two) || byId(two, one)),
    'wire.list.shape: a page is a 206': (_, { response }) => (response.status = 206),
    'wire.list.shape: every message has a new field, and the last one lacks `status`'({ data }) {
      for (const message of data) Object.assign(message, { a: 1, b: 2 })
      delete data.at(-1)?.status
    },
    'filter.context: context keys also find messages with more context keys': withContexts(
      (requested, keys) => requested.every((key) => keys.includes(key))
    ),
    'filter.context: one matching context key is enough': withContexts((requested, keys) =>
      requested.some((key) => keys.includes(key))
    ),
    'filter.context: the order of context keys matters': emptyUnless(
      (keys) => keys.join() === [...keys].sort().join()
    ),
    'filter.context-twice: a repeated context key counts twice': emptyUnless(
      (keys) => new Set(keys).size === keys.length
    ),
    async 'filter.and: filters are combined with OR'(page, { request, send }) {
      const [path = '', query = ''] = request.path.split('?')
      const parts = query.split('&')
      const filters = parts.filter((part) => /^(channel|subscriberId)=./.test(part))
      if (filters.length < 2) return
      const rest = parts.filter((part) => !filters.includes(part))
      const pages = await Promise.all(
        filters.map((filter) => send(`${path}?${[filter, ...rest].join('&')}`))
      )
      const all = new Map(
        pages.flatMap(({ json }) => json.data.map((message: Json) => [message._id, message]))
      )
      page.data = [...all.values()].sort((one, two) => byAge(one, two) || byId(one, two))
    },
    'filter.idempotency-key: a key on a GET is stored'(_, { request, response, memory }) {
      const key = request.headers['idempotency-key']
      if (key === undefined) return
      response.text = (memory.get(key) as string | undefined) ?? response.text
      memory.set(key, response.text)
    }
  }),
  ...onPaths({
    'paging.page: the default limit is 20': (path) =>
      path.replace(/\/messages$/, '/messages?limit=20'),
    'paging.page: a page past the end is the first page': (path) =>
      path.replace(/page=\d{5,}/, 'page=0'),
    'paging.page: a limit above 50 is 50': (path) =>
      path.replace(/limit=(\d{3,}|[6-9]\d)/, 'limit=50'),
    'paging.page: whole numbers with decimals are rejected': (path) =>
      path.replace(/=(\d)\.0/g, '=$1.5'),
    'paging.joined: pages start at 1': (path) =>
      path.replace(/page=([1-9]\d{0,5})(?=&|$)/, (_, page) => `page=${page - 1}`),
    'paging.joined: a filter is forgotten on later pages': (path) =>
      /page=[1-9]/.test(path) ? path.replace('channel=', 'unknown=') : path,
    'paging.joined: a filtered list is not paged': (path) =>
      /channel=/.test(path) ? path.replace('page=', 'unknown=') : path,
    'live.paging-bounds: a negative page is page 0': (path) => path.replace('page=-1', 'page=0'),
    'live.paging-bounds: an invalid limit is the default': (path) =>
      path.replace('limit=none', 'limit=10'),
    'live.paging-bounds: a limit above the maximum is the maximum': (path) =>
      path.replace('limit=1001', 'limit=1000'),
    'live.malformed-context-key: a malformed context key finds all messages': (path) =>
      path.replace('contextKeys=conformance', ''),
    'live.unknown-subscriber-filter: an unknown subscriber finds all messages': (path) =>
      path.replace(/subscriberId=ffffffff\w*/, ''),
    'filter.channel: the filter `channel` is ignored': (path) =>
      path.replace('channel=', 'unknown='),
    'filter.channel: the channel `push` finds nothing': (path) =>
      path.replace('channel=push', 'transactionId=none'),
    'filter.subscriber: the filter `subscriberId` is ignored': (path) =>
      path.replace('subscriberId=', 'unknown='),
    'filter.transaction: the filter `transactionId` is ignored': (path) =>
      path.replaceAll('transactionId=', 'unknown='),
    'filter.transaction: only the first transaction id counts': (path) =>
      path.replace(/(transactionId=[^&]*)(&transactionId=[^&]*)+/, '$1'),
    'filter.context: the filter `contextKeys` is ignored': (path) =>
      path.replaceAll('contextKeys=', 'unknown='),
    'filter.context: only the first context key counts': (path) =>
      path.replace(/(contextKeys=[^&]*)(&contextKeys=[^&]*)+/, '$1'),
    "filter.spellings: brackets are part of the parameter's name": (path) =>
      path.replaceAll('[]', '_'),
    "filter.spellings: indexes are part of the parameter's name": (path) =>
      path.replace(/\[\d\]/g, '_'),
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
      /channel=/.test(path) ? path.replace('subscriberId=', 'unknown=') : path,
    'filter.and: with a transaction, the channel is ignored': (path) =>
      /transactionId=/.test(path) ? path.replace('channel=', 'unknown=') : path,
    'filter.and: with a context, the transaction is ignored': (path) =>
      /contextKeys=/.test(path) ? path.replace('transactionId=', 'unknown=') : path,
    'filter.exact: a subscriber is found by part of its id': (path) =>
      path
        .replace(/subscriberId=(user-[a-z]{2})(?=&|$)/, 'subscriberId=$1a')
        .replace('user-adaa', 'user-ada'),
    'filter.exact: subscriber ids are compared case-insensitively': (path) =>
      path.replace(/(subscriberId=)([^&]+)/, (_, name, id) => name + id.toLowerCase()),
    'filter.exact: a transaction is found by the start of its id': (path) =>
      path.replace(/transactionId=order-471(?=&|$)/, 'transactionId=order-4711'),
    'filter.exact: context keys are compared case-insensitively': (path) =>
      path.replace(
        /(contextKeys=)([^&]+)/,
        (_, name, key) => `${name}${decodeURIComponent(key).toLowerCase()}`
      ),
    'filter.blank: a plus sign in a query stays a plus sign': (path) => path.replaceAll('+', '%2B'),
    'filter.blank: an encoded plus sign becomes a space': (path) => path.replaceAll('%2B', '%20')
  }),
  ...onResponses({
    'wire.head: HEAD is not supported': ({ request, response }) =>
      request.method === 'HEAD' && replaceStatus(response, 405)
  })
]

const byId = (one: Json, two: Json) => (one._id < two._id ? 1 : -1)
const byAge = (one: Json, two: Json) => Date.parse(two.createdAt) - Date.parse(one.createdAt)

const keysIn = ({ request }: ProxiedExchange) =>
  new URL(request.path, 'http://target').searchParams.getAll('contextKeys')

/** Finds messages by another rule for the requested context keys. */
function withContexts(isFound: (requested: string[], keys: string[]) => boolean) {
  return async (page: Json, exchange: ProxiedExchange) => {
    const requested = keysIn(exchange).filter(Boolean)
    if (requested.length === 0) return
    const { json } = await exchange.send('/v1/messages?limit=1000')
    const data = json.data.filter((message: Json) => isFound(requested, message.contextKeys ?? []))
    Object.assign(page, { data, totalCount: data.length, hasMore: false })
  }
}

function emptyUnless(isFound: (keys: string[]) => boolean) {
  return (page: Json, exchange: ProxiedExchange) =>
    isFound(keysIn(exchange)) || Object.assign(page, { data: [], totalCount: 0, hasMore: false })
}
