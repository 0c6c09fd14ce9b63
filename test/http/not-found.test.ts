import { expect, test } from 'vitest'
import { OPERATIONS } from '../../src/operations.js'
import { KEYS, SEED } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'
import { exchange } from './exchange.js'

const SERVED = OPERATIONS.map(({ method, url }) => `${method} ${url}`).join(', ')

test.each([
  ['POST', '/v1/messages', 'GET, HEAD'],
  ['GET', '/v1/integrations/mailgun/set-primary', 'POST'],
  ['POST', '/health', 'GET, HEAD'],
  ['PUT', '/openapi.json', 'GET, HEAD']
] as const)('%s %s responds with 405 and Allow: %s', async (method, path, allowed) => {
  const mock = await useMock({ seed: SEED })
  for (const key of [KEYS.shop, null, 'nobody-has-this']) {
    const response = await mock.call(path, { method, key })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allowed)
    expect(response.headers.get('x-mock-reason')).toBe(`this path only supports ${allowed}`)
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(response.json.message).toBe(`${method} is not allowed for ${path.split('?')[0]}`)
  }
})

test.each([
  '/v1/topics?limit=1',
  '/v1/messages/',
  '/v2/workflows/shipped',
  '/v1/integrations/set-primary'
])('%s responds with 404, or with 401 if no valid API key is sent', async (path) => {
  const mock = await useMock({ seed: SEED })
  const message = `GET ${path.split('?')[0]} is not mocked`
  expect(await mock.get(path)).toMatchObject({ status: 404, json: { message } })
  expect((await mock.get(path, { key: null })).status).toBe(401)
  expect((await mock.get(path, { key: 'nobody-has-this' })).status).toBe(401)
})

test.each([
  ['GET', '//v1/messages'],
  ['GET', '/V1/messages'],
  ['POST', '/messages'],
  ['GET', '/favicon.ico'],
  ['GET', '/_mock/nothing']
] as const)(
  '%s %s responds with 404, even if the API key is missing or unknown',
  async (method, path) => {
    const mock = await useMock({ seed: SEED })
    for (const key of [KEYS.shop, null, 'nobody-has-this']) {
      const response = await mock.call(path, { method, key })
      expect(response).toMatchObject({ status: 404, json: { message: `Cannot ${method} ${path}` } })
    }
  }
)

test('a request that no route serves is rejected before its body is read', async () => {
  const mock = await useMock({ seed: SEED })
  const waiting = 'host: x\r\ncontent-length: 100\r\n\r\n{'
  expect(await exchange(mock, `POST /v1/messages HTTP/1.1\r\n${waiting}`)).toMatchObject({
    status: 405
  })
  expect(await exchange(mock, `POST /v1/topics HTTP/1.1\r\n${waiting}`)).toMatchObject({
    status: 401
  })
  const type = 'host: x\r\ncontent-type: ;;\r\ncontent-length: 1\r\n\r\n.'
  expect(await exchange(mock, `PUT /v1/messages HTTP/1.1\r\n${type}`)).toMatchObject({
    status: 405
  })
})

test.each([
  ['/messages', 'did you mean /v1/messages?'],
  ['/workflows/a/steps/b', 'did you mean /v2/workflows/a/steps/b?'],
  ['//v1/messages', 'did you mean /v1/messages?'],
  ['/api/v1/messages', 'did you mean /v1/messages?'],
  ['/_mock/snapshots/before/restor', 'did you mean /_mock/snapshots/before/restore?'],
  ['/_mock/enviroments/Shop', 'did you mean /_mock/environments/Shop?'],
  // These paths aren't similar to any served path.
  ['/topics', `this mock only serves ${SERVED}`],
  ['/_mock/nope', 'GET /_mock/openapi.json lists the control routes'],
  ['/_mock/something-else', 'GET /_mock/openapi.json lists the control routes']
])('%s gets the same x-mock-reason in both profiles: %s', async (path, reason) => {
  const mock = await useMock({ seed: SEED })
  for (const key of [KEYS.shop, KEYS.live, null]) {
    expect((await mock.get(path, { key })).headers.get('x-mock-reason')).toBe(reason)
  }
})

test('in the profile `document`, x-mock-reason suggests the lower-case path', async () => {
  const mock = await useMock({ seed: SEED })
  for (const key of [KEYS.shop, null]) {
    const { headers } = await mock.get('/V1/MESSAGES', { key })
    expect(headers.get('x-mock-reason')).toBe('did you mean /v1/messages?')
  }
})

test.each([
  ['/v2/messages', 'did you mean /v1/messages? Otherwise add a stub'],
  ['/v1/mesages/', 'did you mean /v1/messages? Otherwise add a stub'],
  ['/v1/topics', 'add a stub']
])('%s is not mocked, and its x-mock-reason starts with %s', async (path, start) => {
  const mock = await useMock({ seed: SEED })
  for (const key of [KEYS.shop, KEYS.live]) {
    const reason = (await mock.get(path, { key })).headers.get('x-mock-reason') ?? ''
    expect(reason.slice(0, start.length)).toBe(start)
  }
})
