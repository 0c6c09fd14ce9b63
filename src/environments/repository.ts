import { and, eq, getTableColumns, getTableName, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Db, insertInto } from '../db/open.js'
import { apiKeys, DATASET_TABLES, datasets, environments } from '../db/schema.js'
import { DATASET_KINDS, type DatasetKind } from '../domain/enums.js'

export type EnvironmentRow = typeof environments.$inferSelect
type NewEnvironmentRow = typeof environments.$inferInsert

/** The two ids that documents carry, and that make an environment the home of a dataset. */
export type Home = Pick<EnvironmentRow, 'id' | 'organizationId'>

export type Homes = Readonly<Record<DatasetKind, Home | undefined>>

/** The dataset of each kind that an environment refers to. */
export type Datasets = Readonly<Record<DatasetKind, number>>

export function environmentRepository(db: Db) {
  const { orm, client } = db
  /** Those that somebody reads over several turns of the event loop. */
  const readers = new Set<Datasets>()
  const select = (where: SQL | undefined) => orm.select().from(environments).where(where)
  const value = sql.placeholder('value')
  const isNoSnapshot = isNull(environments.snapshotOf)
  const findByKey = select(eq(environments.key, value)).prepare()
  const findById = select(and(eq(environments.id, value), isNoSnapshot)).prepare()
  const findByName = select(and(eq(environments.name, value), isNoSnapshot)).prepare()
  const hasSnapshotName = eq(environments.snapshotName, sql.placeholder('name'))
  const findSnapshot = select(and(eq(environments.snapshotOf, value), hasSnapshotName)).prepare()
  const keyOfHash = client
    .prepare<[Buffer], number>('SELECT environment FROM api_keys WHERE hash = ?')
    .pluck()
  const insertEnvironment = insertInto(db, environments)
  // In one statement, as a thousand forks have a thousand names; in two halves, each of which has an index.
  const unusedName = client
    .prepare<[string, string], string>(
      `WITH RECURSIVE tried (number, name) AS (
        SELECT 1, ? UNION ALL SELECT number + 1, ? || ' ' || (number + 1) FROM tried WHERE EXISTS (
          SELECT 1 FROM environments WHERE name = tried.name AND snapshot_of IS NULL
          UNION ALL SELECT 1 FROM environments WHERE id = tried.name AND snapshot_of IS NULL)
      ) SELECT name FROM tried ORDER BY number DESC LIMIT 1`
    )
    .pluck()
  // Not of workflows, whose documents carry no ids.
  const otherHomes = client.prepare<EnvironmentRow, Home & { keys: string }>(
    `SELECT group_concat(key) AS keys, environment_id AS id, organization_id AS organizationId FROM datasets
    WHERE key IN (@integrations, @subscribers, @messages, @idempotency)
      AND (environment_id, organization_id) IS NOT (@id, @organizationId)
    GROUP BY environment_id, organization_id`
  )
  const references = perKind((kind) =>
    client.prepare<[number]>(`SELECT 1 FROM environments WHERE ${kind} = ? LIMIT 2`)
  )
  const deleteDataset = client.prepare('DELETE FROM datasets WHERE key = ?')

  return {
    /** Without snapshots, in the order of their creation. */
    listEnvironments: (): EnvironmentRow[] => select(isNoSnapshot).orderBy(environments.key).all(),

    findByName: (name: string): EnvironmentRow[] => findByName.all({ value: name }),

    findEnvironment: (key: number): EnvironmentRow | undefined => findByKey.get({ value: key }),

    findById: (id: string): EnvironmentRow | undefined => findById.get({ value: id }),

    findByKeyHash: (hash: Buffer): EnvironmentRow | undefined =>
      findByKey.get({ value: keyOfHash.get(hash) }),

    /** Returns the name, or the first of `<name> 2`, `<name> 3`, ... that no environment has, be it as its id. */
    unusedName: (base: string): string => unusedName.get(base, base) as string,

    insertEnvironment: (row: NewEnvironmentRow): EnvironmentRow =>
      findByKey.get({ value: insertEnvironment(row) }) as EnvironmentRow,

    /** Deletes its keys and snapshots too; datasets stay until `deleteUnused`. */
    deleteEnvironment: (key: number): void =>
      void orm.delete(environments).where(eq(environments.key, key)).run(),

    updateEnvironment: (key: number, fields: Partial<NewEnvironmentRow>): void =>
      void orm.update(environments).set(fields).where(eq(environments.key, key)).run(),

    insertApiKey: insertInto(db, apiKeys),

    deleteApiKeys: (environment: number): void =>
      void orm.delete(apiKeys).where(eq(apiKeys.environment, environment)).run(),

    /** In the order in which they were taken. */
    listSnapshots: (environment: number): EnvironmentRow[] =>
      select(eq(environments.snapshotOf, environment)).orderBy(environments.key).all(),

    findSnapshot: (environment: number, name: string): EnvironmentRow | undefined =>
      findSnapshot.get({ value: environment, name }),

    insertDataset: insertInto(db, datasets),

    /** Returns the homes of the environment's datasets, by kind, where they are not at home in it. */
    otherHomes(row: EnvironmentRow): Homes {
      const homes = otherHomes.all(row)
      // One object for all datasets of a home.
      return perKind((kind) =>
        homes.find(({ keys }) => keys.split(',').includes(String(row[kind])))
      )
    },

    readers,

    /** Whether more than one environment or snapshot refers to the dataset, or somebody reads it. */
    isShared: (kind: DatasetKind, dataset: number): boolean => countUsers(kind, dataset) > 1,

    /** Copies all rows of a dataset into an empty one, and replaces what is given in their documents. */
    copyRows(
      kind: DatasetKind,
      from: number,
      to: number,
      replaced?: ReturnType<typeof replacements>
    ): void {
      for (const table of DATASET_TABLES[kind])
        client.prepare(copySql(table, !!replaced)).run({ from, to, ...replaced })
    },

    /** Deletes those of the datasets that nothing uses any more, with their rows. */
    deleteUnused(datasets: Datasets): void {
      for (const kind of DATASET_KINDS)
        if (countUsers(kind, datasets[kind]) === 0) deleteDataset.run(datasets[kind])
    },

    /** Deletes what readers have kept and a process that was killed has left behind. */
    deleteUnreferenced: (): void =>
      void client.exec(
        `DELETE FROM datasets WHERE key NOT IN
          (SELECT value FROM environments, json_each(json_array(${DATASET_KINDS.join()})))`
      ),

    /** Counts workflows without their steps. */
    countRows: (datasets: Datasets): Record<DatasetKind, number> =>
      perKind((kind) => {
        const count = `SELECT count(*) FROM ${getTableName(DATASET_TABLES[kind][0])} WHERE dataset = ?`
        return client.prepare<[number], number>(count).pluck().get(datasets[kind]) ?? 0
      })
  }

  /** Counts up to two environments and snapshots, and who reads the dataset. */
  function countUsers(kind: DatasetKind, dataset: number): number {
    const reading = [...readers].filter((datasets) => datasets[kind] === dataset)
    return references[kind].all(dataset).length + reading.length
  }
}

