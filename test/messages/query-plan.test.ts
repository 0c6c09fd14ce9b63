import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Db, openDatabase } from '../../src/db/open.js'
import {
  type Condition,
  conditionsOf,
  EXAMPLE_QUERY,
  FILTER_NAMES
} from '../../src/messages/filters.js'
import { countSql, messageRepository, pageSql } from '../../src/messages/repository.js'

const database = openDatabase()
afterAll(database.close)

/** Conditions by each of the filters, for these values of each, of which a filter that takes no list has the first. */
function asking(...values: string[]): Condition[] {
  const isList = (name: string) => Array.isArray((EXAMPLE_QUERY as Record<string, unknown>)[name])
  return conditionsOf(
    Object.fromEntries(FILTER_NAMES.map((name) => [name, isList(name) ? values : values[0]]))
  )
}

/** Every set of filters, lists of transactions both of one and of several, and each index that may be walked for it. */
const WALKS = FILTER_NAMES.reduce<Condition[][]>(
  (sets, name) => {
    const forms = [asking('a'), asking('a', 'b', 'c')].flatMap((all) =>
      all.filter((each) => each.name === name)
    )
    const different = forms.filter(({ values }, index) => index === 0 || values.length > 1)
    return sets.concat(sets.flatMap((set) => different.map((condition) => [...set, condition])))
  },
  [[]]
).flatMap((conditions) =>
  [undefined, ...conditions].map((walked) => ({
    conditions,
    walked,
    index: walked?.index ?? 'messages_created',
    named: conditions.map(({ name, values }) => `${name} ${values.length}`).join(', ')
  }))
)

/** What SQLite says of how it will run the statement, line by line. */
function planOf(text: string): string[] {
  const parameters = Array(text.split('?').length - 1).fill(null)
  const lines = database.db.client
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
    .all(...parameters)
  return lines.map(({ detail }) => detail)
}

describe.each(WALKS)('by [$named] over $index', ({ conditions, walked, index }) => {
  const others = conditions.filter((condition) => condition !== walked)
  const isCovering = !walked || others.every(({ column }) => walked.has.includes(column))
  const by = walked ? `dataset=? AND ${walked.column}=?` : 'dataset=?'
  const walk = `SEARCH messages USING ${isCovering ? 'COVERING ' : ''}INDEX ${index} (${by})`
  const sort = walked && walked.values.length > 1 ? ['USE TEMP B-TREE FOR ORDER BY'] : []

  test('a page is read off the index in order, several transactions apart, and documents by their address', () => {
    const lookup = ['SCAN page', 'SEARCH m USING INTEGER PRIMARY KEY (rowid=?)']
    expect(planOf(pageSql(conditions, index))).toEqual([
      'CO-ROUTINE page',
      walk,
      ...sort,
      ...lookup
    ])
  })

  test('a count walks the index alone', () => {
    expect(planOf(countSql(conditions, index))).toEqual([walk])
  })
})

interface Watched {
  repository: ReturnType<typeof messageRepository>
  db: Db
  /** The indexes of the statements that were prepared for these conditions since it was asked last. */
  walked(conditions: readonly Condition[]): (string | undefined)[]
}

/** A hundred messages: of one each filter's column has another value than `hot`. */
function givenMessages(): Watched {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const columns = asking('hot').map(({ column, values }, index) => {
    const rare = asking('rare')[index]?.values[0]
    return { column, sql: `iif(value = ${index}, '${rare}', '${values[0]}')` }
  })
  db.client.exec(`
    INSERT INTO datasets (key) VALUES (1);
    WITH RECURSIVE numbers (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM numbers WHERE value < 99)
    INSERT INTO messages (dataset, id, created_at, document, ${columns.map(({ column }) => column).join()})
    SELECT 1, printf('%024x', value), value, '"' || value || '"', ${columns.map(({ sql }) => sql).join()} FROM numbers`)
  const prepared = vi.spyOn(db.client, 'prepare')
  onTestFinished(() => prepared.mockRestore())
  const repository = messageRepository(db)
  prepared.mockClear()
  return {
    db,
    repository,
    walked(conditions) {
      const texts = prepared.mock.calls
        .map(([text]) => text)
        .filter((text) => !text.includes('LIMIT 100000'))
      prepared.mockClear()
      const own = texts.filter((text) =>
        conditions.every(({ column }) => text.includes(` AND ${column} `))
      )
      return own.map((text) => /INDEXED BY (\w+)/.exec(text)?.[1])
    }
  }
}

const PAGE = { limit: 10, offset: 0, head: () => '{"data":[' }

describe('of several filters', () => {
  test.each(FILTER_NAMES)('the one that the fewest messages meet is walked: %s', (rare) => {
    const { repository, walked } = givenMessages()
    const conditions = asking('hot').map(
      (hot) => asking('rare').find(({ name }) => name === rare && hot.name === name) ?? hot
    )
    repository.findPage(1, conditions, PAGE)
    repository.countMessages(1, conditions)
    const { index } = conditions.find(({ name }) => name === rare) ?? {}
    expect(walked(conditions)).toEqual([index, index])
  })
})

test.each([
  ['few', 10, 'messages_transaction'],
  ['most', 1, 'messages_created']
])(
  'of several transactions that %s messages are of, the cheaper index is walked, and all pages are right',
  (_, share, index) => {
    const { db, repository, walked } = givenMessages()
    db.client.exec(
      `UPDATE messages SET transaction_id = iif(created_at % ${share} = 0, 'order-' || (created_at % 3), 'none')`
    )
    const conditions = conditionsOf({ transactionId: ['order-0', 'order-1', 'order-2'] })
    const pages = [0, 30, 60, 90, 120].map((offset) =>
      repository.findPage(1, conditions, { ...PAGE, limit: 30, offset })
    )
    const expected = Array.from({ length: 100 }, (_, value) => `${99 - value}`).filter(
      (value) => Number(value) % share === 0
    )
    expect(pages.flatMap(({ body }) => JSON.parse(body.toString()).data)).toEqual(expected)
    expect(walked(conditions)).toEqual([index])
  }
)
