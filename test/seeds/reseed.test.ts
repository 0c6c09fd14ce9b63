import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildServices } from '../../src/app.js'
import { openDatabase } from '../../src/db/open.js'
import { SeedError } from '../../src/seeds/errors.js'
import type { Seed, SeedEnvironment } from '../../src/seeds/format.js'
import { loadGenerator } from '../../src/seeds/generate/load.js'
import { readSeeds } from '../../src/seeds/read.js'
import { allRows, worldRows } from '../support/rows.js'

beforeAll(async () => void (await loadGenerator()))

const NOW = Date.UTC(2026, 1, 18, 12)

const SHOP = {
  name: 'Shop',
  apiKeys: ['shop-key', 'spare-key'],
  integrations: [{ identifier: 'mail', providerId: 'ses', channel: 'email', primary: true }],
  subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }],
  workflows: [{ identifier: 'shipped', steps: [{ type: 'email' }] }],
  messages: [
    { _id: '000000000000000000000001', channel: 'email', subject: 'One' },
    { _id: '000000000000000000000002', channel: 'email', subject: 'Two' },
    { _id: '000000000000000000000003', channel: 'email', subject: 'Three' }
  ]
} satisfies SeedEnvironment

const OTHER: SeedEnvironment = { name: 'Other', apiKeys: ['other-key'], integrations: SHOP.integrations }

function filesOf(...environments: SeedEnvironment[]) {
  return readSeeds([{ name: 'seed', seed: { environments } satisfies Seed }])
}

/** A seeded server's parts, an hour later than it was seeded. */
function given(...environments: SeedEnvironment[]) {
  const { db, close } = openDatabase()
  onTestFinished(close)
  let now = NOW
  const clock = () => now
  const services = buildServices({ db, clock, defaults: { profile: 'document', assumptions: {} }, journal: 10 })
  const files = filesOf(...environments)
  services.seeds.seed(files)
  now += 3_600_000
  return {
    ...services,
    client: db.client,
    find: (name: string) => services.environments.find(name),
    reseed: (...presents: SeedEnvironment[]) => services.seeds.reseed(filesOf(...presents), files)
  }
}

/** What a server holds that is started with the seed at the time of the change. */
function startedWith(...environments: SeedEnvironment[]) {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const defaults = { profile: 'document' as const, assumptions: {} }
  const services = buildServices({ db, clock: () => NOW + 3_600_000, defaults, journal: 10 })
  services.seeds.seed(filesOf(...environments))
  return { ...services, client: db.client }
}

describe('what has changed', () => {
  test('is told by kind and by id, of the environment that it changed in', () => {
    const mock = given(SHOP, OTHER)
    const [one, two] = SHOP.messages
    const changes = mock.reseed(
      {
        ...SHOP,
        profile: 'live',
        apiKeys: ['shop-key', 'new-key'],
        subscribers: [{ subscriberId: 'ada', firstName: 'Ada' }],
        messages: [
          { ...one, subject: 'Uno' },
          two,
          { _id: '000000000000000000000004', channel: 'sms' },
          { _id: '000000000000000000000005', channel: 'sms' }
        ] as SeedEnvironment['messages'] & object
      },
      OTHER
    )
    expect(changes).toEqual([
      {
        id: mock.find('Shop').id,
        name: 'Shop',
        change: 'changed',
        apiKeys: ['shop-key', 'new-key'],
        records: {
          apiKeys: { added: 1, changed: 0, removed: 1 },
          subscribers: { added: 0, changed: 1, removed: 1 },
          messages: { added: 2, changed: 1, removed: 1 }
        },
        settings: ['profile']
      }
    ])
  })

  test('is nothing when the seeds say the same, though an hour later, with times left to the server', () => {
    const mock = given(SHOP, OTHER)
    const before = allRows(mock.client)
    expect(mock.reseed(SHOP, OTHER)).toEqual([])
    expect(allRows(mock.client)).toEqual(before)
  })

  test('is the order, when it is nothing else', () => {
    const subscribers = SHOP.subscribers.toReversed()
    expect(given(SHOP).reseed({ ...SHOP, subscribers })).toMatchObject([{ records: {}, settings: ['order'] }])
  })
})

