import { expect, test } from 'vitest'
import { connectTo, exchange } from '../http/exchange.js'
import { KEYS, SEED } from '../support/logged-mock.js'
import { type TestMock, type TestRequest, useMock } from '../support/mock.js'
import { keyRows } from '../support/rows.js'

const PATH = '/v1/integrations/mailgun/set-primary'

function postWith(mock: TestMock, key: string, call: TestRequest = {}) {
  return mock.post(PATH, { ...call, headers: { 'idempotency-key': key, ...call.headers } })
}

function storedKeys(mock: TestMock): string[] {
  return keyRows(mock.db.client).map(({ key }) => key)
}

/** Returns the head of an HTTP request. Sets the content length to 0 unless a header sets it. */
function request(target: string, ...headers: string[]): string {
  const length = headers.some((header) => header.startsWith('content-length'))
    ? []
    : ['content-length: 0']
  return [
    `POST ${target} HTTP/1.1`,
    'host: x',
    `authorization: ApiKey ${KEYS.shop}`,
    ...headers,
    ...length,
    '\r\n'
  ].join('\r\n')
}

test('responses repeat the key, and a replay has idempotency-replay: true', async () => {
  const mock = await useMock({ seed: SEED })
  const first = await postWith(mock, 'a')
  const second = await postWith(mock, 'a')

  expect(first.headers.get('idempotency-key')).toBe('a')
  expect(first.headers.get('idempotency-replay')).toBeNull()
  expect(second.headers.get('idempotency-key')).toBe('a')
  expect(second.headers.get('idempotency-replay')).toBe('true')
  expect(second.headers.get('x-mock-reason')).toMatch(
    /^replay of the response that was sent for this idempotency-key at /
  )
  expect([second.status, second.text]).toEqual([first.status, first.text])
})

test.each([
  ['  a-key  ', 'a-key'],
  ['" a key "', ' a key '],
  ['"say \\"hi\\" \\\\o/"', 'say "hi" \\o/'],
  ['"only-one-quote', '"only-one-quote'],
  ['"a" b', '"a" b'],
  ['\u00a0\u00e9\u00ff\u00a0', '\u00a0\u00e9\u00ff\u00a0'],
  [`"${'x'.repeat(255)}"`, 'x'.repeat(255)]
])('reads the header %j as the key %j', async (sent, key) => {
  const mock = await useMock({ seed: SEED })
  const response = await postWith(mock, sent)
  expect(response.status).toBe(200)
  expect(response.headers.get('idempotency-key')?.trim()).toBe(key.trim())
  expect(storedKeys(mock)).toEqual([key])
})

test('joins two idempotency-key headers with a comma, even if their case differs', async () => {
  const mock = await useMock({ seed: SEED })
  const response = await exchange(mock, request(PATH, 'IDEMPOTENCY-KEY: a', 'idempotency-key: b'))
  expect(response.headers.get('idempotency-key')).toBe('a, b')
})

test.each(['', '   ', '""'])('ignores the empty key %j', async (key) => {
  const mock = await useMock({ seed: SEED })
  for (const response of [await postWith(mock, key), await postWith(mock, key)]) {
    expect(response.status).toBe(200)
    expect(response.headers.get('idempotency-key')).toBeNull()
    expect(response.headers.get('idempotency-replay')).toBeNull()
  }
  expect(storedKeys(mock)).toEqual([])
})

const TOO_LONG = 'has exceeded the maximum allowed length of 255 characters'

test.each([
  [`"${'x'.repeat(256)}"`, 'x'.repeat(256), TOO_LONG],
  ['x'.repeat(100_000), 'x'.repeat(100_000), TOO_LONG],
  ['"a\tb"', 'a\tb', 'has control characters']
])('rejects the key %j', async (sent, key, problem) => {
  const mock = await useMock({ seed: SEED })
  const response = await postWith(mock, sent)
  expect(response).toMatchObject({
    status: 400,
    json: { message: `idempotencyKey "${key}" ${problem}` }
  })
  expect(response.headers.get('idempotency-key')).toBeNull()
  expect(response.headers.get('x-mock-reason')).toBe(
    'an idempotency-key must have 1 to 255 characters and must not contain control characters'
  )
  expect(storedKeys(mock)).toEqual([])
  expect(await mock.post(PATH)).toMatchObject({ status: 200 })
})

