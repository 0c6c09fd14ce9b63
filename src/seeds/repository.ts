import { and, asc, count, desc, eq, getTableName, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Db, insertInto } from '../db/open.js'
import { integrations, messages, subscribers, workflowSteps, workflows } from '../db/schema.js'
import type { DatasetKind } from '../domain/enums.js'
import { MAX_CANDIDATES } from '../domain/suggestions.js'
import { withEnvironmentIds } from '../environments/datasets.js'
import type { Environment } from '../environments/environment.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { EnvironmentData } from './format.js'

/**
 * This union is written out instead of derived from `TABLES`, because the published types can't
 * refer to Drizzle's types.
 */
export type RecordKind = 'messages' | 'integrations' | 'subscribers' | 'workflows' | 'steps'

/** The kinds of records that have a unique name, such as an identifier. */
export type NamedKind = 'integrations' | 'subscribers' | 'workflows'

type RecordTable = SQLiteTable & Record<'dataset' | 'id' | 'document', SQLiteColumn>

const TABLES = {
  messages,
  integrations,
  subscribers,
  workflows,
  steps: workflowSteps
} satisfies Record<RecordKind, RecordTable>

export const RECORD_KINDS = Object.keys(TABLES) as RecordKind[]

const NAME_COLUMNS: Record<NamedKind, SQLiteColumn> = {
  integrations: integrations.identifier,
  subscribers: subscribers.subscriberId,
  workflows: workflows.identifier
}

/**
 * The property to find a record by. Several records can match the same `createdAt` or `active`
 * value.
 */
export type LookupKey =
  | '_id'
  | 'identifier'
  | 'subscriberId'
  | 'createdAt'
  /** The channel of a primary integration. */
  | 'primary'
  /** The channel of an active integration. The primary integration takes precedence. */
  | 'active'

const ROWID = sql<number>`rowid`
const VALUE = sql.placeholder('value')
const DATASET = sql.placeholder('dataset')

/**
 * These conditions compare flags with literals. With bound values, SQLite would recompile the
 * statement on each run.
 */
const IS_PRIMARY = sql`${integrations.primary} = 1 AND ${integrations.deleted} = 0`
const IS_ACTIVE = sql`${integrations.active} = 1 AND ${integrations.deleted} = 0`

/** Looks up the records of an environment that a seed is merged into. */
export interface ExistingRecords {
  /** Returns the first record with this value. */
  find<Kind extends RecordKind>(
    kind: Kind,
    key: LookupKey,
    value: string | number
  ): EnvironmentData[Kind][number] | undefined
  /** Returns the steps of a workflow, or all steps. */
  stepsOf(workflowId?: string): WorkflowStep[]
  messageCount(): number
  /** Returns the names of at most `MAX_CANDIDATES` records, for suggestions. */
  names(kind: NamedKind): string[]
}

export type RecordRow = { id: string; identifier?: string; position?: number }

type QueryValues = Record<string, unknown>

interface DocumentQuery {
  all(values: QueryValues): string[]
  first(values: QueryValues): string | undefined
}

/** Stores, reads and counts the records of environments. */
export class SeedRepository {
  readonly #db: Db
  readonly #insert: Record<RecordKind, (row: never) => number>
  /**
   * These statements run only after a conflict, because INSERT OR REPLACE takes twice as long as
   * INSERT.
   */
  readonly #replace: Record<RecordKind, (row: never) => number>
  readonly #queries = new Map<string, DocumentQuery>()
  readonly #deleteSteps

  constructor(db: Db) {
    this.#db = db
    this.#insert = perKind((kind) => insertInto(db, TABLES[kind]))
    this.#replace = perKind((kind) => insertInto(db, TABLES[kind], 'INSERT OR REPLACE'))
    const replacedWorkflows = db.orm
      .select({ id: workflows.id })
      .from(workflows)
      .where(
        and(
          eq(workflows.dataset, DATASET),
          or(
            eq(workflows.id, sql.placeholder('id')),
            eq(workflows.identifier, sql.placeholder('identifier'))
          )
        )
      )
    this.#deleteSteps = db.orm
      .delete(workflowSteps)
      .where(
        and(
          eq(workflowSteps.dataset, DATASET),
          inArray(workflowSteps.workflowId, replacedWorkflows)
        )
      )
      .prepare()
  }

  /**
   * Stores a record and removes any other record with the same id or name. If a record had the same
   * id, the new one keeps its position. Deletes the steps of replaced workflows. The caller must
   * reject other conflicts, such as a second primary integration.
   */
  put(kind: RecordKind, dataset: number, row: RecordRow): void {
    if (kind === 'workflows') {
      const { id, identifier } = row
      this.#deleteSteps.run({ dataset, id, identifier })
    }
    const values = { ...row, dataset } as never
    try {
      this.#insert[kind](values)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      const place = this.#rowid(kind, dataset, row.id)
      const newPlace = this.#replace[kind](values)
      if (place !== undefined) this.#moveRow(kind, newPlace, place)
    }
  }

  delete(kind: RecordKind, dataset: number, id: string): void {
    const table: RecordTable = TABLES[kind]
    this.#db.orm
      .delete(table)
      .where(and(eq(table.dataset, dataset), eq(table.id, id)))
      .run()
  }

