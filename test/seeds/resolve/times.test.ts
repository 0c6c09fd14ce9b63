import { expect, test } from 'vitest'
import { isoTime } from '../../../src/domain/clock.js'
import { builtInSeedNames, builtInSeedPath } from '../../../src/seeds/built-in.js'
import { useMock } from '../../support/mock.js'
import { issuesOf, NOW, resolveEnvironments, resolveShop } from '../../support/resolved.js'
import { SHOP, seedOf, shopJson } from '../../support/shop.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ORIGIN = '2025-01-01T12:00:00.000Z'

test('timestamps are shifted so that `timesRelativeTo` becomes the current time', () => {
  const { integrations, subscribers, messages } = resolveShop({
    timesRelativeTo: ORIGIN,
    integrations: [
      { providerId: 'ses', channel: 'email', deleted: true, deletedAt: '2025-01-01T11:00:00Z' }
    ],
    subscribers: [{ subscriberId: 'ada', createdAt: '2024-12-31T12:00:00Z' }],
    messages: [
      {
        channel: 'in_app',
        createdAt: '2025-01-01T11:00:00Z',
        deliveredAt: ['2025-01-01T11:00:00.250Z'],
        snoozedUntil: '2025-01-02T12:00:00Z'
      }
    ]
  })
  expect(integrations[0]?.deletedAt).toBe(isoTime(NOW - HOUR))
  expect(subscribers[0]?.createdAt).toBe(isoTime(NOW - 24 * HOUR))
  expect(messages[0]).toMatchObject({
    createdAt: isoTime(NOW - HOUR),
    deliveredAt: [isoTime(NOW - HOUR + 250)],
    snoozedUntil: isoTime(NOW + 24 * HOUR)
  })
})

test('timestamps stay as written if the seed has no `timesRelativeTo`', () => {
  const { messages } = resolveShop({ messages: [{ channel: 'email', createdAt: ORIGIN }] })
  expect(messages[0]?.createdAt).toBe(ORIGIN)
})

test('timestamps stay as written if the clock is stopped at `timesRelativeTo`', () => {
  const { messages } = resolveShop({
    timesRelativeTo: ORIGIN,
    clock: { mode: 'fixed', at: ORIGIN },
    messages: [{ channel: 'email', createdAt: '2025-01-01T11:00:00.000Z' }]
  })
  expect(messages[0]?.createdAt).toBe('2025-01-01T11:00:00.000Z')
})

test.each([
  ['-250ms', -250],
  ['-2h', -2 * HOUR],
  ['+3d', 72 * HOUR]
])('the time %s is a distance from now', (createdAt, distance) => {
  const { messages } = resolveShop({ messages: [{ channel: 'email', createdAt }] })
  expect(messages[0]?.createdAt).toBe(isoTime(NOW + distance))
})

test.each(['2h', '-2', '-2 h', '-1.5h', 'yesterday'])('rejects the time %j', (createdAt) => {
  const [issue] = issuesOf({
    name: 'a.yaml',
    seed: shopJson({ messages: [{ channel: 'email', createdAt }] })
  })
  expect(issue).toMatch(/must be an ISO 8601 time such as .*, or a time relative to now, such as/)
})

test('the issue for a time without a time zone says what to add', () => {
  const messages = [{ channel: 'email', createdAt: '2026-01-01T10:00:00' }]
  const [issue] = issuesOf({ name: 'a.yaml', seed: shopJson({ messages }) })
  expect(issue).toMatch(/createdAt: must end with its time zone: Z for UTC, or an offset/)
})

test('a time outside the years 0 to 9999 is an issue', () => {
  const [issue] = issuesOf({
    name: 'a.yaml',
    seed: shopJson({ messages: [{ channel: 'email', createdAt: '-999999999d' }] })
  })
  expect(issue).toMatch(/messages\[0\]\.createdAt: must be in a year from 0 to 9999$/)
})

test('an invalid `timesRelativeTo` is an issue', () => {
  const seed = shopJson({ timesRelativeTo: 'soon' })
  expect(issuesOf({ name: 'a.yaml', seed })[0]).toMatch(/timesRelativeTo: must be an ISO 8601 time/)
})

test.each(builtInSeedNames())('the newest message of %s is less than ten minutes old', (name) => {
  const [development] = resolveEnvironments(builtInSeedPath(name))
  const times = development?.messages.map(({ createdAt }) => NOW - Date.parse(createdAt)) ?? []
  if (times.length === 0) return
  expect(Math.min(...times)).toBeGreaterThan(0)
  expect(Math.min(...times)).toBeLessThan(10 * MINUTE)
})

test('in the default seed, only `snoozedUntil` is in the future', () => {
  const fields = ['createdAt', 'lastSeenDate', 'lastReadDate'] as const
  const messages = resolveEnvironments(builtInSeedPath('default')).flatMap((data) => data.messages)
  const past = messages.flatMap((message) => fields.map((field) => message[field] ?? ORIGIN))
  const snoozed = messages.flatMap(({ snoozedUntil }) => snoozedUntil ?? [])
  expect(past.filter((time) => Date.parse(time) > NOW)).toEqual([])
  expect(snoozed.filter((time) => Date.parse(time) <= NOW)).toEqual([])
})

test('a reset, or loading an export, does not shift timestamps again', async () => {
  let now = NOW
  const seed = seedOf({ ...SHOP, timesRelativeTo: ORIGIN, clock: { mode: 'wall' } })
  const mock = await useMock({ seed, clock: () => now })
  const { text } = await mock.get('/v1/messages')
  const exported = (await mock.get('/_mock/state')).text
  now += HOUR
  await mock.post('/_mock/reset')
  expect((await mock.get('/v1/messages')).text).toBe(text)
  await mock.post('/_mock/seed', { body: exported })
  expect((await mock.get('/v1/messages')).text).toBe(text)
})
