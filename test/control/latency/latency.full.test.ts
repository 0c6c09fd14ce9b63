import { expect, test } from 'vitest'
import { createMock } from '../../../src/index.js'
import { head, journalOf, MAILGUN, raw, send, setPrimary, until } from '../../support/control.js'
import { type GivenMock, givenMock, givenOwnMock } from '../../support/mock.js'

const putLatency = (mock: GivenMock, latency: unknown) => send(mock, 'PUT', '/_mock/latency', latency)

/** Longer than any test may take. */
const FOR_EVER = 60_000
const KEYED = { headers: { 'idempotency-key': 'k' } }

test('while a set-primary is delayed, a second with its key gets 409; its client may go away, and it is done', {
  timeout: 240_000
}, async () => {
  const mock = await givenMock()
  await putLatency(mock, { delay: 5000 })
  const first = raw(mock, head(`POST ${setPrimary(MAILGUN)}`, 'idempotency-key: k', 'content-length: 0'))
  await until(async () => (await journalOf(mock)).some(({ flags, status }) => flags.delayed === 5000 && !status))
  await putLatency(mock, { preset: 'none' })
  first.socket.destroy()
  await until(async () => (await journalOf(mock)).every(({ duration }) => duration !== undefined))
  expect((await mock.post(setPrimary(MAILGUN), KEYED)).status).toBe(409)
  let answer: Awaited<ReturnType<typeof mock.post>> | undefined
  await until(async () => {
    answer = await mock.post(setPrimary(MAILGUN), KEYED)
    return answer.status !== 409
  })
  expect([answer?.status, answer?.headers.get('idempotency-replay')]).toEqual([200, 'true'])
})

test('a refusal whose client goes away while it is delayed is of no consequence', async () => {
  const mock = await givenMock()
  await putLatency(mock, { delay: 40 })
  const refused = raw(mock, head('GET /v1/messages?limit=%'))
  await until(async () => (await journalOf(mock)).some(({ flags, status }) => flags.delayed === 40 && !status))
  refused.socket.destroy()
  await until(async () => (await journalOf(mock)).every(({ duration }) => duration !== undefined))
  expect((await mock.get('/v1/messages?limit=1')).status).toBe(200)
})

test('a server that closes does not wait for a latency: it answers at once', async () => {
  const mock = await givenOwnMock({ latency: { delay: FOR_EVER } })
  const asking = ['/v1/messages', '/v1/messages?limit=%'].map((path) =>
    fetch(mock.url + path, { headers: { authorization: 'ApiKey development-key' } })
  )
  await until(async () => (await journalOf(mock)).filter(({ flags }) => flags.delayed === FOR_EVER).length === 2)
  await mock.close()
  expect((await Promise.all(asking)).map(({ status }) => status)).toEqual([200, 400])
})

test('the library starts with a latency, sets and gets it, and refuses what is none', async () => {
  await using mock = await createMock({ latency: 'office' })
  await using env = await mock.environment({ latency: 'none' })
  expect([(await mock.attach('development-key').latency.get()).preset, (await env.latency.get()).preset]).toEqual([
    'office',
    'none'
  ])
  expect(await env.latency.set('bad')).toEqual({ preset: 'bad', delay: 400, spread: 600 })
  expect(await env.latency.set({ delay: 3 })).toEqual({ delay: 3, spread: 0 })
  for (const [latency, message] of [
    ['bed', 'the preset must be one of none, office, mobile, bad, not bed'],
    [{ delay: '5' }, 'latency must be whole milliseconds from 0 to 60000, not 5'],
    [null, 'latency must be a preset (none, office, mobile, bad), or an object with delay and spread'],
    [{ lag: 5 }, 'latency takes preset, or delay and spread, not lag']
  ]) {
    await expect(createMock({ latency: latency as never }), String(latency)).rejects.toThrow(message as string)
  }
})
