import type { Statement } from 'better-sqlite3'
import { MAX_CANDIDATES } from '../core/suggest.js'
import type { Db } from '../db/open.js'
import { rememberedTotals } from './totals.js'

/** Which messages to list. An absent filter excludes none. */
export interface MessageFilters {
  channel?: string | undefined
  subscriberId?: string | undefined
  /** Any of these. */
  transactionIds?: readonly string[] | undefined
  /** In the form of `canonicalContext`. */
  context?: string | undefined
}

interface WantedPage {
  limit: number
  offset: number
  /** How many messages pass the filters, where it is known: a page nearer to the end is then read from the end. */
  total: number | undefined
  /** The text before the documents; `full` when there are as many of them as the limit. */
  head(full: boolean): string
  /** The text after the documents. */
  tail: string
}

/**
 * The list is one BLOB that SQLite puts together, so that no row becomes a JavaScript value: twice as fast as drizzle.
 * Each statement is prepared once per combination of filters.
 */
export function messageRepository({ client }: Db) {
  const statements = new Map<string, Statement>()
  const totals = rememberedTotals()
  const subscriberIdOf = client
    .prepare<[number, string], string>('SELECT subscriber_id FROM subscribers WHERE dataset = ? AND id = ?')
    .pluck()
  const subscriber = client.prepare('SELECT id FROM subscribers WHERE dataset = ? AND subscriber_id = ?')
  const subscriberIds = client
    .prepare<[number], string>(`SELECT subscriber_id FROM subscribers WHERE dataset = ? LIMIT ${MAX_CANDIDATES}`)
    .pluck()

  return {
    /**
     * Newest first; of messages of the same millisecond the one with the greater id first. Returns head, documents
     * joined by commas, and tail, in UTF-8, and the number of documents.
     */
    findPage(dataset: number, filters: MessageFilters, wanted: WantedPage): { body: Buffer; count: number } {
      const { limit, offset, head, tail } = wanted
      const conditions = cheapestFirst(dataset, conditionsOf(filters))
      const isDeep = offset > MAX_SORTED
      const total = wanted.total ?? (isDeep ? countAll(dataset, conditions) : Number.POSITIVE_INFINITY)
      if (offset >= total) return { body: Buffer.from(head(false) + tail), count: 0 }

      const size = Math.min(limit, total - offset)
      const after = total - offset - size
      const end: PageEnd = offset <= after ? 'newest' : 'oldest'
      const skipped = Math.min(offset, after)
      const [start, rest] = skipMost(dataset, conditions, end, skipped)
      const parameters = [limit, head(true), head(false), tail, dataset, ...valuesOf(conditions), start, size, rest]
      const [body, count] = prepare(pageSql(conditions, end)).get(...parameters) as [Buffer, number]
      return { body, count }
    },

    /** Remembered until `forgetTotals`. */
    countMessages: (dataset: number, filters: MessageFilters): number => countAll(dataset, conditionsOf(filters)),

    /** To be called before messages of the dataset are written, and when the write is rolled back. */
    forgetTotals: totals.forget,

    hasSubscriber: (dataset: number, subscriberId: string): boolean =>
      subscriber.get(dataset, subscriberId) !== undefined,

    /** Returns the `subscriberId` of the first subscribers, some hundreds at most. */
    listSubscriberIds: (dataset: number): string[] => subscriberIds.all(dataset),

    /** Returns the `subscriberId` of the subscriber that has this `_id`. */
    findSubscriberId: (dataset: number, _id: string): string | undefined => subscriberIdOf.get(dataset, _id)
  }

  function countAll(dataset: number, conditions: readonly Condition[]): number {
    return totals.get(dataset, JSON.stringify(conditions), () => {
      const ordered = cheapestFirst(dataset, conditions)
      return numberOf(countSql(ordered), dataset, ...valuesOf(ordered))
    })
  }

  /** Puts first the condition whose index is cheapest to walk: few messages meet it, or none has to be looked up. */
  function cheapestFirst(dataset: number, conditions: readonly Condition[]): readonly Condition[] {
    if (conditions.length < 2) return conditions
    const costs = conditions.map((condition) => {
      // Up to a bound: to count a million only to choose an index would take longer than the page.
      const text = `SELECT count(*) FROM (SELECT 1 FROM ${restricted([condition])} LIMIT 100000)`
      const parameters = [dataset, ...condition.values]
      const count = totals.get(dataset, text + JSON.stringify(parameters), () => numberOf(text, ...parameters))
      return count * (isCovered(conditions, condition) ? 1 : LOOKUP_COST)
    })
    const cheapest = costs.indexOf(Math.min(...costs))
    return [...conditions.slice(cheapest, cheapest + 1), ...conditions.toSpliced(cheapest, 1)]
  }

  /**
   * Skips most of so many messages where to sort them would take longer than to count them: guesses a time a little short
   * of the last one to skip, as if those that meet the conditions were spread evenly, and counts those up to it; then
   * again with what is left. Returns the time to begin with, and how many are still to skip from there.
   */
  function skipMost(dataset: number, conditions: readonly Condition[], end: PageEnd, count: number): [number, number] {
    let [start, rest] = [end === 'newest' ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER, count]
    if (rest <= MAX_SORTED || !isSorted(conditions)) return [start, rest]
    let [all, matching, share] = [countAll(dataset, []), countAll(dataset, conditions), SHARE]
    while (rest > MAX_SORTED) {
      const step = Math.floor(((share * rest) / matching) * all)
      const time = numberOf(timeSql(end), dataset, start, step)
      // So many messages of one millisecond have to be sorted.
      if (time === start) break
      const passed = numberOf(passedSql(conditions, end), dataset, ...valuesOf(conditions), start, time)
      if (passed > rest) {
        all = step
        matching = passed
        share /= 2
      } else {
        start = time
        rest -= passed
        all -= step
        matching -= passed
        share = SHARE
      }
    }
    return [start, rest]
  }

  function numberOf(text: string, ...parameters: (string | number)[]): number {
    const [value] = prepare(text).get(...parameters) as [number]
    return value
  }

  function prepare(text: string): Statement {
    const known = statements.get(text)
    if (known) return known
    const statement = client.prepare(text).raw()
    statements.set(text, statement)
    return statement
  }
}

