import { type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { type TestMock, useMock } from '../support/mock.js'

/**
 * These tests send the same requests as various Novu clients. The requests were captured, or taken
 * from the clients' source code.
 */

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

interface RequestOptions {
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string
}

interface ReceivedResponse {
  status: number | undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests read the response without types
  json: any
}

/**
 * Sends a request with the API key and these headers. Unlike `fetch`, adds no headers such as
 * `accept` or `user-agent`, and allows a body with any method.
 */
async function send(
  mock: TestMock,
  path: string,
  { method = 'GET', headers = {}, body }: RequestOptions = {}
): Promise<ReceivedResponse> {
  const { port } = mock
  return new Promise((resolve, reject) => {
    const outgoing = request({
      port,
      path,
      method,
      headers: { Authorization: 'ApiKey SECRET', ...headers }
    })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      const { statusCode: status } = response
      text(response).then((body) => resolve({ status, json: JSON.parse(body) }), reject)
    })
    outgoing.end(body)
  })
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const NODE_HEADERS = {
  ...{ Accept: 'application/json, text/plain, */*', 'User-Agent': 'axios/1.21.1' },
  'Accept-Encoding': 'gzip, compress, deflate, br'
}
const API_HEADERS = {
  ...{ accept: 'application/json', cookie: '', 'idempotency-key': '1795212488633vypnqfoyn' },
  ...{
    'user-agent': 'speakeasy-sdk/typescript 3.19.1 2.933.0 3.19.0 @novu/api',
    'sec-fetch-mode': 'cors'
  }
}
const CSHARP_HEADERS = {
  Authorization: 'apikey SECRET',
  'idempotency-key': '0f8fad5b-d9cb-469f-a165-70867728950e'
}
const ALL_CALLS = [`POST ${SET_PRIMARY}`, 'GET /v1/messages', `GET ${STEP}`]
const LISTS = ['page=0.0&limit=10.0', 'limit=25.0&page=0.0', 'limit=1000.00&page=0.0'].map(
  (q) => `GET /v1/messages?${q}`
)

test.each<
  [
    client: string,
    peculiarity: string,
    headers: OutgoingHttpHeaders,
    calls: string[],
    body?: string
  ]
>([
  [
    '@novu/node',
    'an empty JSON object as the body',
    { ...NODE_HEADERS, ...JSON_TYPE },
    ALL_CALLS.slice(0, 1),
    '{}'
  ],
  ['@novu/node', 'the headers of axios', NODE_HEADERS, ALL_CALLS.slice(1)],
  [
    'the Java or Python client',
    'page and limit as numbers with decimal places, such as 10.0',
    {},
    LISTS
  ],
  [
    'the C# client',
    'the scheme `apikey` in lower case and a GUID as the idempotency key',
    CSHARP_HEADERS,
    ALL_CALLS
  ],
  [
    'the old PHP client',
    'a JSON content type and an empty body',
    { ...JSON_TYPE, 'Content-Length': '0' },
    ALL_CALLS
  ],
  [
    'the old PHP client',
    'a JSON content type and an empty chunked body',
    { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' },
    ALL_CALLS.slice(0, 1)
  ],
  ['the old PHP client', 'a JSON content type without a body or a length', JSON_TYPE, ALL_CALLS],
  [
    'the Ruby client',
    'a form body, which the server ignores',
    FORM,
    ALL_CALLS,
    'page=7&limit=1&channel=sms'
  ],
  [
    'the Go client',
    'header names in capitals',
    { AUTHORIZATION: 'ApiKey SECRET', ACCEPT: 'application/json' },
    ALL_CALLS
  ],
  ['@novu/api', 'an empty cookie and an idempotency key', API_HEADERS, ALL_CALLS]
])(
  '%s gets the usual response if it sends %s',
  async (_client, _peculiarity, headers, calls, body) => {
    const mock = await useMock({ seed: SEED })
    for (const call of calls) {
      const [method = '', path = ''] = call.split(' ')
      const usual = await mock.call(path, { method })
      const length = body === undefined ? {} : { 'Content-Length': String(body.length) }
      const { status, json } = await send(mock, path, {
        method,
        headers: { ...headers, ...length },
        ...(body && { body })
      })
      expect([call, status]).toEqual([call, 200])
      expect(json).toEqual(usual.json)
    }
  }
)

test('reads queries of @novu/node, which contain `+`, `[]` and unescaped commas', async () => {
  const mock = await useMock({ seed: SEED })
  const filters =
    'subscriberId=sub+1%2F%C3%BC&channel=email&transactionId%5B%5D=tx-a&transactionId%5B%5D=tx,b'
  const page = await send(mock, `/v1/messages?page=0&limit=25&${filters}`, {
    headers: NODE_HEADERS
  })
  expect(page.json.data.map((message: { transactionId: string }) => message.transactionId)).toEqual(
    ['tx-a', 'tx,b']
  )
  const pastEnd = await send(mock, `/v1/messages?page=2&limit=25&${filters}`, {
    headers: NODE_HEADERS
  })
  expect(pastEnd.json).toMatchObject({
    data: [],
    page: 2,
    pageSize: 25,
    totalCount: 2,
    hasMore: false
  })
})
