import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Db, openDatabase } from '../../src/db/open.js'
import {
  type Condition,
  countSql,
  type MessageFilters,
  messageRepository,
  pageSql,
  passedSql,
  timeSql
} from '../../src/messages/repository.js'

const INDEXES: Record<Condition['by'], string> = {
  channel: 'messages_channel',
  subscriber_id: 'messages_subscriber',
  transaction_id: 'messages_transaction',
  context: 'messages_context'
}
const COLUMNS = Object.keys(INDEXES) as Condition['by'][]

/** Every set of filters, and in it each of them as the first; lists of transactions both of one and of several. */
const COMBINATIONS = COLUMNS.reduce<Condition[][]>(
  (sets, by) => sets.concat(sets.flatMap((set) => withFilter(set, by))),
  [[]]
)
  .flatMap((set) => (set.length === 0 ? [set] : set.map((first) => [first, ...set.filter((each) => each !== first)])))
  .map((conditions) => ({ conditions, named: conditions.map(({ by, values }) => `${by} ${values.length}`).join(', ') }))

function withFilter(set: Condition[], by: Condition['by']): Condition[][] {
  const one = [...set, { by, values: ['a'] }]
  return by === 'transaction_id' ? [one, [...set, { by, values: ['a', 'b', 'c', 'd'] }]] : [one]
}

function givenDatabase(): Db {
  const { db, close } = openDatabase()
  onTestFinished(close)
  return db
}

const database = openDatabase()
afterAll(database.close)

/** What SQLite says of how it will run the statement, line by line. */
function planOf(text: string): string[] {
  const parameters = Array(text.split('?').length - 1).fill(null)
  const lines = database.db.client
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
    .all(...parameters)
  return lines.map(({ detail }) => detail)
}

/** The columns that each filter's index has besides its own. */
const ALSO: Record<Condition['by'], readonly string[]> = {
  channel: [],
  subscriber_id: ['channel', 'context'],
  transaction_id: ['channel', 'subscriber_id', 'context'],
  context: ['channel', 'subscriber_id']
}

/**
 * How SQLite describes the one walk over the first filter's index, and whether that index has all other columns; `range`
 * is the part of it by time.
 */
function walkOf([first, ...others]: readonly Condition[], range = '') {
  const index = first ? INDEXES[first.by] : 'messages_created'
  const by = first ? `dataset=? AND ${first.by}=?` : 'dataset=?'
  const covering = !first || others.every((other) => ALSO[first.by].includes(other.by))
  return `SEARCH messages USING ${covering ? 'COVERING ' : ''}INDEX ${index} (${by}${range})`
}

describe.each(COMBINATIONS)('by [$named]', ({ conditions }) => {
  const sorted = conditions[0]?.by === 'transaction_id' && conditions[0].values.length > 1
  const sort = sorted ? ['USE TEMP B-TREE FOR ORDER BY'] : []
  // Documents are looked up one by one, by their address, in the order of the page.
  const lookup = ['SCAN page', 'SEARCH m USING INTEGER PRIMARY KEY (rowid=?)']

  test("a page is read off the first filter's index in order, several transactions apart", () => {
    const plan = planOf(pageSql(conditions, 'newest'))
    const walk = walkOf(conditions, ' AND created_at<?')
    expect(plan).toEqual(['CO-ROUTINE page', walk, ...sort, ...lookup])
  })

  test('a page near the end is read off it backwards, and only the page itself is sorted', () => {
    const plan = planOf(pageSql(conditions, 'oldest'))
    const [page, inner, ...rest] = plan
    expect([page, inner]).toEqual(['CO-ROUTINE page', 'CO-ROUTINE (subquery-1)'])
    const walk = walkOf(conditions, ' AND created_at>?')
    expect(rest).toEqual([walk, ...sort, 'SCAN (subquery-1)', 'USE TEMP B-TREE FOR ORDER BY', ...lookup])
  })

  test("a count walks the first filter's index alone", () => {
    expect(planOf(countSql(conditions))).toEqual([walkOf(conditions)])
  })

  test.each(['newest', 'oldest'] as const)(
    'from the %s on, a count up to a time walks that part of it alone',
    (end) => {
      expect(planOf(passedSql(conditions, end))).toEqual([walkOf(conditions, ' AND created_at>? AND created_at<?')])
    }
  )
})