describe('an environment that the seeds describe otherwise', () => {
  const changed: SeedEnvironment = {
    ...SHOP,
    profile: 'live',
    assumptions: { 'total-count': 'present' },
    clock: { mode: 'fixed', at: '2026-01-01T00:00:00.000Z' },
    randomSeed: 7,
    generate: { messages: 20 },
    apiKeys: ['new-key']
  }

  test('becomes what a start with them would make of it', () => {
    const mock = given(SHOP, OTHER)
    mock.reseed(changed, OTHER)
    const started = startedWith(changed, OTHER)
    const rowsOf = ({ client }: Pick<typeof started, 'client'>) =>
      Object.entries(worldRows(client)).map(([table, rows]) => [table, rows.filter((row) => row.environment === 1)])
    expect(rowsOf(mock)).toEqual(rowsOf(started))
    const settingsOf = ({ environments }: Pick<typeof started, 'environments'>) =>
      environments.settings(environments.find('Shop'))
    expect(settingsOf(mock)).toEqual(settingsOf(started))
    expect(mock.find('Shop').random.next()).toBe(started.environments.find('Shop').random.next())
  })

  test('a reset goes back to what it has become', () => {
    const mock = given(SHOP)
    mock.reseed(changed)
    const rows = worldRows(mock.client)
    mock.environments.empty(mock.find('Shop'), 'messages')
    mock.environments.reset(mock.find('Shop'))
    expect(worldRows(mock.client)).toEqual(rows)
  })

  test('has the keys that it now has, and no others', () => {
    const mock = given(SHOP)
    expect(mock.environments.resolve('shop-key')?.name).toBe('Shop')
    mock.reseed(changed)
    expect(mock.environments.resolve('new-key')?.name).toBe('Shop')
    expect(mock.environments.resolve('shop-key')).toBeUndefined()
    expect(mock.environments.resolve('spare-key')).toBeUndefined()
  })

  test('gets a key that another had, which goes without it', () => {
    const mock = given(SHOP, OTHER)
    mock.reseed({ ...SHOP, apiKeys: ['other-key'] }, { ...OTHER, apiKeys: ['shop-key'] })
    expect(mock.environments.resolve('other-key')?.name).toBe('Shop')
    expect(mock.environments.resolve('shop-key')?.name).toBe('Other')
  })

  test('keeps its snapshots', () => {
    const mock = given(SHOP)
    mock.environments.snapshot(mock.find('Shop'), 'before')
    mock.reseed({ ...SHOP, messages: [] })
    expect(mock.environments.listSnapshots(mock.find('Shop'))).toMatchObject([
      { name: 'before', size: { messages: 3 } }
    ])
  })

  test('has another name or organization if its id says that it is the same', () => {
    const _id = '00000000000000000000000a'
    const mock = given({ ...SHOP, _id })
    const changes = mock.reseed({ ...SHOP, _id, name: 'Store', organization: 'Acme' })
    expect(changes).toMatchObject([{ id: _id, name: 'Store', change: 'changed', settings: ['name', 'organization'] }])
    expect(mock.find('Store')).toMatchObject({ id: _id })
    expect(worldRows(mock.client)).toEqual(
      worldRows(startedWith({ ...SHOP, _id, name: 'Store', organization: 'Acme' }).client)
    )
  })
})

test('environments that the seeds have not changed keep what has been done to them, also those of no seed', () => {
  const mock = given(SHOP, OTHER)
  const { apiKey } = mock.seeds.make({ name: 'Made' })
  mock.environments.empty(mock.find('Other'), 'integrations')
  mock.reseed({ ...SHOP, messages: [] }, OTHER)
  expect(worldRows(mock.client).integrations?.map(({ environment }) => environment)).toEqual([1])
  expect(mock.environments.resolve('other-key')?.name).toBe('Other')
  expect(mock.environments.resolve(apiKey)?.name).toBe('Made')
})

test('an environment that the seeds describe anew is made, and one that they no longer describe is removed', () => {
  const mock = given(SHOP, OTHER)
  const { id } = mock.find('Other')
  const changes = mock.reseed(SHOP, { name: 'Staging', subscribers: [{ subscriberId: 'ada' }] })
  expect(changes).toMatchObject([
    { name: 'Staging', change: 'added', apiKeys: ['staging-key'] },
    { id, name: 'Other', change: 'removed' }
  ])
  expect(mock.environments.list().map(({ name }) => name)).toEqual(['Shop', 'Staging'])
  expect(mock.environments.resolve('staging-key')?.name).toBe('Staging')
  expect(mock.environments.resolve('other-key')).toBeUndefined()
  mock.environments.reset(mock.find('Staging'))
  expect(worldRows(mock.client).subscribers?.filter(({ environment }) => environment === 2)).toHaveLength(1)
})

test('an environment that was removed while running is made again when it changes, and is not missed when it goes', () => {
  const mock = given(SHOP, OTHER)
  mock.environments.remove(mock.find('Shop'))
  mock.environments.remove(mock.find('Other'))
  expect(mock.reseed({ ...SHOP, messages: [] })).toMatchObject([{ name: 'Shop', change: 'added' }])
  expect(mock.environments.list().map(({ name }) => name)).toEqual(['Shop'])
})

describe('nothing at all changes', () => {
  const added = { name: 'Added' }
  const less = { ...SHOP, messages: [], apiKeys: ['less-key'] }

  test('when there is a mistake, however late it is found', () => {
    const mock = given(SHOP, OTHER)
    const before = allRows(mock.client)
    const late = { name: 'Late', messages: [{ channel: 'email' as const, workflow: 'gone' }] }
    expect(() => mock.reseed(less, added, late)).toThrow(SeedError)
    expect(allRows(mock.client)).toEqual(before)
  })

  test('when a key is that of an environment of no seed, which is told with its place', () => {
    const mock = given(SHOP, OTHER)
    const made = mock.seeds.make({ name: 'Made' })
    const before = allRows(mock.client)
    expect(() => mock.reseed(less, { ...added, apiKeys: ['a', made.apiKey] })).toThrow(
      `seed environments[1].apiKeys[1]: the API key ${made.apiKey} is that of Made`
    )
    expect(allRows(mock.client)).toEqual(before)
    expect(mock.environments.resolve('shop-key')?.name).toBe('Shop')
  })

  test('when the database itself refuses a row, and then it can still be changed', () => {
    const mock = given(SHOP, OTHER)
    const before = allRows(mock.client)
    const more = { ...added, messages: [{ channel: 'email' as const }] }
    mock.client.exec(
      "CREATE TRIGGER no_messages BEFORE INSERT ON messages BEGIN SELECT raise(ABORT, 'no messages'); END"
    )
    expect(() => mock.reseed(less, more)).toThrow('no messages')
    mock.client.exec('DROP TRIGGER no_messages')
    expect(allRows(mock.client)).toEqual(before)
    expect(mock.environments.resolve('shop-key')?.datasets).toEqual(mock.find('Shop').datasets)
    expect(mock.environments.resolve('less-key')).toBeUndefined()
    mock.reseed(less, more)
    expect(mock.environments.list().map(({ name }) => name)).toEqual(['Shop', 'Added'])
  })
})
