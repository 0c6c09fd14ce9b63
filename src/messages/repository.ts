import type { Database, Statement } from 'better-sqlite3'
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { subscribers } from '../db/schema.js'

/** What a page is chosen by. An absent filter lets everything through. */
export interface MessageFilters {
  channel?: string
  subscriberId?: string
  /** Any of these. */
  transactionIds?: readonly string[]
  /** In the form of `canonicalContext`. */
  context?: string
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
  const totals = rememberedTotals(client)
  const subscriber = orm
    .select({ id: subscribers.id })
    .from(subscribers)
    .where(
      and(
        eq(subscribers.collection, sql.placeholder('collection')),
        eq(subscribers.subscriberId, sql.placeholder('subscriberId'))
      )
    )
    .prepare()

  return {
    /** Newest first; of those made in the same millisecond the one with the greater id first. */
    findPage(collection: number, filters: MessageFilters, wanted: WantedPage): FoundPage {
      const { limit, offset, total, head, tail } = wanted
      if (total !== undefined && offset >= total) return { body: Buffer.from(head(false) + tail), count: 0 }

      const size = total === undefined ? limit : Math.min(limit, total - offset)
      const after = total === undefined ? Number.POSITIVE_INFINITY : total - offset - size
      const from: PageEnd = offset <= after ? 'newest' : 'oldest'
      const conditions = rarestFirst(collection, conditionsOf(filters))
      const statement = prepared(`${from} ${nameOf(conditions)}`, () => pageSql(conditions, from))
      const frame = [limit, head(true), head(false), tail]
      const found = statement.get(...frame, collection, ...valuesOf(conditions), size, Math.min(offset, after))
      const [body, count] = found as [Buffer, number]
      return { body, count }
    },

    /** Remembered until messages of the collection come, go or change. */
    countMessages(collection: number, filters: MessageFilters): number {
      return countAll(collection, conditionsOf(filters))
    },

    hasSubscriber(collection: number, subscriberId: string): boolean {
      return subscriber.get({ collection, subscriberId }) !== undefined
    }
  }

  function countAll(collection: number, conditions: readonly Condition[]): number {
    return totals.get(collection, conditions, () => {
      const ordered = rarestFirst(collection, conditions)
      const statement = prepared(`count ${nameOf(ordered)}`, () => countSql(ordered))
      const [count] = statement.get(collection, ...valuesOf(ordered)) as [number]
      return count
    })
  }

