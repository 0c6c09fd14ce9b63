import { expect, test } from 'vitest'
import {
  head,
  MAILGUN,
  OTHER_ORGANIZATION,
  PRODUCTION,
  raw,
  SENDGRID,
  send,
  setPrimary,
  verify
} from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

async function createWithLists(...limits: number[]): Promise<TestMock> {
  const mock = await useMock()
  for (const limit of limits) await mock.get(`/v1/messages?limit=${limit}`)
  return mock
}

const list = (limit: number) => ({ operation: 'listMessages', query: { limit: String(limit) } })

test('expects at least one match by default, and lists all matching requests', async () => {
  const mock = await createWithLists(1, 2, 1)
  expect(await verify(mock, list(1))).toMatchObject({
    status: 200,
    json: { matched: 2, requests: [1, 3] }
  })
  expect((await verify(mock, {})).json.requests).toEqual([1, 2, 3])
  expect((await verify(mock, list(3))).status).toBe(417)
})

/** Each row: a number of matching requests, a bound, and whether the number is within it. */
const BOUNDS: [count: 0 | 2, bound: object, holds: boolean][] = [
  ...[1, 2, 3].map((count): [2, object, boolean] => [2, { count }, count === 2]),
  ...[1, 2, 3].map((atLeast): [2, object, boolean] => [2, { atLeast }, atLeast <= 2]),
  ...[1, 2, 3].map((atMost): [2, object, boolean] => [2, { atMost }, atMost >= 2]),
  [2, { atLeast: 1, atMost: 2 }, true],
  [2, { atLeast: 3, atMost: 4 }, false],
  [2, { never: true, after: 1 }, false],
  [2, { never: true, after: 2 }, true],
  ...[{ never: true }, { count: 0 }].flatMap((bound): [0 | 2, object, boolean][] => [
    [0, bound, true],
    [2, bound, false]
  ])
]

test('succeeds exactly when the number of requests is within the bounds', async () => {
  const mock = await createWithLists(1, 1)
  for (const [count, bound, holds] of BOUNDS) {
    const { status } = await verify(mock, { ...list(count === 2 ? 1 : 9), ...bound })
    expect([count, bound, status === 200]).toEqual([count, bound, holds])
  }
  const { json } = await verify(mock, { ...list(1), never: true })
  expect(json).toMatchObject({
    message: '2 requests match, none expected',
    ctx: { matched: [1, 2], nearest: [] }
  })
  expect((await verify(mock, { ...list(1), count: 3 })).json.message).toBe(
    '2 requests match, exactly 3 expected'
  )
})

test('inOrder allows other requests in between, but requires the given order', async () => {
  const mock = await createWithLists(1, 2, 3)
  expect((await verify(mock, { inOrder: [list(1), list(3)] })).json).toMatchObject({
    requests: [1, 3]
  })
  const backwards = await verify(mock, { inOrder: [list(3), list(1)] })
  expect(backwards.status).toBe(417)
  expect(backwards.json.message).toBe(
    'inOrder: 1 of 2 patterns matched; request 1 matches inOrder[1], but came too early'
  )
  const missing = await verify(mock, { inOrder: [list(1), list(9)] })
  expect(missing.json.ctx.nearest[0].differs[0].field).toBe('inOrder[1].query.limit')
  expect((await verify(mock, { inOrder: [list(1), list(1)] })).status).toBe(417)
})

test('compares values as strings or with `matches`, and repeated values in any order', async () => {
  const mock = await useMock()
  const headers = { 'X-Run': 'run-7' }
  await mock.get('/v1/messages?contextKeys=a:1&contextKeys=b:2&channel=email&limit=10', { headers })
  await mock.post(setPrimary(MAILGUN), { body: '{"a": 1}' })
  await mock.get('/v1/messages?transactionId=1&transactionId=true')
  for (const pattern of [
    { query: { contextKeys: ['b:2', 'a:1'] } },
    { query: { contextKeys: ['b:2', 'a:1', 'a:1'] } },
    { query: { contextKeys: 'a:1' } },
    { query: { channel: ['email'], limit: 10 } },
    { query: { transactionId: [true, 1] } },
    { query: { channel: { matches: '^em' } } },
    { headers: { 'X-RUN': { matches: '\\d$' } } },
    { path: { matches: 'set-primary$' }, method: 'post' },
    { body: { matches: '"a"\\s*:\\s*1' } },
    { body: '{"a": 1}', status: 200 }
  ]) {
    expect((await verify(mock, { ...pattern, count: 1 })).status, JSON.stringify(pattern)).toBe(200)
  }
  for (const pattern of [
    { query: { contextKeys: ['a:1'] } },
    { query: { contextKeys: ['a:1', 'b:2', 'c:3'] } },
    { query: { channel: 'emai' } },
    { query: { limit: 1 } },
    { query: { limit: true } },
    { query: { page: { matches: '' } } }
  ]) {
    expect((await verify(mock, pattern)).status, JSON.stringify(pattern)).toBe(417)
  }
})

