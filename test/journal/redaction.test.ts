import { expect, test } from 'vitest'
import {
  DEVELOPMENT,
  journalOf,
  PRODUCTION,
  setPrimary,
  unauthenticatedJournalOf
} from '../support/control.js'
import { type TestRequest, useMock } from '../support/mock.js'

const BASIC = Buffer.from(`${DEVELOPMENT}:`).toString('base64')

const ENCODED = DEVELOPMENT.replace('-', '%2D')
const TWICE_ENCODED = ENCODED.replace('%', '%25')
const ENCODED_OFTEN = TWICE_ENCODED.replace('%', '%25')

/** Requests that contain the key outside the `Authorization` header. */
const REQUESTS_WITH_KEY: [path: string, options?: TestRequest][] = [
  [`/v1/messages?apiKey=${DEVELOPMENT}&page=${DEVELOPMENT}`],
  [`/v1/messages?${DEVELOPMENT}`],
  [`/v1/messages?x=ApiKey%20${ENCODED}&y=${TWICE_ENCODED}&z=${ENCODED_OFTEN}`],
  [`/v1/${TWICE_ENCODED}`],
  [setPrimary(DEVELOPMENT), { method: 'POST' }],
  [setPrimary(`ApiKey%20${ENCODED}`), { method: 'POST' }],
  [`/v1/keys/${DEVELOPMENT}`],
  [`/messages/${DEVELOPMENT}?limit=%zz&key=${DEVELOPMENT}`],
  [`/v1/%ff${DEVELOPMENT}%c3%28?x=%ff${DEVELOPMENT}`],
  [
    '/v1/messages',
    { headers: { 'x-note': `my key is ${DEVELOPMENT}, yes`, cookie: `k=${DEVELOPMENT}` } }
  ],
  ...[
    JSON.stringify({ a: { b: [DEVELOPMENT] }, [DEVELOPMENT]: 1 }),
    `authorization=ApiKey+${DEVELOPMENT}&x=${ENCODED}`,
    `key ${DEVELOPMENT}`
  ].map((body): [string, TestRequest] => [setPrimary('none'), { method: 'POST', body }])
]

const AUTHORIZATIONS = [
  DEVELOPMENT,
  `Bearer ${DEVELOPMENT}`,
  `Basic ${BASIC}`,
  `ApiKey:${DEVELOPMENT}`
]

test('redacts API keys wherever a client sends them', async () => {
  const mock = await useMock()
  for (const key of [DEVELOPMENT, PRODUCTION, null]) {
    for (const [path, options] of REQUESTS_WITH_KEY) await mock.call(path, { ...options, key })
  }
  for (const authorization of AUTHORIZATIONS) {
    await mock.get('/v1/messages', { headers: { authorization } })
  }
  const journals = [
    await journalOf(mock),
    await journalOf(mock, '', PRODUCTION),
    await unauthenticatedJournalOf(mock)
  ]
  expect(journals.map(({ length }) => length)).toEqual([13, 13, 17])
  const recorded = JSON.stringify(journals)
  // The first half of the base64 text must not appear either, because it would reveal the start of
  // the key.
  const forms = [DEVELOPMENT, ENCODED, TWICE_ENCODED, BASIC, BASIC.slice(0, BASIC.length / 2)]
  expect(forms.filter((form) => recorded.includes(form))).toEqual([])
})

test('redacts an admin token that contains `/`, `+` and `=`', async () => {
  const adminToken = 'Zm9v/YmFy+w=='
  const mock = await useMock({ adminToken })
  const encoded = encodeURIComponent(adminToken)
  for (const key of [DEVELOPMENT, null]) {
    await mock.get(`/v1/messages?x=${encoded}`, {
      key,
      headers: { 'x-note': `it is ${adminToken}!` }
    })
    await mock.post(setPrimary(encoded), { key, body: JSON.stringify({ a: adminToken }) })
    await mock.get(`/v1/%zz?x=${adminToken}`, { key })
  }
  const journals = [await journalOf(mock), await unauthenticatedJournalOf(mock)]
  expect(journals.map(({ length }) => length)).toEqual([3, 3])
  const recorded = JSON.stringify(journals)
  expect([adminToken, encoded].filter((form) => recorded.includes(form))).toEqual([])
})

test('redacts a key in a binary body, and half a key at the end of a truncated body', async () => {
  const mock = await useMock()
  const headers = { authorization: `ApiKey ${PRODUCTION}` }
  const binary = Buffer.concat([
    Buffer.from([255, 0, 32]),
    Buffer.from(DEVELOPMENT),
    Buffer.from([32, 254])
  ])
  await fetch(`${mock.url}${setPrimary('none')}`, { method: 'POST', headers, body: binary })
  const long = `${' '.repeat(65_536 - 8)}${DEVELOPMENT} and more`
  await fetch(`${mock.url}${setPrimary('none')}`, { method: 'POST', headers, body: long })
  const [first, second] = await journalOf(mock, '', PRODUCTION)
  expect(Buffer.from(first?.body ?? '', 'base64').toString('latin1')).toContain(' *** ')
  expect(second?.body).toMatch(/^ +$/)
})

test('redacts fields with names such as `password`, but keeps authorization schemes', async () => {
  const mock = await useMock()
  await mock.post(`${setPrimary('none')}?access_token=t1&page=2`, {
    headers: { 'x-api-key': 's1', 'proxy-authorization': 'Basic czI6', 'idempotency-key': 'kept' },
    body: '{"apiKey":"s3","secretKey":"s\\"4","password": "s5","token":678901,"from":"me"}'
  })
  const [entry] = await journalOf(mock)
  expect(entry).toMatchObject({
    query: { access_token: '***', page: '2' },
    headers: {
      'x-api-key': '***',
      'proxy-authorization': 'Basic ***',
      authorization: 'ApiKey ***',
      'idempotency-key': 'kept'
    },
    body: '{"apiKey":"***","secretKey":"***","password": "***","token":"***","from":"me"}'
  })
})

test('redacts a parameter whose percent-encoded name suggests a credential', async () => {
  const mock = await useMock()
  const query = 'tok%65n=hidden-1&%61piKey=hidden-2&%zz&page=shown'
  const response = await mock.get(`/v1/messages?${query}`)
  await mock.post(setPrimary('none'), { body: query })
  const entries = await Promise.all(
    [1, 2].map((sequence) => mock.get(`/_mock/requests/${sequence}`))
  )
  for (const { text } of [response, ...entries]) {
    expect(text).toContain('shown')
    expect(text).not.toContain('hidden')
  }
})
