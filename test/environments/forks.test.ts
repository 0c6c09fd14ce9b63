import { expect, test } from 'vitest'
import type { CreatedEnvironment, NewEnvironment } from '../../src/control/environments/routes.js'
import type { Db } from '../../src/db/open.js'
import type { SeedEnvironment } from '../../src/seeds/format.js'
import {
  createEnvironment,
  expectConsistentDatasets,
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

/** Creates an environment from `SHOP` and makes a set-primary request with an idempotency key. */
async function createShop(
  mock: TestMock,
  options: NewEnvironment = {}
): Promise<CreatedEnvironment> {
  const shop = await createEnvironment(mock, { seed: SHOP, ...options })
  expect((await plainCall(mock, setPrimary('other'), shop.apiKey, KEYED)).status).toBe(200)
  return shop
}

const fork = (mock: TestMock, { environmentId: from }: Owner, options: NewEnvironment = {}) =>
  createEnvironment(mock, { from, ...options })

/**
 * Requests whose responses contain stored documents. Only the last two change data, so they must
 * stay last.
 */
const REQUESTS: Record<string, (mock: TestMock, key: string) => Promise<{ text: string }>> = {
  'the list': (mock, key) => plainCall(mock, '/v1/messages', key),
  'a filtered list': (mock, key) =>
    plainCall(mock, '/v1/messages?subscriberId=user-1&channel=email', key),
  'a step': (mock, key) => plainCall(mock, '/v2/workflows/order/steps/mail', key),
  'set-primary of a primary integration': (mock, key) =>
    plainCall(mock, setPrimary('other'), key, { method: 'POST' }),
  'a replayed response': (mock, key) => plainCall(mock, setPrimary('other'), key, KEYED),
  'the integrations': (mock, key) => plainCall(mock, '/_mock/integrations', key),
  'the state': (mock, key) => plainCall(mock, '/_mock/state', key),
  'a changed message': (mock, key) =>
    plainCall(mock, `/_mock/messages/${MESSAGE}`, key, {
      ...JSON_PATCH,
      body: '{"subject":"Hello"}'
    }),
  'set-primary of another integration': (mock, key) =>
    plainCall(mock, setPrimary('main'), key, { method: 'POST' })
}
const JSON_PATCH = { method: 'PATCH', headers: { 'content-type': 'application/json' } }

const ids = ({ environmentId, organizationId }: Owner) => [environmentId, organizationId]

/**
 * Sends `REQUESTS` to the owner's environment. Expects every response with an `_environmentId` to
 * contain the owner's ids, and no response to contain ids of the other environments.
 */
async function expectOwnIds(mock: TestMock, owner: Owner, others: Owner[]): Promise<void> {
  for (const [name, send] of Object.entries(REQUESTS)) {
    const { text } = await send(mock, owner.apiKey)
    const foreign = others
      .flatMap(ids)
      .filter((id) => !ids(owner).includes(id) && text.includes(id))
    expect(foreign, `${name}: ${text}`).toEqual([])
    if (text.includes('"_environmentId"')) {
      for (const id of ids(owner)) expect(text, name).toContain(id)
    }
  }
}

/** Expects every document to have the environment id and organization id of its dataset. */
function expectMatchingOwners({ client }: Db): void {
  for (const table of ['integrations', 'subscribers', 'messages']) {
    const mismatches = client
      .prepare(
        `SELECT document FROM ${table} JOIN datasets ON datasets.key = dataset
        WHERE document ->> '_environmentId' IS NOT environment_id
          OR document ->> '_organizationId' IS NOT organization_id`
      )
      .all()
    expect(mismatches, table).toEqual([])
  }
}

test('a fork sends the same responses as its origin, with its own ids', async () => {
  const mock = await useMock({ now: NOW })
  const origin = await createShop(mock)
  const forked = await fork(mock, origin)
  for (const [name, send] of Object.entries(REQUESTS).slice(0, 6)) {
    const original = await send(mock, origin.apiKey)
    const copy = await send(mock, forked.apiKey)
    const expected = original.text
      .replaceAll(origin.environmentId, forked.environmentId)
      .replaceAll(origin.organizationId, forked.organizationId)
    expect(copy.text, name).toBe(expected)
    expect(copy.text.includes(forked.environmentId), name).toBe(
      original.text.includes(origin.environmentId)
    )
  }
  await expectOwnIds(mock, forked, [origin])
  await expectOwnIds(mock, origin, [forked])
  expectMatchingOwners(mock.db)
  expectConsistentDatasets(mock.db)
})

test('a fork of a fork uses its own ids, even if all three environments have changed', async () => {
  const mock = await useMock({ now: NOW })
  const origin = await createShop(mock)
  const middle = await fork(mock, origin)
  const last = await fork(mock, middle)
  const all = [origin, middle, last]
  // `middle` writes first and gets its own datasets, so `last` shares datasets only with `origin`.
  for (const owner of [middle, last, origin]) await expectOwnIds(mock, owner, all)
  const another = await fork(mock, last)
  await expectOwnIds(mock, another, all)
  expectMatchingOwners(mock.db)
  expectConsistentDatasets(mock.db)
})

test('a fork outlives its origin, and removing the last fork leaves no rows', async () => {
  const mock = await useMock({ now: NOW })
  const before = rowCounts(mock.db)
  const origin = await createShop(mock)
  const middle = await fork(mock, origin)
  const last = await fork(mock, middle)
  const remove = ({ environmentId }: Owner) =>
    mock.call(`/_mock/environments/${environmentId}`, { method: 'DELETE', key: null })
  await remove(origin)
  await remove(middle)
  // The datasets of the last fork still have the ids of a removed environment.
  const state = await stateOf(mock, last.apiKey)
  await expectOwnIds(mock, last, [origin, middle])
  await mock.post('/_mock/reset', { key: last.apiKey })
  expect(await stateOf(mock, last.apiKey)).toEqual(state)
  expectMatchingOwners(mock.db)
  expectConsistentDatasets(mock.db)
  await remove(last)
  expect(rowCounts(mock.db)).toEqual(before)
})

test('a fork and its origin change independently, and a snapshot restores the fork', async () => {
  const mock = await useMock({ now: NOW })
  const origin = await createShop(mock)
  const forked = await fork(mock, origin)
  await mock.call('/_mock/snapshots/kept', { method: 'PUT', key: forked.apiKey })
  const before = await stateOf(mock, origin.apiKey)

  await mock.call(`/_mock/messages/${MESSAGE}`, { method: 'DELETE', key: forked.apiKey })
  await mock.post(setPrimary('main'), { key: forked.apiKey })
  expect(await stateOf(mock, origin.apiKey)).toEqual(before)
  await mock.post('/_mock/snapshots/kept/restore', { key: forked.apiKey })
  expect(await stateOf(mock, forked.apiKey)).toEqual({ ...before, name: forked.name })

  await mock.post('/_mock/messages', {
    key: origin.apiKey,
    body: JSON.stringify({ channel: 'push' })
  })
  await mock.post(setPrimary('main'), { key: origin.apiKey })
  expect(await stateOf(mock, forked.apiKey)).toEqual({ ...before, name: forked.name })
})

test("a fork keeps free-form JSON unchanged, even if it contains the origin's ids", async () => {
  const mock = await useMock({ now: NOW })
  const origin = await createShop(mock)
  const payload = {
    quoted: `{"_environmentId":"${origin.environmentId}"}`,
    id: origin.environmentId,
    _environmentId: 'a'.repeat(24),
    _organizationId: 'Acme',
    list: [origin.organizationId, 'Ж', '👋']
  }
  const body = JSON.stringify({ payload, content: `"_organizationId":"${origin.organizationId}"` })
  await plainCall(mock, `/_mock/messages/${MESSAGE}`, origin.apiKey, { ...JSON_PATCH, body })
  const forked = await fork(mock, origin)
  const message = async () =>
    (await mock.get('/v1/messages?channel=email', { key: forked.apiKey })).json.data[0]
  const expected = {
    payload,
    content: `"_organizationId":"${origin.organizationId}"`,
    _environmentId: forked.environmentId
  }
  expect(await message()).toMatchObject(expected)
  // This write copies the dataset, so the message is now read from the copy.
  await mock.post('/_mock/messages', {
    key: forked.apiKey,
    body: JSON.stringify({ channel: 'push' })
  })
  expect(await message()).toMatchObject(expected)
})

test("another environment of a fork's organization gets a replay with the fork's ids", async () => {
  const mock = await useMock({ now: NOW })
  const assumptions = { 'idempotency-match': 'body' }
  const origin = await createShop(mock, { assumptions })
  const forked = await fork(mock, origin)
  const sibling = await createEnvironment(mock, {
    seed: SHOP,
    assumptions,
    organizationId: forked.organizationId
  })
  const replayed = await plainCall(mock, setPrimary('other'), sibling.apiKey, KEYED)
  expect(replayed.headers.get('idempotency-replay')).toBe('true')
  expect(replayed.text).toContain(forked.environmentId)
  for (const id of [...ids(origin), sibling.environmentId]) expect(replayed.text).not.toContain(id)

  // Forks in one organization share the stored response, but each fork replays it with its own
  // environment id.
  const twin = await fork(mock, forked, { organizationId: forked.organizationId })
  for (const { apiKey, environmentId } of [forked, twin]) {
    const replay = await plainCall(mock, setPrimary('other'), apiKey, KEYED)
    expect(replay.text).toContain(environmentId)
  }
})

test("changing an environment's organization id updates its records and snapshots", async () => {
  const mock = await useMock({ now: NOW })
  const { environments } = mock.services
  const shop = await createShop(mock)
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
  expectMatchingOwners(mock.db)
})

/** Returns how many rows the callback writes. */
async function rowsWritten({ client }: Db, work: () => unknown): Promise<number> {
  const count = () => client.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0
  const before = count()
  await work()
  return count() - before
}

/**
 * Returns how many rows each action writes in an environment with `messages` generated messages.
 * `measureWrite` makes the messages writable and returns how many rows that writes.
 */
async function measureActions(messages: number) {
  const generate = { messages, randomSeed: 7 }
  const mock = await useNewMock({ now: NOW, seed: { environments: [{ ...SHOP, generate }] } })
  const { environments } = mock.services
  const origin = environments.find('Shop')
  const { environment } = environments.create({ from: origin.id })
  const measure = (work: () => unknown) => rowsWritten(mock.db, work)
  const actions = {
    fork: await measure(() => environments.create({ from: origin.id })),
    snapshot: await measure(() => environments.takeSnapshot(environment, 'one')),
    restore: await measure(() => environments.restore(environment, 'one', { parts: ['data'] })),
    reset: await measure(() => environments.reset(environment))
  }
  const write = () =>
    mock.db.transaction(() => environments.writableDataset(environment, 'messages'))
  return { db: mock.db, actions, measureWrite: () => measure(write) }
}

test('forks, snapshots, restores and resets write no message rows', async () => {
  const { actions } = await measureActions(60)
  expect(actions).toEqual((await measureActions(3000)).actions)
  // A fork writes three rows: an environment, its API key and its baseline.
  expect(actions.fork).toBe(3)
})

test.each([60, 3000])(
  'the first write to %i shared messages copies them, but the second does not',
  async (total) => {
    const { db, measureWrite } = await measureActions(total)
    const messages = Number(db.client.prepare('SELECT count(*) FROM messages').pluck().get())
    expect(await measureWrite()).toBeGreaterThanOrEqual(messages)
    expect(await measureWrite()).toBe(0)
  }
)
