import { afterEach, expect, test, vi } from 'vitest'
import { createLimit } from '../../../src/control/requests/rate-limit.js'
import type { RecordedRequest } from '../../../src/control/requests/schemas.js'
import { addFault, head, journalOf, MAILGUN, PRODUCTION, raw, send, setPrimary, until } from '../../support/control.js'
import { type GivenMock, givenMock, givenOwnMock } from '../../support/mock.js'

afterEach(() => void vi.useRealTimers())

interface Event {
  id: number
  entry: RecordedRequest
}

interface Stream {
  text(): string
  events(): Event[]
  closed: Promise<Error | undefined>
  leave(): void
}

/** A client of the stream, over a socket of its own, once the stream has begun. */
function streamOf(mock: GivenMock, ...headers: string[]): Promise<Stream> {
  return streamAt(mock, '/_mock/requests/stream', ...headers)
}

async function streamAt(mock: GivenMock, path: string, ...headers: string[]): Promise<Stream> {
  const { socket, text, closed } = raw(mock, head(`GET ${path}`, ...headers))
  await until(() => text().includes('as they are answered'))
  // As in the wire format, with what Node puts around each chunk taken away.
  const events = () =>
    [...text().matchAll(/^id: (\d+)\nevent: request\ndata: (.*)\n\n/gm)].map(([, id, data]) => ({
      id: Number(id),
      entry: JSON.parse(data ?? '')
    }))
  return { text, events, closed, leave: () => void socket.destroy() }
}

const limits = (stream: Stream) => stream.events().map(({ entry }) => entry.query.limit)

test('streams each request when it is answered, as the journal lists it', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages?limit=1')
  const stream = await streamOf(mock)
  expect(stream.text()).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(stream.text()).toContain('content-type: text/event-stream; charset=utf-8')
  await mock.get('/v1/messages?limit=2')
  await mock.get('/v1/messages?limit=3', { key: PRODUCTION })
  await mock.post(setPrimary('none'))
  await until(() => stream.events().length === 2)
  expect(stream.events().map(({ entry }) => entry)).toEqual(await journalOf(mock, '?after=1'))
})

test('Last-Event-ID resumes the stream without loss or repetition', async () => {
  const mock = await givenMock()
  const first = await streamOf(mock)
  await mock.get('/v1/messages?limit=1')
  await until(() => first.events().length === 1)
  first.leave()
  await first.closed
  await mock.get('/v1/messages?limit=2')
  await mock.get('/v1/messages?limit=3')
  const second = await streamOf(mock, `last-event-id: ${first.events()[0]?.id}`)
  await mock.get('/v1/messages?limit=4')
  await until(() => second.events().length >= 3)
  expect(limits(second)).toEqual(['2', '3', '4'])
  const third = await streamOf(mock, 'last-event-id: 0')
  await until(() => third.events().length >= 4)
  expect(limits(third)).toEqual(['1', '2', '3', '4'])
})

test('with a rate, no more than that many are sent, the newest, and the last one always', async () => {
  const mock = await givenMock()
  const ask = async (from: number, to: number) => {
    for (let limit = from; limit <= to; limit += 1) await mock.get(`/v1/messages?limit=${limit}`)
  }
  await ask(1, 30)
  const stream = await streamAt(mock, '/_mock/requests/stream?rate=5', 'last-event-id: 0')
  await until(() => stream.events().length >= 10)
  expect(limits(stream)).toEqual(Array.from({ length: 10 }, (_, index) => String(21 + index)))
  expect(stream.text()).toContain(
    ': 20 requests before this one are no longer in the journal, or were more than the rate'
  )
  await Promise.all(Array.from({ length: 30 }, () => mock.get('/v1/messages')))
  await until(() => stream.events().at(-1)?.id === 60)
  // Six seconds later all could be among them.
  expect(stream.events().length).toBeLessThan(40)
  for (const rate of ['0', '1.5', 'all']) {
    const refused = await mock.get(`/_mock/requests/stream?rate=${rate}`)
    expect([refused.status, Object.keys(refused.json.errors ?? {})], rate).toEqual([422, ['rate']])
  }
})

test('of full load few are sent from the first on, but all that the journal had, and all of a short rush', () => {
  const entries = Array.from({ length: 1000 }, (_, index) => index)
  expect(createLimit(600, false)(entries)).toEqual(entries.slice(-50))
  expect(createLimit(600, true)(entries)).toEqual(entries)
  expect(createLimit(600, false)(entries.slice(0, 500))).toHaveLength(500)
  const replayed = createLimit<number>(600, true)
  replayed([])
  expect(replayed(entries)).toHaveLength(50)
})

test('once it ends, nothing more is written into it: neither changes nor what is said to keep it open', async () => {
  const mock = await givenOwnMock()
  const journal = mock.services.journals.of(mock.services.environments.find('Development'))
  await streamOf(mock)
  expect(journal.changes.listeners.size).toBe(1)
  journal.close()
  expect(journal.changes.listeners.size).toBe(0)
})

