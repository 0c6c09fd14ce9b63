import { and, eq, getTableColumns, getTableName, isNull, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { DATASET_KINDS, type DatasetKind } from '../core/enums.js'
import type { Db } from '../db/open.js'
import { apiKeys, DATASET_TABLES, datasets, environments } from '../db/schema.js'

export type EnvironmentRow = typeof environments.$inferSelect
type NewEnvironmentRow = typeof environments.$inferInsert

/** The ids that a copy of documents changes: the owners before, and after. */
export interface Owners {
  from: Pick<EnvironmentRow, 'id' | 'organizationId'>
  to: Pick<EnvironmentRow, 'id' | 'organizationId'>
}

export function environmentRepository({ orm, client }: Db) {
  const key = sql.placeholder('key')
  // Spelled out, so that SQLite sees that the partial index on the ids serves.
  const live = isNull(environments.snapshotOf)

  const all = orm.select().from(environments).where(live).orderBy(environments.key).prepare()
  const byKey = orm.select().from(environments).where(eq(environments.key, key)).prepare()
  const byId = orm
    .select()
    .from(environments)
    .where(and(eq(environments.id, sql.placeholder('id')), live))
    .prepare()
  const byName = orm
    .select()
    .from(environments)
    .where(and(eq(environments.name, sql.placeholder('name')), live))
    .orderBy(environments.key)
    .prepare()
  const byKeyHash = orm
    .select({ environment: environments })
    .from(apiKeys)
    .innerJoin(environments, eq(environments.key, apiKeys.environment))
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .prepare()
  const snapshotsOf = orm
    .select()
    .from(environments)
    .where(eq(environments.snapshotOf, key))
    .orderBy(environments.snapshotName)
    .prepare()
  const snapshot = orm
    .select()
    .from(environments)
    .where(and(eq(environments.snapshotOf, key), eq(environments.snapshotName, sql.placeholder('name'))))
    .prepare()
  const removal = orm.delete(environments).where(eq(environments.key, key)).prepare()
  const newDataset = orm.insert(datasets).values({}).returning().prepare()
  const datasetRemoval = orm.delete(datasets).where(eq(datasets.key, key)).prepare()
  const users = perPart((part) =>
    orm.select({ key: environments.key }).from(environments).where(eq(environments[part], key)).limit(2).prepare()
  )
  const copies = perPart((part) => DATASET_TABLES[part].map((table) => client.prepare(copySql(table, false))))
  const forks = perPart((part) => DATASET_TABLES[part].map((table) => client.prepare(copySql(table, true))))
  const counts = perPart((part) =>
    client
      .prepare<[number], number>(`SELECT count(*) FROM ${getTableName(DATASET_TABLES[part][0])} WHERE dataset = ?`)
      .pluck()
  )

  return {
    /** Snapshots apart, in the order of their making. */
    listEnvironments(): EnvironmentRow[] {
      return all.all()
    },

    /** Snapshots apart. */
    listByName(name: string): EnvironmentRow[] {
      return byName.all({ name })
    },

    findEnvironment(environment: number): EnvironmentRow | undefined {
      return byKey.get({ key: environment })
    },

    findById(id: string): EnvironmentRow | undefined {
      return byId.get({ id })
    },

    findByKeyHash(hash: Buffer): EnvironmentRow | undefined {
      return byKeyHash.get({ hash })?.environment
    },

    insertEnvironment(row: NewEnvironmentRow): EnvironmentRow {
      return orm.insert(environments).values(row).returning().get()
    },

    /** With its keys and snapshots; its datasets stay until `deleteUnused`. */
    deleteEnvironment(environment: number): void {
      removal.run({ key: environment })
    },

    /** False: there is no such environment. */
    updateEnvironment(environment: number, change: Partial<NewEnvironmentRow>): boolean {
      return orm.update(environments).set(change).where(eq(environments.key, environment)).run().changes > 0
    },

    deleteApiKeys(environment: number): void {
      orm.delete(apiKeys).where(eq(apiKeys.environment, environment)).run()
    },

    insertApiKey(hash: Buffer, environment: number): void {
      orm.insert(apiKeys).values({ hash, environment }).run()
    },

    /** The baseline, whose name is empty, first. */
    listSnapshots(environment: number): EnvironmentRow[] {
      return snapshotsOf.all({ key: environment })
    },

    findSnapshot(environment: number, name: string): EnvironmentRow | undefined {
      return snapshot.get({ key: environment, name })
    },

    insertDataset(): number {
      return newDataset.get().key
    },

    /** Whether more than one environment or snapshot refers to the dataset. */
    isShared(part: DatasetKind, dataset: number): boolean {
      return users[part].all({ key: dataset }).length > 1
    },

    /** Copies a part's rows into an empty dataset, with other owners' ids in the documents if they are given. */
    copyRows(part: DatasetKind, from: number, to: number, owners?: Owners): void {
      if (!owners) {
        for (const copy of copies[part]) copy.run({ from, to })
        return
      }
      const names = {
        oldEnvironment: `"_environmentId":"${owners.from.id}"`,
        newEnvironment: `"_environmentId":"${owners.to.id}"`,
        oldOrganization: `"_organizationId":"${owners.from.organizationId}"`,
        newOrganization: `"_organizationId":"${owners.to.organizationId}"`
      }
      for (const fork of forks[part]) fork.run({ from, to, ...names })
    },

    /** Deletes a dataset and its rows, unless something refers to it. */
    deleteUnused(part: DatasetKind, dataset: number): void {
      if (users[part].all({ key: dataset }).length === 0) datasetRemoval.run({ key: dataset })
    },

    countRows(part: DatasetKind, dataset: number): number {
      return counts[part].get(dataset) ?? 0
    }
  }
}

function perPart<Value>(make: (part: DatasetKind) => Value): Record<DatasetKind, Value> {
  return Object.fromEntries(DATASET_KINDS.map((part) => [part, make(part)])) as Record<DatasetKind, Value>
}

/**
 * The rows of one dataset, again in another; in the order they were made, so that they lie as they did. Keys first,
 * rows after: sorting whole rows would take as long as writing them. Without the LIMIT SQLite would drop the order.
 */
function copySql(table: SQLiteTable, withOwners: boolean): string {
  const columns = Object.values(getTableColumns(table))
    .map(({ name }) => name)
    .filter((name) => name !== 'dataset' && name !== 'sequence')
  const values = columns.map((column) => {
    const name = `origin.${column}`
    if (!withOwners) return name
    if (column === 'document') return owned(name)
    return column === 'body' ? `CAST(${owned(`CAST(${name} AS TEXT)`)} AS BLOB)` : name
  })
  const name = getTableName(table)
  return `INSERT INTO ${name} (dataset, ${columns.join(', ')})
    SELECT @to, ${values.join(', ')}
    FROM (SELECT rowid AS place FROM ${name} WHERE dataset = @from ORDER BY rowid LIMIT -1) AS places
    CROSS JOIN ${name} AS origin ON origin.rowid = places.place`
}

/** The text with other owners' ids, wherever they stand in it as those of a document. */
function owned(text: string): string {
  return `replace(replace(${text}, @oldEnvironment, @newEnvironment), @oldOrganization, @newOrganization)`
}