  /** Puts first the condition that the fewest messages meet, so that its index is the one to be walked. */
  function rarestFirst(collection: number, conditions: readonly Condition[]): readonly Condition[] {
    if (conditions.length < 2) return conditions
    const counts = conditions.map((condition) => countAll(collection, [condition]))
    const rarest = counts.indexOf(Math.min(...counts))
    return [...conditions.slice(rarest, rarest + 1), ...conditions.toSpliced(rarest, 1)]
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
 * The index of each filter's column. It is forced: without statistics SQLite takes the one of the ORDER BY and walks
 * the whole collection for a rare value.
 */
const INDEXES = {
  transaction_id: 'messages_transaction',
  subscriber_id: 'messages_subscriber',
  context: 'messages_context',
  channel: 'messages_channel'
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

/** Which end of the list a page is counted off from. */
export type PageEnd = 'newest' | 'oldest'

/**
 * A page by these conditions, over the index of the first. It takes the limit, the heads of a full page and of any
 * other, the tail, the collection, the conditions' values, how many documents, and how many to pass over.
 *
 * Keys first, rows after: the innermost query walks an index alone, so that a deep page costs no documents. CROSS JOIN
 * keeps the page the outer loop, so that documents are joined in its order; to ask that of `group_concat` would sort.
 *
 * `+ 0` because SQLite re-prepares a statement at every bind of a bare `LIMIT ?`.
 */
export function pageSql(conditions: readonly Condition[], from: PageEnd): string {
  const keys = (order: string) => `
      SELECT sequence, created_at, id FROM ${restricted(conditions)}
      ORDER BY ${order} LIMIT ? + 0 OFFSET ? + 0`
  const page =
    from === 'newest'
      ? keys('created_at DESC, id DESC')
      : `SELECT * FROM (${keys('created_at, id')}) ORDER BY created_at DESC, id DESC LIMIT -1`
  return `
    SELECT
      CAST(concat(iif(count(*) = ?, ?, ?), group_concat(m.document, ','), ?) AS BLOB) AS body,
      count(*) AS count
    FROM (${page}) AS page CROSS JOIN messages AS m ON m.sequence = page.sequence`
}

/** How many messages meet the conditions, over the index of the first. It takes the collection and their values. */
export function countSql(conditions: readonly Condition[]): string {
  return `SELECT count(*) AS count FROM ${restricted(conditions)}`
}

function restricted(conditions: readonly Condition[]): string {
  const [first] = conditions
  const index = first ? INDEXES[first.by] : 'messages_created'
  const where = conditions.map(({ by, values }) => {
    return values.length === 1 ? ` AND ${by} = ?` : ` AND ${by} IN (${values.map(() => '?').join()})`
  })
  return `messages INDEXED BY ${index} WHERE collection = ?${where.join('')}`
}

/**
 * Exact counts, remembered because counting a large environment costs more than a page of it.
 *
 * They can't go stale, whoever changes messages, by cascade and in a transaction that is rolled back too: a new message
 * has a greater sequence than all there are, and when one goes or changes a trigger drops its collection's counts. The
 * greatest sequence of all is given again once its message is gone, so that takes along what was counted up to it.
 * (A trigger on INSERT as well would make seeding slower by a fifth.)
 */
function rememberedTotals(client: Database) {
  client.exec(`
    CREATE TEMP TABLE IF NOT EXISTS message_totals (
      collection INTEGER NOT NULL, conditions TEXT NOT NULL, newest_sequence INTEGER, total INTEGER NOT NULL,
      PRIMARY KEY (collection, conditions)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS temp.message_totals_newest ON message_totals (newest_sequence);
    CREATE TEMP TRIGGER IF NOT EXISTS message_totals_delete AFTER DELETE ON main.messages
      BEGIN
        DELETE FROM message_totals WHERE collection = OLD.collection;
        DELETE FROM message_totals WHERE newest_sequence = OLD.sequence;
      END;
    CREATE TEMP TRIGGER IF NOT EXISTS message_totals_update
      AFTER UPDATE OF collection, channel, subscriber_id, transaction_id, context ON main.messages
      BEGIN DELETE FROM message_totals WHERE collection IN (OLD.collection, NEW.collection); END`)
  const newest = '(SELECT max(sequence) FROM messages)'
  const known = client
    .prepare(
      `SELECT total FROM message_totals WHERE collection = ? AND conditions = ? AND newest_sequence IS ${newest}`
    )
    .pluck()
  const remember = client.prepare(`INSERT OR REPLACE INTO message_totals VALUES (?, ?, ${newest}, ?)`)
  const forget = client.prepare('DELETE FROM message_totals')
  let size = 0

  function forgetAll(): void {
    forget.run()
    size = 0
  }

  return {
    get(collection: number, conditions: readonly Condition[], count: () => number): number {
      const key = conditions.length === 0 ? '' : JSON.stringify(conditions)
      const total = known.get(collection, key)
      if (total !== undefined) return total as number
      const fresh = count()
      if (size > MOST_REMEMBERED) forgetAll()
      remember.run(collection, key, fresh)
      size += key.length + ROW_OVERHEAD
      return fresh
    },

    forgetAll
  }
}

/** In characters: a filter by many transactions is long. */
const MOST_REMEMBERED = 1_000_000
const ROW_OVERHEAD = 50