test.each(['newest', 'oldest'] as const)(
  'from the %s on, the time of a message is read off the index of all',
  (end) => {
    expect(planOf(timeSql(end))).toEqual([walkOf([], end === 'newest' ? ' AND created_at<?' : ' AND created_at>?')])
  }
)

interface Watched {
  db: Db
  /** The statements that were prepared. */
  texts(): string[]
  /** The statements that were run for one row since it was asked last. */
  taken(): { text: string; parameters: unknown[] }[]
}

/** Messages of which each filter's value `rare` has one and `hot` has 99. */
function givenHotAndRare(): Watched {
  const db = givenDatabase()
  db.client.exec(`
    INSERT INTO datasets VALUES (1);
    WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < 100)
    INSERT INTO messages (dataset, id, created_at, channel, subscriber_id, transaction_id, context, document)
    SELECT 1, printf('%024x', value), value,
      iif(value = 10, 'sms', 'email'), iif(value = 20, 'rare', 'hot'), iif(value = 30, 'rare', 'hot'),
      iif(value = 40, 'rare', 'hot'), '{}'
    FROM numbers`)
  const runs: ReturnType<Watched['taken']> = []
  const prepare = db.client.prepare.bind(db.client)
  const prepared = vi.spyOn(db.client, 'prepare').mockImplementation((text) => {
    const statement = prepare(text)
    const get = statement.get.bind(statement)
    statement.get = (...parameters) => {
      runs.push({ text, parameters })
      return get(...parameters)
    }
    return statement
  })
  onTestFinished(() => prepared.mockRestore())
  return { db, texts: () => prepared.mock.calls.map(([text]) => text), taken: () => runs.splice(0) }
}

describe('of several filters', () => {
  const hot: Required<MessageFilters> = {
    channel: 'email',
    subscriberId: 'hot',
    transactionIds: ['hot'],
    context: 'hot'
  }
  const rare: [MessageFilters, string][] = [
    [{ channel: 'sms' }, 'messages_channel'],
    [{ subscriberId: 'rare' }, 'messages_subscriber'],
    [{ transactionIds: ['rare'] }, 'messages_transaction'],
    [{ transactionIds: ['rare', 'none', 'nor this'] }, 'messages_transaction'],
    [{ context: 'rare' }, 'messages_context']
  ]

  test.each(rare)('the one that the fewest messages meet is walked: %j', (filter, index) => {
    const { db, texts } = givenHotAndRare()
    const repository = messageRepository(db)
    const wanted = { limit: 10, offset: 0, total: undefined, head: () => '', tail: '' }
    repository.findPage(1, { ...hot, ...filter }, wanted)
    repository.countMessages(1, { ...hot, ...filter })

    const walks = texts().filter((text) => text.includes('channel = ?') && text.includes('subscriber_id = ?'))
    expect(walks).toHaveLength(2)
    for (const text of walks) expect(text).toContain(`INDEXED BY ${index} `)
  })
})

test('of two filters the one that few messages meet is walked, though its index has not the other', () => {
  const { db, texts } = givenHotAndRare()
  const repository = messageRepository(db)
  repository.findPage(1, { channel: 'sms', subscriberId: 'hot' }, { ...NOTHING, offset: 0, total: undefined })
  expect(texts().at(-1)).toContain('INDEXED BY messages_channel ')
})

