import { expect, test } from 'vitest'
import { hintsOf } from '../../src/client/hints.js'
import {
  type Change,
  connect,
  type Environment,
  type Hint,
  type RecordedRequest
} from '../../src/client/index.js'
import { MAILGUN, SENDGRID, setPrimary } from '../support/control.js'
import { useMock } from '../support/mock.js'

const summaryOf = (hints: Hint[]) => hints.map(({ id, requests }) => [id, requests])

/**
 * Creates an environment, and functions that send requests to it. The functions don't throw if a
 * response is lost.
 */
async function createEnvironment() {
  const { url } = await useMock()
  const env = await connect(url).environment({ from: 'Development' })
  const send = (path: string, init: RequestInit = {}) =>
    fetch(env.url + path, { ...init, headers: { ...env.headers, ...init.headers } }).catch(() => {})
  const post = (path: string, key?: string) =>
    send(path, { method: 'POST', ...(key && { headers: { 'idempotency-key': key } }) })
  return { env, send, post }
}

const findHints = async ({ requests }: Environment) =>
  hintsOf(await requests.list(), await requests.changes())

const LIST = '/v1/messages'
const MISSING = '/v2/workflows/none/steps/none'
type Client = Awaited<ReturnType<typeof createEnvironment>>

const NORMAL_PROGRAMS: Record<string, (client: Client) => Promise<unknown>> = {
  'shows the first page': ({ send }) => send(LIST),
  'shows the newest five emails': ({ send }) => send(`${LIST}?channel=email&limit=5`),
  async 'pages to the end'({ send }) {
    for (const page of [0, 1, 2, 3, 4, 5]) await send(`${LIST}?page=${page}`)
  },
  async 'counts the emails, then pages through all messages'({ send }) {
    await send(`${LIST}?channel=email&limit=1`)
    for (const page of [0, 1]) await send(`${LIST}?page=${page}`)
  },
  async 'lists again after a change'({ send, post }) {
    await send(LIST)
    await post(setPrimary(MAILGUN), 'one')
    await send(LIST)
  },
  async 'switches the primary integration twice, each time with a new idempotency key'({ post }) {
    await post(setPrimary(MAILGUN), 'one')
    await post(setPrimary(SENDGRID), 'two')
  },
  async 'retries with the same idempotency key'({ env, post }) {
    await env.faults.add({ effect: { lostResponse: true } })
    for (const _ of [1, 2]) await post(setPrimary(MAILGUN), 'same')
  },
  async 'retries after a 503'({ env, send }) {
    await env.faults.add({ effect: { status: 503 }, times: 2 })
    for (const _ of [1, 2, 3]) await send(LIST)
  },
  async 'looks for two missing steps'({ send }) {
    await send(MISSING)
    await send(`${MISSING}-either`)
  },
  async 'corrects a rejected request'({ send }) {
    await send(`${LIST}?limit=0`)
    await send(`${LIST}?limit=10`)
  }
}

test.each(Object.keys(NORMAL_PROGRAMS))('gives no hint for a program that %s', async (name) => {
  const client = await createEnvironment()
  await NORMAL_PROGRAMS[name]?.(client)
  expect(await findHints(client.env)).toEqual([])
})

const WAYS_OUT = '; add a stub, or forward such requests with --fallback'

test('gives one hint for each path that is not mocked', async () => {
  const { env, send, post } = await createEnvironment()
  for (const path of ['/v1/subscribers', '/v1/subscribers', '/v1/topics']) await send(path)
  await post('/v1/messages')
  expect(await findHints(env)).toEqual([
    {
      id: 'path-not-mocked',
      message: `GET /v1/subscribers is not mocked${WAYS_OUT}`,
      requests: [1, 2]
    },
    { id: 'path-not-mocked', message: `GET /v1/topics is not mocked${WAYS_OUT}`, requests: [3] },
    {
      id: 'path-not-mocked',
      message: 'POST /v1/messages is not mocked, but other methods of this path are',
      requests: [4]
    }
  ])
})

test('gives a hint for an unknown parameter, and suggests the closest known name', async () => {
  const { env, send } = await createEnvironment()
  await send('/v1/messages?chanel=email&zzz=1&limit=100')
  await send('/v1/messages?zzz=1&limit=100')
  expect(await findHints(env)).toEqual([
    {
      id: 'unknown-parameter',
      message: 'listMessages has no parameter chanel; did you mean channel?',
      requests: [1]
    },
    { id: 'unknown-parameter', message: 'listMessages has no parameter zzz', requests: [1, 2] }
  ])
})

test('gives no hint for the parameters of a request that a stub responds to', async () => {
  const { env, send } = await createEnvironment()
  await env.stubs.add({ method: 'GET', path: '/v1/topics' })
  await send('/v1/topics?page=1')
  expect(await findHints(env)).toEqual([])
})

