import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type TestMock, useMock } from '../support/mock.js'

const NOW = Date.parse('2026-02-18T12:00:00.000Z')
const CHANNELS = ['in_app', 'email', 'sms', 'chat', 'push']

// These lists are short, so that several messages have the same value. Some values are easily
// misread by a database, a URL parser or a JSON parser.
const SUBSCRIBERS = ['ada', 'Ada', 'ada,bob', 'añà 😀', 'ada\u0000', "' OR 1=1 --", '%']
const TRANSACTIONS = [
  't',
  'T',
  't,u',
  'u',
  'ü',
  'u\u0308',
  't\u0000',
  't ',
  '[]',
  '["t"]',
  '😀',
  '_',
  ''
]
const CONTEXTS: string[][] = [
  [],
  ['tenant:a'],
  ['tenant:a', 'region:b'],
  ['region:b', 'tenant:a'],
  ['tenant:a', 'tenant:a'],
  ['tenant:a,region:b'],
  ['tenant:a","region:b'],
  ['tenant:a:b'],
  ['tenant:\u0000', 'ü:😀'],
  ['ü:😀', 'tenant:\u0000', 'ü:😀'],
  ['Tenant:a']
]
const TIMES = [
  '2026-02-18T11:59:00.000Z',
  '2026-02-18T11:59:00Z',
  '2026-02-18T12:59:00+01:00',
  '2026-02-18T11:59:00.001Z',
  '1969-07-20T20:17:40Z'
]

interface SeededMessage {
  _id: string
  channel: string
  subscriberId?: string
  subscriber?: { subscriberId: string }
  transactionId?: string
  contextKeys?: string[]
  createdAt?: string
}

function subscriberOf({ subscriberId, subscriber }: SeededMessage): string | undefined {
  return subscriberId ?? subscriber?.subscriberId
}

interface Records {
  /**
   * The `subscriberId` of each subscriber in the environment. A message may also embed a subscriber
   * that the environment doesn't have.
   */
  subscribers: string[]
  messages: SeededMessage[]
}

const anyRecords: fc.Arbitrary<Records> = fc
  .record({
    subscribers: fc.shuffledSubarray(SUBSCRIBERS, { minLength: 2 }),
    ids: fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{24}$/), { maxLength: 80, size: 'max' }),
    drawn: fc.infiniteStream(
      fc.record(
        {
          channel: fc.constantFrom(...CHANNELS.slice(0, 3)),
          who: fc.constantFrom('none', 'known', 'known', 'own'),
          subscriberIndex: fc.nat({ max: SUBSCRIBERS.length - 1 }),
          transactionId: fc.constantFrom(...TRANSACTIONS),
          contextKeys: fc.constantFrom(...CONTEXTS),
          createdAt: fc.constantFrom(...TIMES)
        },
        { requiredKeys: ['channel', 'who', 'subscriberIndex'] }
      )
    )
  })
  .map(({ subscribers, ids, drawn }) => ({
    subscribers,
    messages: [...drawn.take(ids.length)].map(
      ({ channel, who, subscriberIndex, ...optional }, index) => ({
        _id: ids[index] as string,
        channel,
        ...(who === 'known' && {
          subscriberId: subscribers[subscriberIndex % subscribers.length] as string
        }),
        ...(who === 'own' && {
          subscriber: { subscriberId: SUBSCRIBERS[subscriberIndex] as string }
        }),
        ...optional
      })
    )
  }))

/** The filters of a request. An undefined filter is left out of the query. */
interface Filters {
  channel?: string
  subscriberId?: string
  transactionId?: string[]
  contextKeys?: string[]
}

const anyFilter: Required<{ [Name in keyof Filters]: fc.Arbitrary<Filters[Name]> }> = {
  channel: fc.constantFrom(...CHANNELS.slice(0, 4), 'fax', ''),
  subscriberId: fc.constantFrom(...SUBSCRIBERS, 'nobody', ''),
  transactionId: fc.array(fc.constantFrom(...TRANSACTIONS, 'none'), {
    minLength: 1,
    maxLength: 20
  }),
  contextKeys: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...CONTEXTS).map((keys) => keys.toReversed()) },
    fc.array(fc.constantFrom('tenant:a', 'region:b', 'none:x', ''), { maxLength: 4 }),
    fc.constantFrom<string[]>(['tenant'], ['tenant:'], [':a'], ['tenant:a', 'region'])
  )
}

