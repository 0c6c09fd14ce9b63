import type { Statement } from 'better-sqlite3'
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { subscribers } from '../db/schema.js'
import { ANCHOR_DISTANCE, type Anchor, type List, type PageEnd, rememberedLists } from './remembered.js'

/** What a page is chosen by. An absent filter lets everything through. */
export interface MessageFilters {
  channel?: string | undefined
  subscriberId?: string | undefined
  /** Any of these. */
  transactionIds?: readonly string[] | undefined
  /** In the form of `canonicalContext`. */
  context?: string | undefined
}

export interface WantedPage {
  limit: number
  offset: number
  /** How many messages pass the filters, where that is known: a page nearer to the end is then read from there. */
  total: number | undefined
  /** The text before the documents; `full` when there are as many of them as the limit. */
  head(full: boolean): string
  /** The text after them. */
  tail: string
}

export interface FoundPage {
  /** Head, documents joined by commas, and tail, in UTF-8. */
  body: Buffer
  /** How many documents. */
  count: number
}

/**
 * The list is written as SQL and answered as one BLOB, put together inside SQLite: no row and no field of it is ever
 * made a JavaScript value. Each statement is prepared once for each combination of filters.
 */
export function messageRepository({ orm, client }: Db) {
  const statements = new Map<string, Statement>()
  const remembered = rememberedLists(client)
  const subscriber = orm
    .select({ id: subscribers.id })
    .from(subscribers)
    .where(
      and(
        eq(subscribers.dataset, sql.placeholder('dataset')),
        eq(subscribers.subscriberId, sql.placeholder('subscriberId'))
      )
    )
    .prepare()

  return {
    /** Newest first; of those made in the same millisecond the one with the greater id first. */
    findPage(dataset: number, filters: MessageFilters, wanted: WantedPage): FoundPage {
      const { limit, offset, total, head, tail } = wanted
      if (total !== undefined && offset >= total) return { body: Buffer.from(head(false) + tail), count: 0 }

      const size = total === undefined ? limit : Math.min(limit, total - offset)
      const after = total === undefined ? Number.POSITIVE_INFINITY : total - offset - size
      const from: PageEnd = offset <= after ? 'newest' : 'oldest'
      const places = Math.min(offset, after)
      const conditions = cheapestFirst(dataset, conditionsOf(filters))
      const anchor = places > MAX_PASSED ? anchorOf(dataset, conditions, from, places) : undefined
      const name = `${from} ${anchor ? 'anchored ' : ''}${nameOf(conditions)}`
      const statement = prepared(name, () => pageSql(conditions, from, anchor !== undefined))
      const values: unknown[] = [limit, head(true), head(false), tail, dataset]
      for (const condition of conditions) values.push(...condition.values)
      if (anchor) values.push(anchor.createdAt, anchor.id)
      values.push(size, places - (anchor?.place ?? 0))
      const [body, count] = statement.get(values) as [Buffer, number]
      return { body, count }
    },

    /** Remembered until messages of the dataset come, go or change. */
    countMessages(dataset: number, filters: MessageFilters): number {
      return countAll(dataset, conditionsOf(filters))
    },

    hasSubscriber(dataset: number, subscriberId: string): boolean {
      return subscriber.get({ dataset, subscriberId }) !== undefined
    }
  }

  function countAll(dataset: number, conditions: readonly Condition[]): number {
    return remembered.total(listOf(dataset, conditions), () => {
      const ordered = cheapestFirst(dataset, conditions)
      const statement = prepared(`count ${nameOf(ordered)}`, () => countSql(ordered))
      const [count] = statement.get(dataset, ...valuesOf(ordered)) as [number]
      return count
    })
  }

  /**
   * Puts first the condition whose index is to be walked: the one that the fewest messages meet, unless another's index
   * has all the other columns, so that no message has to be looked up, and that is cheaper.
   */
  function cheapestFirst(dataset: number, conditions: readonly Condition[]): readonly Condition[] {
    if (conditions.length < 2) return conditions
    const costs = conditions.map((condition) => {
      return countAll(dataset, [condition]) * (isCovered(conditions, condition) ? 1 : LOOKUP_COST)
    })
    const cheapest = costs.indexOf(Math.min(...costs))
    return [...conditions.slice(cheapest, cheapest + 1), ...conditions.toSpliced(cheapest, 1)]
  }

  /** Several values of the first condition are several walks, put in order only after: no place is nearer than another. */
  function anchorOf(
    dataset: number,
    conditions: readonly Condition[],
    from: PageEnd,
    place: number
  ): Anchor | undefined {
    const [first] = conditions
    if (first && first.values.length > 1) return undefined
    return remembered.anchor(listOf(dataset, conditions), from, place, (last) => {
      const name = `${last ? 'next' : 'first'} ${from} ${nameOf(conditions)}`
      const statement = prepared(name, () => anchorSql(conditions, from, last !== undefined))
      const found = statement.get(dataset, ...valuesOf(conditions), ...valuesOfAnchor(last), ANCHOR_DISTANCE)
      if (found === undefined) return undefined
      const [createdAt, id] = found as [number, string]
      return { createdAt, id }
    })
  }

  function prepared(name: string, text: () => string): Statement {
    let statement = statements.get(name)
    if (!statement) {
      statement = client.prepare(text()).raw()
      statements.set(name, statement)
    }
    return statement
  }
}

