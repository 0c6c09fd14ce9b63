import type { Statement } from 'better-sqlite3'
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

export interface PageOfDocuments {
  /** The documents joined by commas, in UTF-8. */
  documents: Buffer
  count: number
}

/**
 * The list is written as SQL and answered as one BLOB, joined inside SQLite: no row and no field of it is ever made a
 * JavaScript value. Each statement is prepared once for each combination of filters.
 */
export function messageRepository({ orm, client }: Db) {
  const pages = new Map<string, Statement>()
  const counts = new Map<string, Statement>()
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
    findPage(collection: number, filters: MessageFilters, limit: number, offset: number): PageOfDocuments {
      const { index, where, values } = restrict(collection, filters)
      const row = prepared(pages, where, () => pageStatement(index, where)).get(...values, limit, offset)
      const { documents, count } = row as { documents: Buffer | null; count: number }
      return { documents: documents ?? NOTHING, count }
    },

    countMessages(collection: number, filters: MessageFilters): number {
      const { index, where, values } = restrict(collection, filters)
      const statement = prepared(counts, where, () => `SELECT count(*) AS count FROM ${index} WHERE ${where}`)
      return (statement.get(...values) as { count: number }).count
    },

    hasSubscriber(collection: number, subscriberId: string): boolean {
      return subscriber.get({ collection, subscriberId }) !== undefined
    }
  }

  function prepared(cache: Map<string, Statement>, where: string, text: () => string) {
    let statement = cache.get(where)
    if (!statement) {
      statement = client.prepare(text())
      cache.set(where, statement)
    }
    return statement
  }
}

const NOTHING = Buffer.alloc(0)

/**
 * Keys first, rows after: the inner query walks an index alone, so that a deep page costs no documents.
 *
 * `+ 0` because SQLite re-prepares a statement at every bind of a bare `LIMIT ?`.
 */
function pageStatement(index: string, where: string): string {
  return `
    SELECT CAST(group_concat(m.document, ',') AS BLOB) AS documents, count(*) AS count
    FROM (
      SELECT sequence FROM ${index} WHERE ${where}
      ORDER BY created_at DESC, id DESC LIMIT ? + 0 OFFSET ? + 0
    ) AS page CROSS JOIN messages AS m ON m.sequence = page.sequence`
}

/**
 * The WHERE clause of these filters, with the index that serves it best. The index is forced: without statistics
 * SQLite takes the one of the ORDER BY and walks the whole environment for a rare value.
 */
function restrict(collection: number, filters: MessageFilters): { index: string; where: string; values: unknown[] } {
  const where = ['collection = ?']
  const values: unknown[] = [collection]
  let index = 'messages_created'

  if (filters.channel !== undefined) {
    where.push('channel = ?')
    values.push(filters.channel)
    index = 'messages_channel'
  }
  if (filters.context !== undefined) {
    where.push('context = ?')
    values.push(filters.context)
    index = 'messages_context'
  }
  if (filters.subscriberId !== undefined) {
    where.push('subscriber_id = ?')
    values.push(filters.subscriberId)
    index = 'messages_subscriber'
  }
  if (filters.transactionIds !== undefined) {
    const wanted = padded(filters.transactionIds)
    where.push(wanted.length === 1 ? 'transaction_id = ?' : `transaction_id IN (${wanted.map(() => '?').join()})`)
    values.push(...wanted)
    index = 'messages_transaction'
  }
  return { index: `messages INDEXED BY ${index}`, where: where.join(' AND '), values }
}

/** Filled up to a power of two by repeating a value, so that lists of any length share a few statements. */
function padded(values: readonly string[]): string[] {
  const [first = ''] = values
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, values.length)))
  return Array.from({ length }, (_, place) => values[place] ?? first)
}
