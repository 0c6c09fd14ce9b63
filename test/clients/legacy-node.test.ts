import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { type GivenMock, givenMock } from '../support/mock.js'

/** What clients that are not installed here put on the wire, as they were measured or read. */

const MAIL = '66f1c2a47c9b1a0012ad0001'
const SET_PRIMARY = `/v1/integrations/${MAIL}/set-primary`
const STEP = '/v2/workflows/w/steps/s'

const SEED = {
  environments: [
    {
      name: 'Shop',
      apiKeys: ['SECRET'],
      integrations: [{ _id: MAIL, identifier: 'mail', providerId: 'ses', channel: 'email' }],
      subscribers: [{ subscriberId: 'sub 1/ü' }],
      workflows: [{ identifier: 'w', steps: [{ stepId: 's', type: 'email' }] }],
      messages: [
        { channel: 'email', subscriberId: 'sub 1/ü', transactionId: 'tx-a' },
        { channel: 'email', subscriberId: 'sub 1/ü', transactionId: 'tx,b' },
        { channel: 'email', subscriberId: 'sub 1/ü', transactionId: 'tx' },
        { channel: 'sms', transactionId: 'tx-a' }
      ]
    }
  ]
}

interface Sent {
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string
}

interface Received {
  status: number | undefined
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: what a client without types reads
  json: any
}

/** Sends exactly these headers, besides Host and Connection, and a body with any method. */
async function send(
  mock: GivenMock,
  path: string,
  { method = 'GET', headers = {}, body }: Sent = {}
): Promise<Received> {
  const { port } = mock
  return new Promise((resolve, reject) => {
    const sending = request({ port, path, method, headers: { Authorization: 'ApiKey SECRET', ...headers } })
    sending.on('error', reject)
    sending.on('response', (response) => {
      const { statusCode: status, headers } = response
      text(response).then((body) => resolve({ status, headers, json: JSON.parse(body) }), reject)
    })
    sending.end(body)
  })
}

const AXIOS = {
  Accept: 'application/json, text/plain, */*',
  'User-Agent': 'axios/1.21.1',
  'Accept-Encoding': 'gzip, compress, deflate, br'
}

describe('@novu/node', () => {
  test('sets a primary with an empty JSON object as body', async () => {
    const mock = await givenMock({ seed: SEED })
    const headers = { ...AXIOS, 'Content-Type': 'application/json', 'Content-Length': '2' }
    const { status, json } = await send(mock, SET_PRIMARY, { method: 'POST', headers, body: '{}' })
    expect(status).toBe(200)
    expect(json).toMatchObject({ _id: MAIL, primary: true })
  })

  test('finds the object under `data` in `live`, and the page bare', async () => {
    const mock = await givenMock({ seed: SEED, profile: 'live' })
    const headers = { ...AXIOS, 'Content-Type': 'application/json' }
    const { json } = await send(mock, SET_PRIMARY, { method: 'POST', headers, body: '{}' })
    expect(json.data).toMatchObject({ _id: MAIL, primary: true })
    expect((await send(mock, '/v1/messages', { headers: AXIOS })).json).toMatchObject({ hasMore: false, page: 0 })
  })

  test('filters with `+` for a space, brackets for a list, and commas as they are', async () => {
    const mock = await givenMock({ seed: SEED })
    const filters = 'subscriberId=sub+1%2F%C3%BC&channel=email&transactionId%5B%5D=tx-a&transactionId%5B%5D=tx,b'
    const found = await send(mock, `/v1/messages?page=0&limit=25&${filters}`, { headers: AXIOS })
    expect(found.json.data.map((each: { transactionId: string }) => each.transactionId)).toEqual(['tx-a', 'tx,b'])
    const past = await send(mock, `/v1/messages?page=2&limit=25&${filters}`, { headers: AXIOS })
    expect(past.json).toMatchObject({ data: [], page: 2, pageSize: 25, totalCount: 2, hasMore: false })
  })

  test('lists without any parameter', async () => {
    const mock = await givenMock({ seed: SEED })
    expect((await send(mock, '/v1/messages', { headers: AXIOS })).json).toMatchObject({ page: 0, pageSize: 10 })
  })

  test('sends a UUID as key with a POST when it is told to retry, and is answered from the store', async () => {
    const mock = await givenMock({ seed: SEED })
    const key = '3f2b7c1e-8f0a-4f5e-9a63-0c9b0e7d5a11'
    const headers = { ...AXIOS, 'Content-Type': 'application/json', 'Idempotency-Key': key }
    const post = () => send(mock, SET_PRIMARY, { method: 'POST', headers, body: '{}' })
    const [first, replay] = [await post(), await post()]
    expect(first.headers).toMatchObject({ 'idempotency-key': key })
    expect(replay).toMatchObject({ status: 200, json: first.json, headers: { 'idempotency-replay': 'true' } })
  })

  test.each([
    ['a trailing slash', '//v1/messages'],
    ['a `/v1`', '/v1/v1/messages']
  ])('is told what is wrong with a base URL that ends in %s', async (_fault, path) => {
    const mock = await givenMock({ seed: SEED })
    const { status, headers, json } = await send(mock, path, { headers: AXIOS })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(headers['x-mock-reason']).toContain('did you mean /v1/messages?')
    expect(json).toMatchObject({ statusCode: status, path })
  })
})

