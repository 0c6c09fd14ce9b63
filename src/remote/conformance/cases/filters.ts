import { randomUUID } from 'node:crypto'
import { CHANNELS } from '../../../domain/enums.js'
import type { MessageResponse } from '../../../messages/schemas.js'
import { isObject } from '../../../schema/validation.js'
import { listPath, unknownId } from '../../paths.js'
import {
  check,
  checkSame,
  readPage,
  skipUnless,
  type TargetResponse
} from '../../response-checks.js'
import type { ServiceUnderTest } from '../../service-under-test.js'
import { apiReference, type Basis, behavior, type ConformanceCase } from '../case.js'

const FILTERS = apiReference(
  'List messages: the filters channel, subscriberId, transactionId, contextKeys'
)
const EXACT_CONTEXT = apiReference(
  'contextKeys: Filter by exact context keys, order insensitive; repeated once per key'
)
const LIMIT = 100

type Matches = (message: MessageResponse) => boolean
type FilterParameters = Readonly<Record<string, string | readonly string[]>>
/** Query parameters, and which messages they must find. */
type Filter = [parameters: FilterParameters, matches: Matches]
type MakeFilters = (service: ServiceUnderTest) => Promise<Filter[]>

export const FILTER_CASES: readonly ConformanceCase[] = [
  {
    id: 'filter.order',
    rule: 'Messages are listed newest first.',
    basis: behavior('Sort order of the message list'),
    run: checkOrder((message, next) => Date.parse(next.createdAt) > Date.parse(message.createdAt))
  },
  {
    id: 'filter.order-ties',
    rule: 'Messages of the same time are listed by `_id`, descending.',
    basis: behavior('Sort order of the message list'),
    documentOnly: true,
    run: checkOrder(
      (message, next) =>
        message.createdAt === next.createdAt && String(next._id) >= String(message._id)
    )
  },
  filterCase('channel', FILTERS, 'Each channel', async () =>
    CHANNELS.map((channel) => [{ channel }, (message) => message.channel === channel])
  ),
  filterCase('subscriber', FILTERS, 'The `subscriberId` of a subscriber', subscriberFilters),
  filterCase('transaction', FILTERS, 'A transaction id, or several together,', transactionFilters),
  filterCase(
    'context',
    EXACT_CONTEXT,
    'The context keys of a message in any order, or one of several keys,',
    contextFilters
  ),
  {
    id: 'filter.and',
    rule: 'All filters of a message together find it; a wrong value in any of them does not.',
    basis: FILTERS,
    run: checkCombinedFilters
  },
  {
    id: 'filter.exact',
    rule: 'Part of an id or context key, or one in another case, does not find its messages.',
    basis: apiReference(
      'contextKeys: Filter by exact context keys; ' +
        'subscriberId: identifier used to create the subscriber'
    ),
    async run(service) {
      const { messages } = await service.sample()
      for (const message of messages.slice(0, 5)) await checkExactMatch(service, message)
    }
  },
  {
    id: 'filter.blank',
    rule: 'A space in a value can be written as `+` or `%20`, and a plus sign as `%2B`.',
    basis: apiReference('List messages: query parameters'),
    run: checkSpaces
  },
  filterCase(
    'spellings',
    behavior('List messages: how lists are written'),
    'A list written as `transactionId[]=` or `transactionId[0]=`, and an id with a comma,',
    spellingFilters
  ),
  filterCase(
    'empty',
    behavior('List messages: empty filters, contextKeys= and unknown parameters'),
    'An empty channel, subscriber, transaction or `contextKeys`, and an unknown parameter,',
    async () => [
      [{ channel: '' }, () => true],
      [{ subscriberId: '' }, () => true],
      [{ transactionId: '' }, () => true],
      [{ conformance: 'email' }, () => true],
      [{ contextKeys: '' }, (message) => contextOf(message).length === 0]
    ]
  ),
  {
    ...filterCase(
      'context-twice',
      behavior('List messages: contextKeys is a set'),
      'A repeated context key',
      async (service) => {
        const [keys = []] = await contextsOf(service)
        return [contextFilter([...keys, ...keys], keys)]
      }
    ),
    documentOnly: true
  },
  {
    id: 'filter.idempotency-key',
    rule:
      'An `idempotency-key` on a GET has no effect: a second request with it is not replayed, ' +
      'and the response does not have its headers.',
    basis: behavior('Idempotency: on GET'),
    async run({ list }) {
      const headers = { 'idempotency-key': randomUUID() }
      const first = await list({ limit: 1 }, { headers })
      const second = await list({ limit: 2 }, { headers })
      const problem = 'the response is a replay of an earlier request with the same key'
      check(second.pageSize === 2, problem, second.response)
      for (const { response } of [first, second]) {
        for (const name of ['idempotency-key', 'idempotency-replay'])
          check(!response.headers.has(name), `the response has the header ${name}`, response)
      }
    }
  }
]

