import { expect, onTestFinished, test } from 'vitest'
import { buildServices, type Services } from '../../src/app.js'
import { DEFAULTS } from '../../src/config.js'
import { type Db, openDatabase } from '../../src/db/open.js'
import type { Environment } from '../../src/environments/service.js'
import type { ListMessagesQuery } from '../../src/messages/query.js'
import { rememberedTotals } from '../../src/messages/totals.js'

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

const THREE = [3, 1, 3, 2, 3, 1]
const SIX = [6, 2, 6, 3, 6, 2]
const NINE = [9, 3, 9, 5, 9, 3]

/** Environments of six and of three messages, whose totals have all been asked for. */
function givenTotals(): Given {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const services = buildServices({ db, clock: () => NOW, defaults: DEFAULTS, journal: 0 })
  const [mine, other] = [seedOf(6, 'a'), seedOf(3, 'b')].map((seed) => services.seeds.make({ seed }).environment)
  if (!mine || !other) throw new Error('no environments')
  // Else a change would go to a copy of what is shared with the baseline, of which no total is remembered.
  db.transaction(() => services.environments.ensureOwned(mine, 'messages'))
  expect(totals({ services }, mine)).toEqual(SIX)
  expect(totals({ services }, other)).toEqual(THREE)
  return { db, services, mine, other }
}

class Undone extends Error {}

const CHANGES: [string, number[], (given: Given) => void][] = [
  ['a merge', NINE, ({ services, mine }) => services.seeds.load(mine, seedOf(3, 'c'), 'merge')],
  [
    'a merge into messages that a snapshot shares',
    NINE,
    ({ services, mine }) => {
      services.environments.snapshot(mine, 'before')
      services.seeds.load(mine, seedOf(3, 'c'), 'merge')
    }
  ],
  ['a merge in place of messages', SIX, ({ services, mine }) => services.seeds.load(mine, seedOf(3, 'a'), 'merge')],
  ['a replacement', THREE, ({ services, mine }) => services.seeds.load(mine, seedOf(3, 'c'), 'replace')],
  [
    'a reset',
    SIX,
    (given) => {
      given.services.seeds.load(given.mine, seedOf(3, 'c'), 'merge')
      expect(totals(given, given.mine)).toEqual(NINE)
      given.services.environments.reset(given.mine)
    }
  ],
  [
    'a restore',
    SIX,
    (given) => {
      given.services.environments.snapshot(given.mine, 'before')
      given.services.seeds.load(given.mine, seedOf(3, 'c'), 'merge')
      expect(totals(given, given.mine)).toEqual(NINE)
      given.services.environments.restore(given.mine, 'before', ['data'])
    }
  ],
  [
    'a merge into a fork, which alone changes',
    SIX,
    (given) => {
      const { environment: fork } = given.services.seeds.make({ from: given.mine.id })
      expect(totals(given, fork)).toEqual(SIX)
      given.services.seeds.load(fork, seedOf(3, 'c'), 'merge')
      expect(totals(given, fork)).toEqual(NINE)
    }
  ],
  [
    'another environment was removed and as many messages came',
    NINE,
    ({ services, mine }) => {
      services.environments.remove(services.seeds.make({ seed: seedOf(3, 'd') }).environment)
      services.seeds.load(mine, seedOf(3, 'c'), 'merge')
    }
  ],
  [
    'a merge that was rolled back after its totals were asked for',
    SIX,
    (given) => {
      const change = () =>
        given.db.transaction(() => {
          given.services.seeds.load(given.mine, seedOf(3, 'c'), 'merge')
          expect(totals(given, given.mine)).toEqual(NINE)
          throw new Undone()
        })
      expect(change).toThrow(Undone)
    }
  ],
  [
    'a fork that was rolled back, and another whose dataset has the same number',
    SIX,
    (given) => {
      const fork = (from: Environment, then: (fork: Environment) => void) =>
        given.db.transaction(() => then(given.services.seeds.make({ from: from.id }).environment))
      const datasets: number[] = []
      const change = () =>
        fork(given.other, (forked) => {
          datasets.push(forked.datasets.messages)
          expect(totals(given, forked)).toEqual(THREE)
          throw new Undone()
        })
      expect(change).toThrow(Undone)
      fork(given.mine, (forked) => {
        datasets.push(forked.datasets.messages)
        expect(totals(given, forked)).toEqual(SIX)
      })
      expect(datasets[0]).toBe(datasets[1])
    }
  ]
]

test.each(CHANGES)('totals are right after %s', (_name, expected, change) => {
  const given = givenTotals()
  change(given)
  expect(totals(given, given.mine)).toEqual(expected)
  expect(totals(given, given.other)).toEqual(THREE)
})

test('totals are not counted again while an environment stays as it is, whatever others do', () => {
  const { db, services, mine, other } = givenTotals()
  const total = () => JSON.parse(services.messages.list(mine, { page: 0, limit: 1 }).body.toString()).totalCount
  // Behind the back of the service, which only so can be seen not to count.
  db.client.prepare('DELETE FROM messages WHERE dataset = ? AND channel = ?').run(mine.datasets.messages, 'email')
  services.seeds.load(other, seedOf(3, 'c'), 'merge')
  services.environments.remove(services.seeds.make({ seed: seedOf(3, 'd') }).environment)
  expect(total()).toBe(6)
  services.seeds.load(mine, seedOf(3, 'c'), 'merge')
  expect(total()).toBe(7)
})

test('totals are remembered until too many are', () => {
  const remembered = rememberedTotals()
  const counted: number[] = []
  const ask = (filter: number) =>
    remembered.get(1, String(filter).padStart(1000, 'x'), () => {
      counted.push(filter)
      return filter
    })
  for (let filter = 0; filter < 500; filter++) expect(ask(filter)).toBe(filter)
  expect(ask(0)).toBe(0)
  expect(counted).toHaveLength(500)
  for (let filter = 500; filter < 1000; filter++) ask(filter)
  expect(ask(0)).toBe(0)
  expect(counted).toHaveLength(1001)
})
