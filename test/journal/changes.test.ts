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

test('lists each change with its time, preceding request, operation, summary and target', async () => {
  const mock = await useMock({ now: NOW })
  await addFault(mock, { effect: { status: 503, body: { text: 'nothing of bodies' } } })
  await mock.get('/v1/messages', { key: PRODUCTION })
  await fetch(`${mock.url}/v1/messages`, { headers: { authorization: `ApiKey ${DEVELOPMENT}` } })
  await send(mock, 'POST', '/_mock/clock/advance', { by: 3_600_000 })
  await mock.call('/_mock/faults/fault-1', { method: 'DELETE' })
  await mock.call('/_mock/snapshots/before%20it', { method: 'PUT' })
  await mock.call('/_mock/snapshots/before%20it', { method: 'DELETE' })
  const first = { sequence: 1, time: '2026-02-18T10:00:00.000Z', after: 0 }
  const later = { time: '2026-02-18T11:00:00.000Z', after: 1 }
  const fault = { kind: 'fault', id: 'fault-1' }
  const clock = { kind: 'clock', action: 'advanced', fields: ['by'] }
  const snapshot = { kind: 'snapshot', id: 'before it' }
  const [added, advanced, removed, taken] = await changesOf(mock)
  expect([added, advanced, removed, taken]).toEqual([
    {
      ...first,
      operation: 'addFault',
      summary: 'Add a fault rule',
      changed: [{ ...fault, action: 'added' }]
    },
    {
      ...later,
      sequence: 2,
      operation: 'advanceClock',
      summary: 'Advance the clock',
      changed: [clock]
    },
    {
      ...{
        ...later,
        sequence: 3,
        operation: 'removeFault',
        summary: 'Remove a fault rule',
        target: 'fault-1'
      },
      changed: [{ ...fault, action: 'removed' }]
    },
    {
      ...{
        ...later,
        sequence: 4,
        operation: 'takeSnapshot',
        summary: 'Take a snapshot',
        target: 'before it'
      },
      changed: [{ ...snapshot, action: 'set' }]
    }
  ])
  expect(await changesOf(mock, PRODUCTION)).toEqual([])
})

test('records no change for rejected and reading requests, and returns the number of a change', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages')
  await addFault(mock, { effect: { status: 99 } })
  await mock.call('/_mock/faults/fault-9', { method: 'DELETE' })
  await mock.post('/_mock/reset', { body: '{' })
  await verify(mock, { operation: 'listMessages' })
  await mock.get('/_mock/state')
  await mock.call('/_mock/state', { method: 'HEAD' })
  expect(await changesOf(mock)).toEqual([])
  const told = async (path: string) => (await mock.post(path)).headers.get('x-mock-change')
  expect([await told('/_mock/seed?scenario=empty'), await told('/_mock/requests/verify')]).toEqual([
    '1',
    null
  ])
  expect(await told('/_mock/reset')).toBe('2')
})

test('does not list a key that was sent as a name', async () => {
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

test('records a change by the server itself without an operation', async () => {
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

test('streams each change, and resumes after a change', async () => {
  const mock = await useMock()
  const eventsOf = (text: string) => [
    ...text.matchAll(/^(?:id: \d+\n)?event: (\w+)\ndata: (.*)\n\n/gm)
  ]
  const first = raw(mock, head('GET /_mock/requests/stream'))
  await until(() => first.text().includes('as they end'))
  await addFault(mock, { effect: { delay: 1 } })
  await mock.get('/v1/messages')
  await until(() => eventsOf(first.text()).length === 2)
  await mock.call('/_mock/faults', { method: 'DELETE' })
  await until(() => eventsOf(first.text()).length === 3)
  const events = eventsOf(first.text())
  expect(events.map(([, name]) => name)).toEqual(['change', 'request', 'change'])
  expect([events[0], events[2]].map((event) => JSON.parse(event?.[2] ?? ''))).toEqual(
    await changesOf(mock)
  )
  expect(events[0]?.[0]).not.toContain('id:')
  for (const [after, expected] of [
    [0, [1, 2]],
    [1, [2]],
    [500, [1, 2]]
  ] as const) {
    const again = raw(mock, head(`GET /_mock/requests/stream?changesAfter=${after}`))
    await until(() => eventsOf(again.text()).length >= expected.length)
    expect(eventsOf(again.text()).map(([, , data]) => JSON.parse(data ?? '').sequence)).toEqual(
      expected
    )
    again.socket.destroy()
  }
})