const FILTERS = Object.keys(anyFilter) as (keyof Filters)[]
/** All subsets of the filters, from no filter to all four. */
const FILTER_SETS = Array.from({ length: 2 ** FILTERS.length }, (_, bits) => {
  return FILTERS.filter((_name, bit) => bits & (1 << bit))
})

/**
 * Generates values for the filters in `set`. In about half of the cases, it also generates `about`,
 * the index of a message. `matchMessage` then replaces the values with values that match this
 * message.
 */
function anyRequest(set: readonly (keyof Filters)[]) {
  const filters = fc.record(
    Object.fromEntries(set.map((name) => [name, anyFilter[name]]))
  ) as fc.Arbitrary<Filters>
  return fc.record({ filters, about: fc.option(fc.nat({ max: 79 }), { freq: 1 }) })
}

function matchMessage(message: SeededMessage | undefined, filters: Filters): Filters {
  if (!message) return filters
  const contextKeys = message.contextKeys ?? []
  const aim: Filters = {
    channel: message.channel,
    subscriberId: subscriberOf(message) ?? '',
    transactionId: [...(filters.transactionId ?? []).slice(0, 2), message.transactionId ?? ''],
    contextKeys: [...contextKeys, ...contextKeys].toReversed()
  }
  return Object.fromEntries(Object.keys(filters).map((name) => [name, aim[name as keyof Filters]]))
}

/**
 * Generates the parts of a query that can vary without changing its meaning: the brackets after
 * names, the order of the parameters, and an unknown parameter.
 */
const anySpelling = fc.record({
  brackets: fc.infiniteStream(fc.constantFrom('', '[]', '%5B%5D', 'index')),
  shuffle: fc.infiniteStream(fc.nat()),
  unknown: fc.constantFrom('', 'foo=1', 'sort=createdAt', 'contextKey=a:1', 'transactionId2[]=t')
})
type Spelling = typeof anySpelling extends fc.Arbitrary<infer Value> ? Value : never

function writeQuery(
  filters: Filters,
  { limit, page }: { limit: string | undefined; page: number },
  spelling: Spelling
): string {
  const parameters: [string, string][] = []
  for (const [name, value] of Object.entries(filters)) {
    const values = Array.isArray(value) ? value : [value]
    if (values.length === 0) parameters.push([`${name}[]`, ''])
    for (const [index, each] of values.entries()) {
      const brackets = Array.isArray(value) ? (spelling.brackets.next().value as string) : ''
      parameters.push([
        name + (brackets === 'index' ? `[${index}]` : brackets),
        encodeURIComponent(each)
      ])
    }
  }
  if (limit !== undefined) parameters.push(['limit', limit])
  if (page > 0) parameters.push(['page', String(page)])
  const parts = parameters.map(([name, value]) => ({
    text: `${name}=${value}`,
    order: spelling.shuffle.next().value
  }))
  const texts = parts.sort((a, b) => a.order - b.order).map(({ text }) => text)
  return [spelling.unknown, ...texts].filter((text) => text !== '').join('&')
}

interface Model {
  profile: 'document' | 'live'
  messages: { id: string; time: number; subscriberId: string | undefined; seeded: SeededMessage }[]
  subscribers: string[]
}

function modelOf({ subscribers, messages }: Records, profile: Model['profile']): Model {
  return {
    profile,
    subscribers,
    messages: messages
      .map((seeded, index) => ({
        id: seeded._id,
        time: seeded.createdAt === undefined ? NOW - index * 60_000 : Date.parse(seeded.createdAt),
        subscriberId: subscriberOf(seeded),
        seeded
      }))
      .sort((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1))
  }
}

type Expected = { rejected: number; fields?: string[] } | { ids: string[] }

/** Computes the expected result with a simple implementation of the documented rules. */
function expectedOf({ profile, messages, subscribers }: Model, filters: Filters): Expected {
  const contextKeys = filters.contextKeys?.filter((key) => key !== '')
  if (profile === 'document') {
    const fields: string[] = []
    if (filters.channel && !CHANNELS.includes(filters.channel)) fields.push('channel')
    if (contextKeys?.some((key) => !isTypeAndId(key))) fields.push('contextKeys')
    if (fields.length > 0) return { rejected: 422, fields }
  }
  if (profile === 'live' && filters.subscriberId && !subscribers.includes(filters.subscriberId))
    return { rejected: 404 }

  const transactionIds = filters.transactionId?.filter((id) => id !== '') ?? []
  const found = messages.filter(({ seeded, subscriberId }) => {
    if (filters.channel && seeded.channel !== filters.channel) return false
    if (filters.subscriberId && subscriberId !== filters.subscriberId) return false
    if (transactionIds.length > 0 && !transactionIds.some((id) => id === seeded.transactionId))
      return false
    if (contextKeys && !isSameSet(contextKeys, seeded.contextKeys ?? [])) return false
    return true
  })
  return { ids: found.map(({ id }) => id) }
}

