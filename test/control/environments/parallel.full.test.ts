import { expect, test } from 'vitest'
import type { CreatedEnvironment } from '../../../src/control/environments/routes.js'
import { givenMock } from '../../support/mock.js'
import { expectSound, plainCall, rowCounts, type SeededEnvironment } from './environment-client.js'

const CLIENTS = 200
const ROUNDS = 2

test(`${CLIENTS} environments that are used at once never show in one another`, { timeout: 300_000 }, async () => {
  const mock = await givenMock()
  const before = rowCounts(mock.db)
  const made = await Promise.all(Array.from({ length: CLIENTS }, (_, number) => useOne(mock.url, number)))

  for (const field of ['environmentId', 'organizationId', 'apiKey'] as const) {
    expect(new Set(made.map((each) => each[field])).size).toBe(CLIENTS)
  }
  expectSound(mock.db)
  await Promise.all(
    made.map(({ environmentId }) => fetch(`${mock.url}/_mock/environments/${environmentId}`, { method: 'DELETE' }))
  )
  expect(rowCounts(mock.db)).toEqual(before)
})

/** Each client does the same in an environment of its own, with values that are its own, and looks for those only. */
async function useOne(url: string, number: number): Promise<CreatedEnvironment> {
  const own = `client-${number}`
  const response = await fetch(`${url}/_mock/environments`, {
    method: 'POST',
    body: JSON.stringify({ from: 'Development', name: own })
  })
  const answer = await response.text()
  expect(response.status, answer).toBe(201)
  const made = JSON.parse(answer) as CreatedEnvironment
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const { status, text } = await plainCall({ url }, path, made.apiKey, init)
    return { status, json: text === '' ? undefined : JSON.parse(text) }
  }
  const time = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString()
  // A minute earlier for each of the 60 messages there are.
  const merged = new Date(Date.parse(time) - 60 * 60_000).toISOString()
  const candidates = ['sendgrid-main', 'mailgun-eu', 'ses-k3Zp_Qr8w']

  for (let round = 0; round < ROUNDS; round++) {
    const fixed = await call('PUT', '/_mock/clock', { mode: 'fixed', at: time })
    expect(fixed, JSON.stringify(fixed)).toMatchObject({ status: 200 })
    const seeded = await call('POST', '/_mock/seed', {
      environments: [{ name: 'x', messages: [{ channel: 'chat', transactionId: own, subject: own }] }]
    })
    expect(seeded, JSON.stringify(seeded)).toMatchObject({ status: 200 })
    const identifier = candidates[(number + round) % candidates.length] ?? ''
    const primary = await call('POST', `/v1/integrations/${identifier}/set-primary?by=${own}`, undefined, {
      'idempotency-key': 'same-in-all'
    })
    expect(primary, JSON.stringify(primary)).toMatchObject({
      status: 200,
      json: { identifier, _environmentId: made.environmentId, _organizationId: made.organizationId }
    })

    const list = await call('GET', `/v1/messages?limit=1000&by=${own}`)
    expect(list.json.totalCount).toBe(61)
    const owners = new Set(list.json.data.map((message: { _environmentId: string }) => message._environmentId))
    expect([...owners]).toEqual([made.environmentId])
    expect(
      list.json.data.filter(({ transactionId }: { transactionId: string }) => /^client-/.test(transactionId))
    ).toMatchObject([{ transactionId: own, subject: own, createdAt: merged }])

    const status = 500 + (number % 100)
    await call('POST', '/_mock/faults', { operation: 'listMessages', times: 1, effect: { status } }).then(
      ({ status: added }) => {
        if (added === 422) throw new Error('the operation has another name')
      }
    )
    expect((await call('GET', `/v1/messages?by=${own}`)).status).toBe(status)
    expect((await call('GET', `/v1/messages?limit=1&by=${own}`)).status).toBe(200)
    const { faults } = (await call('GET', '/_mock/faults')).json
    expect(faults).toMatchObject([{ effect: { status }, hits: 1 }])

    const clock = await call('GET', '/_mock/clock')
    expect(clock.json).toEqual({ setting: { mode: 'fixed', at: time }, now: time })
    const { requests } = (await call('GET', '/_mock/requests')).json
    expect(
      requests.map(({ query, status: answered, time: asked }: Record<string, unknown>) => [query, answered, asked])
    ).toEqual([
      [{ by: own }, 200, time],
      [{ limit: '1000', by: own }, 200, time],
      [{ by: own }, status, time],
      [{ limit: '1', by: own }, 200, time]
    ])
    const state = (await call('GET', '/_mock/state')).json.environments[0] as SeededEnvironment
    expect(
      state.integrations?.filter(({ channel, primary: is }) => is && channel === 'email').map((each) => each.identifier)
    ).toEqual([identifier])

    await call('POST', '/_mock/reset')
    expect((await call('GET', '/_mock/requests')).json.requests).toEqual([])
    expect((await call('GET', '/_mock/faults')).json.faults).toEqual([])
    expect((await call('GET', '/_mock/clock')).json.setting).toEqual({ mode: 'wall' })
  }
  return made
}
