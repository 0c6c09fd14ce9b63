import { type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { type TestMock, useMock } from '../support/mock.js'

/** Requests that other clients send, as measured or read from their source code. */

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
  // biome-ignore lint/suspicious/noExplicitAny: clients without types read it
  json: any
}

/** Sends exactly these headers, plus Host and Connection, and allows a body with any method. */
async function send(
  mock: TestMock,
  path: string,
  { method = 'GET', headers = {}, body }: Sent = {}
): Promise<Received> {
  const { port } = mock
  return new Promise((resolve, reject) => {
    const sending = request({
      port,
      path,
      method,
      headers: { Authorization: 'ApiKey SECRET', ...headers }
    })
    sending.on('error', reject)
    sending.on('response', (response) => {
      const { statusCode: status } = response
      text(response).then((body) => resolve({ status, json: JSON.parse(body) }), reject)
    })
    sending.end(body)
  })
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const OF_NODE = {
  ...{ Accept: 'application/json, text/plain, */*', 'User-Agent': 'axios/1.21.1' },
  'Accept-Encoding': 'gzip, compress, deflate, br'
}
const OF_API = {
  ...{ accept: 'application/json', cookie: '', 'idempotency-key': '1795212488633vypnqfoyn' },
  ...{
    'user-agent': 'speakeasy-sdk/typescript 3.19.1 2.933.0 3.19.0 @novu/api',
    'sec-fetch-mode': 'cors'
  }
}
const OF_CSHARP = {
  Authorization: 'apikey SECRET',
  'idempotency-key': '0f8fad5b-d9cb-469f-a165-70867728950e'
}
const ALL = [`POST ${SET_PRIMARY}`, 'GET /v1/messages', `GET ${STEP}`]
const LISTS = ['page=0.0&limit=10.0', 'limit=25.0&page=0.0', 'limit=1000.00&page=0.0'].map(
  (q) => `GET /v1/messages?${q}`
)

test.each<
  [client: string, what: string, headers: OutgoingHttpHeaders, calls: string[], body?: string]
>([
  [
    '@novu/node',
    'an empty JSON object as body',
    { ...OF_NODE, ...JSON_TYPE },
    ALL.slice(0, 1),
    '{}'
  ],
  ['@novu/node', 'headers of axios', OF_NODE, ALL.slice(1)],
  ['the Java and the Python client', 'page and limit as doubles', {}, LISTS],
  ['the C# client', 'the scheme in lower case and a GUID as key', OF_CSHARP, ALL],
  [
    'the old PHP client',
    'a JSON content type with no body',
    { ...JSON_TYPE, 'Content-Length': '0' },
    ALL
  ],
  [
    'the old PHP client',
    'a JSON content type with no chunks',
    { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' },
    ALL.slice(0, 1)
  ],
  ['the old PHP client', 'a JSON content type with no body and no length', JSON_TYPE, ALL],
  [
    'the Ruby client',
    'its options as a form, which is ignored',
    FORM,
    ALL,
    'page=7&limit=1&channel=sms'
  ],
  [
    'the Go client',
    'header names in capitals',
    { AUTHORIZATION: 'ApiKey SECRET', ACCEPT: 'application/json' },
    ALL
  ],
  ['@novu/api', 'an empty cookie, and a key with all requests', OF_API, ALL]
])('%s sends %s and gets the usual response', async (_client, _what, headers, calls, body) => {
  const mock = await useMock({ seed: SEED })
  for (const call of calls) {
    const [method = '', path = ''] = call.split(' ')
    const plain = await mock.call(path, { method })
    const length = body === undefined ? {} : { 'Content-Length': String(body.length) }
    const { status, json } = await send(mock, path, {
      method,
      headers: { ...headers, ...length },
      ...(body && { body })
    })
    expect([call, status]).toEqual([call, 200])
    expect(json).toEqual(plain.json)
  }
})

test('@novu/node sends `+` for a space, brackets for a list, and unescaped commas', async () => {
  const mock = await useMock({ seed: SEED })
  const filters =
    'subscriberId=sub+1%2F%C3%BC&channel=email&transactionId%5B%5D=tx-a&transactionId%5B%5D=tx,b'
  const page = await send(mock, `/v1/messages?page=0&limit=25&${filters}`, { headers: OF_NODE })
  expect(page.json.data.map((message: { transactionId: string }) => message.transactionId)).toEqual(
    ['tx-a', 'tx,b']
  )
  const past = await send(mock, `/v1/messages?page=2&limit=25&${filters}`, { headers: OF_NODE })
  expect(past.json).toMatchObject({
    data: [],
    page: 2,
    pageSize: 25,
    totalCount: 2,
    hasMore: false
  })
})
