import { randomUUID } from 'node:crypto'
import { CHANNELS } from '../../../domain/enums.js'
import type { MessageResponse } from '../../../messages/schemas.js'
import { isObject } from '../../../schema/validation.js'
import { listPath, unknownId } from '../../paths.js'
import { check, skipUnless, type TargetResponse } from '../../response-checks.js'
import type { ServiceUnderTest } from '../../service-under-test.js'
import { apiReference, type Basis, behavior, type ConformanceCase } from '../case.js'
import { checkFilter, LIMIT, type Matches } from './filter-check.js'
import { checkSpaces } from './query-encoding.js'

const FILTERS = apiReference(
  'List messages: the filters channel, subscriberId, transactionId, contextKeys'
)
const EXACT_CONTEXT = apiReference(
  'contextKeys: Filter by exact context keys, order insensitive; repeated once per key'
)
type FilterParameters = Readonly<Record<string, string | readonly string[]>>
/** Query parameters, and a function that returns whether a message must be on the page. */
type Filter = [parameters: FilterParameters, matches: Matches]
type MakeFilters = (service: ServiceUnderTest) => Promise<Filter[]>

export const FILTER_CASES: readonly ConformanceCase[] = [
  {
    id: 'filter.order',
    rule: 'Messages are listed newest first.',
    basis: behavior('the sort order of the message list'),
    run: checkOrder((message, next) => Date.parse(next.createdAt) > Date.parse(message.createdAt))
  },
  {
    id: 'filter.order-ties',
    rule: 'Messages with the same `createdAt` are listed by `_id`, in descending order.',
    basis: behavior('the sort order of the message list'),
    documentOnly: true,
    run: checkOrder(
      (message, next) =>
        message.createdAt === next.createdAt && String(next._id) >= String(message._id)
    )
  },
  filterCase(
    'channel',
    FILTERS,
    'The filter `channel` finds exactly the messages of that channel, in the order of the ' +
      'unfiltered list.',
    async () => CHANNELS.map((channel) => [{ channel }, (message) => message.channel === channel])
  ),
  filterCase(
    'subscriber',
    FILTERS,
    'The filter `subscriberId` finds exactly the messages of that subscriber, in the order of ' +
      'the unfiltered list.',
    subscriberFilters
  ),
  filterCase(
    'transaction',
    FILTERS,
    'The filter `transactionId`, given once or several times, finds exactly the messages of ' +
      'these transactions, in the order of the unfiltered list.',
    transactionFilters
  ),
  filterCase(
    'context',
    EXACT_CONTEXT,
    'The filter `contextKeys` finds exactly the messages that have all requested keys and no ' +
      'other keys. The order of the keys in the request is ignored.',
    contextFilters
  ),
  {
    id: 'filter.and',
    rule: 'A request with several filters only finds messages that match all of them.',
    basis: FILTERS,
    run: checkCombinedFilters
  },
  {
    id: 'filter.exact',
    rule:
      'A filter by id or context key only finds messages with exactly that value. It does not ' +
      'match part of a value, and it is case-sensitive.',
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
    behavior('how lists are written in a query'),
    'A list can also be written as `transactionId[]=` or `transactionId[0]=`. A comma does not ' +
      'separate values.',
    spellingFilters
  ),
  filterCase(
    'empty',
    behavior('empty filters and unknown parameters'),
    'Empty values of `channel`, `subscriberId` and `transactionId` are ignored, and so are ' +
      'unknown parameters. An empty `contextKeys` only finds messages without context keys.',
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
      behavior('repeated context keys'),
      'A context key that occurs twice in a request counts once.',
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
      'An `idempotency-key` has no effect on a GET. A second request with the same key does not ' +
      'get a stored response, and no response has idempotency headers.',
    basis: behavior('idempotency keys of GET requests'),
    async run({ list }) {
      const headers = { 'idempotency-key': randomUUID() }
      const first = await list({ limit: 1 }, { headers })
      const second = await list({ limit: 2 }, { headers })
      const problem = 'the response was stored for an earlier request with the same key'
      check(second.pageSize === 2, problem, second.response)
      for (const { response } of [first, second]) {
        for (const name of ['idempotency-key', 'idempotency-replay'])
          check(!response.headers.has(name), `the response has the header ${name}`, response)
      }
    }
  }
]

