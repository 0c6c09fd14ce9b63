import type { Statement } from 'better-sqlite3'
import { and, eq, exists, gt, inArray, isNull, min, ne, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { preparedOnUse } from '../db/prepared-on-use.js'
import { environments, messages, subscribers } from '../db/schema.js'
import { MAX_CANDIDATES } from '../domain/suggestions.js'
import type { Condition } from './filters.js'
import { boundedCountSql, countSql, pageSql, searchSql } from './list-sql.js'

interface PageOptions {
  limit: number
  offset: number
  /**
   * Returns the part of a page's JSON that precedes the documents. `isFull` is true if the page has
   * as many documents as the limit allows.
   */
  head: (isFull: boolean) => string
}

const LIST_SQL = { page: pageSql, count: countSql, boundedCount: boundedCountSql }
type CountKind = 'count' | 'boundedCount'

/**
 * The maximum number of cached totals per dataset, and the maximum number of datasets with cached
 * totals.
 */
const MAX_REMEMBERED = 1000

/** A total isn't cached if the JSON of its filters has more characters than this. */
const MAX_REMEMBERED_LENGTH = 1000

/** The index that is sorted like the list. It contains the columns of all filters. */
const ORDER_INDEX = 'messages_created'

/** The cost of reading a message from its table, relative to reading an index entry. */
const LOOKUP_COST = 20

/**
 * The cost of sorting a message, relative to reading an index entry. If a filter has several
 * values, messages that are read from its index must be sorted.
 */
const SORT_COST = 8

/**
 * Reads the messages of a dataset. Also reads subscribers and environments, which help to explain
 * an empty list.
 */
export class MessageRepository {
  readonly #db: Db
  readonly #lookups: ReturnType<typeof prepareLookups>
  /** The compiled statements that list or count messages, by kind, index and filters. */
  readonly #listStatements = new Map<string, Statement>()
  /**
   * Totals by dataset and conditions. They are cached because every page contains the total, and
   * counting a million messages takes 30 ms.
   */
  readonly #totals = new Map<number, Map<string, number>>()

  constructor(db: Db) {
    this.#db = db
    this.#lookups = prepareLookups(db)
  }

  /**
   * Returns a page as JSON in UTF-8, and the number of messages on it. The newest message comes
   * first. If timestamps are equal, the message with the greater id comes first.
   */
  findPage(
    dataset: number,
    conditions: readonly Condition[],
    { limit, offset, head }: PageOptions
  ): { body: Buffer; count: number } {
    const index = this.#cheapestIndex(dataset, conditions, SORT_COST)
    const values = columnValuesOf(conditions)
    const statement = this.#listStatement('page', conditions, index)
    const row = statement.get(limit, head(true), head(false), dataset, ...values, limit, offset)
    const [body, count] = row as [Buffer, number]
    return { body, count }
  }

  /** Returns a page of the documents that contain all words, newest first. */
  findDocuments(
    dataset: number,
    conditions: readonly Condition[],
    words: readonly string[],
    { limit, offset }: Omit<PageOptions, 'head'>
  ): string[] {
    const index = this.#cheapestIndex(dataset, conditions, SORT_COST)
    const statement = this.#db.client.prepare(searchSql(conditions, index, words.length)).pluck()
    const values = [...columnValuesOf(conditions), ...words.map(toPattern)]
    return statement.all(dataset, ...values, limit, offset) as string[]
  }

  /** Returns the document of the message with this `_id`. */
  findDocument(dataset: number, id: string): string | undefined {
    return this.#lookups.findDocument.get({ dataset, id })?.document
  }

  /** Returns how many messages match. Caches the number until `forgetTotals` is called. */
  countMessages(dataset: number, conditions: readonly Condition[]): number {
    return this.#count('count', dataset, conditions)
  }

  /**
   * Clears the cached totals. Call this before you write messages to the dataset, and again if the
   * write is rolled back.
   */
  forgetTotals(dataset: number): void {
    this.#totals.delete(dataset)
  }

  /** Returns up to 200 distinct sets of contexts, in canonical form. */
  listContexts(dataset: number): string[] {
    const contexts: string[] = []
    // Each lookup jumps to the next set in the index, whereas DISTINCT would read all messages.
    let context = this.#lookups.nextContext.get({ dataset, after: '' })?.context
    while (typeof context === 'string' && contexts.length < MAX_CANDIDATES) {
      contexts.push(context)
      context = this.#lookups.nextContext.get({ dataset, after: context })?.context
    }
    return contexts
  }

  /**
   * Returns the name of another environment in the organization that has a message with one of the
   * transaction ids.
   */
  findTransactionOwner(
    dataset: number,
    organizationId: string,
    transactionIds: readonly string[]
  ): string | undefined {
    const { orm } = this.#db
    const matching = orm
      .select({ sequence: messages.sequence })
      .from(messages)
      .where(
        and(
          eq(messages.dataset, environments.messages),
          inArray(messages.transactionId, [...transactionIds])
        )
      )
    const owner = orm
      .select({ name: environments.name })
      .from(environments)
      .where(
        and(
          eq(environments.organizationId, organizationId),
          isNull(environments.snapshotOf),
          ne(environments.messages, dataset),
          exists(matching)
        )
      )
      .get()
    return owner?.name
  }

  hasSubscriber(dataset: number, subscriberId: string): boolean {
    return this.#lookups.findSubscriber.get({ dataset, subscriberId }) !== undefined
  }

  /** Returns the `subscriberId` of up to 200 subscribers. */
  listSubscriberIds(dataset: number): string[] {
    return this.#lookups.listSubscribers.all({ dataset }).map(({ subscriberId }) => subscriberId)
  }

  /** Returns the `subscriberId` of the subscriber with this `_id`. */
  findSubscriberId(dataset: number, id: string): string | undefined {
    return this.#lookups.findSubscriberById.get({ dataset, id })?.subscriberId
  }

  /**
   * Returns the index that is cheapest to read. An index is cheap if few entries match its filter,
   * and if the messages needn't be looked up in the table or sorted.
   */
  #cheapestIndex(dataset: number, conditions: readonly Condition[], sortCost: number): string {
    const [first, ...others] = conditions
    if (first === undefined) return ORDER_INDEX
    if (others.length === 0 && first.columnValues.length === 1) return first.index
    const candidates = conditions.map((condition) => {
      const { index, columnValues } = condition
      const sorting = columnValues.length > 1 ? sortCost : 1
      const lookup = coversAll(condition, conditions) ? 1 : LOOKUP_COST
      return { index, cost: this.#count('boundedCount', dataset, [condition]) * sorting * lookup }
    })
    candidates.push({ index: ORDER_INDEX, cost: this.#count('boundedCount', dataset, []) })
    const cheapest = candidates.reduce((best, candidate) =>
      candidate.cost < best.cost ? candidate : best
    )
    return cheapest.index
  }

  #count(kind: CountKind, dataset: number, conditions: readonly Condition[]): number {
    const key = kind + JSON.stringify(conditions.map((one) => [one.name, one.columnValues]))
    const totals = this.#totals.get(dataset) ?? new Map<string, number>()
    const total = totals.get(key) ?? this.#countInDatabase(kind, dataset, conditions)
    if (this.#totals.size > MAX_REMEMBERED) this.#totals.clear()
    if (totals.size < MAX_REMEMBERED && key.length < MAX_REMEMBERED_LENGTH) {
      this.#totals.set(dataset, totals.set(key, total))
    }
    return total
  }

  #countInDatabase(kind: CountKind, dataset: number, conditions: readonly Condition[]): number {
    // Don't call `#cheapestIndex` for a bounded count, because `#cheapestIndex` itself needs
    // bounded counts.
    const index =
      kind === 'count'
        ? this.#cheapestIndex(dataset, conditions, 1)
        : (conditions[0]?.index ?? ORDER_INDEX)
    const statement = this.#listStatement(kind, conditions, index)
    const [total] = statement.get(dataset, ...columnValuesOf(conditions)) as [number]
    return total
  }

  #listStatement(
    kind: keyof typeof LIST_SQL,
    conditions: readonly Condition[],
    index: string
  ): Statement {
    // Don't use the SQL as the key, because building the SQL takes longer than building this key.
    let key = `${kind} ${index}`
    for (const { column, columnValues } of conditions) key += ` ${column} ${columnValues.length}`
    const compiled = this.#listStatements.get(key)
    if (compiled) return compiled
    const statement = this.#db.client.prepare(LIST_SQL[kind](conditions, index)).raw()
    this.#listStatements.set(key, statement)
    return statement
  }
}

/** Returns whether the index of a condition contains the columns of all other conditions. */
const coversAll = (condition: Condition, conditions: readonly Condition[]): boolean =>
  conditions.every(
    (other) => other === condition || condition.coveredColumns.includes(other.column)
  )

/** Returns a LIKE pattern that finds the word in the strings of a JSON document. */
function toPattern(word: string): string {
  const json = JSON.stringify(word).slice(1, -1)
  return `%${json.replace(/[\\%_]/g, '\\$&')}%`
}

const columnValuesOf = (conditions: readonly Condition[]): string[] =>
  conditions.flatMap(({ columnValues }) => columnValues)

function prepareLookups({ orm }: Db) {
  const { placeholder } = sql
  const isInDataset = eq(subscribers.dataset, placeholder('dataset'))

  return preparedOnUse({
    findDocument: () =>
      orm
        .select({ document: messages.document })
        .from(messages)
        .where(
          and(eq(messages.dataset, placeholder('dataset')), eq(messages.id, placeholder('id')))
        )
        .prepare(),
    nextContext: () =>
      orm
        .select({ context: min(messages.context) })
        .from(messages)
        .where(
          and(
            eq(messages.dataset, placeholder('dataset')),
            gt(messages.context, placeholder('after'))
          )
        )
        .prepare(),
    findSubscriber: () =>
      orm
        .select({ id: subscribers.id })
        .from(subscribers)
        .where(and(isInDataset, eq(subscribers.subscriberId, placeholder('subscriberId'))))
        .prepare(),
    findSubscriberById: () =>
      orm
        .select({ subscriberId: subscribers.subscriberId })
        .from(subscribers)
        .where(and(isInDataset, eq(subscribers.id, placeholder('id'))))
        .prepare(),
    listSubscribers: () =>
      orm
        .select({ subscriberId: subscribers.subscriberId })
        .from(subscribers)
        .where(isInDataset)
        .limit(MAX_CANDIDATES)
        .prepare()
  })
}