/** At most so many messages are sorted; beyond, they are skipped by time. */
const MAX_SORTED = 10_000

/** How far to go towards the last message to skip: far enough to leave few, short enough seldom to go too far. */
const SHARE = 0.98

/** The end of the list that a page is counted from. */
type PageEnd = 'newest' | 'oldest'

/** One filter in SQL: a column and the values that it may have. */
export interface Condition {
  by: keyof typeof INDEXES
  values: readonly string[]
}

/**
 * The index of each filter's column, and the other filters' columns in it. It is forced: without statistics SQLite
 * takes the index of the ORDER BY and walks the whole dataset for a rare value.
 */
const INDEXES = {
  transaction_id: { name: 'messages_transaction', has: ['subscriber_id', 'context', 'channel'] },
  subscriber_id: { name: 'messages_subscriber', has: ['context', 'channel'] },
  context: { name: 'messages_context', has: ['subscriber_id', 'channel'] },
  channel: { name: 'messages_channel', has: [] }
} as const satisfies Record<string, { name: string; has: readonly string[] }>

/** Looking up a message costs as much as passing so many entries of an index. */
const LOOKUP_COST = 20

function isCovered(conditions: readonly Condition[], walked: Condition): boolean {
  const has: readonly string[] = INDEXES[walked.by].has
  return conditions.every((condition) => condition === walked || has.includes(condition.by))
}

/** In the order of INDEXES, so that the same filters give the same conditions. */
function conditionsOf({ transactionIds, subscriberId, context, channel }: MessageFilters): Condition[] {
  const conditions: Condition[] = []
  if (transactionIds) conditions.push({ by: 'transaction_id', values: padded([...new Set(transactionIds)]) })
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

function valuesOf(conditions: readonly Condition[]): string[] {
  return conditions.flatMap(({ values }) => values)
}

/** Whether the index of the first condition is walked once for each of several values, and the page then sorted. */
function isSorted([first]: readonly Condition[]): boolean {
  return first !== undefined && first.values.length > 1
}

/**
 * A page of the messages that meet the conditions, over the index of the first. Its parameters are the limit, the heads
 * of a full page and of any other, the tail, the dataset, the conditions' values, the time to begin with, how
 * many documents, and how many to skip.
 *
 * Keys first, rows after: the innermost query walks an index alone, so that a deep page reads no documents but its own.
 * CROSS JOIN keeps the page the outer loop, so that documents are joined in its order; `group_concat` would sort.
 *
 * `+ 0` because SQLite prepares a statement again at every bind of a bare `LIMIT ?`.
 */
export function pageSql(conditions: readonly Condition[], end: PageEnd): string {
  const { order, from } = DIRECTIONS[end]
  const keys = `
      SELECT sequence, created_at, id FROM ${restricted(conditions)} AND ${from}
      ORDER BY created_at ${order}, id ${order} LIMIT ? + 0 OFFSET ? + 0`
  const page = end === 'newest' ? keys : `SELECT * FROM (${keys}) ORDER BY created_at DESC, id DESC LIMIT -1`
  return `
    SELECT
      CAST(concat(iif(count(*) = ?, ?, ?), group_concat(m.document, ','), ?) AS BLOB) AS body,
      count(*) AS count
    FROM (${page}) AS page CROSS JOIN messages AS m ON m.sequence = page.sequence`
}

const DIRECTIONS = {
  newest: { order: 'DESC', from: 'created_at <= ?', until: 'created_at > ?' },
  oldest: { order: 'ASC', from: 'created_at >= ?', until: 'created_at < ?' }
}

/** The number of messages that meet the conditions. Its parameters are the dataset and the values. */
export function countSql(conditions: readonly Condition[]): string {
  return `SELECT count(*) FROM ${restricted(conditions)}`
}

/** The same from a time until before another; these are further parameters. */
export function passedSql(conditions: readonly Condition[], end: PageEnd): string {
  const { from, until } = DIRECTIONS[end]
  return `${countSql(conditions)} AND ${from} AND ${until}`
}

/** The time of a message; its parameters are the dataset, a time, and how many messages from this one on to skip. */
export function timeSql(end: PageEnd): string {
  const { order, from } = DIRECTIONS[end]
  return `SELECT created_at FROM ${restricted([])} AND ${from} ORDER BY created_at ${order} LIMIT 1 OFFSET ? + 0`
}

function restricted(conditions: readonly Condition[]): string {
  const [first] = conditions
  const index = first ? INDEXES[first.by].name : 'messages_created'
  const where = conditions.map(({ by, values }) => {
    return values.length === 1 ? ` AND ${by} = ?` : ` AND ${by} IN (${values.map(() => '?').join()})`
  })
  return `messages INDEXED BY ${index} WHERE dataset = ?${where.join('')}`
}
