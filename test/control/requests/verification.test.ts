import { expect, test } from 'vitest'
import {
  head,
  journalOf,
  MAILGUN,
  OTHER_ORGANIZATION,
  PRODUCTION,
  raw,
  SENDGRID,
  send,
  setPrimary,
  until,
  verify
} from '../../support/control.js'
import { type GivenMock, givenMock } from '../../support/mock.js'

async function givenLists(...limits: number[]): Promise<GivenMock> {
  const mock = await givenMock()
  for (const limit of limits) await mock.get(`/v1/messages?limit=${limit}`)
  return mock
}

const list = (limit: number) => ({ operation: 'listMessages', query: { limit: String(limit) } })

/** The statuses that these bounds on one pattern are answered with. */
const judged = (mock: GivenMock, pattern: object, bounds: object[]) =>
  Promise.all(bounds.map(async (each) => (await verify(mock, { ...pattern, ...each })).status))

test('without a count it holds for at least one request, and returns their sequences', async () => {
  const mock = await givenLists(1, 2, 1)
  const holds = await verify(mock, list(1))
  expect(holds).toMatchObject({ status: 200, json: { matched: 2, requests: [1, 3] } })
  expect((await verify(mock, {})).json.requests).toEqual([1, 2, 3])
  expect((await verify(mock, list(3))).status).toBe(417)
})

test('count, atLeast, atMost and never hold exactly within their bounds', async () => {
  const mock = await givenLists(1, 1)
  const bounds = [{ count: 1 }, { count: 2 }, { count: 3 }, { count: 0 }]
  expect(await judged(mock, list(1), bounds)).toEqual([417, 200, 417, 417])
  expect(await judged(mock, list(1), [{ atLeast: 1 }, { atLeast: 2 }, { atLeast: 3 }])).toEqual([200, 200, 417])
  expect(await judged(mock, list(1), [{ atMost: 1 }, { atMost: 2 }, { atMost: 3 }])).toEqual([417, 200, 200])
  expect(
    await judged(mock, list(1), [
      { atLeast: 1, atMost: 2 },
      { atLeast: 3, atMost: 4 }
    ])
  ).toEqual([200, 417])
  expect(await judged(mock, list(1), [{ never: true }, { never: true, after: 1 }])).toEqual([417, 417])
  expect(await judged(mock, list(1), [{ never: true, after: 2 }])).toEqual([200])
  expect(await judged(mock, list(9), [{ never: true }, { count: 0 }, { atMost: 0 }])).toEqual([200, 200, 200])
  expect((await verify(mock, { ...list(1), count: 3 })).json.message).toBe('2 requests match, exactly 3 expected')
  const { ctx } = (await verify(mock, { ...list(1), never: true })).json
  expect(ctx).toEqual({ matched: [1, 2], nearest: [], elsewhere: [] })
})

test('inOrder allows other requests in between, and no other order', async () => {
  const mock = await givenLists(1, 2, 3)
  expect((await verify(mock, { inOrder: [list(1), list(3)] })).json).toMatchObject({ requests: [1, 3] })
  const backwards = await verify(mock, { inOrder: [list(3), list(1)] })
  expect(backwards.status).toBe(417)
  expect(backwards.json.message).toBe('1 of 2 requests came in this order; inOrder[1] came before, as request 1')
  const lacking = await verify(mock, { inOrder: [list(1), list(9)] })
  expect(lacking.json.ctx.nearest[0].differs[0].field).toBe('inOrder[1].query.limit')
  expect((await verify(mock, { inOrder: [list(1), list(1)] })).status).toBe(417)
})

