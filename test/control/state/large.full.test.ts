import { expect, test, vi } from 'vitest'
import type { SeedEnvironment } from '../../../src/seeds/format.js'
import { useNewMock } from '../../support/mock.js'
import { SHOP, seedOf, shopJson } from '../../support/shop.js'
import {
  expectConsistentDatasets,
  plainCall,
  rowCounts
} from '../environments/environment-client.js'

/** 15 MB of messages, so that an export is still running when the next request arrives. */
const MANY = Array.from({ length: 3000 }, (_, index) => ({
  channel: 'sms' as const,
  content: `${index} ${'x'.repeat(5000)}`
}))

/** Starts a server with the messages in its seed, because 15 MB is too large for a request. */
async function startLargeMock(messages: SeedEnvironment['messages'] = MANY) {
  const key = 'shop-key'
  const mock = await useNewMock({ seed: seedOf({ ...SHOP, apiKeys: [key], messages }) })
  return {
    mock,
    key,
    /** Requests the state, but doesn't read the response yet. */
    open: () => fetch(`${mock.url}/_mock/state`, { headers: { authorization: `ApiKey ${key}` } }),
    remove: () => mock.call('/_mock/environments/Shop', { method: 'DELETE', key: null }),
    state: async () => (await plainCall(mock, '/_mock/state', key)).text,
    load: (mode: string, environment: object) =>
      plainCall(mock, `/_mock/seed?mode=${mode}`, key, {
        method: 'POST',
        body: shopJson(environment)
      })
  }
}

test("changes during an export don't affect the exported state", async () => {
  const { mock, key, open, remove, state, load } = await startLargeMock()
  const before = await state()
  expect(before.length).toBeGreaterThan(15_000_000)
  const openExport = await open()

  await plainCall(mock, '/v1/integrations/other/set-primary', key, { method: 'POST' })
  await load('merge', { messages: [{ channel: 'push' }], subscribers: [{ subscriberId: 'new' }] })
  expect(JSON.parse(await state()).environments[0].messages).toHaveLength(3001)
  await load('replace', { messages: [{ channel: 'chat' }] })
  await remove()

  expect((await openExport.text()) === before).toBe(true)
  await vi.waitFor(() => expectConsistentDatasets(mock.db))
  expect(rowCounts(mock.db)).toMatchObject({
    environments: 0,
    datasets: 0,
    messages: 0,
    integrations: 0
  })
})

test('an environment is fully removed even if a client disconnects during its export', async () => {
  const { mock, open, remove } = await startLargeMock()
  await (await open()).body?.cancel()
  await remove()
  await vi.waitFor(() => expectConsistentDatasets(mock.db))
  expect(rowCounts(mock.db)).toMatchObject({ datasets: 0, messages: 0 })
})

test.each(['merge', 'replace'])(
  'loading a seed with mode=%s changes nothing if the database rejects one of its messages',
  async (mode) => {
    const { mock, state, load } = await startLargeMock([{ channel: 'sms' }])
    mock.db.client.exec(
      `CREATE TRIGGER late BEFORE INSERT ON messages WHEN NEW.document LIKE '%"999 x%' BEGIN ` +
        `SELECT raise(ABORT, 'no'); END`
    )
    const before = { rows: rowCounts(mock.db), state: await state() }
    expect((await load(mode, { ...SHOP, messages: MANY.slice(0, 1000) })).status).toBe(500)
    expect({ rows: rowCounts(mock.db), state: await state() }).toEqual(before)
    expectConsistentDatasets(mock.db)
  }
)