function isTypeAndId(key: string): boolean {
  return key.indexOf(':') > 0 && key.indexOf(':') < key.length - 1
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.every((key) => other.includes(key)) && other.every((key) => one.includes(key))
}

/** Starts a server with two environments that differ only in their profile. */
async function startBoth({
  subscribers,
  messages
}: Records): Promise<{ mock: TestMock; close(): Promise<unknown> }> {
  const environment = (profile: string) => ({
    name: profile,
    profile,
    subscribers: subscribers.map((subscriberId) => ({ subscriberId })),
    messages
  })
  const seed = { environments: [environment('document'), environment('live')] }
  const mock = await useMock({ seed, clock: () => NOW })
  return { mock, close: () => mock.app.close() }
}

/**
 * Requests a page and compares its ids and counts with the model. Returns the expected ids of all
 * pages.
 */
async function checkPage(
  mock: TestMock,
  model: Model,
  filters: Filters,
  paging: { limit: string | undefined; page: number },
  spelling: Spelling
): Promise<string[]> {
  const query = writeQuery(filters, paging, spelling)
  const response = await mock.get(`/v1/messages?${query}`, { key: `${model.profile}-key` })
  const expected = expectedOf(model, filters)
  if ('rejected' in expected) {
    expect(response.status, query).toBe(expected.rejected)
    if (expected.fields)
      expect(Object.keys(response.json.errors).sort(), query).toEqual(expected.fields)
    else expect(response.json.message).toBe(`Subscriber not found for id ${filters.subscriberId}`)
    return []
  }

  const limit = Number(paging.limit ?? 10) || 10
  const ids = expected.ids.slice(paging.page * limit, (paging.page + 1) * limit)
  const { data, ...counts } = response.json
  expect({ ids: data.map(({ _id }: { _id: string }) => _id), ...counts }, query).toEqual({
    ids,
    page: paging.page,
    pageSize: limit,
    ...(model.profile === 'document'
      ? {
          totalCount: expected.ids.length,
          hasMore: (paging.page + 1) * limit < expected.ids.length
        }
      : { hasMore: ids.length === limit })
  })
  // The header may also report unknown parameters, so look only for the reasons why a page is
  // empty.
  const reason = response.headers.get('x-mock-reason')
  const explainsEmptyPage =
    reason !== null && /(no message matches|past the end|has no messages)/.test(reason)
  expect(explainsEmptyPage, `${query}: ${reason}`).toBe(ids.length === 0)
  return expected.ids
}

describe.each(['document', 'live'] as const)('in the profile %s', (profile) => {
  const defaults = profile === 'live' ? ['0', '0.0', ''] : []
  const anyLimits = fc.infiniteStream(
    fc.constantFrom('3', '7', '10', '10.0', '25', '80', '1000', undefined, ...defaults)
  )

  test('for every set of filters, all pages match a simple implementation', async () => {
    const anyRequests = fc.tuple(...FILTER_SETS.map(anyRequest))
    await fc.assert(
      fc.asyncProperty(
        anyRecords,
        anyRequests,
        anyLimits,
        anySpelling,
        async (records, requests, limits, spelling) => {
          const { mock, close } = await startBoth(records)
          const model = modelOf(records, profile)
          for (const { filters: drawn, about } of requests) {
            const filters = matchMessage(
              about === null ? undefined : records.messages[about],
              drawn
            )
            const limit = limits.next().value
            let pages = 1
            for (let page = 0; page <= pages; page += 1) {
              const ids = await checkPage(mock, model, filters, { limit, page }, spelling)
              pages = Math.ceil(ids.length / (Number(limit ?? 10) || 10))
            }
          }
          await close()
        }
      ),
      // Limit the time in which fast-check looks for a smaller counterexample, because each attempt
      // starts a server.
      { numRuns: 15, interruptAfterTimeLimit: 30_000 }
    )
  })
})
