import { expect, test } from 'vitest'
import { BlockPool, ResponseStore, storedBytes } from '../../src/journal/response-store.js'
import type { RecordedExchange } from '../../src/journal/schemas.js'
import { addFault, journalOf, MAILGUN, SENDGRID, send, setPrimary } from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

async function exchangeOf(mock: TestMock, sequence = 1): Promise<RecordedExchange> {
  return (await mock.get(`/_mock/requests/${sequence}`)).json
}

test('keeps the status, headers and body that the client received', async () => {
  const mock = await useMock()
  const rejected = await mock.get('/v1/messages?limit=5000')
  const { response, ...request } = await exchangeOf(mock)
  expect(request).toEqual((await journalOf(mock))[0])
  expect(response).toMatchObject({ status: 422, body: rejected.text })
  expect(response?.headers).toEqual(Object.fromEntries(rejected.headers))
  expect(response).not.toHaveProperty('truncated')
})

test('keeps the first 16 KiB of a long response, up to the last complete word', async () => {
  const mock = await useMock()
  await send(mock, 'POST', '/_mock/messages', { channel: 'sms', content: 'word '.repeat(6000) })
  const { text } = await mock.get('/v1/messages?limit=1')
  const { response, size } = await exchangeOf(mock)
  expect(response?.truncated).toBe(true)
  expect(size).toBe(Buffer.byteLength(text))
  const length = Buffer.byteLength(response?.body ?? '')
  expect(length).toBeLessThanOrEqual(16_384)
  expect(length).toBeGreaterThan(16_384 - 'word '.length)
  expect(text.startsWith(response?.body ?? '?')).toBe(true)
  expect(response?.body?.endsWith('word ')).toBe(true)
})

test('returns unauthenticated requests with their responses', async () => {
  const mock = await useMock()
  const { text } = await mock.get('/v1/messages', { key: null })
  const [{ sequence }] = (await mock.get('/_mock/requests/unauthenticated')).json.requests.slice(-1)
  const exchange = await mock.get(`/_mock/requests/unauthenticated/${sequence}`)
  expect(exchange.json).toMatchObject({ sequence, response: { status: 401, body: text } })
})

test('responds with 404 for an unknown sequence number', async () => {
  const mock = await useMock()
  const missing = await mock.get('/_mock/requests/9')
  expect([missing.status, missing.json.message]).toEqual([404, 'Request 9 not found'])
})

test('redacts credentials and signing keys in responses', async () => {
  const mock = await useMock()
  const { json } = await mock.post(setPrimary(MAILGUN))
  expect(Object.keys(json.credentials).length).toBeGreaterThan(2)
  const { response } = await exchangeOf(mock)
  const recorded = JSON.parse(response?.body ?? '')
  expect(
    new Set(Object.values(recorded.credentials).filter((value) => typeof value === 'string'))
  ).toEqual(new Set(['***']))
  expect(recorded.configurations.inboundWebhookSigningKey).toBe('***')
  expect({ ...recorded, credentials: 0, configurations: 0 }).toEqual({
    ...json,
    credentials: 0,
    configurations: 0
  })
})

test('shows no response for a request whose response was lost', async () => {
  const mock = await useMock()
  await addFault(mock, { effect: { lostResponse: true } })
  await mock.get('/v1/messages').catch(() => {})
  expect(await exchangeOf(mock)).not.toHaveProperty('response')
})

test('if a fault truncates a response, shows only the half that the client received', async () => {
  const mock = await useMock()
  // Add a message with nothing to redact, because redaction would change the length of the body.
  await send(mock, 'POST', '/_mock/messages', { channel: 'sms' })
  await addFault(mock, { effect: { abort: 'truncate' } })
  await mock.get('/v1/messages?limit=1').catch(() => {})
  const { response: half, size = 0 } = await exchangeOf(mock)
  expect(half?.status).toBe(200)
  expect(Buffer.byteLength(half?.body ?? '')).toBe(size)
  expect(Number(half?.headers['content-length'])).toBeGreaterThanOrEqual(size * 2)
})

test('shows no body in the response to a HEAD request', async () => {
  const mock = await useMock()
  await mock.call('/v1/messages', { method: 'HEAD' })
  const { response: head } = await exchangeOf(mock)
  expect(head).toMatchObject({
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' }
  })
  expect(Object.keys(head ?? {})).toEqual(['status', 'headers'])
})

/**
 * Stores bodies of 16 KiB. Consecutive bodies differ, because the store wouldn't store a repeated
 * body again.
 */
const keepMany = (store: ResponseStore, count: number) =>
  Array.from({ length: count }, (_, index) => store.keep(Buffer.alloc(16_384, index % 251)))

