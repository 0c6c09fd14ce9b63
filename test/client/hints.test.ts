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

const about = (hints: Hint[]) => hints.map(({ id, requests }) => [id, requests])

/** Creates an environment and functions that send requests and ignore a lost response. */
async function given() {
  const { url } = await useMock()
  const env = await connect(url).environment({ from: 'Development' })
  const send = (path: string, init: RequestInit = {}) =>
    fetch(env.url + path, { ...init, headers: { ...env.headers, ...init.headers } }).catch(() => {})
  const post = (path: string, key?: string) =>
    send(path, { method: 'POST', ...(key && { headers: { 'idempotency-key': key } }) })
  return { env, send, post }
}

const found = async ({ requests }: Environment) =>
  hintsOf(await requests.list(), await requests.changes())

test('gives no hints for correct requests', async () => {
  const { env, send, post } = await given()
  await send('/v1/messages?channel=email&limit=50')
  for (const page of [0, 1]) await send(`/v1/messages?page=${page}`)
  await post(setPrimary(MAILGUN), 'one')
  await post(setPrimary(MAILGUN), 'one')
  await post(setPrimary(SENDGRID), 'two')
  await send('/v2/workflows/none/steps/none')
  await send('/v2/workflows/none/steps/other')
  expect(await found(env)).toEqual([])
})

test('gives one hint for each path that is not mocked', async () => {
  const { env, send, post } = await given()
  for (const path of ['/v1/subscribers', '/v1/subscribers', '/v1/topics']) await send(path)
  await post('/v1/messages')
  expect(await found(env)).toEqual([
    { id: 'path-not-mocked', message: 'GET /v1/subscribers is not mocked', requests: [1, 2] },
    { id: 'path-not-mocked', message: 'GET /v1/topics is not mocked', requests: [3] },
    {
      id: 'path-not-mocked',
      message: 'POST /v1/messages is not mocked, but other methods of this path are',
      requests: [4]
    }
  ])
})

test('gives a hint for an unknown parameter, with the likely intended name', async () => {
  const { env, send } = await given()
  await send('/v1/messages?chanel=email&zzz=1&limit=100')
  await send('/v1/messages?zzz=1&limit=100')
  expect(await found(env)).toEqual([
    {
      id: 'unknown-parameter',
      message: 'listMessages has no parameter chanel; did you mean channel?',
      requests: [1]
    },
    { id: 'unknown-parameter', message: 'listMessages has no parameter zzz', requests: [1, 2] }
  ])
})

test('gives a hint for an idempotency key that is reused with a different request', async () => {
  const { env, post } = await given()
  for (const id of [MAILGUN, MAILGUN, SENDGRID]) await post(setPrimary(id), 'same')
  await post(setPrimary(SENDGRID), 'other')
  expect(about(await found(env))).toEqual([['idempotency-key-reused', [1, 2, 3]]])
})

test('gives a hint for a set-primary request retried after a lost response without an idempotency key', async () => {
  const { env, post } = await given()
  const loseOne = () => env.faults.add({ effect: { lostResponse: true } })
  await loseOne()
  for (const _ of [1, 2]) await post(setPrimary(MAILGUN), 'safe')
  expect(await found(env)).toEqual([])
  await loseOne()
  for (const _ of [1, 2]) await post(setPrimary(SENDGRID))
  expect(about(await found(env))).toEqual([['unsafe-retry', [3, 4]]])
})

test('gives a hint for a repeated client error, unless it is injected or the data or clock changed between', async () => {
  const { env, send } = await given()
  const none = '/v2/workflows/none/steps/none'
  await send(none)
  await send('/v1/messages?limit=0')
  await send(none)
  expect(about(await found(env))).toEqual([['repeated-error', [1, 3]]])
  await env.requests.clear()
  await env.faults.add({ effect: { status: 404 }, times: 3 })
  for (const _ of [1, 2, 3]) await send('/v1/messages?limit=100')
  await send(none)
  await env.clock.advance('1h')
  await send(none)
  expect(await found(env)).toEqual([])
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

test('gives a hint for more than 20 equal requests within 2 seconds of real time', async () => {
  const every = (milliseconds: number, count: number) =>
    Array.from({ length: count }, (_, index) =>
      request(index + 1, {
        status: 200,
        arrived: new Date(1e12 + index * milliseconds).toISOString()
      })
    )
  expect(hintsOf(every(100, 21))).toMatchObject([
    { id: 'many-requests', message: 'GET /v1/messages was sent 21 times within 2 seconds' }
  ])
  expect(hintsOf(every(101, 50))).toEqual([])
  expect(hintsOf(every(1, 20))).toEqual([])
  const mixed = every(1, 40).map((each, index) => ({ ...each, path: `/v1/${index % 2}` }))
  expect(hintsOf(mixed)).toEqual([])
})

test('gives a hint for a first page with more results if no other page with the same filters is requested', async () => {
  const { env, send } = await given()
  await send('/v1/messages?limit=5')
  await send('/v1/messages?channel=email&limit=5')
  await send('/v1/messages?channel=email&limit=5&page=1')
  expect(about(await found(env))).toEqual([['page-not-requested', [1]]])
})

test('a change counts only after the request that precedes it', () => {
  const both = [1, 2].map((sequence) => request(sequence, { status: 404 }))
  const change = (after: number): Change => ({ sequence: 1, time: '', after, summary: 'any' })
  for (const changes of [[], [change(0)]])
    expect(about(hintsOf(both, changes))).toEqual([['repeated-error', [1, 2]]])
  expect(hintsOf(both, [change(1)])).toEqual([])
})
