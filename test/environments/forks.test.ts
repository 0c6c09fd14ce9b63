import { expect, test } from 'vitest'
import type { CreatedEnvironment, NewEnvironment } from '../../src/control/environments/routes.js'
import type { Db } from '../../src/db/open.js'
import type { SeedEnvironment } from '../../src/seeds/format.js'
import {
  expectSound,
  givenEnvironment,
  plainCall,
  rowCounts,
  stateOf
} from '../control/environments/environment-client.js'
import { type TestMock, useMock, useNewMock } from '../support/mock.js'
import { SHOP as SHARED_SHOP } from '../support/shop.js'

const NOW = Date.parse('2026-02-18T10:00:00.000Z')
const MESSAGE = '66e0b7d17c9b1a0012ac0001'

const SHOP = {
  ...SHARED_SHOP,
  messages: [
    { _id: MESSAGE, channel: 'email', subscriberId: 'user-1', workflow: 'order' },
    { channel: 'sms', subscriberId: 'user-1' }
  ]
} satisfies SeedEnvironment

type Owner = Pick<CreatedEnvironment, 'environmentId' | 'organizationId' | 'apiKey'>

const KEYED = { method: 'POST', headers: { 'idempotency-key': 'once' } }
const setPrimary = (identifier: string) => `/v1/integrations/${identifier}/set-primary`

/** An environment of the shop, with the answer to a set-primary under an idempotency key. */
async function givenShop(mock: TestMock, wanted: NewEnvironment = {}): Promise<CreatedEnvironment> {
  const shop = await givenEnvironment(mock, { seed: SHOP, ...wanted })
  expect((await plainCall(mock, setPrimary('other'), shop.apiKey, KEYED)).status).toBe(200)
  return shop
}

const fork = (mock: TestMock, { environmentId: from }: Owner, wanted: NewEnvironment = {}) =>
  givenEnvironment(mock, { from, ...wanted })

/** What shows documents of an environment, changing nothing that another of them shows. */
const SHOWING: Record<string, (mock: TestMock, key: string) => Promise<{ text: string }>> = {
  'the list': (mock, key) => plainCall(mock, '/v1/messages', key),
  'a filtered list': (mock, key) =>
    plainCall(mock, '/v1/messages?subscriberId=user-1&channel=email', key),
  'a step': (mock, key) => plainCall(mock, '/v2/workflows/order/steps/mail', key),
  'set-primary of what is primary': (mock, key) =>
    plainCall(mock, setPrimary('other'), key, { method: 'POST' }),
  'a replayed answer': (mock, key) => plainCall(mock, setPrimary('other'), key, KEYED),
  'the integrations': (mock, key) => plainCall(mock, '/_mock/integrations', key),
  'the state': (mock, key) => plainCall(mock, '/_mock/state', key),
  'a changed message': (mock, key) =>
    plainCall(mock, `/_mock/messages/${MESSAGE}`, key, {
      ...JSON_PATCH,
      body: '{"subject":"Hello"}'
    }),
  'set-primary of another': (mock, key) =>
    plainCall(mock, setPrimary('main'), key, { method: 'POST' })
}
const JSON_PATCH = { method: 'PATCH', headers: { 'content-type': 'application/json' } }

const ids = ({ environmentId, organizationId }: Owner) => [environmentId, organizationId]

/** Fails where anything that the environment shows has ids of the others, or has not its own. */
async function expectOwnIds(mock: TestMock, owner: Owner, others: Owner[]): Promise<void> {
  for (const [what, show] of Object.entries(SHOWING)) {
    const { text } = await show(mock, owner.apiKey)
    const foreign = others
      .flatMap(ids)
      .filter((id) => !ids(owner).includes(id) && text.includes(id))
    expect(foreign, `${what}: ${text}`).toEqual([])
    if (text.includes('"_environmentId"'))
      for (const id of ids(owner)) expect(text, what).toContain(id)
  }
}

