import { expect, onTestFinished, test } from 'vitest'
import { DEFAULTS } from '../../src/config.js'
import { buildServices, type Services } from '../../src/control/services.js'
import { type Db, openDatabase } from '../../src/db/open.js'
import type { Environment } from '../../src/environments/service.js'
import type { ListMessagesQuery } from '../../src/messages/filters.js'

interface Given {
  db: Db
  services: Services
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

/** The total of each query; the page must have as many messages. */
function totals({ services }: Pick<Given, 'services'>, environment: Environment): number[] {
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

/** Environments of six and of three messages, whose totals have all been asked for. */
async function givenTotals(): Promise<Given> {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const services = buildServices({ db, clock: () => NOW, defaults: DEFAULTS, journal: 0 })
  const { environment: mine } = await services.seeds.createEnvironment({ seed: seedOf(6, 'a') })
  const { environment: other } = await services.seeds.createEnvironment({ seed: seedOf(3, 'b') })
  // Else a change would go to a copy of what is shared with the baseline, of which no total is remembered.
  db.transaction(() => services.environments.writableDataset(mine, 'messages'))
  expect(totals({ services }, mine)).toEqual(SIX)
  expect(totals({ services }, other)).toEqual(THREE)
  return { db, services, mine, other }
}

class Undone extends Error {}

/** Adds three messages, whose totals are asked for. */
async function merged(given: Given, environment = given.mine): Promise<void> {
  await given.services.seeds.load(environment, { seed: seedOf(3, 'c') }, 'merge')
  expect(totals(given, environment)).toEqual(NINE)
}

const CHANGES: [string, number[], (given: Given) => unknown][] = [
  ['a merge', NINE, (given) => merged(given)],
  [
    'a replacement',
    THREE,
    ({ services, mine }) => services.seeds.load(mine, { seed: seedOf(3, 'c') }, 'replace')
  ],
  [
    'a restore',
    SIX,
    async (given) => {
      given.services.environments.takeSnapshot(given.mine, 'before')
      await merged(given)
      given.services.environments.restore(given.mine, 'before', ['data'])
    }
  ],
  [
    'a merge into a fork, which alone changes',
    SIX,
    async (given) =>
      merged(
        given,
        (await given.services.seeds.createEnvironment({ from: given.mine.id })).environment
      )
  ],
  [
    'a change that was rolled back after its totals were asked for',
    SIX,
    (given) => {
      const change = () =>
        given.db.transaction(() => {
          const dataset = given.services.environments.writableDataset(given.mine, 'messages')
          given.db.client.prepare('DELETE FROM messages WHERE dataset = ?').run(dataset)
          expect(totals(given, given.mine)).toEqual(NONE)
          throw new Undone()
        })
      expect(change).toThrow(Undone)
    }
  ]
]

test.each(CHANGES)('totals are right after %s', async (_name, expected, change) => {
  const given = await givenTotals()
  await change(given)
  expect(totals(given, given.mine)).toEqual(expected)
  expect(totals(given, given.other)).toEqual(THREE)
})

test('totals are not counted again while an environment stays as it is, whatever others do', async () => {
  const { db, services, mine, other } = await givenTotals()
  const total = () =>
    JSON.parse(services.messages.list(mine, { page: 0, limit: 1 }).body.toString()).totalCount
  // Behind the back of the service, which only so can be seen not to count.
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