/** Returns a case: each filter finds exactly the messages that it must match. */
function filterCase(
  name: string,
  basis: Basis,
  subject: string,
  makeFilters: MakeFilters
): ConformanceCase {
  return {
    id: `filter.${name}`,
    rule: `${subject} finds exactly the matching messages of the whole list, in its order.`,
    basis,
    async run(service) {
      for (const [parameters, matches] of await makeFilters(service)) {
        await checkFilter(service, listPath({ ...parameters, limit: LIMIT }), matches)
      }
    }
  }
}

/** Returns a check that no two messages in a row are out of order. */
function checkOrder(isOutOfOrder: (message: MessageResponse, next: MessageResponse) => boolean) {
  return async ({ sample }: ServiceUnderTest): Promise<void> => {
    const { messages, request } = await sample()
    for (const [index, message] of messages.entries()) {
      const next = messages[index + 1]
      const isWrong = next !== undefined && isOutOfOrder(message, next)
      check(!isWrong, `message ${next?._id} is listed after one that must follow it`, request)
    }
  }
}

async function subscriberFilters({ sample }: ServiceUnderTest): Promise<Filter[]> {
  const { messages } = await sample()
  const internalIds = new Map(
    messages.map(({ subscriber, _subscriberId }) => [subscriber?.subscriberId, _subscriberId])
  )
  internalIds.delete(undefined)
  skipUnless(internalIds.size > 0, 'no message has an embedded subscriber')
  return [...internalIds]
    .slice(0, 3)
    .map(([subscriberId = '', internalId]) => [
      { subscriberId },
      ({ _subscriberId }) => _subscriberId === internalId
    ])
}

async function transactionFilters(service: ServiceUnderTest): Promise<Filter[]> {
  const ids = await transactionsOf(service, 3)
  skipUnless(ids.length > 1, 'no messages of two transactions are known')
  const lists = [...ids.map((id) => [id]), ids]
  return lists.map((list) => [
    { transactionId: list },
    ({ transactionId }) => list.includes(transactionId)
  ])
}

async function contextFilters(service: ServiceUnderTest): Promise<Filter[]> {
  const contexts = await contextsOf(service)
  const several = contexts.find(({ length }) => length > 1) ?? []
  const orders = contexts
    .slice(0, 5)
    .flatMap((keys) => [contextFilter(keys), contextFilter([...keys].reverse(), keys)])
  return [...orders, ...several.map((key) => contextFilter([key]))]
}

async function spellingFilters(service: ServiceUnderTest): Promise<Filter[]> {
  const ids = await transactionsOf(service, 2)
  // Not every environment has context keys.
  const [context] = await contextsOf(service).catch(() => [])
  const withComma = ids.join(',')
  return [
    ...listSpellings('transactionId', ids, ({ transactionId }) => ids.includes(transactionId)),
    ...(context ? listSpellings('contextKeys', context, contextFilter(context)[1]) : []),
    [{ transactionId: withComma }, ({ transactionId }) => transactionId === withComma]
  ]
}

function listSpellings(name: string, values: string[], matches: Matches): Filter[] {
  const indexed = Object.fromEntries(values.map((value, index) => [`${name}[${index}]`, value]))
  return [
    [{ [`${name}[]`]: values }, matches],
    [indexed, matches]
  ]
}

async function checkCombinedFilters({ sample, send }: ServiceUnderTest): Promise<void> {
  const { messages } = await sample()
  const isComplete = (candidate: MessageResponse) =>
    candidate.subscriber && contextOf(candidate).length > 0
  const message = (messages.find(isComplete) ?? messages[0]) as MessageResponse
  const matching = {
    channel: message.channel,
    transactionId: message.transactionId,
    subscriberId: message.subscriber?.subscriberId ?? [],
    contextKeys: contextOf(message)
  }
  const changes: FilterParameters[] = [
    { channel: CHANNELS.find((channel) => channel !== message.channel) ?? '' },
    { transactionId: unknownId() },
    { subscriberId: unknownId() },
    { contextKeys: `tenant:${unknownId()}` }
  ]
  const response = await send(listPath({ ...matching, limit: LIMIT }))
  const isFound = idsIn(response).includes(message._id)
  check(isFound, `message ${message._id} is not found`, response)
  for (const change of changes) {
    const other = await send(listPath({ ...matching, ...change, limit: LIMIT }))
    check(!idsIn(other).includes(message._id), `message ${message._id} is found`, other)
  }
}