test('values match as text, as a set where they were repeated, or by a regular expression', async () => {
  const mock = await givenMock()
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

const ASKED = {
  operation: 'setIntegrationAsPrimary',
  method: 'POST',
  path: setPrimary(MAILGUN),
  query: { source: 'app', tag: ['a', 'b'] },
  headers: { 'idempotency-key': 'k-1', 'x-run': '7' },
  body: '{"a":1}',
  status: 200
}

const SINGLE_WRONGS: [field: string, wrong: object, actual: unknown][] = [
  ['operation', { operation: 'listMessages' }, 'setIntegrationAsPrimary'],
  ['method', { method: 'GET' }, 'POST'],
  ['path', { path: setPrimary(SENDGRID) }, setPrimary(MAILGUN)],
  ['query.source', { query: { ...ASKED.query, source: 'web' } }, 'app'],
  ['query.tag', { query: { ...ASKED.query, tag: ['a', 'c'] } }, ['a', 'b']],
  ['query.page', { query: { ...ASKED.query, page: '1' } }, undefined],
  ['headers.idempotency-key', { headers: { ...ASKED.headers, 'idempotency-key': 'k-2' } }, 'k-1'],
  ['headers.x-run', { headers: { ...ASKED.headers, 'x-run': { matches: '^8' } } }, '7'],
  ['headers.x-other', { headers: { ...ASKED.headers, 'X-Other': '1' } }, undefined],
  ['body', { body: '{"a":2}' }, '{"a":1}'],
  ['status', { status: 404 }, 200]
]

test('a single wrong field is reported as the only difference of the nearest request', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages')
  await mock.post(`${setPrimary(MAILGUN)}?source=app&tag=a&tag=b`, { headers: ASKED.headers, body: ASKED.body })
  await mock.get('/v1/messages')
  expect((await verify(mock, ASKED)).status).toBe(200)

  for (const [field, wrong, actual] of SINGLE_WRONGS) {
    const verdict = await verify(mock, { ...ASKED, ...wrong })
    expect(verdict.status, field).toBe(417)
    const [nearest] = verdict.json.ctx.nearest
    expect(nearest.request.sequence, field).toBe(2)
    expect(nearest.differs, field).toMatchObject([{ field }])
    expect(nearest.differs[0].actual, field).toEqual(actual)
    expect(verdict.headers.get('x-mock-reason')).toContain(`nearest is request 2, where ${field} is`)
  }
})

test('returns the three requests with the fewest differences, newest first', async () => {
  const mock = await givenLists(1, 2, 3, 4)
  await mock.post(setPrimary(MAILGUN))
  const { nearest } = (await verify(mock, list(9))).json.ctx
  expect(nearest.map(({ request }: { request: { sequence: number } }) => request.sequence)).toEqual([4, 3, 2])
})

test('a near miss names parameters that are not read', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages?chanel=email')
  const verdict = await verify(mock, { operation: 'listMessages', query: { channel: 'email' } })
  expect(verdict.json.ctx.nearest[0].request.unread.query).toEqual(['chanel'])
  expect(verdict.headers.get('x-mock-reason')).toContain(
    'query.channel is missing; it has parameters or headers that are not read: chanel'
  )
})

test("reports a matching request with another environment's key or without a valid key", async () => {
  const mock = await givenMock()
  const elsewhere = async () => (await verify(mock, list(1))).json.ctx.elsewhere
  expect(await elsewhere()).toEqual([])
  await mock.get('/v1/messages?limit=1', { key: PRODUCTION })
  expect(await elsewhere()).toEqual(['such a request came with the key of environment Production'])
  await mock.get('/v1/messages?limit=1', { key: OTHER_ORGANIZATION })
  await mock.get('/v1/messages?limit=1', { key: null })
  const verdict = await verify(mock, list(1))
  expect(verdict.json.ctx.elsewhere).toEqual([
    'such a request came with the key of environment Production',
    'such a request came with the key of an environment of another organization',
    'such a request came without a valid key'
  ])
  expect(verdict.text).not.toContain('Northlight')
  expect(verdict.headers.get('x-mock-reason')).toContain('such a request came without a valid key')
})

test('reports how many requests are no longer in the journal', async () => {
  const mock = await givenMock({ journal: 2 })
  for (const limit of [1, 2, 3]) await mock.get(`/v1/messages?limit=${limit}`)
  expect((await verify(mock, { ...list(1), never: true })).json).toEqual({ matched: 0, requests: [], lost: 1 })
  expect((await verify(mock, { ...list(1) })).json.ctx.lost).toBe(1)
  expect((await verify(mock, { never: true, after: 3 })).json).not.toHaveProperty('lost')
  await mock.call('/_mock/requests', { method: 'DELETE' })
  await mock.get('/v1/messages?limit=1')
  expect((await verify(mock, {})).json).toEqual({ matched: 1, requests: [4] })
})

/** Ten minutes: an answer that comes within a test has come by an event. */
const LONG = 600_000

/** Whether somebody waits on the environment's journal. */
const waits = (mock: GivenMock) => until(() => mock.app.server.listening && pendingVerifications(mock) > 0)
const pendingVerifications = (mock: GivenMock) => {
  const [environment] = mock.services.environments.list()
  return mock.services.journals.of(environment).listeners.size
}

