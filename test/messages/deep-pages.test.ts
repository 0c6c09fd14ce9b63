import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { buildServices, type Services } from '../../src/app.js'
import { DEFAULTS } from '../../src/config.js'
import { type Db, openDatabase } from '../../src/db/open.js'
import type { Environment } from '../../src/environments/service.js'
import { type MessageFilters, messageRepository } from '../../src/messages/repository.js'

const NOW = Date.parse('2026-02-18T12:00:00.000Z')
const MANY = 24_000

/** Messages of which seven in a row are of one millisecond, ids in no order; most pass each filter. */
const INSERT = `
  WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${MANY})
  INSERT INTO messages (dataset, id, created_at, channel, subscriber_id, transaction_id, context, document)
  SELECT ?, id, ${NOW} - n / 7, iif(n % 13 = 0, 'sms', 'email'), iif(n % 11 = 0, NULL, 'ada'),
    iif(n % 5 = 0, 'rare-' || n % 50, 'order'), iif(n % 17 = 0, '[]', '["tenant:a"]'), '{"_id":"' || id || '"}'
  FROM (SELECT n, printf('%08x%016x', n * 2654435761 % 4294967296, n) AS id FROM numbers)`

interface Given {
  db: Db
  services: Services
  environment: Environment
}

/** An environment of many messages, which a reset goes back to. */
function givenMany(): Given {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const services = buildServices({ db, clock: () => NOW, defaults: DEFAULTS, journal: 0 })
  const { environment } = services.seeds.make({ seed: { environments: [{ name: 'Many' }] } })
  db.transaction(() => {
    db.client.prepare(INSERT).run(services.environments.ensureOwned(environment, 'messages'))
    services.environments.setBaseline(environment)
  })
  return { db, services, environment }
}

interface Row {
  id: string
  created_at: number
  channel: string
  subscriber_id: string | null
  transaction_id: string
  context: string
}

/** The ids of the messages that pass, in the order of the list, by the words of the behaviour alone. */
function idsOf({ client }: Db, dataset: number, filters: MessageFilters = {}): string[] {
  const { channel, subscriberId, transactionIds, context } = filters
  return client
    .prepare<[number], Row>('SELECT * FROM messages NOT INDEXED WHERE dataset = ?')
    .all(dataset)
    .filter((row) => channel === undefined || row.channel === channel)
    .filter((row) => subscriberId === undefined || row.subscriber_id === subscriberId)
    .filter((row) => transactionIds === undefined || transactionIds.includes(row.transaction_id))
    .filter((row) => context === undefined || row.context === context)
    .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)
}

const idsIn = (data: { _id: string }[]) => data.map(({ _id }) => _id)

const ALL: Required<MessageFilters> = {
  channel: 'email',
  subscriberId: 'ada',
  transactionIds: ['order'],
  context: '["tenant:a"]'
}
const FILTERS: MessageFilters[] = Array.from({ length: 16 }, (_, bits) =>
  Object.fromEntries(Object.entries(ALL).filter((_entry, place) => bits & (1 << place)))
)

describe.each([
  ['with', true],
  ['without', false]
])('%s a total', (_name, counted) => {
  test('any page of any filters, in any order, has what a plain reading of the words gives', () => {
    const { db, environment } = givenMany()
    const repository = messageRepository(db)
    const dataset = environment.datasets.messages
    const lists = [...FILTERS, { transactionIds: ['order', 'rare-5', 'rare-10'] }].map((filters) => ({
      filters,
      ids: idsOf(db, dataset, filters)
    }))
    fc.assert(
      fc.property(
        fc.constantFrom(...lists),
        fc.nat({ max: MANY + 2000 }),
        fc.constantFrom(1, 10, 37, 1000, 7000),
        ({ filters, ids }, offset, limit) => {
          const total = counted ? repository.countMessages(dataset, filters) : undefined
          const wanted = { limit, offset, total, head: () => '[', tail: ']' }
          const { body, count } = repository.findPage(dataset, filters, wanted)
          const expected = ids.slice(offset, offset + limit)
          expect(idsIn(JSON.parse(body.toString()))).toEqual(expected)
          expect(count).toBe(expected.length)
        }
      ),
      { numRuns: 400 }
    )
    expect(anchorsIn(db)).toBeGreaterThan(16 * 5)
  })
})

/** Pages on both sides of the middle, and at it; read twice, as the first time may be by another way. */
function expectRight({ db, services }: Given, environment: Environment): void {
  const ids = idsOf(db, environment.datasets.messages)
  for (const page of [0, 600, 1100, 1199, 1200, 1201, 1300, 1800, 2399, 2400].flatMap((each) => [each, each])) {
    const { data, ...figures } = JSON.parse(services.messages.list(environment, { page, limit: 10 }).body.toString())
    expect({ ids: idsIn(data), totalCount: figures.totalCount }).toEqual({
      ids: ids.slice(page * 10, page * 10 + 10),
      totalCount: ids.length
    })
  }
}

