import { Novu } from '@novu/api'
import { expect, test } from 'vitest'
import {
  addFault,
  DEVELOPMENT,
  head,
  journalOf,
  MAILGUN,
  OTHER_ORGANIZATION,
  PRODUCTION,
  raw,
  send,
  setPrimary,
  unauthenticatedJournalOf,
  until
} from '../support/control.js'
import { useMock } from '../support/mock.js'

const AUTHORIZED = { headers: { authorization: `ApiKey ${DEVELOPMENT}` } }

test('records a request and its outcome', async () => {
  const mock = await useMock({ now: Date.parse('2026-02-18T10:00:00Z') })
  const response = await mock.post(`${setPrimary(MAILGUN)}?x=1&y=2&y=3`, {
    headers: { 'idempotency-key': 'once', 'content-type': 'application/json', 'X-Trace': 'abc' },
    body: '{"a":1}'
  })
  const [entry, ...others] = await journalOf(mock)
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    sequence: 1,
    time: '2026-02-18T10:00:00.000Z',
    operation: 'setIntegrationAsPrimary',
    method: 'POST',
    path: setPrimary(MAILGUN),
    query: { x: '1', y: ['2', '3'] },
    headers: { 'idempotency-key': 'once', 'content-type': 'application/json', 'x-trace': 'abc' },
    body: '{"a":1}',
    status: 200,
    size: Buffer.byteLength(response.text),
    flags: {}
  })
  expect(entry?.duration).toBeGreaterThan(0)
})

test('a request with x-mock-unrecorded gets no fault and is not recorded or counted', async () => {
  const mock = await useMock()
  await addFault(mock, { effect: { status: 503 } })
  const getUnrecorded = (path: string) =>
    mock.get(path, { headers: { 'x-mock-unrecorded': 'by a person' } })
  expect((await getUnrecorded('/v1/messages')).status).toBe(200)
  expect((await getUnrecorded('/v1/messages?limit=0')).status).toBe(422)
  expect((await getUnrecorded('/v1/subscribers')).status).toBe(404)
  expect((await mock.get('/v1/messages')).status).toBe(503)
  expect(await journalOf(mock)).toMatchObject([{ sequence: 1, status: 503 }])
  expect((await mock.get('/_mock/coverage')).json).toMatchObject({ requests: 1 })
})

test('records the reason for an error, and flags replayed and unmocked requests', async () => {
  const mock = await useMock()
  const rejected = await mock.post(setPrimary('none'))
  const keyed = { headers: { 'idempotency-key': 'k' } }
  await mock.post(setPrimary(MAILGUN), keyed)
  await mock.post(setPrimary(MAILGUN), keyed)
  await mock.get('/v1/subscribers')
  await mock.call('/v1/messages', { method: 'DELETE' })
  expect(await journalOf(mock)).toMatchObject([
    { status: 404, reason: rejected.headers.get('x-mock-reason') },
    { status: 200, flags: {} },
    { status: 200, flags: { replayed: true } },
    { status: 404, path: '/v1/subscribers', flags: { unmocked: true } },
    { status: 405, path: '/v1/messages', method: 'DELETE', flags: { unmocked: true } }
  ])
})

test('keeps only the newest requests, up to the configured number', async () => {
  const mock = await useMock({ journal: 3 })
  for (const limit of [1, 2, 3, 4, 5]) await mock.get(`/v1/messages?limit=${limit}`)
  expect((await journalOf(mock)).map(({ sequence, query }) => [sequence, query.limit])).toEqual([
    [3, '3'],
    [4, '4'],
    [5, '5']
  ])
})

test('with --journal 0, records no requests and rejects verifications', async () => {
  const mock = await useMock({ journal: 0 })
  await mock.get('/v1/messages')
  expect(await journalOf(mock)).toEqual([])
  const verdict = await send(mock, 'POST', '/_mock/requests/verify', { never: true })
  expect(verdict).toMatchObject({ status: 400, json: { message: 'The journal is turned off' } })
})

