import { expect, test } from 'vitest'
import { unauthenticatedJournalOf } from '../support/control.js'
import { requestWithHost } from '../support/host-header.js'
import { KEYS, SEED } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'

const ORIGIN = { origin: 'http://localhost:3000' }
const EXPOSED =
  'idempotency-key,idempotency-replay,retry-after,' +
  'x-mock-change,x-mock-fallback,x-mock-reason,x-mock-stub,x-request-id'

test.each([
  ['POST', '/v1/integrations/mailgun/set-primary'],
  ['GET', '/v1/messages'],
  ['GET', '/v1/not-served'],
  ['POST', '/_mock/environments']
])(
  'a preflight for %s %s needs no API key, and allows any origin and all headers',
  async (...row) => {
    const [method, path] = row
    const { url } = await useMock({ seed: SEED })
    const requestedHeaders = 'authorization,content-type,idempotency-key'
    const response = await fetch(url + path, {
      method: 'OPTIONS',
      headers: {
        ...ORIGIN,
        'access-control-request-method': method,
        'access-control-request-headers': requestedHeaders
      }
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN.origin)
    expect(headerItems(response, 'access-control-allow-methods')).toEqual(
      expect.arrayContaining([method.toLowerCase(), 'head'])
    )
    expect(headerItems(response, 'access-control-allow-headers')).toEqual(
      requestedHeaders.split(',')
    )
    expect(response.headers.get('vary')).toMatch(/access-control-request-headers/i)
  }
)

test.each([
  ['the response of an operation', '/v1/messages', {}],
  ['a 401', '/v1/messages', { key: null }],
  ['an unmocked path', '/v1/not-served', {}],
  ['the health check', '/health', {}],
  ['the OpenAPI document', '/openapi.json', {}],
  ['a replay', '/v1/integrations/mailgun/set-primary', { method: 'POST' }]
])(
  'a page from any origin can read %s and the headers that the mock adds',
  async (_name, path, call) => {
    const mock = await useMock({ seed: SEED })
    const sent = { ...call, headers: { ...ORIGIN, 'idempotency-key': 'once' } }
    await mock.call(path, sent)
    const { headers } = await mock.call(path, sent)
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN.origin)
    expect(headerItems({ headers }, 'access-control-expose-headers').sort().join()).toBe(EXPOSED)
  }
)

test.each(['http://localhost:3000', 'https://preview.example', 'null'])(
  'a page of the origin %s can send credentials',
  async (origin) => {
    const mock = await useMock({ seed: SEED })
    const { headers } = await mock.get('/v1/messages', { headers: { origin } })
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(headers.get('access-control-allow-credentials')).toBe('true')
    expect(headerItems({ headers }, 'vary')).toContain('origin')
  }
)

const PRIVATE_NETWORK = {
  ...ORIGIN,
  'access-control-request-method': 'GET',
  'access-control-request-private-network': 'true'
}

test.each([
  [{}, 'true'],
  [{ cors: false }, null],
  [{ assumptions: { cors: 'absent' } }, null]
])('with the options %j, access-control-allow-private-network is %s', async (...row) => {
  const [options, allowed] = row
  const { url } = await useMock({ seed: SEED, ...options })
  const { headers } = await fetch(`${url}/v1/messages`, {
    method: 'OPTIONS',
    headers: PRIVATE_NETWORK
  })
  expect(headers.get('access-control-allow-private-network')).toBe(allowed)
})

test('with CORS off, responses have no CORS headers and OPTIONS gets 405', async () => {
  const mock = await useMock({ seed: SEED, cors: false })
  const preflight = { ...ORIGIN, 'access-control-request-method': 'GET' }

  const served = await mock.call('/v1/messages', {
    method: 'OPTIONS',
    headers: preflight,
    key: null
  })
  expect(served).toMatchObject({
    status: 405,
    json: { message: 'OPTIONS is not allowed for /v1/messages' }
  })
  expect(served.headers.get('allow')).toBe('GET, HEAD')
  const page = await mock.get('/v1/messages', { headers: ORIGIN })
  expect(page).toMatchObject({ status: 200 })

  for (const { headers } of [served, page]) {
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})

test('with cors set to absent, a preflight gets 404, except for control routes', async () => {
  const mock = await useMock({ seed: SEED, assumptions: { cors: 'absent' } })
  const preflight = { method: 'OPTIONS', headers: ORIGIN, key: null }

  const rejected = await mock.call('/v1/not-served', preflight)
  expect(rejected.status).toBe(404)
  expect(rejected.headers.get('x-mock-reason')).toContain('(assumption cors)')
  const { json } = await mock.get('/_mock/requests/unauthenticated', { key: null })
  expect(json.requests).toMatchObject([{ method: 'OPTIONS', status: 404 }])

  const control = await mock.call('/_mock/environments', preflight)
  expect(control.status).toBe(204)
})

function headerItems({ headers }: { headers: Headers }, name: string): string[] {
  return (headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/)
}

const OTHER_SITE = { 'sec-fetch-site': 'cross-site' }
const WITH_KEY = { authorization: `ApiKey ${KEYS.shop}` }

test.each([
  ['/v1/messages', OTHER_SITE],
  ['/v1/not-served', { ...OTHER_SITE, authorization: 'ApiKey wrong-key' }],
  ['/_mock/environments', OTHER_SITE],
  ['/_mock/requests', { ...OTHER_SITE, origin: 'https://evil.example' }],
  ['/_mock/environments', { ...OTHER_SITE, authorization: 'Bearer wrong' }]
])(
  'a request from a page of another site needs a valid key: %s gets 403 and is not recorded',
  async (...row) => {
    const [path, headers] = row
    const mock = await useMock({ seed: SEED })
    const { status, text } = await requestWithHost(headers, mock.url + path)
    expect([status, JSON.parse(text).error]).toEqual([403, 'Forbidden'])
    expect(await unauthenticatedJournalOf(mock)).toEqual([])
  }
)

test.each([
  ['/v1/messages', 200, { ...OTHER_SITE, ...WITH_KEY, origin: 'http://shop.lan:3000' }],
  ['/_mock/requests', 200, { ...OTHER_SITE, ...WITH_KEY }],
  ['/v1/messages', 401, { ...OTHER_SITE, ...ORIGIN }],
  ['/v1/messages', 401, { 'sec-fetch-site': 'same-site' }],
  ['/health', 200, OTHER_SITE],
  ['/', 200, OTHER_SITE]
])(
  'requests with a valid key, from a local page, or to a public path are not blocked: %s gets %i',
  async (...row) => {
    const [path, expected, headers] = row
    const mock = await useMock({ seed: SEED })
    expect((await requestWithHost(headers, mock.url + path)).status).toBe(expected)
  }
)
