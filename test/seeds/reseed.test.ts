import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createControlServices } from '../../src/control/services.js'
import { openDatabase } from '../../src/db/open.js'
import { SeedError } from '../../src/seeds/errors.js'
import type { SeedEnvironment } from '../../src/seeds/format.js'
import { readSeeds } from '../../src/seeds/read.js'
import { loadGenerator } from '../../src/seeds/service.js'
import { allRows, environmentRows } from '../support/rows.js'
import { SHOP as ONE_SHOP, seedOf } from '../support/shop.js'

beforeAll(() => loadGenerator())

const NOW = Date.UTC(2026, 1, 18, 12)
const LATER = NOW + 3_600_000

const SHOP = {
  ...ONE_SHOP,
  apiKeys: ['shop-key', 'spare-key'],
  subscribers: [...ONE_SHOP.subscribers, { subscriberId: 'user-2' }],
  messages: ['One', 'Two', 'Three'].map((subject) => ({ channel: 'email' as const, subject }))
} satisfies SeedEnvironment

const OTHER: SeedEnvironment = {
  name: 'Other',
  apiKeys: ['other-key'],
  integrations: SHOP.integrations
}

const filesOf = (...environments: SeedEnvironment[]) =>
  readSeeds([{ name: 'seed', seed: seedOf(...environments) }])

/** Returns services that loaded these seeds at `time`. Their clock now shows `LATER`. */
function seeded(time: number, environments: SeedEnvironment[]) {
  const { db, close } = openDatabase()
  onTestFinished(close)
  let now = time
  const defaults = { profile: 'document' as const, assumptions: {} }
  const services = createControlServices({ db, clock: () => now, defaults, journal: 10 })
  services.seeds.seed(filesOf(...environments))
  now = LATER
  const find = (name: string) => services.environments.find(name)
  return {
    ...services,
    client: db.client,
    find,
    empty: (name: string) => services.environments.clear(find(name)),
    reseed: (...changed: SeedEnvironment[]) => services.seeds.reseed(filesOf(...changed))
  }
}

const seedNow = (...environments: SeedEnvironment[]) => seeded(NOW, environments)

/** Returns services that loaded these seeds at `LATER`, to compare them with reloaded services. */
const startedWith = (...environments: SeedEnvironment[]) => seeded(LATER, environments)

describe('reseed', () => {
  test('returns each changed environment with its keys and record counts', () => {
    const changes = seedNow(SHOP, OTHER).reseed(
      {
        ...SHOP,
        apiKeys: ['shop-key', 'new-key'],
        messages: SHOP.messages.slice(1),
        generate: { messages: 10 }
      },
      OTHER
    )
    expect(changes).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        name: 'Shop',
        change: 'reloaded',
        apiKeys: ['shop-key', 'new-key'],
        records: { messages: 12, integrations: 2, subscribers: 2, workflows: 1, steps: 1 }
      }
    ])
  })

  test('returns no changes for the same seeds, even if default timestamps would differ', () => {
    const mock = seedNow(SHOP, OTHER)
    const before = allRows(mock.client)
    expect(mock.reseed(SHOP, OTHER)).toEqual([])
    expect(allRows(mock.client)).toEqual(before)
  })
})

describe('a changed environment', () => {
  const changed: SeedEnvironment = {
    ...SHOP,
    profile: 'live',
    assumptions: { 'total-count': 'present' },
    clock: { mode: 'fixed', at: '2026-01-01T00:00:00.000Z' },
    randomSeed: 7,
    generate: { messages: 20 },
    apiKeys: ['new-key']
  }

  test('equals the environment of a new server with the same seeds', () => {
    const mock = seedNow(SHOP, OTHER)
    mock.reseed(changed, OTHER)
    const started = startedWith(changed, OTHER)
    const rowsOf = ({ client }: Pick<typeof started, 'client'>) =>
      Object.entries(environmentRows(client)).map(([table, rows]) => [
        table,
        rows.filter((row) => row.environment === 1)
      ])
    expect(rowsOf(mock)).toEqual(rowsOf(started))
    const settingsOf = ({ environments }: Pick<typeof started, 'environments'>) =>
      environments.settingsOf(environments.find('Shop'))
    expect(settingsOf(mock)).toEqual(settingsOf(started))
    expect(mock.find('Shop').random.next()).toBe(started.environments.find('Shop').random.next())
  })

  test('has only the keys of the new seeds, and a new baseline', () => {
    const mock = seedNow(SHOP)
    mock.reseed(changed)
    expect(mock.environments.findByApiKey('new-key')?.name).toBe('Shop')
    expect(mock.environments.findByApiKey('shop-key')).toBeUndefined()
    expect(mock.environments.apiKeysOf(mock.find('Shop'))).toEqual(changed.apiKeys)
    const rows = environmentRows(mock.client)
    mock.empty('Shop')
    mock.environments.reset(mock.find('Shop'))
    expect(environmentRows(mock.client)).toEqual(rows)
  })

  test('can swap keys with another environment', () => {
    const mock = seedNow(SHOP, OTHER)
    mock.reseed({ ...SHOP, apiKeys: ['other-key'] }, { ...OTHER, apiKeys: ['shop-key'] })
    expect(mock.environments.findByApiKey('other-key')?.name).toBe('Shop')
    expect(mock.environments.findByApiKey('shop-key')?.name).toBe('Other')
    expect(mock.environments.apiKeysOf(mock.find('Shop'))).toEqual(['other-key'])
  })

  test('gets the new name and organization from a seed with the same id', () => {
    const _id = '00000000000000000000000a'
    const mock = seedNow({ ...SHOP, _id })
    const changes = mock.reseed({ ...SHOP, _id, name: 'Store', organization: 'Acme' })
    expect(changes).toMatchObject([{ id: _id, name: 'Store', change: 'reloaded' }])
    expect(mock.find('Store')).toMatchObject({ id: _id })
    expect(environmentRows(mock.client)).toEqual(
      environmentRows(startedWith({ ...SHOP, _id, name: 'Store', organization: 'Acme' }).client)
    )
  })
})

