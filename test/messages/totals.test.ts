import { expect, onTestFinished, test } from 'vitest'
import { DEFAULTS } from '../../src/config.js'
import { type ControlServices, createControlServices } from '../../src/control/services.js'
import { type Db, openDatabase } from '../../src/db/open.js'
import type { Environment } from '../../src/environments/service.js'
import type { ListMessagesQuery } from '../../src/messages/filters.js'

interface Setup {
  db: Db
  services: ControlServices
  mine: Environment
  other: Environment
}

const NOW = Date.parse('2026-02-18T12:00:00.000Z')

function seedOf(count: number, prefix: string) {
  const messages = Array.from({ length: count }, (_, index) => ({
    _id: prefix.padEnd(22, '0') + String(index).padStart(2, '0'),
    channel: index % 3 === 0 ? 'email' : 'sms',
    subscriberId: 'ada',
    transactionId: `order-${index % 2}`,
    contextKeys: ['tenant:a']
  }))
  return { environments: [{ name: prefix, subscribers: [{ subscriberId: 'ada' }], messages }] }
}

const QUERIES: Partial<ListMessagesQuery>[] = [
  {},
  { channel: 'email' },
  { subscriberId: 'ada' },
  { transactionId: ['order-0'] },
  { contextKeys: ['tenant:a'] },
  { channel: 'email', subscriberId: 'ada', contextKeys: ['tenant:a'] }
]

/** Returns the `totalCount` of each query. Fails if it isn't the number of messages returned. */
function totals({ services }: Pick<Setup, 'services'>, environment: Environment): number[] {
  return QUERIES.map((query) => {
    const { body } = services.messages.list(environment, { page: 0, limit: 100, ...query })
    const { data, totalCount } = JSON.parse(body.toString())
    expect(data, JSON.stringify(query)).toHaveLength(totalCount)
    return totalCount
  })
}

const NONE = [0, 0, 0, 0, 0, 0]
const THREE = [3, 1, 3, 2, 3, 1]
const SIX = [6, 2, 6, 3, 6, 2]
const NINE = [9, 3, 9, 5, 9, 3]

/**
 * Creates an environment with six messages and one with three. Lists these messages, so that the
 * totals are cached.
 */
async function setUp(): Promise<Setup> {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const services = createControlServices({ db, clock: () => NOW, defaults: DEFAULTS, journal: 0 })
  const { environment: mine } = await services.seeds.createEnvironment({ seed: seedOf(6, 'a') })
  const { environment: other } = await services.seeds.createEnvironment({ seed: seedOf(3, 'b') })
  // Copy the messages to a dataset of their own before their totals are cached. Otherwise, the
  // first change would make this copy, and the test wouldn't notice outdated totals.
  db.transaction(() => services.environments.writableDataset(mine, 'messages'))
  expect(totals({ services }, mine)).toEqual(SIX)
  expect(totals({ services }, other)).toEqual(THREE)
  return { db, services, mine, other }
}

class Undone extends Error {}

/** Adds three messages to an environment that has six, and checks the totals. */
async function addMessages(setup: Setup, environment = setup.mine): Promise<void> {
  await setup.services.seeds.load(environment, { seed: seedOf(3, 'c') }, 'merge')
  expect(totals(setup, environment)).toEqual(NINE)
}

const CHANGES: [string, number[], (setup: Setup) => unknown][] = [
  ['a merge', NINE, (setup) => addMessages(setup)],
  [
    'a replacement',
    THREE,
    ({ services, mine }) => services.seeds.load(mine, { seed: seedOf(3, 'c') }, 'replace')
  ],
  [
    'a restore',
    SIX,
    async (setup) => {
      setup.services.environments.takeSnapshot(setup.mine, 'before')
      await addMessages(setup)
      setup.services.environments.restore(setup.mine, 'before', { parts: ['data'] })
    }
  ],
  [
    'a merge into a fork, which does not change the original',
    SIX,
    async (setup) =>
      addMessages(
        setup,
        (await setup.services.seeds.createEnvironment({ from: setup.mine.id })).environment
      )
  ],
  [
    'a rollback, even if totals were requested in the transaction',
    SIX,
    (setup) => {
      const change = () =>
        setup.db.transaction(() => {
          const dataset = setup.services.environments.writableDataset(setup.mine, 'messages')
          setup.db.client.prepare('DELETE FROM messages WHERE dataset = ?').run(dataset)
          expect(totals(setup, setup.mine)).toEqual(NONE)
          throw new Undone()
        })
      expect(change).toThrow(Undone)
    }
  ]
]

test.each(CHANGES)('totals are correct after %s', async (_name, expected, change) => {
  const setup = await setUp()
  await change(setup)
  expect(totals(setup, setup.mine)).toEqual(expected)
  expect(totals(setup, setup.other)).toEqual(THREE)
})

test("an environment's totals are recounted only after a change to that environment", async () => {
  const { db, services, mine, other } = await setUp()
  const total = () =>
    JSON.parse(services.messages.list(mine, { page: 0, limit: 1 }).body.toString()).totalCount
  // Delete messages directly in the database, which the service doesn't notice. If the total stays
  // the same, the service hasn't counted the messages again.
  db.client
    .prepare('DELETE FROM messages WHERE dataset = ? AND channel = ?')
    .run(mine.datasets.messages, 'email')
  await services.seeds.load(other, { seed: seedOf(3, 'c') }, 'merge')
  services.environments.remove(
    (await services.seeds.createEnvironment({ seed: seedOf(3, 'd') })).environment
  )
  expect(total()).toBe(6)
  await services.seeds.load(mine, { seed: seedOf(3, 'c') }, 'merge')
  expect(total()).toBe(7)
})
