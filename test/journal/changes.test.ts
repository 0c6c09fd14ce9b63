import { expect, test } from 'vitest'
import type { Change } from '../../src/journal/schemas.js'
import {
  addFault,
  DEVELOPMENT,
  head,
  PRODUCTION,
  raw,
  send,
  until,
  verify
} from '../support/control.js'
import { type TestMock, useMock, useNewMock } from '../support/mock.js'

const NOW = Date.parse('2026-02-18T10:00:00Z')

async function changesOf(mock: TestMock, key?: string): Promise<Change[]> {
  return (await mock.get('/_mock/requests/changes', key ? { key } : {})).json.changes
}

const LATER = { time: '2026-02-18T11:00:00.000Z', after: 1 }

const EXPECTED_CHANGES = [
  {
    sequence: 1,
    time: '2026-02-18T10:00:00.000Z',
    after: 0,
    operation: 'addFault',
    summary: 'Add a fault rule',
    changed: [{ kind: 'fault', id: 'fault-1', action: 'added' }]
  },
  {
    ...LATER,
    sequence: 2,
    operation: 'advanceClock',
    summary: 'Advance the clock',
    changed: [{ kind: 'clock', action: 'advanced', fields: ['by'] }]
  },
  {
    ...LATER,
    sequence: 3,
    operation: 'removeFault',
    summary: 'Remove a fault rule',
    target: 'fault-1',
    changed: [{ kind: 'fault', id: 'fault-1', action: 'removed' }]
  },
  {
    ...LATER,
    sequence: 4,
    operation: 'takeSnapshot',
    summary: 'Take a snapshot',
    target: 'before it',
    changed: [{ kind: 'snapshot', id: 'before it', action: 'set' }]
  }
]

test('lists each change with its time, operation and target', async () => {
  const mock = await useMock({ now: NOW })
  await addFault(mock, { effect: { status: 503, body: { text: 'nothing of bodies' } } })
  await mock.get('/v1/messages', { key: PRODUCTION })
  await fetch(`${mock.url}/v1/messages`, { headers: { authorization: `ApiKey ${DEVELOPMENT}` } })
  await send(mock, 'POST', '/_mock/clock/advance', { by: 3_600_000 })
  await mock.call('/_mock/faults/fault-1', { method: 'DELETE' })
  await mock.call('/_mock/snapshots/before%20it', { method: 'PUT' })
  await mock.call('/_mock/snapshots/before%20it', { method: 'DELETE' })
  expect((await changesOf(mock)).slice(0, 4)).toEqual(EXPECTED_CHANGES)
})

test('lists no changes of other environments', async () => {
  const mock = await useMock()
  await addFault(mock, { effect: { status: 503 } })
  expect(await changesOf(mock, PRODUCTION)).toEqual([])
})

test('records no change for a request that is rejected or changes nothing', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages')
  await addFault(mock, { effect: { status: 99 } })
  await mock.call('/_mock/faults/fault-9', { method: 'DELETE' })
  await mock.post('/_mock/reset', { body: '{' })
  await verify(mock, { operation: 'listMessages' })
  await mock.get('/_mock/state')
  await mock.call('/_mock/state', { method: 'HEAD' })
  expect(await changesOf(mock)).toEqual([])
})

test('returns the number of the change in the header x-mock-change', async () => {
  const mock = await useMock()
  const changeNumber = async (path: string) => (await mock.post(path)).headers.get('x-mock-change')
  expect(await changeNumber('/_mock/seed?scenario=empty')).toBe('1')
  expect(await changeNumber('/_mock/requests/verify')).toBeNull()
  expect(await changeNumber('/_mock/reset')).toBe('2')
})

test('redacts an API key that was sent as the name of a snapshot', async () => {
  const mock = await useMock()
  for (const name of [PRODUCTION, DEVELOPMENT]) {
    await mock.call(`/_mock/snapshots/${name}`, { method: 'PUT' })
    await mock.call(`/_mock/snapshots/${name}`, { method: 'DELETE' })
  }
  expect((await changesOf(mock)).map(({ target }) => target)).toEqual(['***', '***', '***', '***'])
})

test('keeps the last 200 changes, even if no requests are recorded', async () => {
  const mock = await useMock({ journal: 0 })
  for (let count = 0; count < 203; count++) await mock.call('/_mock/faults', { method: 'DELETE' })
  const sequences = (await changesOf(mock)).map(({ sequence }) => sequence)
  expect(sequences).toEqual(Array.from({ length: 200 }, (_, index) => index + 4))
})

test('lists no operation for a change that was not made by a request', async () => {
  const mock = await useNewMock()
  mock.resetAll()
  const [change] = await changesOf(mock)
  expect(change).toEqual({
    sequence: 1,
    time: expect.any(String),
    after: 0,
    summary: 'Reset all environments'
  })
})

/** Returns the text, name and data of each event in a stream. */
const eventsIn = (text: string) => [
  ...text.matchAll(/^(?:id: \d+\n)?event: (\w+)\ndata: (.*)\n\n/gm)
]

test('streams changes and requests in order, but sends no event ids for changes', async () => {
  const mock = await useMock()
  const stream = raw(mock, head('GET /_mock/requests/stream'))
  await until(() => stream.text().includes('when the request ends'))
  await addFault(mock, { effect: { delay: 1 } })
  await mock.get('/v1/messages')
  await until(() => eventsIn(stream.text()).length === 2)
  await mock.call('/_mock/faults', { method: 'DELETE' })
  await until(() => eventsIn(stream.text()).length === 3)
  const events = eventsIn(stream.text())
  expect(events.map(([, name]) => name)).toEqual(['change', 'request', 'change'])
  expect([events[0], events[2]].map((event) => JSON.parse(event?.[2] ?? ''))).toEqual(
    await changesOf(mock)
  )
  expect(events[0]?.[0]).not.toContain('id:')
})

test.each([
  [0, [1, 2]],
  [1, [2]],
  [500, [1, 2]]
])('with changesAfter=%i, streams the changes %j first', async (after, expected) => {
  const mock = await useMock()
  await addFault(mock, { effect: { delay: 1 } })
  await mock.call('/_mock/faults', { method: 'DELETE' })
  const stream = raw(mock, head(`GET /_mock/requests/stream?changesAfter=${after}`))
  await until(() => eventsIn(stream.text()).length >= expected.length)
  const sequences = eventsIn(stream.text()).map(([, , data]) => JSON.parse(data ?? '').sequence)
  expect(sequences).toEqual(expected)
})