const SENT_REQUEST = {
  operation: 'setIntegrationAsPrimary',
  method: 'POST',
  path: setPrimary(MAILGUN),
  query: { source: 'app', tag: ['a', 'b'] },
  headers: { 'idempotency-key': 'k-1', 'x-run': '7' },
  body: '{"a":1}',
  status: 200
}

const SINGLE_MISMATCHES: [field: string, wrong: object, actual: unknown][] = [
  ['operation', { operation: 'listMessages' }, 'setIntegrationAsPrimary'],
  ['method', { method: 'GET' }, 'POST'],
  ['path', { path: setPrimary(SENDGRID) }, setPrimary(MAILGUN)],
  ['query.source', { query: { ...SENT_REQUEST.query, source: 'web' } }, 'app'],
  ['query.tag', { query: { ...SENT_REQUEST.query, tag: ['a', 'c'] } }, ['a', 'b']],
  ['query.page', { query: { ...SENT_REQUEST.query, page: '1' } }, undefined],
  [
    'headers.idempotency-key',
    { headers: { ...SENT_REQUEST.headers, 'idempotency-key': 'k-2' } },
    'k-1'
  ],
  ['headers.x-run', { headers: { ...SENT_REQUEST.headers, 'x-run': { matches: '^8' } } }, '7'],
  ['headers.x-other', { headers: { ...SENT_REQUEST.headers, 'X-Other': '1' } }, undefined],
  ['body', { body: '{"a":2}' }, '{"a":1}'],
  ['status', { status: 404 }, 200]
]

test('reports only the field that differs in the nearest request', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages')
  await mock.post(`${setPrimary(MAILGUN)}?source=app&tag=a&tag=b`, {
    headers: SENT_REQUEST.headers,
    body: SENT_REQUEST.body
  })
  await mock.get('/v1/messages')
  expect((await verify(mock, SENT_REQUEST)).status).toBe(200)

  for (const [field, wrong, actual] of SINGLE_MISMATCHES) {
    const verdict = await verify(mock, { ...SENT_REQUEST, ...wrong })
    expect(verdict.status, field).toBe(417)
    const [nearest] = verdict.json.ctx.nearest
    expect(nearest.request.sequence, field).toBe(2)
    expect(nearest.differs, field).toMatchObject([{ field }])
    expect(nearest.differs[0].actual, field).toEqual(actual)
    expect(verdict.headers.get('x-mock-reason')).toContain(
      `nearest is request 2, where ${field} is`
    )
  }
})

test('returns the three nearest requests, newest first', async () => {
  const mock = await createWithLists(1, 2, 3, 4)
  await mock.post(setPrimary(MAILGUN))
  const { nearest } = (await verify(mock, list(9))).json.ctx
  expect(nearest.map(({ request }: { request: { sequence: number } }) => request.sequence)).toEqual(
    [4, 3, 2]
  )
})

test('names the unknown parameters of the nearest request', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages?limt=9')
  expect((await verify(mock, list(9))).headers.get('x-mock-reason')).toContain(
    "query.limit is missing; the server doesn't know these parameters or headers: limt"
  )
})