test('keeps the newest 16 MiB of responses per journal, and 128 MiB per server', () => {
  const pool = new BlockPool()
  const first = keepMany(new ResponseStore(pool), 1500)
  const kept = first.map(storedBytes)
  expect(kept.findIndex((bytes) => bytes !== undefined)).toBe(1500 - 1024)
  for (const [index, bytes] of kept.entries())
    if (bytes) expect(bytes.equals(Buffer.alloc(16_384, index % 251))).toBe(true)
  const journals = Array.from({ length: 8 }, () => keepMany(new ResponseStore(pool), 1024))
  const counts = journals.map(
    (bodies) => bodies.filter((body) => storedBytes(body) !== undefined).length
  )
  expect(counts).toEqual(Array(8).fill(1024))
  expect(first.map(storedBytes).filter(Boolean)).toEqual([])
})

test('keeps one response for each of 3,000 environments', () => {
  const pool = new BlockPool()
  const bodies = Array.from({ length: 3000 }, (_, index) =>
    new ResponseStore(pool).keep(Buffer.alloc(1024, index % 251))
  )
  const lost = bodies.findIndex(
    (body, index) => storedBytes(body)?.equals(Buffer.alloc(1024, index % 251)) !== true
  )
  expect(lost).toBe(-1)
})

test('keeps the bodies in a block when the block grows', () => {
  const store = new ResponseStore(new BlockPool())
  const bodies = [1, 2, 3, 4, 5].map((length) => Buffer.alloc(length * 1000, length))
  const stored = bodies.map((body) => store.keep(body))
  expect(stored.map((body) => storedBytes(body)?.toString())).toEqual(bodies.map(String))
})

test('keeps a response, no matter how many other responses are stored and forgotten', () => {
  const pool = new BlockPool()
  const only = new ResponseStore(pool).keep(Buffer.from('only'))
  const bodies = [1, 2].map((byte) => Buffer.alloc(16_384, byte))
  for (let journal = 0; journal < 9; journal += 1) {
    const store = new ResponseStore(pool)
    for (let round = 0; round < 512; round += 1) {
      for (const body of bodies) store.forget(store.keep(body))
    }
  }
  expect(storedBytes(only)?.toString()).toBe('only')
})

test('keeps a request whose response body was dropped', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages')
  keepMany(
    mock.services.journals.of(mock.services.environments.find('Development')).responses,
    1024
  )
  await mock.get('/v1/messages')
  const { response, ...request } = await exchangeOf(mock)
  expect(request).toMatchObject({ sequence: 1, status: 200 })
  expect(response).toEqual({ status: 200, headers: expect.any(Object), dropped: true })
  expect((await exchangeOf(mock, 2)).response).toHaveProperty('body')
})

test('records which integrations a set-primary request promotes and demotes', async () => {
  const mock = await useMock()
  const keyed = { headers: { 'idempotency-key': 'once' } }
  await mock.post(setPrimary(MAILGUN), keyed)
  await mock.post(setPrimary(MAILGUN), keyed)
  await mock.post(setPrimary(MAILGUN))
  const integration = { kind: 'integration', channel: 'email' }
  const [first, ...others] = (await journalOf(mock)).map(({ changed }) => changed)
  expect(first).toEqual([
    { ...integration, id: MAILGUN, name: 'Mailgun (EU)', action: 'became primary' },
    { ...integration, id: SENDGRID, name: 'SendGrid', action: 'is no longer primary' }
  ])
  expect(others).toEqual([undefined, undefined])
})

test('records what each control request changed', async () => {
  const mock = await useMock()
  const { _id } = (await send(mock, 'POST', '/_mock/messages', { channel: 'sms' })).json
  await send(mock, 'PATCH', `/_mock/messages/${_id}`, { transactionId: 'other' })
  await send(mock, 'PATCH', '/_mock/integrations/mailgun-eu', { name: 'Other', active: false })
  await mock.call(`/_mock/messages/${_id}`, { method: 'DELETE' })
  await send(mock, 'POST', '/_mock/reset', { parts: ['data'] })
  const { changes } = (await mock.get('/_mock/requests/changes')).json
  expect(changes.map(({ changed }: { changed: unknown }) => changed)).toEqual([
    [{ kind: 'message', id: _id, channel: 'sms', action: 'added' }],
    [{ kind: 'message', id: _id, channel: 'sms', action: 'changed', fields: ['transactionId'] }],
    [
      {
        kind: 'integration',
        id: MAILGUN,
        name: 'Other',
        channel: 'email',
        action: 'changed',
        fields: ['name', 'active']
      }
    ],
    [{ kind: 'message', id: _id, action: 'removed' }],
    [{ kind: 'data', action: 'set back' }]
  ])
})

test('records whether a list has more pages', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages')
  await mock.get('/v1/messages?page=5')
  expect((await journalOf(mock)).map(({ hasMore }) => hasMore)).toEqual([true, undefined])
})