test("records a request in its key's environment, or else as unauthenticated", async () => {
  const mock = await useMock()
  const keys = [DEVELOPMENT, PRODUCTION, OTHER_ORGANIZATION]
  for (const [limit, key] of keys.entries())
    await mock.get(`/v1/messages?limit=${limit + 1}`, { key })
  await mock.get('/v1/messages?limit=4', { key: null })
  await mock.get('/v1/messages?limit=5', { key: 'mistyped-key' })
  await mock.get('/v1/subscribers', { key: null })
  const unauthenticated = await unauthenticatedJournalOf(mock)
  expect(unauthenticated).toMatchObject([
    {
      status: 401,
      operation: 'listMessages',
      query: { limit: '4' },
      reason: expect.stringContaining('Authorization')
    },
    { status: 401, operation: 'listMessages', headers: { authorization: 'ApiKey ***' } },
    { status: 401, flags: { unmocked: true } }
  ])
  expect(JSON.stringify(unauthenticated)).not.toContain('mistyped-key')
  for (const [limit, key] of keys.entries()) {
    expect((await journalOf(mock, '', key)).map(({ query }) => query)).toEqual([
      { limit: `${limit + 1}` }
    ])
  }
})

test('records no preflights or requests to the control API, /health or the API docs', async () => {
  const mock = await useMock()
  for (const path of [
    '/health',
    '/openapi.json',
    '/docs',
    '/_mock/clock',
    '/_mock/nothing',
    '/_mock'
  ]) {
    await fetch(`${mock.url}${path}`, AUTHORIZED)
    await fetch(`${mock.url}${path}`)
  }
  const preflight = { origin: 'http://x', 'access-control-request-method': 'GET' }
  await fetch(`${mock.url}/v1/messages`, { method: 'OPTIONS', headers: preflight })
  expect(await journalOf(mock)).toEqual([])
  expect(await unauthenticatedJournalOf(mock)).toEqual([])
})

test('records a request exactly once if it is rejected before its operation runs', async () => {
  const mock = await useMock()
  await mock.post(setPrimary(MAILGUN), { headers: { 'idempotency-key': 'k'.repeat(256) } })
  await mock.get('/v1/messages?limit=%zz&page=1')
  await mock.post(setPrimary(MAILGUN), { body: 'x'.repeat(1024 * 1024 + 1) })
  await mock.post(setPrimary(MAILGUN), { headers: { 'x-mock-fault': 'nonsense' } })
  await mock.get('/v1/integrations/%zz/set-primary')
  expect(await journalOf(mock)).toMatchObject([
    {
      sequence: 1,
      status: 400,
      operation: 'setIntegrationAsPrimary',
      reason: expect.stringContaining('idempotency-key')
    },
    {
      sequence: 2,
      status: 400,
      operation: 'listMessages',
      query: { limit: '%zz', page: '1' },
      unknown: { query: [] }
    },
    { sequence: 3, status: 413, operation: 'setIntegrationAsPrimary' },
    { sequence: 4, status: 400, reason: expect.stringContaining('status=<400 to 599>') },
    {
      sequence: 5,
      status: 400,
      path: '/v1/integrations/%zz/set-primary',
      flags: { unmocked: true }
    }
  ])
})

test('records no status for a request whose client disconnected', async () => {
  const mock = await useMock()
  await addFault(mock, { operation: 'listMessages', effect: { delay: 60_000 } })
  const waiting = raw(mock, head('GET /v1/messages'))
  await until(async () => (await journalOf(mock))[0]?.flags.faulted !== undefined)
  waiting.socket.destroy()
  await until(async () => (await journalOf(mock))[0]?.duration !== undefined)

  const sending = raw(mock, `${head(`POST ${setPrimary(MAILGUN)}`, 'content-length: 10')}half`)
  await until(async () => (await journalOf(mock)).length === 2)
  sending.socket.destroy()
  await until(async () => (await journalOf(mock))[1]?.duration !== undefined)
  const entries = await journalOf(mock)
  expect(entries).toHaveLength(2)
  expect(entries[0]).not.toHaveProperty('status')
})

const ZONE = encodeURIComponent('+02:00')