test('reports a request that matches except for its API key', async () => {
  const mock = await useMock()
  const elsewhere = async () => (await verify(mock, list(1))).json.ctx.elsewhere
  expect(await elsewhere()).toEqual([])
  await mock.get('/v1/messages?limit=1', { key: PRODUCTION })
  expect(await elsewhere()).toEqual([
    'a similar request came with the key of environment Production'
  ])
  // The request is reported even if its headers differ too, because the wrong key is the more
  // useful explanation.
  const withHeader = { ...list(1), headers: { 'x-trace': '1' } }
  expect((await verify(mock, withHeader)).json.ctx.elsewhere).toHaveLength(1)
  await mock.get('/v1/messages?limit=1', { key: OTHER_ORGANIZATION })
  await mock.get('/v1/messages?limit=1', { key: null })
  const verdict = await verify(mock, list(1))
  expect(verdict.json.ctx.elsewhere).toEqual([
    'a similar request came with the key of environment Production',
    'a similar request came with the key of an environment of another organization',
    'a similar request came without a valid key'
  ])
  expect(verdict.text).not.toContain('Northlight')
  expect(verdict.headers.get('x-mock-reason')).toContain(
    'a similar request came without a valid key'
  )
})

/**
 * Ten minutes, in milliseconds. A test that waits for the full time exceeds its timeout and fails.
 */
const within = 600_000

test('with `within`, waits for a request, its response, a count or an order', async () => {
  const mock = await useMock()
  const arrival = verify(mock, { operation: 'setIntegrationAsPrimary', within })
  const response = verify(mock, { status: 200, body: '{}', within })
  const number = verify(mock, { ...list(1), count: 2, within })
  const order = verify(mock, { inOrder: [list(1), list(2), list(1)], within })
  const never = verify(mock, { ...list(2), never: true, within })
  const slow = raw(mock, head(`POST ${setPrimary(MAILGUN)}`, 'content-length: 2'))
  expect(await arrival).toMatchObject({ status: 200, json: { requests: [1] } })
  expect(slow.text()).toBe('')
  slow.socket.write('{}')
  expect((await response).status).toBe(200)
  for (const limit of [1, 2, 1]) await mock.get(`/v1/messages?limit=${limit}`)
  expect((await number).json.requests).toEqual([2, 4])
  expect((await order).json.requests).toEqual([2, 3, 4])
  expect(await never).toMatchObject({ status: 417, json: { ctx: { matched: [3] } } })
})

test('with `within` and only an upper bound, waits for the full time', async () => {
  const mock = await createWithLists(1)
  for (const bounds of [
    { ...list(2), never: true },
    { ...list(1), atMost: 1 }
  ]) {
    const started = performance.now()
    expect((await verify(mock, { ...bounds, within: 50 })).status).toBe(200)
    expect(performance.now() - started).toBeGreaterThan(45)
  }
  expect((await verify(mock, { ...list(2), within: 1 })).status).toBe(417)
})

test('a wait ends when the server closes or the environment is removed', async () => {
  const mock = await useMock()
  const { environmentId, apiKey } = (await send(mock, 'POST', '/_mock/environments', {})).json
  const waitOfRemoved = verify(mock, { within }, apiKey)
  await mock.get('/_mock/clock', { key: apiKey })
  await mock.call(`/_mock/environments/${environmentId}`, { method: 'DELETE' })
  expect([401, 417]).toContain((await waitOfRemoved).status)

  // Use a raw socket, because `fetch` would keep its connection open.
  const body = JSON.stringify({ within })
  const waiting = raw(
    mock,
    `${head('POST /_mock/requests/verify', `content-length: ${body.length}`)}${body}`
  )
  await mock.get('/_mock/clock')
  await mock.app.close()
  await waiting.closed
  expect(waiting.text()).toMatch(/^HTTP\/1.1 417 /)
})

/**
 * Each row: a contradictory or empty verification, and the fields that the errors name. Malformed
 * regular expressions are tested in patterns.test.ts.
 */
const CONTRADICTIONS: [object, string[]][] = [
  [{ count: 1, atLeast: 1 }, ['atLeast']],
  [{ count: 1, never: true }, ['never']],
  [{ atMost: 1, never: true }, ['never']],
  [{ atLeast: 3, atMost: 2 }, ['atMost']],
  [{ inOrder: [{}], count: 1 }, ['inOrder']],
  [{ inOrder: [{}], method: 'GET', status: 200 }, ['method', 'status']],
  [{ never: false }, ['never']],
  [{ inOrder: [] }, ['inOrder']],
  [{ query: { a: [] } }, ['query.a']]
]

test('rejects contradictory or empty conditions, and names their fields', async () => {
  const mock = await useMock()
  for (const [verification, fields] of CONTRADICTIONS) {
    const rejected = await verify(mock, verification)
    expect(rejected.status, JSON.stringify(verification)).toBe(422)
    expect(Object.keys(rejected.json.errors)).toEqual(fields)
  }
})