function anchorsIn({ client }: Db): number {
  return client.prepare('SELECT count(*) FROM temp.message_anchors').pluck().get() as number
}

/** A seed of three messages: one older than all, one newer, and one between. */
function threeMore(digit: string): Record<string, unknown> {
  const times = [NOW - 1e9, NOW - 2000, NOW + 1e6]
  return {
    environments: [
      {
        name: 'More',
        messages: times.map((time, index) => ({
          _id: digit.repeat(23) + index,
          channel: 'email',
          createdAt: new Date(time).toISOString()
        }))
      }
    ]
  }
}

class Undone extends Error {}

const CHANGES: [string, (given: Given) => void][] = [
  ['a merge', ({ services, environment }) => services.seeds.load(environment, threeMore('a'), 'merge')],
  [
    'a merge into what is shared with a snapshot',
    ({ services, environment }) => {
      services.environments.snapshot(environment, 'before')
      services.seeds.load(environment, threeMore('a'), 'merge')
    }
  ],
  [
    'a merge in place of messages that are there',
    ({ db, services, environment }) => {
      const ids = idsOf(db, environment.datasets.messages)
      const messages = [ids[10], ids[8000]].map((_id) => ({ _id, channel: 'sms', createdAt: '1999-01-01T00:00:00Z' }))
      services.seeds.load(environment, { environments: [{ name: 'Many', messages }] }, 'merge')
    }
  ],
  ['a replacement', ({ services, environment }) => services.seeds.load(environment, threeMore('a'), 'replace')],
  [
    'a reset',
    (given) => {
      const { services, environment } = given
      services.seeds.load(environment, threeMore('a'), 'merge')
      expectRight(given, environment)
      services.environments.reset(environment)
    }
  ],
  [
    'a restore',
    (given) => {
      const { services, environment } = given
      services.environments.snapshot(environment, 'before')
      services.seeds.load(environment, threeMore('a'), 'merge')
      expectRight(given, environment)
      services.environments.restore(environment, 'before', ['data'])
    }
  ],
  [
    'a fork, and a merge into that',
    (given) => {
      const { environment: fork } = given.services.seeds.make({ from: given.environment.id })
      expectRight(given, fork)
      given.services.seeds.load(fork, threeMore('a'), 'merge')
      expectRight(given, fork)
    }
  ],
  [
    'another environment went and as many messages came',
    ({ services, environment }) => {
      services.environments.remove(services.seeds.make({ seed: threeMore('b') }).environment)
      services.seeds.load(environment, threeMore('a'), 'merge')
    }
  ],
  [
    'a change that was rolled back after it was looked at',
    (given) => {
      const { db, services, environment } = given
      const change = () =>
        db.transaction(() => {
          services.seeds.load(environment, threeMore('a'), 'merge')
          expectRight(given, environment)
          throw new Undone()
        })
      expect(change).toThrow(Undone)
      expectRight(given, environment)
      services.seeds.load(environment, threeMore('b'), 'merge')
    }
  ],
  [
    'messages take other places',
    ({ db, environment }) => {
      db.client
        .prepare('UPDATE messages SET created_at = created_at + 1e6 WHERE dataset = ? AND sequence % 3 = 0')
        .run(environment.datasets.messages)
    }
  ],
  [
    'messages of one millisecond take other places',
    ({ db, environment }) => {
      db.client
        .prepare(`UPDATE messages SET id = substr(id, 9) || substr(id, 1, 8),
          document = json_set(document, '$._id', substr(id, 9) || substr(id, 1, 8)) WHERE dataset = ?`)
        .run(environment.datasets.messages)
    }
  ],
  [
    'messages go',
    ({ db, environment }) => {
      db.client
        .prepare('DELETE FROM messages WHERE dataset = ? AND sequence % 100 = 0')
        .run(environment.datasets.messages)
    }
  ]
]

test.each(CHANGES)('deep pages are right after: %s', (_name, change) => {
  const given = givenMany()
  // What it shares with its baseline would be copied by a change, and its copy is nothing that is remembered.
  given.db.transaction(() => given.services.environments.ensureOwned(given.environment, 'messages'))
  expectRight(given, given.environment)
  expect(anchorsIn(given.db)).toBeGreaterThan(10)
  change(given)
  expectRight(given, given.environment)
})

test('an environment that stays as it is is not gone through again when others come, change and go', () => {
  const { db, services, environment } = givenMany()
  const list = (page: number) => JSON.parse(services.messages.list(environment, { page, limit: 10 }).body.toString())
  list(1100)
  const anchors = anchorsIn(db)
  expect(anchors).toBeGreaterThan(5)
  db.client.exec('UPDATE temp.message_lists SET total = total + 1')
  const expectKept = () => {
    expect(list(1100).totalCount).toBe(MANY + 1)
    expect(anchorsIn(db)).toBe(anchors)
  }

  const { environment: other } = services.seeds.make({ seed: threeMore('b') })
  expectKept()
  services.seeds.load(other, threeMore('c'), 'merge')
  expectKept()
  services.environments.remove(other)
  expectKept()
})