describe('of two filters that most messages meet', () => {
  const pairs: [MessageFilters, string][] = [
    [{ channel: 'email', subscriberId: 'hot' }, 'messages_subscriber'],
    [{ channel: 'email', context: 'hot' }, 'messages_context'],
    [{ channel: 'email', transactionIds: ['hot'] }, 'messages_transaction'],
    [{ subscriberId: 'hot', transactionIds: ['hot'] }, 'messages_transaction'],
    [{ context: 'hot', transactionIds: ['hot'] }, 'messages_transaction']
  ]

  test.each(pairs)('the one whose index has both is walked, even if fewer meet the other: %j', (filters, index) => {
    const { db, texts } = givenHotAndRare()
    const others = Object.keys(filters).find((name) => !index.startsWith(`messages_${name.slice(0, 7)}`))
    const fewer = { channel: `channel = 'sms'`, subscriberId: `subscriber_id = 'x'`, context: `context = 'x'` }
    db.client.exec(`UPDATE messages SET ${fewer[others as keyof typeof fewer]} WHERE created_at BETWEEN 50 AND 60`)
    const repository = messageRepository(db)
    const wanted = { limit: 10, offset: 0, total: undefined, head: () => '', tail: '' }
    repository.findPage(1, filters, wanted)
    repository.countMessages(1, filters)

    const walks = texts().filter((text) => text.split(' = ?').length > 3)
    expect(walks).toHaveLength(2)
    for (const text of walks) expect(text).toContain(`INDEXED BY ${index} `)
  })
})

/** Messages of two transactions in turn, four of a millisecond, after and before as many of another one. */
function givenManyOfTwo(): Watched {
  const given = givenHotAndRare()
  given.db.client.exec(`
    INSERT INTO datasets VALUES (2);
    WITH RECURSIVE numbers (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM numbers WHERE value < 99999)
    INSERT INTO messages (dataset, id, created_at, channel, subscriber_id, transaction_id, context, document)
    SELECT 2, printf('%024x', value), value / 4, 'email', NULL,
      iif(value / 10000 IN (0, 4, 5), 'none', 'order-' || (value % 2)), '[]', '"' || value || '"' FROM numbers`)
  return given
}

const EXPECTED = Array.from({ length: 100_000 }, (_, index) => `${99_999 - index}`).filter(
  (value) => ![0, 4, 5].includes(Math.floor(Number(value) / 10_000))
)

const SORTED = 10_000
const FROM_END = 'SELECT * FROM ('

test.each([
  ['with', 70_000],
  ['without', undefined]
])('%s a total, of several transactions most of what comes before a deep page is counted, not sorted', (_, total) => {
  const { db, taken } = givenManyOfTwo()
  const repository = messageRepository(db)
  const transactionIds = ['order-0', 'order-1']
  const at = (offset: number) => repository.findPage(2, { transactionIds }, { ...NOTHING, offset, total })
  // Before anything has been counted, which is remembered.
  expect(at(SORTED).count).toBe(10)
  expect(taken()).toHaveLength(1)
  for (const offset of [10_001, 20_000, 29_990, 34_995, 35_000, 39_991, 40_001, 50_000, 69_995]) {
    const wanted = { limit: 10, offset, total, head: () => '[', tail: ']' }
    const page = repository.findPage(2, { transactionIds }, wanted)
    expect(JSON.parse(page.body.toString()), `from ${offset}`).toEqual(EXPECTED.slice(offset, offset + 10))
    const runs = taken()
    expect(runs.length, `from ${offset}`).toBeLessThan(10)
    const { text = '', parameters = [] } = runs.at(-1) ?? {}
    expect(parameters.at(-1), `from ${offset}`).toBeLessThanOrEqual(SORTED)
    expect(text.includes(FROM_END), `from ${offset}`).toBe(offset > 34_995)
  }
  expect(at(70_000).count).toBe(0)
  expect(taken()).toEqual([])
})

test.each<MessageFilters>([{}, { channel: 'email' }, { transactionIds: ['order-0'] }])(
  'by %j, which is read in order, what comes before a deep page is skipped by the page itself',
  (filters) => {
    const { db, taken } = givenManyOfTwo()
    const repository = messageRepository(db)
    repository.findPage(2, filters, { ...NOTHING, offset: 15_000, total: 35_000 })
    const [only, ...others] = taken()
    expect(others).toEqual([])
    expect(only?.parameters.at(-1)).toBe(15_000)
  }
)

const NOTHING = { limit: 10, head: () => '', tail: '' }

test('lists of transactions of any length share a few statements', () => {
  const { db, texts } = givenHotAndRare()
  const repository = messageRepository(db)
  const before = texts().length
  for (let length = 1; length <= 1000; length++) {
    const transactionIds = Array.from({ length }, (_, index) => `t${index}`)
    expect(repository.countMessages(1, { transactionIds })).toBe(0)
  }
  expect(texts().length - before).toBe(11)
})
