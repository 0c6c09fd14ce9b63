import { expect, test } from 'vitest'
import {
  addFault,
  head,
  journalOf,
  MAILGUN,
  raw,
  SENDGRID,
  setPrimary,
  until
} from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

/** Returns whether Mailgun is primary. In the default seed, it isn't. */
function isMailgunPrimary(mock: TestMock): boolean {
  // The environment and its baseline may each have a row for Mailgun. In the baseline, Mailgun is
  // never primary, so the maximum is the value in the environment.
  const row = mock.db.client
    .prepare('SELECT max(is_primary) AS done FROM integrations WHERE id = ?')
    .get(MAILGUN)
  return (row as { done: number }).done === 1
}

const KEYED = { headers: { 'idempotency-key': 'k' } }
const storedKeys = (mock: TestMock) =>
  (
    mock.db.client.prepare('SELECT count(*) AS count FROM idempotency_keys').get() as {
      count: number
    }
  ).count

const INJECTED_ERRORS: [number, string, Record<string, string | null>][] = [
  [400, 'Bad Request', {}],
  [401, 'Unauthorized', { 'www-authenticate': 'ApiKey' }],
  [409, 'Conflict', { 'retry-after': '1' }],
  [422, 'Unprocessable Entity', {}],
  [
    429,
    'API rate limit exceeded',
    { 'retry-after': '1', 'ratelimit-limit': '60', 'ratelimit-remaining': '0' }
  ],
  [500, 'Internal server error, look for the errorId in the log', { 'retry-after': null }],
  [503, 'Service Unavailable', { 'retry-after': '1', 'ratelimit-limit': null }],
  [599, 'Error', {}]
]

test('an injected status looks like an API error, and the operation does not run', async () => {
  const mock = await useMock()
  for (const [status, message, headers] of INJECTED_ERRORS) {
    const { id } = (await addFault(mock, { effect: { status } })).json
    const response = await mock.post(setPrimary(MAILGUN), KEYED)
    expect(response.status).toBe(status)
    expect(response.json).toMatchObject({
      statusCode: status,
      message,
      path: setPrimary(MAILGUN),
      ctx: {}
    })
    for (const [name, value] of Object.entries(headers))
      expect(response.headers.get(name), name).toBe(value)
    expect(response.headers.get('x-mock-reason')).toBe(`injected by ${id}, see GET /_mock/faults`)
    expect(response.headers.get('idempotency-key')).toBe('k')
    expect([isMailgunPrimary(mock), storedKeys(mock)]).toEqual([false, 0])
  }
  const again = await mock.post(setPrimary(MAILGUN), KEYED)
  expect([again.status, again.headers.get('idempotency-replay')]).toEqual([200, null])
})

const AUTHORIZED = { headers: { authorization: 'ApiKey development-key' } }

test("a rule's headers and body replace the default headers and body", async () => {
  const mock = await useMock()
  await addFault(mock, {
    effect: { status: 429, headers: { 'Retry-After': '7', 'X-Own': 'a' }, body: { own: [1] } }
  })
  const json = await fetch(`${mock.url}/v1/messages`, AUTHORIZED)
  expect([json.status, json.headers.get('retry-after'), json.headers.get('x-own')]).toEqual([
    429,
    '7',
    'a'
  ])
  expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await json.json()).toEqual({ own: [1] })

  await addFault(mock, {
    effect: { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad</h1>' }
  })
  const html = await fetch(`${mock.url}/v1/messages`, AUTHORIZED)
  expect([html.status, html.headers.get('content-type'), await html.text()]).toEqual([
    502,
    'text/html',
    '<h1>Bad</h1>'
  ])
})

test('`abort: reset` closes the connection without running the operation', async () => {
  const mock = await useMock()
  await addFault(mock, { effect: { abort: 'reset' } })
  const connection = raw(
    mock,
    head(`POST ${setPrimary(MAILGUN)}`, 'idempotency-key: k', 'content-length: 0')
  )
  expect(await connection.closed).toMatchObject({ code: 'ECONNRESET' })
  expect(connection.text()).toBe('')
  expect([isMailgunPrimary(mock), storedKeys(mock)]).toEqual([false, 0])
  const again = await mock.post(setPrimary(MAILGUN), KEYED)
  expect([again.status, again.headers.get('idempotency-replay')]).toEqual([200, null])
})

test('`lostResponse` runs the operation, stores its response and sends nothing', async () => {
  const mock = await useMock()
  await addFault(mock, { effect: { lostResponse: true } })
  const connection = raw(
    mock,
    `${head(`POST ${setPrimary(MAILGUN)}`, 'idempotency-key: k', 'content-length: 2')}{}`
  )
  expect(await connection.closed).toMatchObject({ code: 'ECONNRESET' })
  expect(connection.text()).toBe('')
  expect([isMailgunPrimary(mock), storedKeys(mock)]).toEqual([true, 1])
  const again = await mock.post(setPrimary(MAILGUN), { ...KEYED, body: '{}' })
  expect([again.status, again.headers.get('idempotency-replay')]).toEqual([200, 'true'])
  const [lost, replay] = await journalOf(mock)
  expect(lost).toMatchObject({ body: '{}', flags: { faulted: 'fault-1' } })
  expect(lost).not.toHaveProperty('status')
  expect(replay).toMatchObject({ status: 200, flags: { replayed: true } })
})