test.each([
  ['GET', '/v1/messages'],
  ['HEAD', '/v1/messages'],
  ['GET', '/v2/workflows/shipped/steps/email-step']
])('%s %s ignores idempotency keys, even invalid ones', async (method, path) => {
  const mock = await useMock({ seed: SEED })
  for (const key of ['a', 'a', '"a"', 'x'.repeat(300), 'a\tb', '']) {
    const response = await mock.call(path, { method, headers: { 'idempotency-key': key } })
    expect(response.status).toBe(200)
    expect(response.headers.get('idempotency-key')).toBeNull()
    expect(response.headers.get('idempotency-replay')).toBeNull()
  }
  expect(storedKeys(mock)).toEqual([])
})

test('a request with the same key gets a replay, even if its host or query differs', async () => {
  const mock = await useMock({ seed: SEED })
  expect((await exchange(mock, request(PATH, 'idempotency-key: a'))).status).toBe(200)
  for (const target of [`http://example.com${PATH}`, `${PATH}?attempt=2`]) {
    const response = await exchange(mock, request(target, 'idempotency-key: a'))
    expect(response.headers.get('idempotency-replay')).toBe('true')
  }
})

/**
 * Starts a request with the key `slow`. Resolves when the server has read the headers and is
 * waiting for the body.
 */
async function startSlowRequest(mock: TestMock) {
  const connection = await connectTo(mock)
  connection.send(
    request(PATH, 'idempotency-key: slow', 'expect: 100-continue', 'content-length: 2')
  )
  expect(await connection.answer()).toMatchObject({ status: 100 })
  return connection
}

test('a key is in use while the server receives the body of the first request', async () => {
  const mock = await useMock({ seed: SEED })
  const first = await startSlowRequest(mock)

  const second = await postWith(mock, '"slow"')
  expect(second).toMatchObject({
    status: 409,
    json: {
      message: 'Request with key "slow" is currently being processed. Please retry after 1 second',
      ctx: {}
    }
  })
  expect(second.headers.get('retry-after')).toBe('1')
  expect(second.headers.get('idempotency-key')).toBe('slow')
  expect(second.headers.get('idempotency-replay')).toBeNull()
  expect(second.headers.get('x-mock-reason')).toBe(
    'the first request with this idempotency-key is still in progress'
  )
  expect(await postWith(mock, 'another')).toMatchObject({ status: 200 })
  expect(await postWith(mock, 'slow', { key: KEYS.live })).toMatchObject({ status: 422 })

  first.send('{}')
  const response = await first.answer()
  expect(response?.status).toBe(200)
  const replay = await postWith(mock, 'slow', { body: '{}' })
  expect(replay.headers.get('idempotency-replay')).toBe('true')
  expect(replay.text).toBe(response?.text)
})

test('an aborted request releases its key', async () => {
  const mock = await useMock({ seed: SEED })
  const first = await startSlowRequest(mock)
  first.socket.destroy()

  let response = await postWith(mock, 'slow')
  // Repeat the request until the server has noticed that the first client disconnected.
  while (response.status === 409) response = await postWith(mock, 'slow')
  expect(response.status).toBe(200)
  expect(response.headers.get('idempotency-replay')).toBeNull()
})

test('a request that is rejected before its operation runs does not use up its key', async () => {
  const mock = await useMock({ seed: SEED })
  expect(await postWith(mock, 'a', { body: 'x'.repeat(2_000_000) })).toMatchObject({ status: 413 })
  for (const [path, key] of [
    [PATH, null],
    ['/v1/nope', undefined],
    [`${PATH}?%zz`, undefined]
  ] as const) {
    const response = await mock.post(path, {
      headers: { 'idempotency-key': 'a' },
      ...(key === null && { key })
    })
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(response.headers.get('idempotency-key')).toBeNull()
  }
  expect(storedKeys(mock)).toEqual([])
  expect((await postWith(mock, 'a')).headers.get('idempotency-replay')).toBeNull()
})