/** Fails where a dataset has a document of another home than its own. */
function expectAtHome({ client }: Db): void {
  for (const table of ['integrations', 'subscribers', 'messages']) {
    const astray = client
      .prepare(
        `SELECT document FROM ${table} JOIN datasets ON datasets.key = dataset
        WHERE (document ->> '_environmentId', document ->> '_organizationId') IS NOT (environment_id, organization_id)`
      )
      .all()
    expect(astray, table).toEqual([])
  }
}

test('a fork gives the answers of its origin, with its own ids wherever documents are shown', async () => {
  const mock = await useMock({ now: NOW })
  const origin = await givenShop(mock)
  const made = await fork(mock, origin)
  for (const [what, show] of Object.entries(SHOWING).slice(0, 6)) {
    const [first, second] = [await show(mock, origin.apiKey), await show(mock, made.apiKey)]
    const expected = first.text
      .replaceAll(origin.environmentId, made.environmentId)
      .replaceAll(origin.organizationId, made.organizationId)
    expect(second.text, what).toBe(expected)
    expect(second.text.includes(made.environmentId), what).toBe(
      first.text.includes(origin.environmentId)
    )
  }
  await expectOwnIds(mock, made, [origin])
  await expectOwnIds(mock, origin, [made])
  expectAtHome(mock.db)
  expectSound(mock.db)
})

test('a fork of a fork shows its own ids, before and after any of the three has changed', async () => {
  const mock = await useMock({ now: NOW })
  const origin = await givenShop(mock)
  const middle = await fork(mock, origin)
  const last = await fork(mock, middle)
  const all = [origin, middle, last]
  // The middle one writes first, so that the last refers to datasets of the origin alone.
  for (const each of [middle, last, origin]) await expectOwnIds(mock, each, all)
  const another = await fork(mock, last)
  await expectOwnIds(mock, another, all)
  expectAtHome(mock.db)
  expectSound(mock.db)
})

test('forks outlive what they are forks of, and the last one to go leaves nothing', async () => {
  const mock = await useMock({ now: NOW })
  const before = rowCounts(mock.db)
  const origin = await givenShop(mock)
  const middle = await fork(mock, origin)
  const last = await fork(mock, middle)
  const remove = ({ environmentId }: Owner) =>
    mock.call(`/_mock/environments/${environmentId}`, { method: 'DELETE', key: null })
  await remove(origin)
  await remove(middle)
  // Alone with datasets of a home that is gone.
  const state = await stateOf(mock, last.apiKey)
  await expectOwnIds(mock, last, [origin, middle])
  await mock.post('/_mock/reset', { key: last.apiKey })
  expect(await stateOf(mock, last.apiKey)).toEqual(state)
  expectAtHome(mock.db)
  expectSound(mock.db)
  await remove(last)
  expect(rowCounts(mock.db)).toEqual(before)
})

test('what is written in one of origin, fork and snapshot shows in no other', async () => {
  const mock = await useMock({ now: NOW })
  const origin = await givenShop(mock)
  const made = await fork(mock, origin)
  await mock.call('/_mock/snapshots/kept', { method: 'PUT', key: made.apiKey })
  const before = await stateOf(mock, origin.apiKey)

  await mock.call(`/_mock/messages/${MESSAGE}`, { method: 'DELETE', key: made.apiKey })
  await mock.post(setPrimary('main'), { key: made.apiKey })
  expect(await stateOf(mock, origin.apiKey)).toEqual(before)
  await mock.post('/_mock/snapshots/kept/restore', { key: made.apiKey })
  expect(await stateOf(mock, made.apiKey)).toEqual({ ...before, name: made.name })

  await mock.post('/_mock/messages', {
    key: origin.apiKey,
    body: JSON.stringify({ channel: 'push' })
  })
  await mock.post(setPrimary('main'), { key: origin.apiKey })
  expect(await stateOf(mock, made.apiKey)).toEqual({ ...before, name: made.name })
})