/** One filter in SQL: a column and the values that it may have. */
export interface Condition {
  by: keyof typeof INDEXES
  values: readonly string[]
}

/**
 * The index of each filter's column, and the others' columns that it has. It is forced: without statistics SQLite takes
 * the one of the ORDER BY and walks the whole dataset for a rare value.
 */
const INDEXES = {
  transaction_id: { name: 'messages_transaction', has: ['subscriber_id', 'context', 'channel'] },
  subscriber_id: { name: 'messages_subscriber', has: ['context', 'channel'] },
  context: { name: 'messages_context', has: ['subscriber_id', 'channel'] },
  channel: { name: 'messages_channel', has: [] }
} as const satisfies Record<string, { name: string; has: readonly string[] }>

/** To look a message up costs what passing so many in an index does. */
const LOOKUP_COST = 20

/** Pages with more messages before them, from either end, are read from an anchor. */
const MAX_PASSED = 5000

function isCovered(conditions: readonly Condition[], walked: Condition): boolean {
  const has: readonly string[] = INDEXES[walked.by].has
  return conditions.every((condition) => condition === walked || has.includes(condition.by))
}

/** By the conditions in whatever order. */
function listOf(dataset: number, conditions: readonly Condition[]): List {
  if (conditions.length === 0) return { dataset, conditions: '' }
  return { dataset, conditions: JSON.stringify(conditions.toSorted((a, b) => (a.by < b.by ? -1 : 1))) }
}

function conditionsOf({ transactionIds, subscriberId, context, channel }: MessageFilters): Condition[] {
  const conditions: Condition[] = []
  const transactions = transactionIds && padded([...new Set(transactionIds)])
  if (transactions) conditions.push({ by: 'transaction_id', values: transactions })
  if (subscriberId !== undefined) conditions.push({ by: 'subscriber_id', values: [subscriberId] })
  if (context !== undefined) conditions.push({ by: 'context', values: [context] })
  if (channel !== undefined) conditions.push({ by: 'channel', values: [channel] })
  return conditions
}

/** Filled up to a power of two by repeating a value, so that lists of any length share a few statements. */
function padded(values: readonly string[]): string[] {
  const [first = ''] = values
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, values.length)))
  return values.concat(Array(length - values.length).fill(first))
}

function nameOf(conditions: readonly Condition[]): string {
  return conditions.map(({ by, values }) => `${by} ${values.length}`).join()
}

function valuesOf(conditions: readonly Condition[]): string[] {
  return conditions.flatMap(({ values }) => values)
}

function valuesOfAnchor(anchor: Anchor | undefined): (number | string)[] {
  return anchor ? [anchor.createdAt, anchor.id] : []
}

/**
 * A page by these conditions, over the index of the first. It takes the limit, the heads of a full page and of any
 * other, the tail, the dataset, the conditions' values, if it is anchored the time and id of the message that places
 * are counted from, how many documents, and how many to pass over.
 *
 * Keys first, rows after: the innermost query walks an index alone, so that a deep page costs no documents. CROSS JOIN
 * keeps the page the outer loop, so that documents are joined in its order; to ask that of `group_concat` would sort.
 *
 * `+ 0` because SQLite re-prepares a statement at every bind of a bare `LIMIT ?`.
 */
export function pageSql(conditions: readonly Condition[], from: PageEnd, anchored: boolean): string {
  const keys = `
      SELECT sequence, created_at, id FROM ${inOrder(conditions, from, anchored)} LIMIT ? + 0 OFFSET ? + 0`
  const page = from === 'newest' ? keys : `SELECT * FROM (${keys}) ORDER BY created_at DESC, id DESC LIMIT -1`
  return `
    SELECT
      CAST(concat(iif(count(*) = ?, ?, ?), group_concat(m.document, ','), ?) AS BLOB) AS body,
      count(*) AS count
    FROM (${page}) AS page CROSS JOIN messages AS m ON m.sequence = page.sequence`
}

/**
 * The time and id of the message so many places on. It takes the dataset, the conditions' values, if it is anchored
 * the time and id of the message to go from, and how many.
 */
export function anchorSql(conditions: readonly Condition[], from: PageEnd, anchored: boolean): string {
  return `SELECT created_at, id FROM ${inOrder(conditions, from, anchored)} LIMIT 1 OFFSET ? + 0`
}

function inOrder(conditions: readonly Condition[], from: PageEnd, anchored: boolean): string {
  const [isAfter, order] = from === 'newest' ? ['<=', ' DESC'] : ['>=', '']
  const start = anchored ? ` AND (created_at, id) ${isAfter} (?, ?)` : ''
  return `${restricted(conditions)}${start} ORDER BY created_at${order}, id${order}`
}

/** How many messages meet the conditions, over the index of the first. It takes the dataset and their values. */
export function countSql(conditions: readonly Condition[]): string {
  return `SELECT count(*) AS count FROM ${restricted(conditions)}`
}

function restricted(conditions: readonly Condition[]): string {
  const [first] = conditions
  const index = first ? INDEXES[first.by].name : 'messages_created'
  const where = conditions.map(({ by, values }) => {
    return values.length === 1 ? ` AND ${by} = ?` : ` AND ${by} IN (${values.map(() => '?').join()})`
  })
  return `messages INDEXED BY ${index} WHERE dataset = ?${where.join('')}`
}