test('within waits for the arrival of a request, answered or not', async () => {
  const mock = await givenMock()
  const waiting = verify(mock, { operation: 'setIntegrationAsPrimary', within: LONG })
  await waits(mock)
  await mock.get('/v1/messages')
  const held = raw(mock, head(`POST ${setPrimary(MAILGUN)}`, 'content-length: 2'))
  expect(await waiting).toMatchObject({ status: 200, json: { requests: [2] } })
  expect(held.text()).toBe('')
})

test('within waits for the answer when a status or body is expected', async () => {
  const mock = await givenMock()
  const waiting = verify(mock, { status: 200, body: '{}', within: LONG })
  await waits(mock)
  const held = raw(mock, head(`POST ${setPrimary(MAILGUN)}`, 'content-length: 2'))
  await until(async () => (await journalOf(mock)).length === 1)
  held.socket.write('{}')
  expect((await waiting).status).toBe(200)
})

test('within waits for a number and for an order', async () => {
  const mock = await givenMock()
  const number = verify(mock, { ...list(1), count: 2, within: LONG })
  const order = verify(mock, { inOrder: [list(1), list(2), list(1)], within: LONG })
  await until(() => pendingVerifications(mock) === 2)
  for (const limit of [1, 2, 1]) await mock.get(`/v1/messages?limit=${limit}`)
  expect((await number).json.requests).toEqual([1, 3])
  expect((await order).json.requests).toEqual([1, 2, 3])
})

test('never within fails as soon as a matching request arrives', async () => {
  const mock = await givenMock()
  const waiting = verify(mock, { ...list(1), never: true, within: LONG })
  await waits(mock)
  await mock.get('/v1/messages?limit=1')
  expect(await waiting).toMatchObject({ status: 417, json: { ctx: { matched: [1] } } })
})

test('upper bounds within hold when the time is up', async () => {
  const mock = await givenLists(1)
  for (const bounds of [
    { ...list(2), never: true },
    { ...list(1), atMost: 1 },
    { ...list(2), count: 0 }
  ]) {
    const started = performance.now()
    expect((await verify(mock, { ...bounds, within: 50 })).status).toBe(200)
    expect(performance.now() - started).toBeGreaterThan(45)
  }
  expect((await verify(mock, { ...list(2), within: 1 })).status).toBe(417)
})

test('a wait ends when its server closes or its environment is removed', async () => {
  const mock = await givenMock()
  const { environmentId, apiKey } = (await send(mock, 'POST', '/_mock/environments', {})).json
  const own = verify(mock, { within: LONG }, apiKey)
  await until(() => {
    const environment = mock.services.environments.find(environmentId)
    return mock.services.journals.of(environment).listeners.size === 1
  })
  await mock.call(`/_mock/environments/${environmentId}`, { method: 'DELETE' })
  expect((await own).status).toBe(417)

  // By a client that would keep its connection for ever.
  const body = JSON.stringify({ within: LONG })
  const waiting = raw(mock, `${head('POST /_mock/requests/verify', `content-length: ${body.length}`)}${body}`)
  await waits(mock)
  await mock.app.close()
  await waiting.closed
  expect(waiting.text()).toMatch(/^HTTP\/1.1 417 /)
})

test('a wait ends when its client disconnects', async () => {
  const mock = await givenMock()
  const body = JSON.stringify({ within: LONG })
  const { socket } = raw(mock, `${head('POST /_mock/requests/verify', `content-length: ${body.length}`)}${body}`)
  await waits(mock)
  socket.destroy()
  await until(() => pendingVerifications(mock) === 0)
})

/** Malformed patterns are in patterns.test.ts. */
const IMPOSSIBLE: [object, string[]][] = [
  [{ count: 1, atLeast: 1 }, ['atLeast']],
  [{ count: 1, never: true }, ['never']],
  [{ atMost: 1, never: true }, ['never']],
  [{ atLeast: 3, atMost: 2 }, ['atMost']],
  [{ inOrder: [{}], count: 1 }, ['inOrder']],
  [{ inOrder: [{}], method: 'GET', status: 200 }, ['method', 'status']],
  [{ never: false }, ['never']],
  [{ count: -1 }, ['count']],
  [{ inOrder: [] }, ['inOrder']],
  [{ within: -1 }, ['within']],
  [{ query: { a: [] } }, ['query.a']]
]

test('rejects contradicting bounds with their names', async () => {
  const mock = await givenMock()
  for (const [verification, fields] of IMPOSSIBLE) {
    const refused = await verify(mock, verification)
    expect(refused.status, JSON.stringify(verification)).toBe(422)
    expect(Object.keys(refused.json.errors)).toEqual(fields)
  }
})