test("users' own JSON stays as it is, also where it speaks of ids", async () => {
  const mock = await useMock({ now: NOW })
  const origin = await givenShop(mock)
  const payload = {
    quoted: `{"_environmentId":"${origin.environmentId}"}`,
    id: origin.environmentId,
    _environmentId: 'a'.repeat(24),
    _organizationId: 'Acme',
    list: [origin.organizationId, 'Ж', '👋']
  }
  const body = JSON.stringify({ payload, content: `"_organizationId":"${origin.organizationId}"` })
  await plainCall(mock, `/_mock/messages/${MESSAGE}`, origin.apiKey, { ...JSON_PATCH, body })
  const made = await fork(mock, origin)
  const shown = async () =>
    (await mock.get('/v1/messages?channel=email', { key: made.apiKey })).json.data[0]
  const expected = {
    payload,
    content: `"_organizationId":"${origin.organizationId}"`,
    _environmentId: made.environmentId
  }
  expect(await shown()).toMatchObject(expected)
  // Now from a copy.
  await mock.post('/_mock/messages', {
    key: made.apiKey,
    body: JSON.stringify({ channel: 'push' })
  })
  expect(await shown()).toMatchObject(expected)
})

test("an organization's answer that a fork has is replayed with the fork's ids in its organization", async () => {
  const mock = await useMock({ now: NOW })
  const assumptions = { 'idempotency-match': 'body' }
  const origin = await givenShop(mock, { assumptions })
  const made = await fork(mock, origin)
  const sibling = await givenEnvironment(mock, {
    seed: SHOP,
    assumptions,
    organizationId: made.organizationId
  })
  const replayed = await plainCall(mock, setPrimary('other'), sibling.apiKey, KEYED)
  expect(replayed.headers.get('idempotency-replay')).toBe('true')
  expect(replayed.text).toContain(made.environmentId)
  for (const id of [...ids(origin), sibling.environmentId]) expect(replayed.text).not.toContain(id)

  // Forks within one organization have the same answer, each with its own ids.
  const twin = await fork(mock, made, { organizationId: made.organizationId })
  for (const each of [made, twin]) {
    expect((await plainCall(mock, setPrimary('other'), each.apiKey, KEYED)).text).toContain(
      each.environmentId
    )
  }
})

test('an environment whose organization has changed shows the new one, also of an earlier snapshot', async () => {
  const mock = await useMock({ now: NOW })
  const { environments } = mock.services
  const shop = await givenShop(mock)
  const key = shop.apiKey
  await mock.call('/_mock/snapshots/before', { method: 'PUT', key })
  const moved = { ...shop, organizationId: 'b'.repeat(24) }
  environments.changeSettings(environments.find(shop.environmentId), {
    organizationId: moved.organizationId
  })
  await mock.post('/_mock/snapshots/before/restore', { key })
  await expectOwnIds(mock, moved, [shop])
  await mock.post('/_mock/snapshots/before/restore', { key })
  await expectOwnIds(mock, moved, [shop])
  expectAtHome(mock.db)
})

/** How many rows are written meanwhile. */
async function rowsWritten({ client }: Db, work: () => unknown): Promise<number> {
  const count = () => client.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0
  const before = count()
  await work()
  return count() - before
}

test('fork, snapshot, restore and reset write as many rows for 60 messages as for 10,000', async () => {
  const costs = []
  for (const messages of [60, 10_000]) {
    const generate = { messages, randomSeed: 7 }
    const mock = await useNewMock({ now: NOW, seed: { environments: [{ ...SHOP, generate }] } })
    const { environments } = mock.services
    const origin = environments.find('Shop')
    const { environment: made } = environments.create({ from: origin.id })
    costs.push({
      fork: await rowsWritten(mock.db, () => environments.create({ from: origin.id })),
      snapshot: await rowsWritten(mock.db, () => environments.takeSnapshot(made, 'one')),
      restore: await rowsWritten(mock.db, () => environments.restore(made, 'one', ['data'])),
      reset: await rowsWritten(mock.db, () => environments.reset(made))
    })
    const all = mock.db.client.prepare('SELECT count(*) FROM messages').pluck().get()
    const write = () => mock.db.transaction(() => environments.writableDataset(made, 'messages'))
    expect(await rowsWritten(mock.db, write)).toBeGreaterThanOrEqual(Number(all))
    expect(await rowsWritten(mock.db, write)).toBe(0)
  }
  const [few, many] = costs
  expect(few).toEqual(many)
  // The environment, its API key and its baseline.
  expect(few?.fork).toBe(3)
})
