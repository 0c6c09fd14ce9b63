import { expect, test } from 'vitest'
import { parseQuery } from '../../src/domain/query-string.js'
import { exchange } from '../http/exchange.js'
import { KEYS, SEED } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'

/**
 * Query strings for the message list, each with the number of messages that match. The seed has
 * three messages.
 */
const FOUND: [string, number][] = [
  ['', 3],
  ['transactionId=one', 1],
  ['transactionId%5B%5D=one&transactionId%5B%5D=two', 2],
  ['transactionId[25000]=one', 1],
  ['transactionId=one&transactionId[]=two&transactionId[7]=nothing', 2],
  ['transactionId=three,four', 1],
  ['transactionId=one,two', 0],
  ['transactionId=&transactionId=one', 1],
  ['contextKeys=region:b&contextKeys=tenant:a&contextKeys=region:b', 1],
  ['contextKeys=', 2],
  ['channel=', 3],
  ['subscriber%49d=ada', 2],
  ['subscriberid=ada', 3],
  ['unknown=1&unknown=2&unknown[a]=3', 3],
  ['__proto__=1&__proto__[page]=9&constructor=1&constructor[prototype][limit]=1', 3],
  ['[=1&[]=1&]=1&[a]=1&=1&==&&&', 3],
  [Array.from({ length: 5000 }, (_, index) => `transactionId[${index}]=${index}`).join('&'), 0],
  [Array(10_000).fill('a=1').join('&'), 3]
]

test('the message list counts the messages that match the query', async () => {
  const mock = await useMock({ seed: SEED })
  for (const [query, count] of FOUND) {
    const { json } = await mock.get(`/v1/messages?${query}`)
    expect({ query: query.slice(0, 100), count: json.totalCount }).toEqual({
      query: query.slice(0, 100),
      count
    })
  }
})

/** Query strings, each with the page and the page size that it selects. */
const PAGING: [string, { page: number; pageSize: number }][] = [
  ['page=0.0&limit=10.00', { page: 0, pageSize: 10 }],
  ['page=%31&limit=25', { page: 1, pageSize: 25 }],
  ['page=9007199254740991&limit=1000', { page: 9007199254740991, pageSize: 1000 }]
]

test.each(PAGING)('both profiles accept %s', async (query, expected) => {
  const mock = await useMock({ seed: SEED })
  for (const key of [KEYS.shop, KEYS.live]) {
    const response = await mock.get(`/v1/messages?${query}`, { key })
    expect(response).toMatchObject({ status: 200, json: expected })
    if (expected.page > 0) expect(response.json).toMatchObject({ data: [], hasMore: false })
  }
})

const WHOLE = 'page must be a whole number of at least 0'
const SIZE = 'limit must be a whole number from 1 to 1000'

/**
 * Each row has the parameter's name, its value in the query string, its value in the error, and the
 * error message.
 */
const REJECTED: [string, string, unknown, string][] = [
  ['page', '', '', WHOLE],
  ['page', '+5', ' 5', WHOLE],
  ['page', '1%00', '1\0', WHOLE],
  ['page', '%D9%A3', '٣', WHOLE],
  ['page', '9007199254740992', '9007199254740992', 'page must be at most 9007199254740991'],
  ['page', '9'.repeat(400), '9'.repeat(400), 'page must be at most 9007199254740991'],
  ['limit', '1e1', '1e1', SIZE],
  ['limit', '9'.repeat(400), '9'.repeat(400), SIZE],
  ['channel', 'fax', 'fax', 'channel must be one of in_app, email, sms, chat, push'],
  [
    'channel',
    'smss',
    'smss',
    'channel must be one of in_app, email, sms, chat, push; did you mean sms?'
  ],
  ['contextKeys', 'tenant:', 'tenant:', 'contextKeys must be in the form type:id'],
  ['contextKeys[x]', 'a:b', [{ '[x]': 'a:b' }], 'contextKeys must be a string'],
  ['transactionId[', 'one', [{ '[': 'one' }], 'transactionId must be a string'],
  ['transactionId[__proto__]', 'one', [{ '[__proto__]': 'one' }], 'transactionId must be a string'],
  ...['page', 'limit', 'channel', 'subscriberId'].flatMap(
    (name): [string, string, unknown, string][] => [
      [name, `1&${name}[]=2`, ['1', '2'], `${name} must be given once, without brackets`],
      [`${name}[0]`, '1', ['1'], `${name} must be given once, without brackets`],
      [`${name}[eq]`, '1', [{ '[eq]': '1' }], `${name} must be given once, without brackets`]
    ]
  )
]

test('responds with 422 to an invalid parameter, and reports its name and value', async () => {
  const mock = await useMock({ seed: SEED })
  for (const [name, sent, value, message] of REJECTED) {
    const response = await mock.get(`/v1/messages?${name}=${sent}`)
    const field = name.replace(/\[.*/, '')
    expect({
      sent: `${name}=${sent}`,
      status: response.status,
      errors: response.json.errors
    }).toEqual({
      sent: `${name}=${sent}`,
      status: 422,
      errors: { [field]: { messages: [message], value } }
    })
  }
})

const PERCENT =
  'the query has a percent sign that does not start a UTF-8 character: encode it as %25'
const MALFORMED: [string, string][] = [
  ['a=%', PERCENT],
  ['a=%c0%af', PERCENT],
  ['a=%ed%a0%80', PERCENT],
  ['%zz=1', PERCENT],
  ['page=1&limit=x&%', PERCENT],
  [Array(10_001).fill('a=1').join('&'), 'the query has more than 10000 parameters']
]

test.each([
  ['GET', '/v1/messages'],
  ['GET', '/v2/workflows/shipped/steps/email-step'],
  ['POST', '/v1/integrations/mailgun/set-primary']
])('%s %s responds with 400 to a malformed query string', async (method, path) => {
  const mock = await useMock({ seed: SEED })
  for (const [query, reason] of MALFORMED) {
    const response = await exchange(
      mock,
      `${method} ${path}?${query} HTTP/1.1\r\nhost: x\r\n` +
        `authorization: ApiKey ${KEYS.shop}\r\ncontent-length: 0\r\n\r\n`
    )
    expect(response.status).toBe(400)
    expect(JSON.parse(response.text)).toMatchObject({
      message: 'Malformed query string',
      path: `${path}?${query}`
    })
    expect(response.headers.get('x-mock-reason')).toBe(reason)
  }
})

test('routes without query parameters ignore a malformed query', async () => {
  const mock = await useMock({ seed: SEED })
  for (const path of ['/health?%zz', '/openapi.json?a=%ff'])
    expect(await mock.get(path)).toMatchObject({ status: 200 })
})

test('parseQuery reads a plus as a space, and keeps equals signs in values', () => {
  expect(parseQuery('a+b=c+d&e=f=g&h')).toEqual({ 'a b': 'c d', e: 'f=g', h: '' })
})
