import { expect, test } from 'vitest'
import { addFault, create, journalOf, send, setClock, setPrimary } from '../../support/control.js'
import { type TestMock, useMock } from '../../support/mock.js'
import { SHOP } from '../../support/shop.js'

const NOON = '2026-02-18T12:00:00.000Z'
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const advance = (mock: TestMock, by: number) => send(mock, 'POST', '/_mock/clock/advance', { by })
const KEYED = { headers: { 'idempotency-key': 'k' } }

/** Creates a mock with a fake machine clock, which starts at NOON and moves only on `pass`. */
async function useClock() {
  let time = Date.parse(NOON)
  const mock = await useMock({ clock: () => time })
  const pass = (milliseconds: number) => {
    time += milliseconds
  }
  return { mock, pass, clock: async () => (await mock.get('/_mock/clock')).json }
}

test("by default, the clock follows the machine's clock", async () => {
  const { pass, clock } = await useClock()
  expect(await clock()).toEqual({ setting: { mode: 'wall' }, now: NOON })
  pass(MINUTE)
  expect((await clock()).now).toBe('2026-02-18T12:01:00.000Z')
})

test('a fixed clock stands still until it is advanced', async () => {
  const { mock, pass, clock } = await useClock()
  const fixed = { mode: 'fixed', at: '2020-01-01T00:00:00.000Z' }
  const { json } = await setClock(mock, { mode: 'fixed', at: '2020-01-01T01:00:00+01:00' })
  expect(json.setting).toEqual(fixed)
  pass(MINUTE)
  expect((await clock()).now).toBe(fixed.at)
  expect((await advance(mock, 1500)).json.now).toBe('2020-01-01T00:00:01.500Z')
})

test('a clock with an offset keeps running, and advancing it changes the offset', async () => {
  const { mock, pass } = await useClock()
  const { json } = await setClock(mock, { mode: 'offset', by: -DAY })
  expect(json.now).toBe('2026-02-17T12:00:00.000Z')
  pass(MINUTE)
  expect((await advance(mock, MINUTE)).json).toEqual({
    setting: { mode: 'offset', by: MINUTE - DAY },
    now: '2026-02-17T12:02:00.000Z'
  })
})

test('advancing a clock in `wall` mode gives it an offset', async () => {
  const { mock } = await useClock()
  await setClock(mock, { mode: 'offset', by: -DAY })
  await setClock(mock, { mode: 'wall' })
  expect((await advance(mock, DAY)).json).toEqual({
    setting: { mode: 'offset', by: DAY },
    now: '2026-02-19T12:00:00.000Z'
  })
})

test("all timestamps come from the environment's clock", async () => {
  const mock = await useMock()
  await setClock(mock, { mode: 'fixed', at: NOON })
  const rejections = [
    await mock.post(setPrimary('none')),
    await mock.get('/v1/messages?limit=x'),
    await mock.get('/v1/nothing'),
    await mock.get('/_mock/requests?status=x')
  ]
  await addFault(mock, { effect: { status: 503 } })
  rejections.push(await mock.get('/v1/messages'))
  expect(rejections.map(({ json }) => json.timestamp)).toEqual(Array(5).fill(NOON))
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
])(
  'if a seed sets a clock, omitted timestamps come from that clock (%s)',
  async (_mode, clock, expected) => {
    const seed = { environments: [{ ...SHOP, clock }] }
    const mock = await useMock({ seed, now: Date.parse(NOON) })
    const createdKey = (await create(mock, { seed })).json.apiKey
    const loadedKey = (await create(mock, {})).json.apiKey
    await setClock(mock, { mode: 'offset', by: -DAY }, loadedKey)
    for (const mode of ['replace', 'merge']) {
      await send(mock, 'POST', `/_mock/seed?mode=${mode}`, seed, loadedKey)
      for (const key of [undefined, createdKey, loadedKey]) {
        const [seeded] = (await mock.get('/v1/messages', key ? { key } : {})).json.data
        expect([seeded.createdAt, seeded.subscriber.createdAt], mode).toEqual([expected, expected])
      }
      await send(
        mock,
        'POST',
        '/_mock/seed?mode=replace',
        { environments: [{ name: 'Empty' }] },
        loadedKey
      )
    }
  }
)

const INVALID_TIMES = [
  'noon',
  '',
  '1',
  '2026',
  '2026-2-1',
  '2026-02-30',
  '2026-13-01',
  '2026-02-18T25:00:00Z',
  '2026-02-18T12:00:00',
  '2026-02-18 12:00:00Z',
  '0000-01-01T00:00:00Z',
  '10000-01-01T00:00:00Z',
  '1969-12-31'
]

test('rejects an invalid time or duration, names its field, and changes nothing', async () => {
  const mock = await useMock()
  await setClock(mock, { mode: 'fixed', at: NOON })
  for (const [field, response] of [
    ...(await Promise.all(
      INVALID_TIMES.map(async (at) => ['at', await setClock(mock, { mode: 'fixed', at })] as const)
    )),
    ...(await Promise.all(
      [1e300, 0.5].map(async (by) => ['by', await setClock(mock, { mode: 'offset', by })] as const)
    )),
    ...(await Promise.all(
      [0, -1, 1e300].map(async (by) => ['by', await advance(mock, by)] as const)
    ))
  ]) {
    expect([response.status, Object.keys(response.json.errors)]).toEqual([422, [field]])
  }
  expect((await mock.get('/_mock/clock')).json.now).toBe(NOON)
})
