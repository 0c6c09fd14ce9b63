import { and, eq, getTableColumns, getTableName, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { DATASET_KINDS, type DatasetKind } from '../core/enums.js'
import { lazily } from '../core/lazily.js'
import { MAX_CANDIDATES } from '../core/suggest.js'
import { insertInto } from '../db/insert.js'
import type { Db } from '../db/open.js'
import { apiKeys, DATASET_TABLES, datasets, environments, messages } from '../db/schema.js'

export type EnvironmentRow = typeof environments.$inferSelect
type NewEnvironmentRow = typeof environments.$inferInsert

type Owner = Pick<EnvironmentRow, 'id' | 'organizationId'>

/** Whose documents are copied, and who is to own the copies. */
export interface Owners {
  from: Owner
  to: Owner
}

export type EnvironmentRepository = ReturnType<typeof environmentRepository>

/** Rows that are copied or deleted in one go: some hundredths of a second. */
const MAX_AT_ONCE = 1000

export function environmentRepository(db: Db) {
  const { orm, client, onRollback } = db
  /** Datasets known to be shared with nobody: asking before each write would cost a set-primary a tenth. */
  const unshared = new Set<number>()
  /** Datasets that something reads or fills over several turns, and how many do. */
  const held = new Map<number, number>()
  const select = (where: SQL | undefined) => orm.select().from(environments).where(where)
  const findByKey = select(eq(environments.key, sql.placeholder('key'))).prepare()
  const isNoSnapshot = isNull(environments.snapshotOf)
  const findById = select(and(eq(environments.id, sql.placeholder('id')), isNoSnapshot)).prepare()
  const { snapshotOf, snapshotName } = environments
  const findSnapshot = lazily(() =>
    select(and(eq(snapshotOf, sql.placeholder('of')), eq(snapshotName, sql.placeholder('name')))).prepare()
  )
  const insertEnvironment = insertInto(db, environments)
  const hasName = client.prepare('SELECT 1 FROM environments WHERE name = ? AND snapshot_of IS NULL').pluck()
  const environmentOfKey = client.prepare<[Buffer], number>('SELECT environment FROM api_keys WHERE hash = ?').pluck()
  const insertDataset = orm.insert(datasets).values({}).returning().prepare()
  const references = perKind((kind) =>
    orm
      .select({ key: environments.key })
      .from(environments)
      .where(eq(environments[kind], sql.placeholder('key')))
      .limit(2)
      .prepare()
  )
  // In SQL, here and below: drizzle can't say it.
  const isLarge = perKind((kind) =>
    namesOf(kind).map((name) => client.prepare(`SELECT 1 FROM ${name} WHERE dataset = ? LIMIT 1 OFFSET ${MAX_AT_ONCE}`))
  )
  const deleteRows = DATASET_KINDS.flatMap(namesOf).map((name) => {
    const some = `SELECT rowid FROM ${name} WHERE dataset = ? LIMIT ${MAX_AT_ONCE}`
    return client.prepare(`DELETE FROM ${name} WHERE rowid IN (${some})`)
  })
  const deleteDataset = client.prepare('DELETE FROM datasets WHERE key = ?')
  const count = perKind((kind) =>
    client.prepare<[number], number>(`SELECT count(*) FROM ${namesOf(kind)[0]} WHERE dataset = ?`).pluck()
  )
  return {
    /** Without snapshots, in the order of their creation; with a name only those of this name. */
    listEnvironments: (name?: string): EnvironmentRow[] =>
      select(and(isNoSnapshot, name === undefined ? undefined : eq(environments.name, name)))
        .orderBy(environments.key)
        .all(),

    listExpiring: (): EnvironmentRow[] => select(and(isNoSnapshot, isNotNull(environments.ttl))).all(),

    /** Returns the names of the first environments, some hundreds at most. */
    listNames: (): string[] =>
      orm
        .select({ name: environments.name })
        .from(environments)
        .where(isNoSnapshot)
        .limit(MAX_CANDIDATES)
        .all()
        .map(({ name }) => name),

    findEnvironment: (key: number): EnvironmentRow | undefined => findByKey.get({ key }),

    findById: (id: string): EnvironmentRow | undefined => findById.get({ id }),

    findByKeyHash(hash: Buffer): EnvironmentRow | undefined {
      const key = environmentOfKey.get(hash)
      return key === undefined ? undefined : findByKey.get({ key })
    },

    hasName: (name: string): boolean => hasName.get(name) !== undefined,

    hasKeyHash: (hash: Buffer): boolean => environmentOfKey.get(hash) !== undefined,

    insertEnvironment(row: NewEnvironmentRow): EnvironmentRow {
      unshared.clear()
      return findByKey.get({ key: insertEnvironment(row) }) as EnvironmentRow
    },

    /** Deletes its keys and snapshots too; datasets stay until `deleteUnused`. */
    deleteEnvironment: (key: number): void => void orm.delete(environments).where(eq(environments.key, key)).run(),

    /** Returns false when there is no such environment. */
    updateEnvironment: (key: number, fields: Partial<NewEnvironmentRow>): boolean =>
      orm.update(environments).set(fields).where(eq(environments.key, key)).run().changes > 0,

    insertApiKey: insertInto(db, apiKeys),

    deleteApiKeys: (environment: number): void =>
      void orm.delete(apiKeys).where(eq(apiKeys.environment, environment)).run(),

    /** The baseline, whose name is empty, comes first. */
    listSnapshots: (environment: number): EnvironmentRow[] =>
      select(eq(environments.snapshotOf, environment)).orderBy(environments.snapshotName).all(),

    findSnapshot: (environment: number, name: string): EnvironmentRow | undefined =>
      findSnapshot().get({ of: environment, name }),

    insertDataset: (): number => insertDataset.get().key,

    /** Whether more than one environment or snapshot refers to the dataset, or it is held. */
    isShared(kind: DatasetKind, dataset: number): boolean {
      if (unshared.has(dataset)) return false
      if (held.has(dataset) || references[kind].all({ key: dataset }).length > 1) return true
      unshared.add(dataset)
      onRollback(() => unshared.clear())
      return false
    },

    /** Makes the dataset count as shared and in use until it is released as often as it was held. */
    hold(dataset: number): void {
      held.set(dataset, (held.get(dataset) ?? 0) + 1)
      unshared.delete(dataset)
    },

    release(dataset: number): void {
      const count = held.get(dataset) ?? 0
      if (count > 1) held.set(dataset, count - 1)
      else held.delete(dataset)
    },

    /** Copies all rows of a dataset into an empty one; with owners, their ids in the documents are replaced. */
    copyRows(kind: DatasetKind, from: number, to: number, owners?: Owners): void {
      const parameters = { from, to, after: -1, until: Number.MAX_SAFE_INTEGER, ...replacementsOf(owners) }
      for (const table of DATASET_TABLES[kind]) client.prepare(copySql(table, owners !== undefined)).run(parameters)
    },

    /** Does what `copyRows` does, in steps. Nothing may write to the first dataset meanwhile. */
    *copyingRows(kind: DatasetKind, from: number, to: number, owners?: Owners): Generator<undefined, void> {
      const replacements = replacementsOf(owners)
      for (const table of DATASET_TABLES[kind]) {
        const { first, last } = client.prepare(boundsSql(table)).get({ from }) as Record<
          'first' | 'last',
          number | null
        >
        const copy = client.prepare(copySql(table, owners !== undefined, true))
        const lastOfNext = client.prepare<object, number | null>(lastOfNextSql(table)).pluck()
        for (let after = (first ?? 0) - 1; last !== null && after < last; yield) {
          const until = lastOfNext.get({ from, after }) ?? last
          copy.run({ from, to, after, until, ...replacements })
          after = until
        }
      }
    },

    isInUse: (dataset: number): boolean =>
      held.has(dataset) || DATASET_KINDS.some((kind) => references[kind].get({ key: dataset }) !== undefined),

    /** Returns the datasets that no environment or snapshot refers to. */
    listUnreferenced: (): number[] =>
      client
        .prepare<[], number>(
          `SELECT key FROM datasets
          EXCEPT SELECT value FROM environments, json_each(json_array(${DATASET_KINDS.join()}))`
        )
        .pluck()
        .all(),

    /** Deletes the dataset with its rows if nothing uses it. Returns false if it has so many that this takes long. */
    deleteUnused(kind: DatasetKind, dataset: number): boolean {
      if (held.has(dataset) || references[kind].get({ key: dataset })) return true
      if (isLarge[kind].some((statement) => statement.get(dataset))) return false
      deleteDataset.run(dataset)
      return true
    },

    /** Deletes some rows of a dataset, and in the end the dataset. Returns whether that is done. */
    deleteSome(dataset: number): boolean {
      for (const statement of deleteRows) if (statement.run(dataset).changes > 0) return false
      deleteDataset.run(dataset)
      return true
    },

    /** Counts workflows without their steps. Datasets that are in `known`, to which it adds, are not counted again. */
    countRows: (
      ofKinds: Readonly<Record<DatasetKind, number>>,
      known: Map<number, number>
    ): Record<DatasetKind, number> =>
      perKind((kind) => {
        const dataset = ofKinds[kind]
        const total = known.get(dataset) ?? count[kind].get(dataset) ?? 0
        known.set(dataset, total)
        return total
      })
  }
}

export function perKind<Value>(create: (kind: DatasetKind) => Value): Record<DatasetKind, Value> {
  return Object.fromEntries(DATASET_KINDS.map((kind) => [kind, create(kind)])) as Record<DatasetKind, Value>
}

function namesOf(kind: DatasetKind): string[] {
  return DATASET_TABLES[kind].map(getTableName)
}

function replacementsOf(owners: Owners | undefined) {
  return (
    owners && {
      oldEnvironment: `"_environmentId":"${owners.from.id}"`,
      newEnvironment: `"_environmentId":"${owners.to.id}"`,
      oldOrganization: `"_organizationId":"${owners.from.organizationId}"`,
      newOrganization: `"_organizationId":"${owners.to.organizationId}"`
    }
  )
}

/** Selects between which addresses the rows of a dataset lie. */
function boundsSql(table: SQLiteTable): string {
  const selected = (bound: string) => `(SELECT ${bound}(rowid) FROM ${getTableName(table)} WHERE dataset = @from)`
  return `SELECT ${selected('min')} AS first, ${selected('max')} AS last`
}

/** Selects the last address of the rows to copy next; of tables other than that of messages, among rows of others. */
function lastOfNextSql(table: SQLiteTable): string {
  const rows = `${stepwise(table)} WHERE ${table === messages ? 'dataset = @from AND ' : ''}rowid > @after`
  return `SELECT max(address) FROM (SELECT rowid AS address FROM ${rows} ORDER BY rowid LIMIT ${MAX_AT_ONCE / 2})`
}

/** Returns a table to walk by addresses. Only that of messages has an index that goes on with these. */
function stepwise(table: SQLiteTable): string {
  return table === messages ? getTableName(table) : `${getTableName(table)} NOT INDEXED`
}

/**
 * The rows are copied inside SQLite, whatever their columns are: a million messages in seconds. They keep their order.
 * Their keys are sorted first, since to sort whole rows takes as long as to write them; without the LIMIT SQLite would
 * drop the order.
 */
function copySql(table: SQLiteTable, withOwners: boolean, inSteps = false): string {
  const columns = Object.values(getTableColumns(table))
    .map(({ name }) => name)
    .filter((name) => name !== 'dataset' && name !== 'sequence')
  const values = columns.map((column) => {
    const value = `origin.${column}`
    if (!withOwners) return value
    if (column === 'document') return withNewOwner(value)
    return column === 'body' ? `CAST(${withNewOwner(`CAST(${value} AS TEXT)`)} AS BLOB)` : value
  })
  const name = getTableName(table)
  return `INSERT INTO ${name} (dataset, ${columns.join(', ')})
    SELECT @to, ${values.join(', ')}
    FROM (
      SELECT rowid AS address FROM ${inSteps ? stepwise(table) : name}
      WHERE dataset = @from AND rowid > @after AND rowid <= @until ORDER BY rowid LIMIT -1
    ) AS addresses CROSS JOIN ${name} AS origin ON origin.rowid = addresses.address`
}

function withNewOwner(json: string): string {
  return `replace(replace(${json}, @oldEnvironment, @newEnvironment), @oldOrganization, @newOrganization)`
}
