import { expect, test } from 'vitest'
import { create, journalOf, MAILGUN, reset, setLatency, setPrimary } from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

const latencyOf = async (mock: TestMock, key?: string) =>
  (await mock.get('/_mock/latency', key ? { key } : {})).json

/** A delay that is longer than the timeout of a test. */
const FOREVER = 60_000
const KEYED = { headers: { 'idempotency-key': 'k' } }

test('sets the latency of one environment to a preset, or to a delay and spread', async () => {
  const mock = await useMock()
  expect(await latencyOf(mock)).toEqual({ preset: 'none', delay: 0, spread: 0 })
  const mobile = await setLatency(mock, { preset: 'mobile' })
  expect([mobile.status, mobile.json]).toEqual([200, { preset: 'mobile', delay: 80, spread: 70 }])
  expect((await setLatency(mock, mobile.json)).json).toEqual(mobile.json)
  expect((await setLatency(mock, { delay: 5 })).json).toEqual({ delay: 5, spread: 0 })
  expect((await setLatency(mock, { delay: 0, spread: 7 })).json).toEqual({ delay: 0, spread: 7 })
  expect(await latencyOf(mock, 'production-key')).toEqual({
    preset: 'none',
    delay: 0,
    spread: 0
  })
})

const PRESETS = 'one of none, office, mobile, bad'
const MILLISECONDS = 'a whole number from 0 to 60000'

test.each([
  [{}, 'preset', 'latency needs a preset, or a delay in milliseconds'],
  [{ preset: 'mobil' }, 'preset', `preset must be ${PRESETS}; did you mean mobile?`],
  [{ delay: 5, spread: -1 }, 'spread', `spread must be ${MILLISECONDS}, not -1`],
  [
    { preset: 'bad', delay: 5 },
    'preset',
    /^latency can have either a preset or its own delay and spread/
  ]
])('rejects the latency %j and keeps the old latency', async (latency, field, message) => {
  const mock = await useMock()
  const response = await setLatency(mock, latency)
  expect([response.status, response.json.errors[field]?.messages]).toEqual([
    422,
    [expect.stringMatching(message)]
  ])
  expect((await latencyOf(mock)).preset).toBe('none')
})

test('delays the response to each authenticated request once, and records the delay', async () => {
  const mock = await useMock()
  await setLatency(mock, { delay: 25 })
  const statuses = [
    (await mock.get('/v1/messages?limit=1')).status,
    (await mock.post(setPrimary(MAILGUN), KEYED)).status,
    (await mock.get('/v1/messages?limit=0')).status,
    (await mock.get('/v1/messages?limit=%')).status,
    (await mock.get('/v1/none')).status,
    (await mock.post(setPrimary(MAILGUN), { body: 'x'.repeat(1024 * 1024 + 1) })).status,
    (await mock.get('/v1/messages', { headers: { 'x-mock-fault': 'nonsense' } })).status
  ]
  expect(statuses).toEqual([200, 200, 422, 400, 404, 413, 400])
  for (const { path, status, duration = 0, flags } of await journalOf(mock)) {
    expect(flags.delayed, `${path} ${status}`).toBe(25)
    expect(duration, `${path} ${status}`).toBeGreaterThanOrEqual(24)
    expect(duration, `${path} ${status}`).toBeLessThan(10_000)
  }
})

test('delays neither control routes nor unauthenticated requests', async () => {
  const mock = await useMock()
  await setLatency(mock, { delay: FOREVER })
  expect((await mock.get('/v1/messages', { key: null })).status).toBe(401)
  expect((await mock.post('/_mock/reset')).status).toBe(200)
})

test('resetting faults restores the latency that the environment was created with', async () => {
  const mock = await useMock({ latency: 'office' })
  const own = (await create(mock, { latency: { delay: 7 } })).json.apiKey
  const fork = (await create(mock, { from: 'Development' })).json.apiKey
  for (const [key, latency] of [
    [own, { delay: 7, spread: 0 }],
    [fork, { preset: 'office', delay: 20, spread: 10 }]
  ]) {
    expect(await latencyOf(mock, key)).toEqual(latency)
    await setLatency(mock, { preset: 'none' }, key)
    await reset(mock, { parts: ['data', 'clock'] }, key)
    expect((await latencyOf(mock, key)).preset).toBe('none')
    await reset(mock, { parts: ['faults'] }, key)
    expect(await latencyOf(mock, key)).toEqual(latency)
  }
})