async function checkExactMatch(
  { send }: ServiceUnderTest,
  message: MessageResponse
): Promise<void> {
  const { _id, transactionId, subscriber, contextKeys = [] } = message
  const matching = {
    transactionId,
    subscriberId: subscriber?.subscriberId ?? '',
    contextKeys: contextKeys.join()
  }
  for (const [name, value] of Object.entries(matching)) {
    for (const similar of similarValues(value)) {
      const response = await send(listPath({ limit: LIMIT, [name]: similar }))
      const isFound = idsIn(response).includes(_id)
      check(!isFound, `finds message ${_id}, which has another ${name}`, response)
    }
  }
}

/** Returns the value without its last character, and in another case. */
function similarValues(value: string): string[] {
  const shorter = [...value].slice(0, -1).join('')
  const upper = value.toUpperCase()
  const otherCase = upper === value ? value.toLowerCase() : upper
  return [shorter, otherCase].filter((similar) => similar !== '' && similar !== value)
}

async function checkSpaces(service: ServiceUnderTest): Promise<void> {
  const { messages } = await service.sample()
  const idsOf = ({ transactionId, subscriber }: MessageResponse) =>
    Object.entries({ transactionId, subscriberId: subscriber?.subscriberId ?? '' })
  const ids = messages.flatMap(idsOf).filter(([, id]) => /[ +]/.test(id))
  skipUnless(ids.length > 0, 'no transaction or subscriber id with a space or plus sign is known')
  for (const [name, id] of ids.slice(0, 3)) {
    for (const space of ['%20', '+']) {
      const path = listPath({ limit: LIMIT, [name]: id }).replaceAll('%20', space)
      await checkFilter(service, path, (message) =>
        idsOf(message).some(([, messageId]) => messageId === id)
      )
    }
  }
}

/** Throws `Failure` unless the list has exactly the newest messages that match. */
async function checkFilter(
  { send, sample }: ServiceUnderTest,
  path: string,
  matches: Matches
): Promise<void> {
  const { data, response } = readPage(await send(path))
  const stray = data.find((message) => !matches(message))
  check(stray === undefined, `message ${stray?._id} does not match`, response)
  const { messages, isComplete } = await sample()
  const ids = data.map(({ _id }) => _id)
  const matchingIds = messages.filter(matches).map(({ _id }) => _id)
  // The sample may end before the page does, and the page before the sample.
  const length = isComplete ? LIMIT : Math.min(ids.length, matchingIds.length)
  const actual = ids.slice(0, length)
  const expected = ids.length < LIMIT ? matchingIds : matchingIds.slice(0, length)
  const missing = expected.find((id) => !actual.includes(id))
  check(missing === undefined, `message ${missing} matches but is missing`, response)
  checkSame(actual, expected, 'the messages and the matching ones of the whole list', response)
}

/** Returns the ids of the messages on a page; none if the response is an error. */
function idsIn({ status, body }: TargetResponse): unknown[] {
  const data = status === 200 && isObject(body) ? body.data : []
  return Array.isArray(data) ? data.map((message) => message?._id) : []
}

async function transactionsOf({ sample }: ServiceUnderTest, most: number): Promise<string[]> {
  const { messages } = await sample()
  return [...new Set(messages.map(({ transactionId }) => transactionId))].slice(0, most)
}

/** Returns the different sets of context keys. Throws `Skipped` if no message has any. */
async function contextsOf({ sample }: ServiceUnderTest): Promise<string[][]> {
  const { messages } = await sample()
  const contexts = new Map(
    messages.map((message) => [contextOf(message).join('\n'), contextOf(message)])
  )
  contexts.delete('')
  skipUnless(contexts.size > 0, 'no message has context keys')
  return [...contexts.values()]
}

/** Returns a filter by context keys. It must match the messages that have exactly these keys. */
function contextFilter(contextKeys: string[], matchingKeys = contextKeys): Filter {
  const expected = [...matchingKeys].sort().join('\n')
  return [{ contextKeys }, (message) => contextOf(message).join('\n') === expected]
}

function contextOf({ contextKeys }: Pick<MessageResponse, 'contextKeys'>): string[] {
  return [...new Set(contextKeys ?? [])].sort()
}