/** Creates a case that tests whether each filter finds exactly its matching messages. */
function filterCase(
  name: string,
  basis: Basis,
  rule: string,
  makeFilters: MakeFilters
): ConformanceCase {
  return {
    id: `filter.${name}`,
    rule,
    basis,
    async run(service) {
      for (const [parameters, matches] of await makeFilters(service)) {
        await checkFilter(service, listPath({ ...parameters, limit: LIMIT }), matches)
      }
    }
  }
}

/** Creates a check that fails if two consecutive messages are in the wrong order. */
function checkOrder(isOutOfOrder: (message: MessageResponse, next: MessageResponse) => boolean) {
  return async ({ sample }: ServiceUnderTest): Promise<void> => {
    const { messages, request } = await sample()
    for (const [index, message] of messages.entries()) {
      const next = messages[index + 1]
      const isWrong = next !== undefined && isOutOfOrder(message, next)
      check(!isWrong, `message ${next?._id} must be listed before ${message._id}`, request)
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
  skipUnless(ids.length > 1, 'fewer than two transactions are known')
  const lists = [...ids.map((id) => [id]), ids]
  return lists.map((list) => [
    { transactionId: list },
    ({ transactionId }) => list.includes(transactionId)
  ])
}

async function contextFilters(service: ServiceUnderTest): Promise<Filter[]> {
  const contexts = await contextsOf(service)
  const severalKeys = contexts.find(({ length }) => length > 1) ?? []
  const orders = contexts
    .slice(0, 5)
    .flatMap((keys) => [contextFilter(keys), contextFilter([...keys].reverse(), keys)])
  return [...orders, ...severalKeys.map((key) => contextFilter([key]))]
}

async function spellingFilters(service: ServiceUnderTest): Promise<Filter[]> {
  const ids = await transactionsOf(service, 2)
  // If no message has context keys, leave out the filters by context keys.
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
  check(isFound, `message ${message._id} is missing although it matches all filters`, response)
  const pairs = Object.entries(matching)
    .filter(([, value]) => value.length > 0)
    .flatMap(([name, value]) =>
      changes
        .filter((change) => !(name in change))
        .map((change): FilterParameters => ({ [name]: value, ...change }))
    )
  const all = changes.map((change): FilterParameters => ({ ...matching, ...change }))
  for (const parameters of [...all, ...pairs]) {
    const other = await send(listPath({ ...parameters, limit: LIMIT }))
    const problem = `message ${message._id} is listed although it does not match all filters`
    check(!idsIn(other).includes(message._id), problem, other)
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
      check(!isFound, `the filter finds message ${_id}, whose ${name} is different`, response)
    }
  }
}

/**
 * Returns the value without its last character, and the value in upper case, or in lower case if it
 * is already in upper case.
 */
function similarValues(value: string): string[] {
  const shorter = [...value].slice(0, -1).join('')
  const upper = value.toUpperCase()
  const otherCase = upper === value ? value.toLowerCase() : upper
  return [shorter, otherCase].filter((similar) => similar !== '' && similar !== value)
}

/** Returns the ids of the messages on a page, or an empty list if the response is an error. */
function idsIn({ status, body }: TargetResponse): unknown[] {
  const data = status === 200 && isObject(body) ? body.data : []
  return Array.isArray(data) ? data.map((message) => message?._id) : []
}

async function transactionsOf({ sample }: ServiceUnderTest, most: number): Promise<string[]> {
  const { messages } = await sample()
  return [...new Set(messages.map(({ transactionId }) => transactionId))].slice(0, most)
}

/**
 * Returns the distinct sets of context keys in the sample's messages. Throws `Skipped` if no
 * message has context keys.
 */
async function contextsOf({ sample }: ServiceUnderTest): Promise<string[][]> {
  const { messages } = await sample()
  const contexts = new Map(
    messages.map((message) => [contextOf(message).join('\n'), contextOf(message)])
  )
  contexts.delete('')
  skipUnless(contexts.size > 0, 'no message has context keys')
  return [...contexts.values()]
}

/** Returns a filter that must find exactly the messages whose context keys are `matchingKeys`. */
function contextFilter(contextKeys: string[], matchingKeys = contextKeys): Filter {
  const expected = [...matchingKeys].sort().join('\n')
  return [{ contextKeys }, (message) => contextOf(message).join('\n') === expected]
}

function contextOf({ contextKeys }: Pick<MessageResponse, 'contextKeys'>): string[] {
  return [...new Set(contextKeys ?? [])].sort()
}
