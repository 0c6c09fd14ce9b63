import type { Statement } from 'better-sqlite3'
import type { Db } from '../db/open.js'
import { MAX_CANDIDATES } from '../domain/suggestions.js'
import type { Condition } from './filters.js'

/** `head` returns the text before the documents; `full` when there are as many of them as the limit. */
type WantedPage = { limit: number; offset: number; head: (full: boolean) => string }

/**
 * The list is one BLOB that SQLite puts together, so that no row becomes a JavaScript value: twice as fast as drizzle.
 * Each statement is prepared once per combination of filters.
 */
export function messageRepository({ client }: Db) {
  const statements = new Map<string, Statement>()
  const totals = new Map<number, Map<string, number>>()
  const texts = <Params extends object>(sql: string) => client.prepare<Params, string>(sql).pluck()
  const subscriberIdOf = texts<[number, string]>(
    'SELECT subscriber_id FROM subscribers WHERE dataset = ? AND id = ?'
  )
  const subscriber = client.prepare(
    'SELECT id FROM subscribers WHERE dataset = ? AND subscriber_id = ?'
  )
  const subscriberIds = texts<[number]>(
    `SELECT subscriber_id FROM subscribers WHERE dataset = ? LIMIT ${MAX_CANDIDATES}`
  )
  // Each is looked for behind the one before: DISTINCT would walk all messages.
  const contexts = texts<{ dataset: number }>(
    `WITH RECURSIVE contexts (context) AS (
      SELECT min(context) FROM messages WHERE dataset = @dataset
      UNION ALL
      SELECT (SELECT min(m.context) FROM messages AS m WHERE m.dataset = @dataset AND m.context > contexts.context)
      FROM contexts WHERE contexts.context IS NOT NULL
    ) SELECT context FROM contexts WHERE context IS NOT NULL LIMIT ${MAX_CANDIDATES}`
  )
  const ownerOfTransaction = texts<[string, number, string]>(
    `SELECT name FROM environments WHERE organization_id = ? AND snapshot_of IS NULL AND messages <> ?
    AND EXISTS (SELECT 1 FROM messages AS m, json_each(?) AS wanted
      WHERE m.dataset = environments.messages AND m.transaction_id = wanted.value) LIMIT 1`
  )

  return {
    /**
     * Newest first; of messages of the same millisecond the one with the greater id first. Returns the text of the page in
     * UTF-8, and the number of its documents.
     */
    findPage(
      dataset: number,
      conditions: readonly Condition[],
      wanted: WantedPage
    ): { body: Buffer; count: number } {
      const { limit, offset, head } = wanted
      const statement = prepare('page', conditions, cheapestIndex(dataset, conditions, SORT_COST))
      const parameters = [
        limit,
        head(true),
        head(false),
        dataset,
        ...valuesOf(conditions),
        limit,
        offset
      ]
      const [body, count] = statement.get(...parameters) as [Buffer, number]
      return { body, count }
    },

    /** Remembered until `forgetTotals`. */
    countMessages: (dataset: number, conditions: readonly Condition[]): number =>
      count('count', dataset, conditions),

    /** To be called before messages of the dataset are written, and when the write is rolled back. */
    forgetTotals: (dataset: number): void => void totals.delete(dataset),

    /** Returns the first sets of contexts that messages have, in canonical form, some hundreds at most. */
    listContexts: (dataset: number): string[] => contexts.all({ dataset }),

    /** Returns the name of another environment of the organization that has a message of one of these transactions. */
    findTransaction: (
      dataset: number,
      organizationId: string,
      transactionIds: readonly string[]
    ): string | undefined =>
      ownerOfTransaction.get(organizationId, dataset, JSON.stringify(transactionIds)),

    hasSubscriber: (dataset: number, subscriberId: string): boolean =>
      subscriber.get(dataset, subscriberId) !== undefined,

    /** Returns the `subscriberId` of the first subscribers, some hundreds at most. */
    listSubscriberIds: (dataset: number): string[] => subscriberIds.all(dataset),

    /** Returns the `subscriberId` of the subscriber that has this `_id`. */
    findSubscriberId: (dataset: number, _id: string): string | undefined =>
      subscriberIdOf.get(dataset, _id)
  }

  /** Returns the index that is cheapest to walk: few messages meet its filter, or none has to be looked up or sorted. */
  function cheapestIndex(
    dataset: number,
    conditions: readonly Condition[],
    sortCost: number
  ): string {
    const [first, ...others] = conditions
    if (first === undefined) return ORDER_INDEX
    if (others.length === 0 && first.values.length === 1) return first.index
    const costs = conditions.map((condition) => {
      const factor =
        (condition.values.length > 1 ? sortCost : 1) *
        (isCovered(conditions, condition) ? 1 : LOOKUP_COST)
      return { index: condition.index, cost: count('boundedCount', dataset, [condition]) * factor }
    })
    // It has the columns of all filters.
    costs.push({ index: ORDER_INDEX, cost: count('boundedCount', dataset, []) })
    return costs.reduce((best, each) => (each.cost < best.cost ? each : best)).index
  }

  /** Counting a million takes 30 ms, and each page has a total. What is counted by a long filter is not remembered. */
  function count(
    kind: 'count' | 'boundedCount',
    dataset: number,
    conditions: readonly Condition[]
  ): number {
    const filters = kind + JSON.stringify(conditions.map(({ name, values }) => [name, values]))
    const known = totals.get(dataset) ?? new Map<string, number>()
    const total = known.get(filters) ?? countAnew(kind, dataset, conditions)
    if (totals.size > MAX_REMEMBERED) totals.clear()
    if (known.size < MAX_REMEMBERED && filters.length < 1000)
      totals.set(dataset, known.set(filters, total))
    return total
  }

  function countAnew(
    kind: 'count' | 'boundedCount',
    dataset: number,
    conditions: readonly Condition[]
  ): number {
    const own = conditions[0]?.index ?? ORDER_INDEX
    const index = kind === 'count' ? cheapestIndex(dataset, conditions, 1) : own
    const [total] = prepare(kind, conditions, index).get(dataset, ...valuesOf(conditions)) as [
      number
    ]
    return total
  }

  function prepare(
    kind: keyof typeof SQL,
    conditions: readonly Condition[],
    index: string
  ): Statement {
    // Not the text itself, which takes longer to put together than to find a message by it.
    let key = `${kind} ${index}`
    for (const { column, values } of conditions) key += ` ${column} ${values.length}`
    const statement = statements.get(key) ?? client.prepare(SQL[kind](conditions, index)).raw()
    statements.set(key, statement)
    return statement
  }
}

