import { expect, test } from 'vitest'
import { MAILGUN, SENDGRID, setPrimary } from '../../support/control.js'
import { type GivenMock, givenOwnMock } from '../../support/mock.js'

interface Call {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: unknown
}

const CALLS: Call[] = [
  { method: 'PUT', path: '/_mock/clock', body: { mode: 'fixed', at: '2026-02-18T12:00:00Z' } },
  { method: 'PUT', path: '/_mock/chance', body: { randomSeed: 7 } },
  { method: 'POST', path: '/_mock/faults', body: { probability: 0.4, times: 'always', effect: { status: 500 } } },
  ...Array.from({ length: 30 }, (_, n) => ({ path: `/v1/messages?limit=${n + 1}` })),
  { method: 'DELETE', path: '/_mock/faults' },
  { method: 'POST', path: setPrimary(MAILGUN), headers: { 'idempotency-key': 'k' } },
  { method: 'POST', path: setPrimary(MAILGUN), headers: { 'idempotency-key': 'k' } },
  { method: 'POST', path: setPrimary(SENDGRID), headers: { 'idempotency-key': 'k' } },
  { path: '/v2/workflows/order-shipped/steps/email-step' },
  { path: '/v2/workflows/order-shipped/steps/none' },
  { path: '/v1/nothing' },
  { method: 'POST', path: '/_mock/clock/advance', body: { by: 5000 } },
  { method: 'POST', path: '/_mock/requests/verify', body: { operation: 'listMessages', atLeast: 99 } },
  { path: '/v1/messages?channel=sms' },
  { path: '/_mock/faults' },
  { path: '/_mock/state' },
  { path: '/_mock/requests' }
]

test('with a fixed clock and a random seed, two runs of the same calls give the same bytes', async () => {
  const first = await run(await givenOwnMock())
  const second = await run(await givenOwnMock())
  expect(second).toEqual(first)

  const statuses = first.slice(3, 33).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200, 500]))
  const failure = first.at(-1)
  expect(failure?.status).toBe(500)
  const failures = first.filter(({ status }) => status === 500)
  const ids = failures.map(({ text }) => JSON.parse(text).errorId)
  expect(failures.length).toBeGreaterThan(5)
  expect(new Set(ids).size).toBe(failures.length)
})

interface Seen {
  status: number
  headers: object
  text: string
}

/** The calls one after the other, and at the end one that the server fails at by a fault of its own. */
async function run(mock: GivenMock): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const call of CALLS) seen.push(await answerTo(mock, call))
  mock.db.client.exec('DROP TABLE messages')
  seen.push(await answerTo(mock, { path: '/v1/messages?transactionId=x' }))
  return seen
}

async function answerTo(mock: GivenMock, { path, body, ...call }: Call): Promise<Seen> {
  const answer = await mock.call(path, { ...call, ...(body !== undefined && { body: JSON.stringify(body) }) })
  // How long a duration or the port is in digits shows in the length too.
  const { date, 'content-length': length, ...headers } = Object.fromEntries(answer.headers)
  const text = answer.text
    .replaceAll(`:${mock.port}"`, ':port"')
    // What the machine's clock says of a request, whatever that of the environment is.
    .replace(/"duration":[\d.]+/g, '"duration":0')
    .replace(/"arrived":"[^"]+"/g, '"arrived":""')
  return { status: answer.status, headers, text }
}