test('reseed keeps snapshots, unchanged environments and environments without a seed', async () => {
  const mock = seedNow(SHOP, OTHER)
  mock.environments.takeSnapshot(mock.find('Shop'), 'before')
  const { apiKey } = await mock.seeds.createEnvironment({ name: 'Made' })
  mock.empty('Other')
  mock.reseed({ ...SHOP, messages: [] }, OTHER)
  expect(environmentRows(mock.client).integrations?.map(({ environment }) => environment)).toEqual([
    1, 1
  ])
  expect(mock.environments.listSnapshots(mock.find('Shop'))).toMatchObject([
    { name: 'before', size: { messages: 3 } }
  ])
  expect(mock.environments.findByApiKey('other-key')?.name).toBe('Other')
  expect(mock.environments.findByApiKey(apiKey)?.name).toBe('Made')
})

test('reseed adds new environments, and removes environments missing from the seeds', () => {
  const mock = seedNow(SHOP, OTHER)
  const { id } = mock.find('Other')
  const changes = mock.reseed(SHOP, { name: 'Staging', subscribers: [{ subscriberId: 'ada' }] })
  expect(changes).toMatchObject([
    { name: 'Staging', change: 'added', apiKeys: ['staging-key'] },
    { id, name: 'Other', change: 'removed' }
  ])
  expect(mock.environments.list().map(({ name }) => name)).toEqual(['Shop', 'Staging'])
  expect(mock.environments.findByApiKey('staging-key')?.name).toBe('Staging')
  expect(mock.environments.findByApiKey('other-key')).toBeUndefined()
  mock.environments.reset(mock.find('Staging'))
  expect(
    environmentRows(mock.client).subscribers?.filter(({ environment }) => environment === 2)
  ).toHaveLength(1)
})

describe('reseed changes nothing', () => {
  const added = { name: 'Added' }
  const less = { ...SHOP, messages: [], apiKeys: ['less-key', 'other-key'] }

  test('if an environment in the new seeds has an issue', () => {
    const mock = seedNow(SHOP, OTHER)
    const before = allRows(mock.client)
    const late = { name: 'Late', messages: [{ channel: 'email' as const, workflow: 'gone' }] }
    expect(() => mock.reseed(less, added, late)).toThrow(SeedError)
    expect(allRows(mock.client)).toEqual(before)
    expect(mock.environments.findByApiKey('shop-key')?.name).toBe('Shop')
  })

  test('if a key belongs to an environment without a seed', async () => {
    const mock = seedNow(SHOP, OTHER)
    const made = await mock.seeds.createEnvironment({ name: 'Made' })
    const before = allRows(mock.client)
    const taken = { ...added, apiKeys: ['a', made.apiKey] }
    expect(() => mock.reseed(less, taken)).toThrow(
      'seed environments[1].apiKeys[1]: is the API key of environment Made, ' +
        'which is not in these seeds'
    )
    expect(allRows(mock.client)).toEqual(before)
    expect(mock.environments.findByApiKey('shop-key')?.name).toBe('Shop')
  })

  test('if the database rejects a row (the next reseed succeeds)', () => {
    const mock = seedNow(SHOP, OTHER)
    const before = allRows(mock.client)
    const allKeys = () =>
      mock.environments.list().map((environment) => mock.environments.apiKeysOf(environment))
    const keys = allKeys()
    const more = { ...added, messages: [{ channel: 'email' as const }] }
    mock.client.exec(
      'CREATE TRIGGER no_messages BEFORE INSERT ON messages ' +
        "BEGIN SELECT raise(ABORT, 'no messages'); END"
    )
    expect(() => mock.reseed(less, more)).toThrow('no messages')
    mock.client.exec('DROP TRIGGER no_messages')
    expect(allRows(mock.client)).toEqual(before)
    expect(allKeys()).toEqual(keys)
    expect(mock.environments.findByApiKey('shop-key')?.datasets).toEqual(mock.find('Shop').datasets)
    expect(mock.environments.findByApiKey('other-key')).toBe(mock.find('Other'))
    expect(mock.environments.findByApiKey('less-key')).toBeUndefined()
    mock.reseed(less, more)
    expect(mock.environments.list().map(({ name }) => name)).toEqual(['Shop', 'Added'])
  })
})
