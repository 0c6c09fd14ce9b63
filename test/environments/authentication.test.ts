import { expect, test } from 'vitest'
import { connectTo, exchange } from '../http/exchange.js'
import { KEYS, SEED, useLoggedMock } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'

const OPERATIONS = [
  ['POST', '/v1/integrations/mailgun/set-primary'],
  ['GET', '/v1/messages'],
  ['GET', '/v2/workflows/shipped/steps/email-step']
] as const

test.each(OPERATIONS)('%s %s requires an API key', async (method, path) => {
  const mock = await useMock({ seed: SEED })
  const response = await mock.call(path, { method, key: null })
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe('ApiKey')
})

test.each(OPERATIONS)('%s %s accepts a valid API key', async (method, path) => {
  const mock = await useMock({ seed: SEED })
  expect(await mock.call(path, { method })).toMatchObject({ status: 200 })
})

test.each([
  ['', 'Missing authorization header'],
  ['Bearer', 'Invalid authentication scheme: "Bearer"'],
  [`Bearer ApiKey ${KEYS.shop}`, 'Invalid authentication scheme: "Bearer"'],
  ['apikey', 'Unauthorized'],
  ['ApiKey nobody-has-this', 'API Key not found'],
  [`ApiKey ${KEYS.shop.toUpperCase()}`, 'API Key not found'],
  [`ApiKey ${KEYS.shop}, ApiKey ${KEYS.shop}`, 'API Key not found'],
  [`ApiKey "${KEYS.shop}"`, 'API Key not found'],
  [`ApiKey ${'k'.repeat(100_000)}`, 'API Key not found']
])('the authorization header %j is rejected with %s', async (authorization, message) => {
  const mock = await useMock({ seed: SEED })
  const response = await mock.get('/v1/messages', { key: null, headers: { authorization } })
  expect(response).toMatchObject({ status: 401, json: { message, error: 'Unauthorized', ctx: {} } })
  expect(response.headers.get('www-authenticate')).toBe('ApiKey')
})

test.each([`ApiKey ${KEYS.second}`, `ApiKey    ${KEYS.shop}  `, `ApiKey\t${KEYS.shop}`])(
  'the authorization header %j is accepted',
  async (authorization) => {
    const mock = await useMock({ seed: SEED })
    expect(await mock.get('/v1/messages', { headers: { authorization } })).toMatchObject({
      status: 200,
      json: { totalCount: 3 }
    })
  }
)

test.each([
  ['a malformed query', 'GET', '/v1/messages?page=x&%zz', undefined],
  ['an unknown workflow', 'GET', '/v2/workflows/nope/steps/nope', undefined],
  ['malformed JSON', 'POST', '/v1/integrations/nope/set-primary', '{'],
  ['a body over the limit', 'POST', '/v1/integrations/mailgun/set-primary', '{'.repeat(2_000_000)]
] as const)('a missing API key is reported before %s', async (_name, method, path, body) => {
  const mock = await useMock({ seed: SEED })
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k'.repeat(300) }
  const response = await mock.call(path, { method, headers, key: null, ...(body && { body }) })
  expect(response).toMatchObject({
    status: 401,
    json: { message: 'Missing authorization header' }
  })
})

test('the connection stays open after a rejected request with a long body', async () => {
  const connection = await connectTo(await useMock({ seed: SEED }))
  const head =
    'POST /v1/integrations/mailgun/set-primary HTTP/1.1\r\n' +
    'host: x\r\ncontent-length: 900000\r\n\r\n'
  connection.send(`${head}${'{'.repeat(1000)}`)
  expect(await connection.answer()).toMatchObject({ status: 401 })
  connection.send('{'.repeat(899_000))
  connection.send(
    `GET /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: ApiKey ${KEYS.shop}\r\n\r\n`
  )
  expect(await connection.answer()).toMatchObject({ status: 200 })
  connection.socket.destroy()
})

test('only the first of two authorization headers counts', async () => {
  const mock = await useMock({ seed: SEED })
  const valid = `authorization: ApiKey ${KEYS.shop}\r\n`
  const invalid = 'authorization: ApiKey nobody-has-this\r\n'
  const request = (headers: string) =>
    `GET /v1/messages?limit=1 HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
  expect(await exchange(mock, request(valid + invalid))).toMatchObject({ status: 200 })
  expect(await exchange(mock, request(invalid + valid))).toMatchObject({ status: 401 })
})

const UNKNOWN_KEY = 'sk_1f9c0aa2b7'
const BASE64_KEY = Buffer.from(`${KEYS.shop}:`).toString('base64')
const SECRETS = [KEYS.shop, UNKNOWN_KEY, Buffer.from(KEYS.shop).toString('base64').slice(0, -4)]

/**
 * Returns a query string that has the value in every parameter in which a client might send an API
 * key.
 */
function keyParameters(value: string): string {
  const names = 'apiKey api_key key x-api-key authorization access_token secretKey'.split(' ')
  return names.map((name) => `${name}=${value}`).join('&')
}

test.each<[string, Record<string, string>]>([
  ['as the scheme', { authorization: KEYS.shop }],
  ['after another scheme', { authorization: `Bearer ${KEYS.shop}` }],
  ['after a colon', { authorization: `ApiKey:${KEYS.shop}` }],
  ['in basic authentication', { authorization: `Basic ${BASE64_KEY}` }],
  ['in a cookie', { cookie: `key=${KEYS.shop}` }],
  ['that is unknown', { authorization: `ApiKey ${UNKNOWN_KEY}` }],
  ['in the query', {}]
])('a key %s is neither logged nor repeated in the response', async (_place, headers) => {
  const mock = await useLoggedMock()
  for (const path of ['/v1/messages', '/v1/nope', '/v1/%zz']) {
    const url = `${path}?limit=1&${keyParameters(KEYS.shop)}`
    const response = await mock.get(url, { key: null, headers })
    expect(response.json.path).toBe(`${path}?limit=1&${keyParameters('***')}`)
    const responseHeaders = JSON.stringify([...response.headers])
    const output = [response.text, responseHeaders, JSON.stringify(mock.log)].join('\n')
    for (const secret of SECRETS) expect(output).not.toContain(secret)
  }
  expect(mock.log.some(({ msg }) => msg === 'request rejected')).toBe(true)
})