/** How many totals of a dataset are remembered, and of how many datasets. */
const MAX_REMEMBERED = 1000

/** The index in the order of the list. */
const ORDER_INDEX = 'messages_created'

/** Looking up a message costs as much as passing so many entries of an index. */
const LOOKUP_COST = 20

/** So does sorting one: an index that is walked once for each of several values gives them in no order. */
const SORT_COST = 8

const isCovered = (conditions: readonly Condition[], walked: Condition): boolean =>
  conditions.every((condition) => condition === walked || walked.has.includes(condition.column))

const valuesOf = (conditions: readonly Condition[]): string[] =>
  conditions.flatMap(({ values }) => values)

/**
 * A page of the messages that meet the conditions, over an index. Its parameters are the limit, the heads of a full page
 * and of any other, the dataset, the conditions' values, how many documents, and how many to skip.
 *
 * Keys first, rows after: the innermost query walks an index alone, so that a deep page reads no documents but its own.
 * CROSS JOIN keeps the page the outer loop, so that documents are joined in its order; `group_concat` would sort.
 *
 * `+ 0` because SQLite prepares a statement again at every bind of a bare `LIMIT ?`.
 */
export function pageSql(conditions: readonly Condition[], index: string): string {
  return `
    SELECT
      CAST(concat(iif(count(*) = ?, ?, ?), group_concat(m.document, ','), ']}') AS BLOB) AS body,
      count(*) AS count
    FROM (
      SELECT sequence, created_at, id FROM ${restricted(conditions, index)}
      ORDER BY created_at DESC, id DESC LIMIT ? + 0 OFFSET ? + 0
    ) AS page CROSS JOIN messages AS m ON m.sequence = page.sequence`
}

/** The number of messages that meet the conditions. Its parameters are the dataset and the values. */
export const countSql = (conditions: readonly Condition[], index: string): string =>
  `SELECT count(*) FROM ${restricted(conditions, index)}`

/** The same, up to a bound: to count a million only to choose an index would take longer than the page. */
const boundedCountSql = (conditions: readonly Condition[], index: string): string =>
  `SELECT count(*) FROM (SELECT 1 FROM ${restricted(conditions, index)} LIMIT 100000)`

const SQL = { page: pageSql, count: countSql, boundedCount: boundedCountSql }

/** The index is forced: without statistics SQLite takes that of the ORDER BY, and walks it all for a rare value. */
function restricted(conditions: readonly Condition[], index: string): string {
  const where = conditions.map(({ column, values }) => {
    return values.length === 1
      ? ` AND ${column} = ?`
      : ` AND ${column} IN (${values.map(() => '?').join()})`
  })
  return `messages INDEXED BY ${index} WHERE dataset = ?${where.join('')}`
}
