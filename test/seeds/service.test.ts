import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createControlServices } from '../../src/control/services.js'
import { type OpenDatabase, openDatabase } from '../../src/db/open.js'
import { SeedError } from '../../src/seeds/errors.js'
import type { EnvironmentData } from '../../src/seeds/format.js'
import { readSeeds } from '../../src/seeds/read.js'
import { type TestMock, useMock } from '../support/mock.js'
import { allRows } from '../support/rows.js'
import { consistentSeed } from '../support/seeds.js'
import { SHOP, seedOf } from '../support/shop.js'

const NOW = Date.UTC(2026, 1, 18, 12)

function seeded(seed: string | object, database: OpenDatabase = openDatabase()) {
  const { db, close } = database
  onTestFinished(close)
  const defaults = { profile: 'document' as const, assumptions: {} }
  const { seeds } = createControlServices({ db, clock: () => NOW, defaults, journal: 0 })
  return { ...seeds.seed(readSeeds([{ name: 'seed', seed }])), db }
}

/** The tables that `rowCounts` counts. `environments` also has a row for each baseline. */
const TABLES = [
  'environments',
  'api_keys',
  'integrations',
  'subscribers',
  'workflows',
  'workflow_steps',
  'messages'
]

const rowCounts = ({ db }: OpenDatabase) => TABLES.map((table) => allRows(db.client)[table]?.length)

const SEED = seedOf({ ...SHOP, apiKeys: ['shop-key', 'spare-key'] })

describe('an empty database', () => {
  test('gets all records of the seed', () => {
    const database = openDatabase()
    expect(seeded(SEED, database)).toMatchObject({
      applied: true,
      environments: [{ name: 'Shop' }]
    })
    expect(rowCounts(database)).toEqual([2, 2, 2, 1, 1, 1, 1])
  })

  test('stays empty if an environment has an issue', () => {
    const database = openDatabase()
    const late = { name: 'Late', messages: [{ channel: 'email', workflow: 'gone' }] }
    expect(() => seeded({ environments: [...SEED.environments, late] }, database)).toThrow(
      SeedError
    )
    expect(rowCounts(database)).toEqual([0, 0, 0, 0, 0, 0, 0])
  })

  test('stores only hashes of API keys', () => {
    const { db } = seeded(SEED)
    const bytes = db.client.serialize()
    expect(bytes.includes('shop-key')).toBe(false)
    expect(bytes.includes('spare-key')).toBe(false)
    const hashes = db.client.prepare('SELECT hex(hash) FROM api_keys').pluck().all()
    const expected = ['shop-key', 'spare-key'].map((key) =>
      createHash('sha256').update(key).digest('hex').toUpperCase()
    )
    expect(hashes.sort()).toEqual(expected.sort())
  })
})

test('does not change a database that has environments', () => {
  const database = openDatabase()
  seeded(SEED, database)
  const before = rowCounts(database)
  const again = seeded({ environments: [{ name: 'Other' }] }, database)
  expect(again).toMatchObject({ applied: false, environments: [{ name: 'Other' }] })
  expect(rowCounts(database)).toEqual(before)
})

test('serves every record of any accepted seed', async () => {
  const sample = fc.sample(consistentSeed(), { numRuns: 5, seed: 20260218 })
  for (const { environments } of sample) {
    // Leave out profiles and assumptions, because they change the responses. Other tests cover
    // them.
    const seed = { environments: environments.map(({ profile, assumptions, ...rest }) => rest) }
    const mock = await useMock({ seed })
    for (const environment of mock.seededEnvironments) await expectServed(mock, environment)
  }
})

async function expectServed(mock: TestMock, environment: EnvironmentData): Promise<void> {
  const { apiKeys, messages, integrations, steps } = environment
  const [key] = apiKeys
  if (key === undefined) return
  const page = await mock.get('/v1/messages?limit=1000', { key })
  expect(page.json.data).toHaveLength(messages.length)
  for (const { _id, deleted } of integrations) {
    const response = await mock.post(`/v1/integrations/${_id}/set-primary`, { key })
    expect(response.status).toBe(deleted ? 404 : 200)
  }
  for (const { workflowDatabaseId, _id } of steps) {
    const response = await mock.get(`/v2/workflows/${workflowDatabaseId}/steps/${_id}`, { key })
    expect(response.json).toMatchObject({ _id })
  }
}