test('gives a hint for an idempotency key that is reused for a different request', async () => {
  const { env, post } = await createEnvironment()
  for (const id of [MAILGUN, MAILGUN, SENDGRID]) await post(setPrimary(id), 'same')
  await post(setPrimary(SENDGRID), 'other')
  expect(summaryOf(await findHints(env))).toEqual([['idempotency-key-reused', [1, 2, 3]]])
})

test('gives a hint for a retry without an idempotency key after a lost response', async () => {
  const { env, post } = await createEnvironment()
  const loseNextResponse = () => env.faults.add({ effect: { lostResponse: true } })
  await loseNextResponse()
  for (const _ of [1, 2]) await post(setPrimary(MAILGUN), 'safe')
  expect(await findHints(env)).toEqual([])
  await loseNextResponse()
  for (const _ of [1, 2]) await post(setPrimary(SENDGRID))
  expect(summaryOf(await findHints(env))).toEqual([['unsafe-retry', [3, 4]]])
})

test('gives a hint for a repeated client error', async () => {
  const { env, send } = await createEnvironment()
  const missingStep = '/v2/workflows/none/steps/none'
  await send(missingStep)
  await send('/v1/messages?limit=0')
  await send(missingStep)
  expect(summaryOf(await findHints(env))).toEqual([['repeated-error', [1, 3]]])
})

test('gives no hint for injected errors, or for an error that recurs after a change', async () => {
  const { env, send } = await createEnvironment()
  const missingStep = '/v2/workflows/none/steps/none'
  await env.faults.add({ effect: { status: 404 }, times: 3 })
  for (const _ of [1, 2, 3]) await send('/v1/messages?limit=100')
  await send(missingStep)
  await env.clock.advance('1h')
  await send(missingStep)
  expect(await findHints(env)).toEqual([])
})

const request = (sequence: number, fields: Partial<RecordedRequest>): RecordedRequest => ({
  ...{
    sequence,
    time: '',
    arrived: '',
    method: 'GET',
    path: '/v1/messages',
    query: {},
    headers: {},
    flags: {}
  },
  ...{ unknown: { query: [], headers: [] } },
  ...fields
})

test('gives a hint for more than 20 identical requests within 2 seconds', async () => {
  const requestsEvery = (milliseconds: number, count: number) =>
    Array.from({ length: count }, (_, index) =>
      request(index + 1, {
        status: 200,
        arrived: new Date(1e12 + index * milliseconds).toISOString()
      })
    )
  expect(hintsOf(requestsEvery(100, 21))).toMatchObject([
    { id: 'many-requests', message: 'GET /v1/messages was sent 21 times within 2 seconds' }
  ])
  expect(hintsOf(requestsEvery(101, 50))).toEqual([])
  expect(hintsOf(requestsEvery(1, 20))).toEqual([])
  const mixed = requestsEvery(1, 40).map((sent, index) => ({ ...sent, path: `/v1/${index % 2}` }))
  expect(hintsOf(mixed)).toEqual([])
})

test('gives a `page-not-requested` hint only if the app pages through a later list', async () => {
  const { env, send } = await createEnvironment()
  await send('/v1/messages?limit=5')
  expect(await findHints(env)).toEqual([])
  await send('/v1/messages?channel=email&limit=5')
  await send('/v1/messages?channel=email&limit=5&page=1')
  expect(summaryOf(await findHints(env))).toEqual([['page-not-requested', [1]]])
})

test('gives a hint if a page from another origin sent the API key', async () => {
  const { env, send } = await createEnvironment()
  const origin = 'http://localhost:3000'
  for (const page of [0, 1]) await send(`/v1/messages?page=${page}`, { headers: { origin } })
  expect(await findHints(env)).toEqual([
    {
      id: 'called-from-a-page',
      message: expect.stringContaining(`a web page at ${origin} sent the API key`),
      requests: [1, 2]
    }
  ])
})

test('gives no hint for requests from the inspector or through the proxy of a dev server', () => {
  const mock = { host: '127.0.0.1:4210', origin: 'http://127.0.0.1:4210' }
  const proxied = { ...mock, origin: 'http://localhost:5173', 'sec-fetch-site': 'same-origin' }
  const requests = [mock, proxied].map((headers) => request(1, { status: 200, headers }))
  expect(hintsOf(requests)).toEqual([])
})

test('gives no hint for a repeated error if a change was made between the requests', () => {
  const requests = [1, 2].map((sequence) => request(sequence, { status: 404 }))
  const change = (after: number): Change => ({ sequence: 1, time: '', after, summary: 'any' })
  for (const changes of [[], [change(0)]])
    expect(summaryOf(hintsOf(requests, changes))).toEqual([['repeated-error', [1, 2]]])
  expect(hintsOf(requests, [change(1)])).toEqual([])
})