test('a Last-Event-ID of an earlier server run resumes with all requests', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages?limit=1')
  const stream = await streamOf(mock, 'last-event-id: 500')
  await mock.get('/v1/messages?limit=2')
  await until(() => limits(stream).includes('2'))
  expect(limits(stream)).toEqual(['1', '2'])
})

test('resumes by the order of answers, not of arrivals', async () => {
  const mock = await givenMock()
  const slow = raw(mock, head(`POST ${setPrimary(MAILGUN)}`, 'content-length: 2'))
  await until(async () => (await journalOf(mock)).length === 1)
  const first = await streamOf(mock)
  await mock.get('/v1/messages')
  await until(() => first.events().length === 1)
  first.leave()
  await first.closed
  await mock.get('/v1/messages')
  slow.socket.write('{}')
  await until(() => slow.text().includes('200 OK'))
  const second = await streamOf(mock, `last-event-id: ${first.events()[0]?.id}`)
  await until(() => second.events().length === 2)
  expect([...first.events(), ...second.events()].map(({ entry }) => entry.sequence)).toEqual([2, 3, 1])
})

test('streams a request that is never answered', async () => {
  const mock = await givenMock()
  await addFault(mock, { effect: { abort: 'reset' } })
  const stream = await streamOf(mock)
  await expect(mock.get('/v1/messages')).rejects.toThrow()
  await until(() => stream.events().length === 1)
  expect(stream.events()[0]?.entry).not.toHaveProperty('status')
})

test('a stream goes on when the journal is emptied', async () => {
  const mock = await givenMock()
  const stream = await streamOf(mock)
  await mock.get('/v1/messages?limit=1')
  await mock.call('/_mock/requests', { method: 'DELETE' })
  await mock.get('/v1/messages?limit=2')
  await until(() => stream.events().length === 2)
  const [first, second] = stream.events().map(({ id }) => id)
  expect(second).toBeGreaterThan(first ?? Number.NaN)
})

test('a heartbeat keeps a quiet stream open', async () => {
  const mock = await givenMock()
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const stream = await streamOf(mock)
  vi.advanceTimersByTime(45_000)
  await until(() => [...stream.text().matchAll(/^:\n\n/gm)].length === 3)
})

test('sends fifty clients the same events, and frees their connections', async () => {
  const mock = await givenMock()
  const streams = await Promise.all(Array.from({ length: 50 }, () => streamOf(mock)))
  for (let limit = 1; limit <= 20; limit++) await mock.get(`/v1/messages?limit=${limit}`)
  await until(() => streams.every((stream) => stream.events().length === 20))
  for (const stream of streams) expect(stream.events()).toEqual(streams[0]?.events())
  const connections = () => new Promise<number>((resolve) => mock.app.server.getConnections((_error, n) => resolve(n)))
  const before = await connections()
  for (const stream of streams) stream.leave()
  await until(async () => (await connections()) <= before - 50)
})

test('streams end when the server closes, which does not wait for them', async () => {
  const mock = await givenMock()
  const streams = [await streamOf(mock), await streamOf(mock)]
  await mock.app.close()
  expect(await Promise.all(streams.map(({ closed }) => closed))).toEqual([undefined, undefined])
})

test('a stream with a rate has what was gathered for it when the server closes', async () => {
  const mock = await givenMock()
  // So that what follows takes less than the time for which requests are gathered.
  await journalOf(mock)
  const stream = await streamAt(mock, '/_mock/requests/stream?rate=10')
  await (
    await fetch(`${mock.url}/v1/messages?limit=7`, { headers: { authorization: 'ApiKey development-key' } })
  ).text()
  await until(async () => (await journalOf(mock)).some(({ duration }) => duration !== undefined))
  await mock.app.close()
  await stream.closed
  expect(limits(stream)).toEqual(['7'])
})

test('a stream that is requested while the server closes ends at once', async () => {
  const mock = await givenMock()
  const late = raw(mock, 'GET /_mock/requests/stream HTTP/1.1\r\nhost: mock\r\n')
  await mock.get('/v1/messages')
  const closing = mock.app.close()
  const [environment] = mock.services.environments.list()
  await until(() => mock.services.journals.of(environment).closed)
  // In an environment that has had no journal yet.
  late.socket.write(`authorization: ApiKey ${PRODUCTION}\r\n\r\n`)
  await late.closed
  expect(late.text()).toContain('as they are answered')
  await closing
})

test('streams end when their environment is removed, and only those', async () => {
  const mock = await givenMock()
  const { environmentId, apiKey } = (await send(mock, 'POST', '/_mock/environments', {})).json
  const doomed = raw(mock, head('GET /_mock/requests/stream').replace('development-key', apiKey))
  await until(() => doomed.text().includes('as they are answered'))
  const other = await streamOf(mock)
  await mock.call(`/_mock/environments/${environmentId}`, { method: 'DELETE' })
  expect(await doomed.closed).toBeUndefined()
  await mock.post(setPrimary(MAILGUN))
  await until(() => other.events().length === 1)
})

test('HEAD does not open a stream', async () => {
  const mock = await givenMock()
  expect((await mock.call('/_mock/requests/stream', { method: 'HEAD' })).status).toBe(405)
})