export function perKind<Value>(create: (kind: DatasetKind) => Value): Record<DatasetKind, Value> {
  return Object.fromEntries(DATASET_KINDS.map((kind) => [kind, create(kind)])) as Record<
    DatasetKind,
    Value
  >
}

/** What to replace in JSON that moves to another home. What a string says of ids has its quotes escaped, so it is not mistaken. */
export function replacements(from: Home, to: Home) {
  return {
    oldEnvironment: `"_environmentId":"${from.id}"`,
    environment: `"_environmentId":"${to.id}"`,
    oldOrganization: `"_organizationId":"${from.organizationId}"`,
    organization: `"_organizationId":"${to.organizationId}"`
  }
}

/** Returns the SQL of JSON text with other ids; `replacements` are its parameters. */
export const withOtherIds = (json: string): string =>
  `replace(replace(${json}, @oldEnvironment, @environment), @oldOrganization, @organization)`

/** What is copied of the columns that hold JSON with ids, where the copy gets another home. */
const MOVED: Record<string, string> = {
  document: withOtherIds('document'),
  body: `CAST(${withOtherIds('CAST(body AS TEXT)')} AS BLOB)`
}

/** The rows are copied inside SQLite, in their order: a million messages, which an index has in it, in seconds. */
function copySql(table: SQLiteTable, isMoved: boolean): string {
  const columns = Object.values(getTableColumns(table)).flatMap(({ name }) =>
    /^(dataset|sequence)$/.test(name) ? [] : name
  )
  const values = columns.map((column) => (isMoved && MOVED[column]) || column)
  return `INSERT INTO ${getTableName(table)} (dataset, ${columns.join()})
    SELECT @to, ${values.join()} FROM ${getTableName(table)} WHERE dataset = @from ORDER BY rowid`
}