/** Each row: a query, and the sequence numbers of the requests that the query selects. */
const FILTERS = [
  ['operation=listMessages', [1, 2, 5]],
  ['method=post', [3]],
  ['path=/v1/messages', [1, 2, 5]],
  ['pathPrefix=/v2/', [4]],
  ['pathPrefix=/v1/&status=4xx', [2]],
  ['status=422', [2]],
  ['status=4xx', [2, 4]],
  ['status=2xx', [1, 3]],
  ['status=none', [5]],
  ['since=2026-02-18T10:00:01Z', [2, 3, 4, 5]],
  [`since=2026-02-18T12:00:01.001${ZONE}`, [3, 4, 5]],
  ['operation=listMessages&status=200', [1]],
  ['limit=2', [1, 2]],
  ['after=1&limit=1', [2]],
  ['before=3', [1, 2]],
  ['order=newest&limit=2', [5, 4]],
  ['order=newest&limit=2&before=4', [3, 2]],
  ['order=newest&limit=2&before=2', [1]]
] as const

test('lists only the requests that match all filters', async () => {
  let now = Date.parse('2026-02-18T10:00:00Z')
  const mock = await useMock({ clock: () => now })
  await mock.get('/v1/messages')
  now += 1000
  await mock.get('/v1/messages?limit=x')
  now += 1000
  await mock.post(setPrimary(MAILGUN))
  await mock.get('/v2/workflows/none/steps/none')
  await addFault(mock, { effect: { abort: 'reset' } })
  await mock.get('/v1/messages').catch(() => {})
  for (const [query, expected] of FILTERS) {
    expect([query, (await journalOf(mock, `?${query}`)).map(({ sequence }) => sequence)]).toEqual([
      query,
      expected
    ])
  }
})

test('rejects invalid filters, and names their fields', async () => {
  const mock = await useMock()
  const rejected = await mock.get('/_mock/requests?status=9xx&order=sideways')
  expect([rejected.status, Object.keys(rejected.json.errors)]).toEqual([422, ['status', 'order']])
})

test('names the parameters and headers that are unknown to the server', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages?chanel=email&limit=1&subscriberID=x', {
    headers: { 'idempotent-key': 'k' }
  })
  await mock.get('/v1/messages?channel=email&contextKeys[]=a:b&transactionId[0]=t')
  const unknown = (await journalOf(mock)).map((request) => request.unknown)
  expect(unknown).toEqual([
    {
      query: ['chanel', 'subscriberID'],
      headers: ['idempotent-key'],
      suggestions: { chanel: 'channel', subscriberID: 'subscriberId' }
    },
    { query: [], headers: [] }
  ])
})

test('reports no parameter or header of the official client as unknown', async () => {
  const mock = await useMock()
  const novu = new Novu({
    secretKey: DEVELOPMENT,
    serverURL: mock.url,
    retryConfig: { strategy: 'none' }
  })
  await novu.integrations.setAsPrimary(MAILGUN)
  await novu.messages.retrieve({ channel: 'email', limit: 5 })
  await novu.workflows.steps.retrieve('order-shipped', 'email-step')
  const unknown = (await journalOf(mock)).map((request) => request.unknown)
  expect(unknown).toEqual(Array(3).fill({ query: [], headers: [] }))
})

test('keeps only the start of a long body, and returns a binary body in base64', async () => {
  const mock = await useMock()
  await mock.post(setPrimary(MAILGUN), { body: 'word '.repeat(100_000) })
  await fetch(`${mock.url}${setPrimary(MAILGUN)}`, {
    ...AUTHORIZED,
    method: 'POST',
    body: Buffer.from([0, 255, 254])
  })
  const [long, binary] = await journalOf(mock)
  expect(long?.bodyLength).toBe(500_000)
  expect(long?.body?.length).toBeLessThanOrEqual(65_536)
  expect(long?.body?.length).toBeGreaterThan(65_000)
  expect(binary?.body).toBe(Buffer.from([0, 255, 254]).toString('base64'))
  expect(binary).not.toHaveProperty('bodyLength')
})
