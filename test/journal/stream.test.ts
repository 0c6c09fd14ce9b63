import { afterEach, expect, test, vi } from 'vitest'
import { connect } from '../../src/client/index.js'
import type { RecordedRequest } from '../../src/journal/schemas.js'
import {
  head,
  journalOf,
  MAILGUN,
  PRODUCTION,
  raw,
  send,
  setPrimary,
  until
} from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

afterEach(() => {
  vi.useRealTimers()
})

/** Opens a stream over a new socket. Resolves when the stream has started. */
async function openStream(mock: TestMock, ...headers: string[]) {
  const { socket, text, closed } = raw(mock, head('GET /_mock/requests/stream', ...headers))
  await until(() => text().includes('when the request ends'))
  // The regular expression skips the sizes of the HTTP chunks, which the text also contains.
  const events = () =>
    [...text().matchAll(/^id: (\d+)\nevent: request\ndata: (.*)\n\n/gm)].map(([, id, data]) => ({
      id: Number(id),
      entry: JSON.parse(data ?? '') as RecordedRequest
    }))
  return {
    text,
    events,
    closed,
    leave: () => {
      socket.destroy()
    }
  }
}

/**
 * JSON escapes each of these characters in six bytes. An event with this body takes 360 kB, so 24
 * events exceed 8 MiB.
 */
const LARGE = '\u0001'.repeat(60_000)

const limitsOf = ({ events }: Awaited<ReturnType<typeof openStream>>) =>
  events().map(({ entry }) => entry.query.limit)

test('streams each request when it ends, with or without a response', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages?limit=1')
  const stream = await openStream(mock)
  expect(stream.text()).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(stream.text()).toContain('content-type: text/event-stream; charset=utf-8')
  await mock.get('/v1/messages?limit=2')
  await mock.get('/v1/messages?limit=3', { key: PRODUCTION })
  await mock.post(setPrimary('none'))
  await expect(
    mock.get('/v1/messages', { headers: { 'x-mock-fault': 'abort=reset' } })
  ).rejects.toThrow()
  await until(() => stream.events().length === 3)
  expect(stream.events().map(({ entry }) => entry)).toEqual(await journalOf(mock, '?after=1'))
  expect(stream.events()[2]?.entry).not.toHaveProperty('status')
})

test('streams a request as pending when it arrives, and again when it ends', async () => {
  const mock = await useMock()
  const env = connect(mock.url).attach('development-key')
  const pending: RecordedRequest[] = []
  let slow: ReturnType<typeof raw> | undefined
  const options = {
    onOpen: () => {
      slow = raw(mock, head(`POST ${setPrimary(MAILGUN)}`, 'content-length: 2'))
    },
    onPending: (request: RecordedRequest) => {
      pending.push(request)
      slow?.socket.write('{}')
    }
  }
  for await (const { sequence, status } of env.requests.stream(options)) {
    expect({ sequence, status }).toEqual({ sequence: 1, status: 200 })
    break
  }
  expect(pending).toMatchObject([{ sequence: 1, path: setPrimary(MAILGUN) }])
  expect(pending[0]).not.toHaveProperty('duration')
})

test('resumes after Last-Event-ID without gaps or repetitions', async () => {
  const mock = await useMock()
  const first = await openStream(mock)
  await mock.get('/v1/messages?limit=1')
  await until(() => first.events().length === 1)
  first.leave()
  await first.closed
  await mock.get('/v1/messages?limit=2')
  await mock.get('/v1/messages?limit=3')
  const second = await openStream(mock, `last-event-id: ${first.events()[0]?.id}`)
  await mock.get('/v1/messages?limit=4')
  await until(() => second.events().length >= 3)
  expect(limitsOf(second)).toEqual(['2', '3', '4'])
  // The id 500 can only come from an earlier run of the server, so all requests are sent.
  for (const id of [0, 500]) {
    const third = await openStream(mock, `last-event-id: ${id}`)
    await until(() => third.events().length >= 4)
    expect(limitsOf(third)).toEqual(['1', '2', '3', '4'])
  }
})

test('reports how many requests a resumed stream has missed', async () => {
  const mock = await useMock({ journal: 2 })
  for (const limit of [1, 2, 3, 4, 5]) await mock.get(`/v1/messages?limit=${limit}`)
  const stream = await openStream(mock, 'last-event-id: 1')
  await until(() => stream.events().length === 2)
  expect(stream.text()).toContain(': 2 earlier requests are no longer in the journal\n')
})

test('resumes in the order in which requests ended, whatever their order of arrival', async () => {
  const mock = await useMock()
  const slow = raw(mock, head(`POST ${setPrimary(MAILGUN)}`, 'content-length: 2'))
  await until(async () => (await journalOf(mock)).length === 1)
  const first = await openStream(mock)
  await mock.get('/v1/messages')
  await until(() => first.events().length === 1)
  first.leave()
  await first.closed
  await mock.get('/v1/messages')
  slow.socket.write('{}')
  await until(() => slow.text().includes('200 OK'))
  const second = await openStream(mock, `last-event-id: ${first.events()[0]?.id}`)
  await until(() => second.events().length === 2)
  expect([...first.events(), ...second.events()].map(({ entry }) => entry.sequence)).toEqual([
    2, 3, 1
  ])
})

test('after a stream is closed with 8 MiB unread, a resumed stream misses no request', async () => {
  const mock = await useMock()
  for (let count = 0; count < 30; count++) await mock.post(setPrimary('none'), { body: LARGE })
  const resumed = await openStream(mock, 'last-event-id: 0')
  expect(await resumed.closed).toBeUndefined()
  expect(resumed.events().length).toBeLessThan(30)
  const env = connect(mock.url).attach('development-key')
  const sequences: number[] = []
  for await (const { sequence } of env.requests.stream({ replay: true })) {
    sequences.push(sequence)
    if (sequence === 30) await mock.get('/v1/messages')
    if (sequence === 31) break
  }
  expect(sequences).toEqual(Array.from({ length: 31 }, (_, index) => index + 1))
})

test('ends streams when their environment is removed or the server closes', async () => {
  const mock = await useMock()
  const { environmentId, apiKey } = (await send(mock, 'POST', '/_mock/environments', {})).json
  const ending = raw(mock, head('GET /_mock/requests/stream').replace('development-key', apiKey))
  await until(() => ending.text().includes('when the request ends'))
  const other = await openStream(mock)
  await mock.call(`/_mock/environments/${environmentId}`, { method: 'DELETE' })
  expect(await ending.closed).toBeUndefined()
  await mock.post(setPrimary(MAILGUN))
  await until(() => other.events().length === 1)
  await mock.app.close()
  expect(await other.closed).toBeUndefined()
})