describe('the Java and the Python client', () => {
  test.each(['page=0.0&limit=10.0', 'limit=25.0&page=0.0', 'limit=1000.00&page=0.0'])(
    'send page and limit as doubles: %s',
    async (query) => {
      const mock = await givenMock({ seed: SEED })
      const { status, json } = await send(mock, `/v1/messages?${query}`)
      expect(status).toBe(200)
      expect(json).toMatchObject({ page: 0, pageSize: Number.parseInt(query.match(/limit=(\d+)/)?.[1] ?? '', 10) })
    }
  )
})

describe('the C# client', () => {
  test('writes the scheme in lower case and a GUID as key, and is let in by `document` on all three', async () => {
    const mock = await givenMock({ seed: SEED })
    const headers = { Authorization: 'apikey SECRET', 'idempotency-key': '0f8fad5b-d9cb-469f-a165-70867728950e' }
    for (const [path, method] of [
      [SET_PRIMARY, 'POST'],
      ['/v1/messages', 'GET'],
      [STEP, 'GET']
    ] as const) {
      expect((await send(mock, path, { method, headers })).status, path).toBe(200)
    }
  })

  test('is refused by `live`, with the scheme it wrote', async () => {
    const mock = await givenMock({ seed: SEED, profile: 'live' })
    const { status, json } = await send(mock, '/v1/messages', { headers: { Authorization: 'apikey SECRET' } })
    expect(status).toBe(401)
    expect(json.message).toBe('Invalid authentication scheme: "apikey"')
  })
})

describe('the PHP client of old', () => {
  test.each([
    ['POST', SET_PRIMARY, { 'Content-Length': '0' }],
    ['POST', SET_PRIMARY, { 'Transfer-Encoding': 'chunked' }],
    ['POST', SET_PRIMARY, {}],
    ['GET', '/v1/messages', {}],
    ['GET', '/v1/messages', { 'Content-Length': '0' }],
    ['GET', STEP, {}]
  ])('calls %s %s JSON with no body at all (%o)', async (method, path, length) => {
    const mock = await givenMock({ seed: SEED })
    const headers = { 'Content-Type': 'application/json', ...length }
    expect((await send(mock, path, { method, headers })).status).toBe(200)
  })
})

describe('the Ruby client', () => {
  test.each([
    ['GET', '/v1/messages'],
    ['GET', STEP],
    ['POST', SET_PRIMARY]
  ])('sends its options as a form, also with %s %s: the form is ignored', async (method, path) => {
    const mock = await givenMock({ seed: SEED })
    const plain = await mock.call(path, { method })
    const body = 'page=7&limit=1&channel=sms'
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(body.length) }
    const { status, json } = await send(mock, path, { method, headers, body })
    expect(status).toBe(200)
    expect(json).toEqual(plain.json)
  })
})

describe('the Go client', () => {
  test('writes header names in capitals', async () => {
    const mock = await givenMock({ seed: SEED })
    const headers = { AUTHORIZATION: 'ApiKey SECRET', 'Idempotency-Key': 'once', ACCEPT: 'application/json' }
    const { status, headers: answered } = await send(mock, SET_PRIMARY, { method: 'POST', headers })
    expect(status).toBe(200)
    expect(answered['idempotency-key']).toBe('once')
  })
})

describe('@novu/api', () => {
  test.each([
    ['POST', SET_PRIMARY, { 'content-length': '0' }],
    ['GET', '/v1/messages?limit=10&page=0', {}],
    ['GET', STEP, {}]
  ])('sends an empty cookie with %s %s', async (method, path, length) => {
    const mock = await givenMock({ seed: SEED })
    const headers = {
      accept: 'application/json',
      authorization: 'ApiKey SECRET',
      cookie: '',
      'user-agent': 'speakeasy-sdk/typescript 3.19.1 2.933.0 3.19.0 @novu/api',
      'idempotency-key': '1795212488633vypnqfoyn',
      'accept-language': '*',
      'sec-fetch-mode': 'cors',
      'accept-encoding': 'gzip, deflate',
      ...length
    }
    expect((await send(mock, path, { method, headers })).status).toBe(200)
  })
})
