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

/** Faults in the pages, filters and order of the message list. */
export const LIST_FAULTS: readonly PlantedFault[] = [
  ...onPage({
    'paging.length: a full page has one message too few': (page) =>
      page.data.length === page.pageSize && page.data.pop(),
    'paging.length: `hasMore` is always false': (page) => (page.hasMore = false),
    'paging.length: a full page has one message too many': ({ data, pageSize }) =>
      data.length === pageSize && data.push({ ...data[0], _id: 'ffffffffffffffffffffffff' }),
    'paging.page: `hasMore` is always true': (page) => (page.hasMore = true),
    'paging.page: `pageSize` is the number of returned messages': (page) =>
      (page.pageSize = page.data.length),
    'paging.page: `page` in responses starts at 1': (page) => page.page++,
    'paging.counts: `hasMore` is true on the last page if that page is full': (page) =>
      (page.hasMore ||= page.data.length === page.pageSize),
    'paging.counts: `totalCount` is the number of messages on the page': (page) =>
      (page.totalCount = page.data.length),
    'paging.counts: `totalCount` is lower on later pages': (page) => (page.totalCount -= page.page),
    'paging.counts: `totalCount` ignores filters': (page) => (page.totalCount &&= 44),
    'paging.counts: `totalCount` is wrong for one channel': (page, { request }) =>
      /channel=email/.test(request.path) && page.totalCount++,
    'paging.joined: pages overlap by one message': (page) =>
      page.page > 0 && page.data.unshift(page.data[0]),
    'paging.joined: messages on small pages lack `payload`': (page, exchange) =>
      page.pageSize < 5 && eachMessage((message) => delete message.payload)(page, exchange),
    'paging.joined: the messages on a page are in random order': (page) =>
      page.data.sort(() => Math.random() - 0.5),
    'paging.joined: a message is lost between two pages': (page) =>
      page.page > 0 && page.data.shift(),
    'paging.joined: `hasMore` is only true on the first page': (page) =>
      (page.hasMore &&= page.page === 0),
    'filter.order: each page lists the oldest message first': (page) => page.data.reverse(),
    'filter.order: messages are sorted by `_id`': (page) => page.data.sort(byId),
    'filter.order-ties: messages with the same `createdAt` are in reverse order': (page) =>
      page.data.sort((one: Json, two: Json) => byAge(one, two) || byId(two, one)),
    'wire.list.shape: the list returns 206 instead of 200': (_, { response }) =>
      (response.status = 206),
    'wire.list.shape: every message has additional fields, and the last message lacks `status`'({
      data
    }) {
      for (const message of data) Object.assign(message, { a: 1, b: 2 })
      delete data.at(-1)?.status
    },
    'filter.context: context keys also find messages that have additional context keys':
      withContexts((requested, keys) => requested.every((key) => keys.includes(key))),
    'filter.context: context keys find messages that have at least one of these keys': withContexts(
      (requested, keys) => requested.some((key) => keys.includes(key))
    ),
    'filter.context: context keys find nothing unless they are in alphabetical order': emptyUnless(
      (keys) => keys.join() === [...keys].sort().join()
    ),
    'filter.context-twice: a repeated context key finds nothing': emptyUnless(
      (keys) => new Set(keys).size === keys.length
    ),
    async 'filter.and: `channel` and `subscriberId` are combined with OR instead of AND'(
      page,
      { request, send }
    ) {
      const [path = '', query = ''] = request.path.split('?')
      const parts = query.split('&')
      const filters = parts.filter((part) => /^(channel|subscriberId)=./.test(part))
      const isAlone = !parts.some((part) => /^(transactionId|contextKeys)=/.test(part))
      if (filters.length < 2 || !isAlone) return
      const rest = parts.filter((part) => !filters.includes(part))
      const pages = await Promise.all(
        filters.map((filter) => send(`${path}?${[filter, ...rest].join('&')}`))
      )
      const all = new Map(
        pages.flatMap(({ json }) => json.data.map((message: Json) => [message._id, message]))
      )
      page.data = [...all.values()].sort((one, two) => byAge(one, two) || byId(one, two))
    },
    'filter.idempotency-key: a second GET with the same `idempotency-key` gets the stored response'(
      _,
      { request, response, memory }
    ) {
      const key = request.headers['idempotency-key']
      if (key === undefined) return
      response.text = (memory.get(key) as string | undefined) ?? response.text
      memory.set(key, response.text)
    }
  }),
  ...onPaths({
    'paging.page: the default limit is 20': (path) =>
      path.replace(/\/messages$/, '/messages?limit=20'),
    'paging.page: a page past the end returns the first page': (path) =>
      path.replace(/page=\d{5,}/, 'page=0'),
    'paging.page: a limit above 50 is reduced to 50': (path) =>
      path.replace(/limit=(\d{3,}|[6-9]\d)/, 'limit=50'),
    'paging.page: whole numbers such as `2.0` are rejected': (path) =>
      path.replace(/=(\d)\.0/g, '=$1.5'),
    'paging.joined: `page` in requests starts at 1': (path) =>
      path.replace(/page=([1-9]\d{0,5})(?=&|$)/, (_, page) => `page=${page - 1}`),
    'paging.joined: the filter `channel` is ignored after the first page': (path) =>
      /page=[1-9]/.test(path) ? path.replace('channel=', 'unknown=') : path,
    'paging.joined: `page` is ignored if the request has a `channel`': (path) =>
      /channel=/.test(path) ? path.replace('page=', 'unknown=') : path,
    'live.paging-bounds: a negative page returns the first page': (path) =>
      path.replace('page=-1', 'page=0'),
    'live.paging-bounds: an invalid limit is replaced by the default': (path) =>
      path.replace('limit=none', 'limit=10'),
    'live.paging-bounds: a limit above the maximum is reduced to the maximum': (path) =>
      path.replace('limit=1001', 'limit=1000'),
    'live.malformed-context-key: a malformed context key is ignored': (path) =>
      path.replace('contextKeys=conformance', ''),
    'live.unknown-subscriber-filter: an unknown `subscriberId` is ignored': (path) =>
      path.replace(/subscriberId=ffffffff\w*/, ''),
    'filter.channel: the filter `channel` is ignored': (path) =>
      path.replace('channel=', 'unknown='),
    'filter.channel: the channel `push` finds nothing': (path) =>
      path.replace('channel=push', 'transactionId=none'),
    'filter.subscriber: the filter `subscriberId` is ignored': (path) =>
      path.replace('subscriberId=', 'unknown='),
    'filter.transaction: the filter `transactionId` is ignored': (path) =>
      path.replaceAll('transactionId=', 'unknown='),
    'filter.transaction: all transaction ids except the first are ignored': (path) =>
      path.replace(/(transactionId=[^&]*)(&transactionId=[^&]*)+/, '$1'),
    'filter.context: the filter `contextKeys` is ignored': (path) =>
      path.replaceAll('contextKeys=', 'unknown='),
    'filter.context: all context keys except the first are ignored': (path) =>
      path.replace(/(contextKeys=[^&]*)(&contextKeys=[^&]*)+/, '$1'),
    'filter.spellings: `transactionId[]` is treated as an unknown parameter': (path) =>
      path.replaceAll('[]', '_'),
    'filter.spellings: `transactionId[0]` is treated as an unknown parameter': (path) =>
      path.replace(/\[\d\]/g, '_'),
    'filter.spellings: transaction ids are split at commas': (path) =>
      path.replace(/transactionId=([^&]*)%2C/, 'transactionId=$1&transactionId='),
    'filter.empty: an empty `contextKeys` is ignored': (path) =>
      path.replace(/contextKeys=(?=&|$)/, ''),
    'filter.empty: an empty `channel` finds nothing': (path) =>
      path.replace(/channel=(?=&|$)/, 'transactionId=none'),
    'filter.empty: a request with an unknown parameter finds nothing': (path) =>
      path.replace('conformance=', 'transactionId='),
    'filter.and: an unknown `transactionId` is ignored instead of matching nothing': (path) =>
      path.replace(/transactionId=ffffffff\w*/, ''),
    'filter.and: an unknown context key is ignored instead of matching nothing': (path) =>
      path.replace(/contextKeys=tenant%3Affffffff\w*/, ''),
    'filter.and: `subscriberId` is ignored if the request has a `channel`': (path) =>
      /channel=/.test(path) ? path.replace('subscriberId=', 'unknown=') : path,
    'filter.and: `channel` is ignored if the request has a `transactionId`': (path) =>
      /transactionId=/.test(path) ? path.replace('channel=', 'unknown=') : path,
    'filter.and: `transactionId` is ignored if the request has `contextKeys`': (path) =>
      /contextKeys=/.test(path) ? path.replace('transactionId=', 'unknown=') : path,
    'filter.exact: subscriber ids are matched by prefix': (path) =>
      path
        .replace(/subscriberId=(user-[a-z]{2})(?=&|$)/, 'subscriberId=$1a')
        .replace('user-adaa', 'user-ada'),
    'filter.exact: subscriber ids are compared case-insensitively': (path) =>
      path.replace(/(subscriberId=)([^&]+)/, (_, name, id) => name + id.toLowerCase()),
    'filter.exact: transaction ids are matched by prefix': (path) =>
      path.replace(/transactionId=order-471(?=&|$)/, 'transactionId=order-4711'),
    'filter.exact: context keys are compared case-insensitively': (path) =>
      path.replace(
        /(contextKeys=)([^&]+)/,
        (_, name, key) => `${name}${decodeURIComponent(key).toLowerCase()}`
      ),
    'filter.blank: `+` in a query string is not decoded to a space': (path) =>
      path.replaceAll('+', '%2B'),
    'filter.blank: `%2B` in a query string is decoded to a space': (path) =>
      path.replaceAll('%2B', '%20')
  }),
  ...onResponses({
    'wire.head: HEAD requests are rejected': ({ request, response }) =>
      request.method === 'HEAD' && replaceStatus(response, 405)
  })
]

const byId = (one: Json, two: Json) => (one._id < two._id ? 1 : -1)
const byAge = (one: Json, two: Json) => Date.parse(two.createdAt) - Date.parse(one.createdAt)

const keysIn = ({ request }: ProxiedExchange) =>
  new URL(request.path, 'http://target').searchParams.getAll('contextKeys')

/** If the request has context keys, replaces the page with all messages that `isFound` accepts. */
function withContexts(isFound: (requested: string[], keys: string[]) => boolean) {
  return async (page: Json, exchange: ProxiedExchange) => {
    const requested = keysIn(exchange).filter(Boolean)
    if (requested.length === 0) return
    const { json } = await exchange.send('/v1/messages?limit=1000')
    const data = json.data.filter((message: Json) => isFound(requested, message.contextKeys ?? []))
    Object.assign(page, { data, totalCount: data.length, hasMore: false })
  }
}

/** Empties the page unless `isFound` accepts the requested context keys. */
function emptyUnless(isFound: (keys: string[]) => boolean) {
  return (page: Json, exchange: ProxiedExchange) =>
    isFound(keysIn(exchange)) || Object.assign(page, { data: [], totalCount: 0, hasMore: false })
}
