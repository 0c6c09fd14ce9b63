import { and, count, eq, getTableColumns, getTableName, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { DATASET_KINDS, type DatasetKind } from '../core/enums.js'
import { insertInto } from '../db/insert.js'
import type { Db } from '../db/open.js'
import { apiKeys, DATASET_TABLES, datasets, environments } from '../db/schema.js'

export type EnvironmentRow = typeof environments.$inferSelect
type NewEnvironmentRow = typeof environments.$inferInsert

type Owner = Pick<EnvironmentRow, 'id' | 'organizationId'>

export function environmentRepository(db: Db) {
  const { orm, client, onRollback } = db
  /** Datasets known to be shared with nobody: asking before each write would cost a set-primary a tenth. */
  const unshared = new Set<number>()
  const select = (where: SQL | undefined) => orm.select().from(environments).where(where)
  const findByKey = select(eq(environments.key, sql.placeholder('key'))).prepare()
  const insertEnvironment = insertInto(db, environments)
  const hasKey = client.prepare('SELECT 1 FROM api_keys WHERE hash = ?').pluck()
  const insertDataset = orm.insert(datasets).values({}).returning().prepare()
  const isNoSnapshot = isNull(environments.snapshotOf)
  const references = perKind((kind) =>
    orm
      .select({ key: environments.key })
      .from(environments)
      .where(eq(environments[kind], sql.placeholder('key')))
      .limit(2)
      .prepare()
  )

  return {
    /** Without snapshots, in the order of their creation; with a name only those of this name. */
    listEnvironments: (name?: string): EnvironmentRow[] =>
      select(and(isNoSnapshot, name === undefined ? undefined : eq(environments.name, name)))
        .orderBy(environments.key)
        .all(),

    findEnvironment: (key: number): EnvironmentRow | undefined => findByKey.get({ key }),

    findById: (id: string): EnvironmentRow | undefined => select(and(eq(environments.id, id), isNoSnapshot)).get(),

    findByKeyHash: (hash: Buffer): EnvironmentRow | undefined =>
      orm
        .select({ environment: environments })
        .from(apiKeys)
        .innerJoin(environments, eq(environments.key, apiKeys.environment))
        .where(eq(apiKeys.hash, hash))
        .get()?.environment,

    hasKeyHash: (hash: Buffer): boolean => hasKey.get(hash) !== undefined,

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
      select(and(eq(environments.snapshotOf, environment), eq(environments.snapshotName, name))).get(),

    insertDataset: (): number => insertDataset.get().key,

    /** Whether more than one environment or snapshot refers to the dataset. */
    isShared(kind: DatasetKind, dataset: number): boolean {
      if (unshared.has(dataset)) return false
      if (references[kind].all({ key: dataset }).length > 1) return true
      unshared.add(dataset)
      onRollback(() => unshared.clear())
      return false
    },

    /** Copies all rows of a dataset into an empty one; with owners, their ids in the documents are replaced. */
    copyRows(kind: DatasetKind, from: number, to: number, owners?: { from: Owner; to: Owner }): void {
      const replacements = owners && {
        oldEnvironment: `"_environmentId":"${owners.from.id}"`,
        newEnvironment: `"_environmentId":"${owners.to.id}"`,
        oldOrganization: `"_organizationId":"${owners.from.organizationId}"`,
        newOrganization: `"_organizationId":"${owners.to.organizationId}"`
      }
      for (const table of DATASET_TABLES[kind]) {
        client.prepare(copySql(table, owners !== undefined)).run({ from, to, ...replacements })
      }
    },

    /** Deletes those of the datasets that nothing refers to, with their rows. */
    deleteUnused(ofKinds: Readonly<Record<DatasetKind, number>>): void {
      for (const kind of DATASET_KINDS) {
        if (references[kind].get({ key: ofKinds[kind] })) continue
        orm.delete(datasets).where(eq(datasets.key, ofKinds[kind])).run()
      }
    },

    /** Counts workflows without their steps. */
    countRows: (ofKinds: Readonly<Record<DatasetKind, number>>): Record<DatasetKind, number> =>
      perKind((kind) => {
        const [table] = DATASET_TABLES[kind]
        return orm.select({ rows: count() }).from(table).where(eq(table.dataset, ofKinds[kind])).get()?.rows ?? 0
      })
  }
}

export function perKind<Value>(create: (kind: DatasetKind) => Value): Record<DatasetKind, Value> {
  return Object.fromEntries(DATASET_KINDS.map((kind) => [kind, create(kind)])) as Record<DatasetKind, Value>
}

/**
 * In SQL, as the rows are copied inside SQLite, whatever their columns are: a million messages in seconds. They keep
 * their order. Their keys are sorted first, since to sort whole rows takes as long as to write them; without the LIMIT
 * SQLite would drop the order.
 */
function copySql(table: SQLiteTable, withOwners: boolean): string {
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
    FROM (SELECT rowid AS address FROM ${name} WHERE dataset = @from ORDER BY rowid LIMIT -1) AS addresses
    CROSS JOIN ${name} AS origin ON origin.rowid = addresses.address`
}

function withNewOwner(json: string): string {
  return `replace(replace(${json}, @oldEnvironment, @newEnvironment), @oldOrganization, @newOrganization)`
}
