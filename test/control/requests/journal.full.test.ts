import { expect, test } from 'vitest'
import { DEVELOPMENT, journalOf } from '../../support/control.js'
import { givenMock } from '../../support/mock.js'

const AUTHORIZED = { headers: { authorization: `ApiKey ${DEVELOPMENT}` } }

test('the journal has the last 1000 requests by default', async () => {
  const mock = await givenMock()
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(Array.from({ length: 101 }, () => fetch(`${mock.url}/v1/messages?limit=1`, AUTHORIZED)))
  }
  const kept = await journalOf(mock)
  expect([kept.length, kept[0]?.sequence, kept.at(-1)?.sequence]).toEqual([1000, 11, 1010])
})

test('while more requests come than the rate of a stream, it sends a twelfth of that rate', async () => {
  const mock = await givenMock()
  const rate = 12
  const stream = await fetch(`${mock.url}/_mock/requests/stream?rate=${rate}`, AUTHORIZED)
  const text = { sent: '' }
  const isOver = (async () => {
    for await (const part of stream.body ?? []) text.sent += Buffer.from(part).toString()
  })()
  isOver.catch(() => {})
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  let asked = 0
  while (seconds() < 3 || asked < seconds() * rate * 4) {
    await Promise.all(Array.from({ length: 5 }, () => fetch(`${mock.url}/v1/messages?limit=1`, AUTHORIZED)))
    asked += 5
  }
  const count = () => text.sent.split('event: request').length - 1
  expect(count()).toBeGreaterThan(0)
  // Twice the rate at once, and half of what the rate itself would be.
  expect(count()).toBeLessThan(rate * 2 + (seconds() * rate) / 2)
  await expect.poll(() => text.sent.includes(`id: ${asked}\n`)).toBe(true)
  await stream.body?.cancel().catch(() => {})
})
