import { expect, test } from 'vitest'
import { SEED, useLoggedMock } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'
import { exchange } from './exchange.js'

/**
 * Requests that the server rejects, each with the expected status and some fields of the response.
 */
const REJECTIONS: [
  string,
  number,
  string,
  { method?: string; key?: string | null; body?: string },
  object
][] = [
  [
    'malformed query',
    400,
    '/v1/messages?a=%zz',
    {},
    { error: 'Bad Request', message: 'Malformed query string' }
  ],
  [
    'malformed path',
    400,
    '/v2/workflows/%zz/steps/a?b=1',
    {},
    { error: 'Bad Request', message: 'Malformed path' }
  ],
  ['missing API key', 401, '/v1/messages?a=1', { key: null }, { error: 'Unauthorized' }],
  ['unknown path', 404, '/nope?a=1', {}, { error: 'Not Found', message: 'Cannot GET /nope' }],
  ['wrong method', 405, '/v1/messages?a=1', { method: 'PUT' }, { error: 'Method Not Allowed' }],
  [
    'oversized body',
    413,
    '/v1/integrations/mailgun/set-primary',
    { method: 'POST', body: 'x'.repeat(2_000_000) },
    { error: 'Payload Too Large', message: 'Request body is too large' }
  ],
  [
    'invalid parameter',
    422,
    '/v1/messages?page=x&a=%20b',
    {},
    {
      error: 'Unprocessable Entity',
      message: 'Validation Error',
      errors: { page: { messages: ['page must be a whole number of at least 0'], value: 'x' } }
    }
  ],
  ['unmocked path', 404, '/v1/topics?a=1', {}, { error: 'Not Found' }]
]

test.each(REJECTIONS)(
  '%s: responds with %i and the fields that all error bodies share',
  async (...row) => {
    const [, status, path, call, expected] = row
    const mock = await useMock({ seed: SEED, now: Date.UTC(2026, 1, 18, 10) })
    const response = await mock.call(path, {
      ...call,
      headers: { 'content-type': 'application/json' }
    })

    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('x-mock-reason')).toBeTruthy()
    expect(response.json).toEqual({
      message: expect.stringMatching(/./),
      statusCode: status,
      timestamp: '2026-02-18T10:00:00.000Z',
      path,
      ctx: {},
      ...{ error: expect.any(String), ...expected }
    })
  }
)

test.each([
  ['GET', '/v1/messages?a=1', 'messages'],
  ['GET', '/v2/workflows/shipped/steps/email-step', 'workflow_steps'],
  ['POST', '/v1/integrations/mailgun/set-primary', 'integrations'],
  ['GET', '/_mock/integrations', 'integrations']
])(
  'the response to an internal error in %s %s exposes only the id of its log entry',
  async (...row) => {
    const [method, path, table] = row
    const mock = await useLoggedMock()
    mock.db.client.pragma('foreign_keys = off')
    mock.db.client.exec(`DROP TABLE ${table}`)

    const [response, other] = [await mock.call(path, { method }), await mock.call(path, { method })]
    expect(other.json.errorId).not.toBe(response.json.errorId)
    expect(response).toMatchObject({
      status: 500,
      json: { error: 'Internal Server Error', path, ctx: {} }
    })
    expect(response.json.errorId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    const visible = response.text + JSON.stringify([...response.headers])
    const inside = new RegExp(
      `sqlite|no such table|node_modules|\\.ts\\b|"[^"]*\\b${table}\\b[^"]*"`,
      'i'
    )
    expect(visible.replaceAll(path, '')).not.toMatch(inside)

    const failures = mock.log.filter(({ msg }) => msg === 'request failed')
    expect(failures).toHaveLength(2)
    expect(failures[0]).toMatchObject({
      errorId: response.json.errorId,
      reqId: response.headers.get('x-request-id'),
      err: { message: `no such table: ${table}`, stack: expect.stringContaining('at ') }
    })
  }
)

test('x-mock-reason contains at most 1000 characters, all of them printable ASCII', async () => {
  const mock = await useMock({ seed: SEED })
  const long = await mock.post(`/v1/integrations/${'a'.repeat(100_000)}/set-primary`)
  expect(long.headers.get('x-mock-reason')?.length).toBeLessThanOrEqual(1000)
  expect(long.json.message).toBe(`Integration with id ${'a'.repeat(100_000)} not found`)

  const odd = await mock.post(
    `/v1/integrations/${encodeURIComponent('a\r\nset-cookie: x\0é\u{1f600}')}/set-primary`
  )
  expect(odd.headers.get('x-mock-reason')).toMatch(/^[ -~]+$/)
  expect(odd.headers.get('set-cookie')).toBeNull()
  expect(odd.json.message).toBe('Integration with id a\r\nset-cookie: x\0é\u{1f600} not found')
})

test.each([
  ['/v1/messages?limit=1', {}],
  ['/v1/messages?limit=x', {}],
  ['/v1/messages', { key: null }],
  ['/v2/workflows/shipped/steps/email-step', {}],
  ['/_mock/assumptions', {}],
  ['/openapi.json', {}],
  ['/v1/%zz', {}]
])('HEAD %s returns the same status and headers as GET, but no body', async (path, call) => {
  const mock = await useMock({ seed: SEED, now: Date.UTC(2026, 1, 18, 10) })
  const [get, head] = [
    await mock.get(path, call),
    await mock.call(path, { ...call, method: 'HEAD' })
  ]
  expect({ status: head.status, text: head.text }).toEqual({ status: get.status, text: '' })
  expect(get.headers.get('content-length')).toMatch(/^[1-9]\d*$/)
  for (const name of ['content-length', 'content-type', 'x-mock-reason', 'www-authenticate']) {
    expect(head.headers.get(name)).toBe(get.headers.get(name))
  }
})

test('every response has an x-request-id, taken from the request if it has one', async () => {
  const mock = await useMock({ seed: SEED })
  const unauthenticated = { key: null }
  for (const [path, call] of [
    ['/v1/messages', {}],
    ['/v1/messages', unauthenticated],
    ...['/v1/%zz', '/nope', '/health', '/openapi.json', '/docs'].map((each) => [each, {}] as const),
    ['/health', { method: 'OPTIONS' }]
  ] as const) {
    const [first, second] = [await mock.call(path, call), await mock.call(path, call)]
    const ids = [first, second].map(({ headers }) => headers.get('x-request-id'))
    expect(ids, path).toEqual([expect.stringMatching(/^req-/), expect.stringMatching(/^req-/)])
    expect(ids[0]).not.toBe(ids[1])
    const named = await mock.call(path, { ...call, headers: { 'X-Request-Id': 'trace:1.a-B_2' } })
    expect(named.headers.get('x-request-id'), path).toBe('trace:1.a-B_2')
  }
})

test('replaces an x-request-id that is empty, too long or unsafe', async () => {
  const mock = await useMock({ seed: SEED })
  for (const name of ['', ' ', 'a b', 'é', '"quoted"', 'x'.repeat(65), '{"a":1}']) {
    const response = await exchange(
      mock,
      `GET /health HTTP/1.1\r\nhost: x\r\nx-request-id: ${name}\r\n\r\n`
    )
    expect(response.headers.get('x-request-id'), name).toMatch(/^req-/)
  }
})
