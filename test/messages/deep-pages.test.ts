import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/open.js'
import { type MessageFilters, messageRepository } from '../../src/messages/repository.js'

const NOW = Date.parse('2026-02-18T12:00:00.000Z')
const MANY = 2400
const [DATASET, LARGE_DATASET] = [1, 2]

/** Messages of which seven in a row are of one millisecond, ids in no order; most pass each filter. */
const INSERT = `
  INSERT INTO datasets VALUES (${DATASET});
  WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${MANY})
  INSERT INTO messages (dataset, id, created_at, channel, subscriber_id, transaction_id, context, document)
  SELECT ${DATASET}, id, ${NOW} - n / 7, iif(n % 13 = 0, 'sms', 'email'), iif(n % 11 = 0, NULL, 'ada'),
    iif(n % 5 = 0, 'rare-' || (n % 50), 'order'), iif(n % 17 = 0, '[]', '["tenant:a"]'), '{"_id":"' || id || '"}'
  FROM (SELECT n, printf('%08x%016x', n * 2654435761 % 4294967296, n) AS id FROM numbers)`

const LARGE = 40_000

/** More than are sorted: a third of one millisecond, newest, and the rest ever further apart. Two transactions have most. */
const INSERT_LARGE = `
  INSERT INTO datasets VALUES (${LARGE_DATASET});
  WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${LARGE})
  INSERT INTO messages (dataset, id, created_at, channel, transaction_id, context, document)
  SELECT ${LARGE_DATASET}, id, ${NOW} - max(0, n - 14000) * max(0, n - 14000) / 36000 * 40, 'email',
    iif(n % 9 = 0, 'rare', 'order-' || (n % 2)), '[]', '{"_id":"' || id || '"}'
  FROM (SELECT n, printf('%024x', n) AS id FROM numbers)`

const { db, close } = openDatabase()
db.client.exec(INSERT)
db.client.exec(INSERT_LARGE)
afterAll(close)

interface Row {
  id: string
  created_at: number
  channel: string
  subscriber_id: string | null
  transaction_id: string
  context: string
}

/** The ids of the messages that pass, in the order of the list, by a plain reading of the contract. */
function expectedIds({ channel, subscriberId, transactionIds, context }: MessageFilters, dataset = DATASET): string[] {
  const rows = db.client.prepare<[number], Row>('SELECT * FROM messages WHERE dataset = ?').all(dataset)
  return rows
    .filter((row) => channel === undefined || row.channel === channel)
    .filter((row) => subscriberId === undefined || row.subscriber_id === subscriberId)
    .filter((row) => transactionIds === undefined || transactionIds.includes(row.transaction_id))
    .filter((row) => context === undefined || row.context === context)
    .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)
}

const ALL: Required<MessageFilters> = {
  channel: 'email',
  subscriberId: 'ada',
  transactionIds: ['order'],
  context: '["tenant:a"]'
}
const FILTERS: MessageFilters[] = Array.from({ length: 16 }, (_, bits) =>
  Object.fromEntries(Object.entries(ALL).filter((_entry, index) => bits & (1 << index)))
)
const LISTS = [...FILTERS, { transactionIds: ['order', 'rare-5', 'rare-10'] }].map((filters) => ({
  filters,
  ids: expectedIds(filters)
}))

test.each([
  ['with', true],
  ['without', false]
])('%s a total, any page of any filters has the messages that the contract says', (_name, hasTotal) => {
  const repository = messageRepository(db)
  fc.assert(
    fc.property(
      fc.constantFrom(...LISTS),
      fc.nat({ max: MANY + 200 }),
      fc.constantFrom(1, 10, 37, 1000),
      ({ filters, ids }, offset, limit) => {
        const total = hasTotal ? repository.countMessages(DATASET, filters) : undefined
        const wanted = { limit, offset, total, head: () => '[', tail: ']' }
        const { body, count } = repository.findPage(DATASET, filters, wanted)
        const expected = ids.slice(offset, offset + limit)
        expect(JSON.parse(body.toString()).map(({ _id }: { _id: string }) => _id)).toEqual(expected)
        expect(count).toBe(expected.length)
      }
    ),
    { numRuns: 300 }
  )
})

test.each([
  ['with', true],
  ['without', false]
])('%s a total, pages beyond what is sorted have the messages of any of several transactions', (_name, hasTotal) => {
  const repository = messageRepository(db)
  for (const transactionIds of [
    ['order-0', 'order-1'],
    ['rare', 'order-1', 'order-0', 'none']
  ]) {
    const ids = expectedIds({ transactionIds }, LARGE_DATASET)
    expect(ids.length).toBeGreaterThan(30_000)
    const total = hasTotal ? repository.countMessages(LARGE_DATASET, { transactionIds }) : undefined
    for (const share of [0.28, 0.33, 0.5, 0.6, 0.7, 0.75]) {
      const offset = Math.floor(share * ids.length)
      const wanted = { limit: 37, offset, total, head: () => '[', tail: ']' }
      const { body } = repository.findPage(LARGE_DATASET, { transactionIds }, wanted)
      expect(JSON.parse(body.toString()).map(({ _id }: { _id: string }) => _id)).toEqual(ids.slice(offset, offset + 37))
    }
  }
})
