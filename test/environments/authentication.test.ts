import { expect, test } from 'vitest'
import { connectTo, exchange } from '../http/exchange.js'
import { KEYS, SEED, useLoggedMock } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'

const OPERATIONS = [
  ['POST', '/v1/integrations/mailgun/set-primary'],
  ['GET', '/v1/messages'],
  ['GET', '/v2/workflows/shipped/steps/email-step']
] as const

test.each(OPERATIONS)('%s %s asks for a key, and takes a good one', async (method, path) => {
  const mock = await useMock({ seed: SEED })

  const refused = await mock.call(path, { method, key: null })
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toBe('ApiKey')
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
])('the authorization header %j is refused: %s', async (authorization, message) => {
  const mock = await useMock({ seed: SEED })
  const answer = await mock.get('/v1/messages', { key: null, headers: { authorization } })
  expect(answer).toMatchObject({ status: 401, json: { message, error: 'Unauthorized', ctx: {} } })
  expect(answer.headers.get('www-authenticate')).toBe('ApiKey')
})

test.each([`ApiKey ${KEYS.second}`, `ApiKey    ${KEYS.shop}  `, `ApiKey\t${KEYS.shop}`])(
  'the authorization header %j is taken',
  async (authorization) => {
    const mock = await useMock({ seed: SEED })
    expect(await mock.get('/v1/messages', { headers: { authorization } })).toMatchObject({
      status: 200,
      json: { totalCount: 3 }
    })
  }
)

test('the key is looked at before the query, the path, the body and the idempotency key', async () => {
  const mock = await useMock({ seed: SEED })
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k'.repeat(300) }
  for (const [method, path, body] of [
    ['GET', '/v1/messages?page=x&%zz', undefined],
    ['GET', '/v2/workflows/nope/steps/nope', undefined],
    ['POST', '/v1/integrations/nope/set-primary', '{'],
    ['POST', '/v1/integrations/mailgun/set-primary', '{'.repeat(2_000_000)]
  ] as const) {
    const answer = await mock.call(path, { method, headers, key: null, ...(body && { body }) })
    expect(answer, path).toMatchObject({
      status: 401,
      json: { message: 'Missing authorization header' }
    })
  }
})

test('a refused request is read to its end, and its connection goes on', async () => {
  const connection = await connectTo(await useMock({ seed: SEED }))
  const head =
    'POST /v1/integrations/mailgun/set-primary HTTP/1.1\r\nhost: x\r\ncontent-length: 900000\r\n\r\n'
  connection.send(`${head}${'{'.repeat(1000)}`)
  expect(await connection.answer()).toMatchObject({ status: 401 })
  connection.send('{'.repeat(899_000))
  connection.send(
    `GET /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: ApiKey ${KEYS.shop}\r\n\r\n`
  )
  expect(await connection.answer()).toMatchObject({ status: 200 })
  connection.socket.destroy()
})

test('of two authorization headers the first one counts', async () => {
  const mock = await useMock({ seed: SEED })
  const first = `authorization: ApiKey ${KEYS.shop}\r\n`
  const second = 'authorization: ApiKey nobody-has-this\r\n'
  const request = (headers: string) =>
    `GET /v1/messages?limit=1 HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
  expect(await exchange(mock, request(first + second))).toMatchObject({ status: 200 })
  expect(await exchange(mock, request(second + first))).toMatchObject({ status: 401 })
})

const SECRET = 'sk_1f9c0aa2b7'

test.each([
  ['as the scheme', { authorization: KEYS.shop }],
  ['behind another scheme', { authorization: `Bearer ${KEYS.shop}` }],
  ['behind a colon', { authorization: `ApiKey:${KEYS.shop}` }],
  ['in Basic', { authorization: `Basic ${Buffer.from(`${KEYS.shop}:`).toString('base64')}` }],
  ['in a cookie', { cookie: `key=${KEYS.shop}` }],
  ['when it is unknown', { authorization: `ApiKey ${SECRET}` }],
  ['in the query', {}]
])(
  'a key %s is refused, and neither answered nor logged',
  async (_place, headers: Record<string, string>) => {
    const mock = await useLoggedMock()
    const names = [
      'apiKey',
      'api_key',
      'key',
      'x-api-key',
      'authorization',
      'access_token',
      'secretKey'
    ]
    const query = (value: string) => names.map((name) => `${name}=${value}`).join('&')
    for (const path of ['/v1/messages', '/v1/nope', '/v1/%zz']) {
      const answer = await mock.get(`${path}?limit=1&${query(KEYS.shop)}`, { key: null, headers })
      expect(answer.json.path).toBe(`${path}?limit=1&${query('***')}`)
      const outputs = [
        answer.text,
        JSON.stringify([...answer.headers]),
        JSON.stringify(mock.log)
      ].join('\n')
      for (const secret of [
        KEYS.shop,
        SECRET,
        Buffer.from(KEYS.shop).toString('base64').slice(0, -4)
      ]) {
        expect(outputs).not.toContain(secret)
      }
    }
    expect(mock.log.some(({ msg }) => msg === 'request rejected')).toBe(true)
  }
)
