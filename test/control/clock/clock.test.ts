import { expect, test } from 'vitest'
import { addFault, create, journalOf, send, setClock, setPrimary } from '../../support/control.js'
import { type TestMock, useMock } from '../../support/mock.js'
import { SHOP } from '../../support/shop.js'

const NOON = '2026-02-18T12:00:00.000Z'
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const advance = (mock: TestMock, by: number) => send(mock, 'POST', '/_mock/clock/advance', { by })
const KEYED = { headers: { 'idempotency-key': 'k' } }

test('the clock follows the machine, is fixed or has an offset, and can be advanced', async () => {
  let wall = Date.parse(NOON)
  const mock = await useMock({ clock: () => wall })
  expect((await mock.get('/_mock/clock')).json).toEqual({ setting: { mode: 'wall' }, now: NOON })
  wall += MINUTE
  expect((await mock.get('/_mock/clock')).json.now).toBe('2026-02-18T12:01:00.000Z')

  const fixed = { mode: 'fixed', at: '2020-01-01T00:00:00.000Z' }
  expect(
    (await setClock(mock, { mode: 'fixed', at: '2020-01-01T01:00:00+01:00' })).json.setting
  ).toEqual(fixed)
  wall += MINUTE
  expect((await mock.get('/_mock/clock')).json.now).toBe(fixed.at)
  expect((await advance(mock, 1500)).json.now).toBe('2020-01-01T00:00:01.500Z')

  expect((await setClock(mock, { mode: 'offset', by: -DAY })).json.now).toBe(
    '2026-02-17T12:02:00.000Z'
  )
  wall += MINUTE
  expect((await advance(mock, MINUTE)).json).toEqual({
    setting: { mode: 'offset', by: MINUTE - DAY },
    now: '2026-02-17T12:04:00.000Z'
  })
  await setClock(mock, { mode: 'wall' })
  expect((await advance(mock, DAY)).json).toEqual({
    setting: { mode: 'offset', by: DAY },
    now: '2026-02-19T12:03:00.000Z'
  })
})

test('every timestamp comes from the clock of the environment', async () => {
  const mock = await useMock()
  await setClock(mock, { mode: 'fixed', at: NOON })
  const refusals = [
    await mock.post(setPrimary('none')),
    await mock.get('/v1/messages?limit=x'),
    await mock.get('/v1/nothing'),
    await mock.get('/_mock/requests?status=x')
  ]
  await addFault(mock, { effect: { status: 503 } })
  refusals.push(await mock.get('/v1/messages'))
  expect(refusals.map(({ json }) => json.timestamp)).toEqual(Array(5).fill(NOON))
  expect((await journalOf(mock)).map(({ time }) => time)).toEqual(Array(4).fill(NOON))
  expect((await mock.call('/_mock/snapshots/here', { method: 'PUT' })).json.createdAt).toBe(NOON)

  const stored = await mock.post(setPrimary('none'), KEYED)
  expect(stored.json.timestamp).toBe(NOON)
  await advance(mock, MINUTE)
  const replay = await mock.post(setPrimary('none'), KEYED)
  expect(replay.text).toBe(stored.text)
  expect(replay.headers.get('x-mock-reason')).toContain(NOON)
})

test.each([
  ['fixed', { mode: 'fixed', at: '2020-01-01T01:00:00+01:00' }, '2020-01-01T00:00:00.000Z'],
  ['offset', { mode: 'offset', by: DAY }, '2026-02-19T12:00:00.000Z']
])('what a seed leaves out is by the clock that it sets: %s', async (_mode, clock, expected) => {
  const seed = { environments: [{ ...SHOP, clock }] }
  const mock = await useMock({ seed, now: Date.parse(NOON) })
  const made = (await create(mock, { seed })).json.apiKey
  const loaded = (await create(mock, {})).json.apiKey
  await setClock(mock, { mode: 'offset', by: -DAY }, loaded)
  for (const mode of ['replace', 'merge']) {
    await send(mock, 'POST', `/_mock/seed?mode=${mode}`, seed, loaded)
    for (const key of [undefined, made, loaded]) {
      const [seeded] = (await mock.get('/v1/messages', key ? { key } : {})).json.data
      expect([seeded.createdAt, seeded.subscriber.createdAt], mode).toEqual([expected, expected])
    }
    await send(
      mock,
      'POST',
      '/_mock/seed?mode=replace',
      { environments: [{ name: 'Empty' }] },
      loaded
    )
  }
})

const NO_TIMES = [
  ...[
    'noon',
    '',
    '1',
    '2026',
    '2026-2-1',
    '2026-02-30',
    '2026-13-01',
    '2026-02-18T25:00:00Z',
    '2026-02-18T12:00:00'
  ],
  ...['2026-02-18 12:00:00Z', '0000-01-01T00:00:00Z', '10000-01-01T00:00:00Z', '1969-12-31']
]

test('rejects an impossible timestamp or step with the name of the field, and keeps the clock', async () => {
  const mock = await useMock()
  await setClock(mock, { mode: 'fixed', at: NOON })
  for (const [field, refused] of [
    ...(await Promise.all(
      NO_TIMES.map(async (at) => ['at', await setClock(mock, { mode: 'fixed', at })] as const)
    )),
    ...(await Promise.all(
      [1e300, 0.5].map(async (by) => ['by', await setClock(mock, { mode: 'offset', by })] as const)
    )),
    ...(await Promise.all(
      [0, -1, 1e300].map(async (by) => ['by', await advance(mock, by)] as const)
    ))
  ]) {
    expect([refused.status, Object.keys(refused.json.errors)]).toEqual([422, [field]])
  }
  expect((await mock.get('/_mock/clock')).json.now).toBe(NOON)
})
