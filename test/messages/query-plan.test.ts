import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Db, openDatabase } from '../../src/db/open.js'
import {
  type Condition,
  conditionsOf,
  EXAMPLE_QUERY,
  FILTER_NAMES
} from '../../src/messages/filters.js'
import { countSql, pageSql } from '../../src/messages/list-sql.js'
import { MessageRepository } from '../../src/messages/repository.js'

const database = openDatabase()
afterAll(database.close)

/**
 * Returns a condition for every filter. A filter that doesn't accept a list gets only the first
 * value.
 */
function allConditions(...values: string[]): Condition[] {
  const example: Record<string, unknown> = EXAMPLE_QUERY
  const query = FILTER_NAMES.map((name) => [
    name,
    Array.isArray(example[name]) ? values : values[0]
  ])
  return conditionsOf(Object.fromEntries(query))
}

/**
 * Returns the conditions to test for a filter: one with a single value and, if the filter accepts a
 * list, one with several values.
 */
function conditionsFor(name: string): Condition[] {
  const single = allConditions('a').filter((condition) => condition.name === name)
  const multiple = allConditions('a', 'b', 'c').filter(
    (condition) => condition.name === name && condition.columnValues.length > 1
  )
  return [...single, ...multiple]
}

const EVERY_FILTER_SET = FILTER_NAMES.reduce<Condition[][]>(
  (sets, name) =>
    sets.flatMap((set) => [set, ...conditionsFor(name).map((condition) => [...set, condition])]),
  [[]]
)

/** Every set of filters, combined with each index that its query may use. */
const WALKS = EVERY_FILTER_SET.flatMap((conditions) =>
  [undefined, ...conditions].map((walked) => ({
    conditions,
    walked,
    index: walked?.index ?? 'messages_created',
    filters: conditions.map(({ name, columnValues }) => `${name} ${columnValues.length}`).join(', ')
  }))
)

/** Returns the lines of SQLite's query plan. */
function planOf(statement: string): string[] {
  const parameters = Array(statement.split('?').length - 1).fill(null)
  const lines = database.db.client
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement}`)
    .all(...parameters)
  return lines.map(({ detail }) => detail)
}

describe.each(WALKS)('the filters [$filters] on $index', ({ conditions, walked, index }) => {
  const others = conditions.filter((condition) => condition !== walked)
  const isCovering = !walked || others.every(({ column }) => walked.coveredColumns.includes(column))
  const search = walked ? `dataset=? AND ${walked.column}=?` : 'dataset=?'
  const walk = `SEARCH messages USING ${isCovering ? 'COVERING ' : ''}INDEX ${index} (${search})`
  const sort = walked && walked.columnValues.length > 1 ? ['USE TEMP B-TREE FOR ORDER BY'] : []

  test('a page is read from the index, and sorted if the indexed filter has several values', () => {
    const lookup = ['SCAN page', 'SEARCH m USING INTEGER PRIMARY KEY (rowid=?)']
    const plan = planOf(pageSql(conditions, index))
    expect(plan).toEqual(['CO-ROUTINE page', walk, ...sort, ...lookup])
  })

  test('messages are counted with one search of the index', () => {
    expect(planOf(countSql(conditions, index))).toEqual([walk])
  })
})

test('`listContexts` jumps from one set of contexts to the next with an index search', () => {
  const prepared = vi.spyOn(database.db.client, 'prepare')
  onTestFinished(() => prepared.mockRestore())
  new MessageRepository(database.db).listContexts(1)
  const statement = prepared.mock.calls.map(([sql]) => sql).find((sql) => sql.includes('min('))
  expect(planOf(statement ?? '')).toEqual([
    'SEARCH messages USING COVERING INDEX messages_context (dataset=? AND context>?)'
  ])
})

interface HundredMessages {
  repository: MessageRepository
  db: Db
  /**
   * Returns the `INDEXED BY` index of each statement with these conditions that was prepared since
   * the previous call. Ignores bounded counts.
   */
  takeWalkedIndexes(conditions: readonly Condition[]): (string | undefined)[]
}

/**
 * Inserts 100 messages. Each filter's column has the value `hot` in 99 messages and `rare` in one.
 */
function insertMessages({ client }: Db): void {
  const columns = allConditions('hot').map(({ column, columnValues }, index) => {
    const rare = allConditions('rare')[index]?.columnValues[0]
    return { column, sql: `iif(value = ${index}, '${rare}', '${columnValues[0]}')` }
  })
  client.exec(`
    INSERT INTO datasets (key) VALUES (1);
    WITH RECURSIVE numbers (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM numbers WHERE value < 99)
    INSERT INTO messages (dataset, id, created_at, document, ${columns.map(({ column }) => column).join()})
    SELECT 1, printf('%024x', value), value, '"' || value || '"', ${columns.map(({ sql }) => sql).join()} FROM numbers`)
}

function useHundredMessages(): HundredMessages {
  const { db, close } = openDatabase()
  onTestFinished(close)
  insertMessages(db)
  const repository = new MessageRepository(db)
  const prepared = vi.spyOn(db.client, 'prepare')
  onTestFinished(() => prepared.mockRestore())
  return {
    db,
    repository,
    takeWalkedIndexes(conditions) {
      const statements = prepared.mock.calls.map(([sql]) => sql)
      prepared.mockClear()
      return statements
        .filter((sql) => !sql.includes('LIMIT 100000'))
        .filter((sql) => conditions.every(({ column }) => sql.includes(` AND ${column} `)))
        .map((sql) => /INDEXED BY (\w+)/.exec(sql)?.[1])
    }
  }
}

const PAGE = { limit: 10, offset: 0, head: () => '{"data":[' }

test.each(FILTER_NAMES)(
  'the index of %s is used if this filter matches the fewest messages',
  (rareName) => {
    const { repository, takeWalkedIndexes } = useHundredMessages()
    const rare = allConditions('rare').find(({ name }) => name === rareName)
    const conditions = allConditions('hot').map((hot) =>
      rare && hot.name === rareName ? rare : hot
    )
    repository.findPage(1, conditions, PAGE)
    repository.countMessages(1, conditions)
    expect(takeWalkedIndexes(conditions)).toEqual([rare?.index, rare?.index])
  }
)

test.each([
  ['few', 10, 'messages_transaction'],
  ['most', 1, 'messages_created']
])(
  'the cheaper index is used and all pages are correct if %s messages match',
  (_, share, index) => {
    const { db, repository, takeWalkedIndexes } = useHundredMessages()
    db.client.exec(
      `UPDATE messages SET transaction_id = iif(created_at % ${share} = 0, 'order-' || (created_at % 3), 'none')`
    )
    const conditions = conditionsOf({ transactionId: ['order-0', 'order-1', 'order-2'] })
    const pages = [0, 30, 60, 90, 120].map((offset) =>
      repository.findPage(1, conditions, { ...PAGE, limit: 30, offset })
    )
    const newestFirst = Array.from({ length: 100 }, (_, position) => 99 - position)
    const expected = newestFirst.filter((value) => value % share === 0).map(String)
    expect(pages.flatMap(({ body }) => JSON.parse(body.toString()).data)).toEqual(expected)
    expect(takeWalkedIndexes(conditions)).toEqual([index])
  }
)