  countRecords({ datasets }: Environment): Record<RecordKind, number> {
    return perKind((kind) => this.#count(kind, datasets[datasetOf(kind)]))
  }

  /**
   * Yields the documents of an environment, in insertion order. The caller must not write to the
   * dataset before it has received the last document.
   */
  *documents<Kind extends RecordKind>(
    kind: Kind,
    environment: Environment,
    limit = -1
  ): Generator<EnvironmentData[Kind][number], void> {
    const dataset = environment.datasets[datasetOf(kind)]
    const query = this.#query(`${kind} rowid`, TABLES[kind], eq(ROWID, VALUE))
    for (const rowid of this.#rowids(kind, dataset, limit)) {
      yield* this.#parse<Kind>(kind, environment, query.all({ dataset, value: rowid }))
    }
  }

  /** Returns functions that look up the records of an environment. */
  lookUp(environment: Environment): ExistingRecords {
    return {
      find: (kind, key, value) => this.#find(environment, kind, key, value),
      stepsOf: (workflowId) => this.#steps(environment, workflowId),
      messageCount: () => this.#count('messages', environment.datasets.messages),
      names: (kind) => this.#names(kind, environment.datasets[kind])
    }
  }

  #find<Kind extends RecordKind>(
    environment: Environment,
    kind: Kind,
    key: LookupKey,
    value: string | number
  ): EnvironmentData[Kind][number] | undefined {
    const dataset = environment.datasets[datasetOf(kind)]
    const { where, orderBy } = lookupCondition(kind, key)
    const query = this.#query(`${kind} ${key}`, TABLES[kind], where, orderBy)
    const document = query.first({ dataset, value })
    if (document === undefined) return undefined
    return this.#parse<Kind>(kind, environment, [document])[0]
  }

  #steps(environment: Environment, workflowId?: string): WorkflowStep[] {
    const dataset = environment.datasets.workflows
    const order = [asc(workflowSteps.position)]
    const query =
      workflowId === undefined
        ? this.#query('all steps', workflowSteps, undefined, order)
        : this.#query('steps', workflowSteps, eq(workflowSteps.workflowId, VALUE), order)
    return this.#parse('steps', environment, query.all({ dataset, value: workflowId }))
  }

  #names(kind: NamedKind, dataset: number): string[] {
    const table: RecordTable = TABLES[kind]
    return this.#db.orm
      .select({ name: NAME_COLUMNS[kind] })
      .from(table)
      .where(eq(table.dataset, dataset))
      .limit(MAX_CANDIDATES)
      .all()
      .map(({ name }) => String(name))
  }

  #count(kind: RecordKind, dataset: number): number {
    const table: RecordTable = TABLES[kind]
    const row = this.#db.orm
      .select({ count: count() })
      .from(table)
      .where(eq(table.dataset, dataset))
      .get()
    return row?.count ?? 0
  }

  /** Returns a prepared query for the documents of a dataset. Caches the query by its name. */
  #query(name: string, table: RecordTable, where?: SQL, orderBy: SQL[] = []): DocumentQuery {
    const known = this.#queries.get(name)
    if (known) return known
    const statement = this.#db.orm
      .select({ document: table.document })
      .from(table)
      .where(and(eq(table.dataset, DATASET), where))
      .orderBy(...orderBy)
      .prepare()
    const query: DocumentQuery = {
      all: (values) => statement.all(values).map(({ document }) => String(document)),
      first: (values) => statement.get(values)?.document as string | undefined
    }
    this.#queries.set(name, query)
    return query
  }

  #parse<Kind extends RecordKind>(
    kind: Kind,
    environment: Environment,
    documents: readonly string[]
  ): EnvironmentData[Kind][number][] {
    return documents.map((json) =>
      JSON.parse(withEnvironmentIds(environment, datasetOf(kind), json))
    )
  }

  /** Uses raw SQL, because Drizzle would create an object for each of up to a million rows. */
  #rowids(kind: RecordKind, dataset: number, limit: number): number[] {
    const query = `SELECT rowid FROM ${tableName(kind)} WHERE dataset = ? ORDER BY rowid LIMIT ?`
    return this.#db.client.prepare<[number, number], number>(query).pluck().all(dataset, limit)
  }

  #rowid(kind: RecordKind, dataset: number, id: string): number | undefined {
    const table: RecordTable = TABLES[kind]
    const row = this.#db.orm
      .select({ rowid: ROWID })
      .from(table)
      .where(and(eq(table.dataset, dataset), eq(table.id, id)))
      .get()
    return row?.rowid
  }

  /** Uses raw SQL, because Drizzle can't set the rowid. */
  #moveRow(kind: RecordKind, from: number, to: number): void {
    const query = `UPDATE ${tableName(kind)} SET rowid = ? WHERE rowid = ?`
    this.#db.client.prepare(query).run(to, from)
  }
}

function lookupCondition(kind: RecordKind, key: LookupKey): { where: SQL; orderBy?: SQL[] } {
  const table: RecordTable = TABLES[kind]
  switch (key) {
    case '_id':
      return { where: eq(table.id, VALUE) }
    case 'identifier':
    case 'subscriberId':
      return { where: eq(NAME_COLUMNS[kind as NamedKind], VALUE) }
    case 'createdAt':
      return { where: eq(messages.createdAt, VALUE), orderBy: [desc(messages.id)] }
    case 'primary':
      return { where: sql`${IS_PRIMARY} AND ${integrations.channel} = ${VALUE}` }
    case 'active':
      return {
        where: sql`${IS_ACTIVE} AND ${integrations.channel} = ${VALUE}`,
        orderBy: [desc(integrations.primary), asc(ROWID)]
      }
  }
}

function isUniqueViolation(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** Returns the kind of dataset that contains records of this kind. */
export function datasetOf(kind: RecordKind): Exclude<DatasetKind, 'idempotency'> {
  return kind === 'steps' ? 'workflows' : kind
}

export function perKind<Value>(create: (kind: RecordKind) => Value): Record<RecordKind, Value> {
  const entries = RECORD_KINDS.map((kind) => [kind, create(kind)])
  return Object.fromEntries(entries) as Record<RecordKind, Value>
}

const tableName = (kind: RecordKind): string => getTableName(TABLES[kind])