test('`abort: truncate` runs the operation, stores its response and sends half of it', async () => {
  const mock = await useMock()
  await addFault(mock, { effect: { abort: 'truncate' } })
  const connection = raw(
    mock,
    head(`POST ${setPrimary(MAILGUN)}`, 'idempotency-key: k', 'content-length: 0')
  )
  await connection.closed
  const [top = '', body = ''] = connection.text().split('\r\n\r\n')
  const again = await mock.post(setPrimary(MAILGUN), KEYED)
  expect(again.headers.get('idempotency-replay')).toBe('true')
  expect(top).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(top).toContain(`content-length: ${again.text.length}`)
  expect(body).toBe(again.text.slice(0, Math.floor(again.text.length / 2)))
  expect((await journalOf(mock))[0]).toMatchObject({
    status: 200,
    size: body.length,
    flags: { faulted: 'fault-1' }
  })
})

test('a delayed operation and its idempotency key survive a client disconnect', async () => {
  const mock = await useMock()
  await addFault(mock, { effect: { delay: 700 } })
  const first = raw(
    mock,
    head(`POST ${setPrimary(MAILGUN)}`, 'idempotency-key: k', 'content-length: 0')
  )
  await until(async () => (await journalOf(mock)).some(({ flags }) => flags.faulted))
  first.socket.destroy()
  await until(async () => (await journalOf(mock)).every(({ duration }) => duration !== undefined))

  const second = await mock.post(setPrimary(MAILGUN), KEYED)
  expect([second.status, second.headers.get('retry-after'), isMailgunPrimary(mock)]).toEqual([
    409,
    '1',
    false
  ])
  await until(() => isMailgunPrimary(mock))
  const third = await mock.post(setPrimary(MAILGUN), KEYED)
  expect([third.status, third.headers.get('idempotency-replay')]).toEqual([200, 'true'])
})

test('closing the server sends delayed responses at once', async () => {
  const mock = await useMock()
  await addFault(mock, { times: 2, effect: { delay: 600_000 } })
  const waiting = [
    fetch(`${mock.url}/v1/messages`, AUTHORIZED),
    fetch(`${mock.url}${setPrimary(MAILGUN)}`, { ...AUTHORIZED, method: 'POST' })
  ]
  await until(async () => (await journalOf(mock)).length === 2)
  await mock.app.close()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200])
})

test('the header x-mock-fault injects a fault into the request that has the header', async () => {
  const mock = await useMock()
  const postWithFault = (fault: string) =>
    mock.post(setPrimary(MAILGUN), { headers: { ...KEYED.headers, 'x-mock-fault': fault } })
  for (const status of [400, 503, 599])
    expect((await postWithFault(`status=${status}`)).status).toBe(status)
  const started = performance.now()
  expect((await postWithFault('delay=60, status=503')).status).toBe(503)
  expect(performance.now() - started).toBeGreaterThan(55)
  await expect(postWithFault('abort=reset')).rejects.toThrow()
  expect(isMailgunPrimary(mock)).toBe(false)
  await expect(postWithFault('abort=truncate')).rejects.toThrow()
  expect(isMailgunPrimary(mock)).toBe(true)
  for (const lost of ['lostResponse', 'lostResponse=true', ' lostResponse , delay=1 '])
    await expect(postWithFault(lost)).rejects.toThrow()
  expect((await journalOf(mock)).map(({ flags }) => flags.faulted)).toEqual(Array(9).fill('header'))
})

const INVALID_FAULTS = [
  '',
  'nonsense',
  'status',
  'status=',
  'status=200',
  'status=600',
  'status=5x3',
  'status=503=4',
  'STATUS=503',
  'delay=0',
  'delay=1.5',
  'delay=600001',
  'status=true',
  'abort',
  'abort=explode',
  'lostResponse=false',
  'status=503,',
  'status=503 abort=reset',
  'status=503,abort=reset',
  'lostResponse,abort=truncate',
  'status=503,status=500',
  'delay=1,delay=2',
  'constructor=1',
  '__proto__'
]

test('a request with an invalid x-mock-fault header gets a 400', async () => {
  const mock = await useMock()
  for (const fault of INVALID_FAULTS) {
    const response = await mock.post(setPrimary(MAILGUN), { headers: { 'x-mock-fault': fault } })
    expect([response.status, response.json.message], fault).toEqual([
      400,
      expect.stringContaining('x-mock-fault is invalid')
    ])
  }
  expect(isMailgunPrimary(mock)).toBe(false)
})

test('`faultHeader: false` disables the header x-mock-fault, but not fault rules', async () => {
  const mock = await useMock({ faultHeader: false })
  expect(
    (await mock.get('/v1/messages', { headers: { 'x-mock-fault': 'status=503' } })).status
  ).toBe(200)
  expect((await mock.get('/v1/messages', { headers: { 'x-mock-fault': 'nonsense' } })).status).toBe(
    200
  )
  await addFault(mock, { effect: { status: 503 } })
  expect((await mock.post(setPrimary(SENDGRID))).status).toBe(503)
  expect((await journalOf(mock)).map(({ unknown }) => unknown.headers)).toEqual([
    ['x-mock-fault'],
    ['x-mock-fault'],
    []
  ])
})
