import {
  and,
  count,
  eq,
  getTableColumns,
  getTableName,
  gte,
  inArray,
  isNull,
  lt,
  ne,
  notInArray,
  sql
} from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/open.js'
import { preparedOnUse } from '../db/prepared-on-use.js'
import { apiKeys, DATASET_TABLES, datasets, environments } from '../db/schema.js'
import { DATASET_KINDS, type DatasetKind } from '../domain/enums.js'

export type EnvironmentRow = typeof environments.$inferSelect
export type NewEnvironmentRow = typeof environments.$inferInsert

/** The environment id and organization id that the documents of a dataset contain. */
export type OwnerIds = Pick<EnvironmentRow, 'id' | 'organizationId'>

/** For each kind of record, the key of the environment's dataset. */
export type DatasetKeys = Readonly<Record<DatasetKind, number>>

type DatasetOwner = OwnerIds & { key: number }

/**
 * Reads and writes environments, snapshots, API keys and datasets. A snapshot is stored as a row of
 * the table `environments`.
 */
export class EnvironmentRepository {
  readonly #db: Db
  readonly #statements: ReturnType<typeof prepareStatements>
  /** The number of readers of each dataset that is being read, for example by an export. */
  readonly #readers = new Map<number, number>()

  constructor(db: Db) {
    this.#db = db
    this.#statements = prepareStatements(db)
  }

  /** Returns all environments, oldest first. */
  listEnvironments(): EnvironmentRow[] {
    return this.#statements.listEnvironments.all()
  }

  findByKey(key: number): EnvironmentRow | undefined {
    return this.#statements.findByKey.get({ key })
  }

  findById(id: string): EnvironmentRow | undefined {
    return this.#statements.findById.get({ id })
  }

  /**
   * Returns all environments with this name. Environments of different organizations may have the
   * same name.
   */
  listByName(name: string): EnvironmentRow[] {
    return this.#statements.listByName.all({ name })
  }

  findByKeyHash(hash: Buffer): EnvironmentRow | undefined {
    return this.#statements.findByKeyHash.get({ hash })
  }

  /** Returns all environment names and environment ids that start with the prefix. */
  listNamesAndIds(prefix: string): string[] {
    const range = { from: prefix, to: `${prefix}\u{10ffff}` }
    const names = this.#statements.listNames.all(range)
    const ids = this.#statements.listIds.all(range)
    return [...names.map(({ name }) => name), ...ids.map(({ id }) => id)]
  }

  insertEnvironment(row: NewEnvironmentRow): EnvironmentRow {
    return this.#db.orm.insert(environments).values(row).returning().get()
  }

  updateEnvironment(key: number, fields: Partial<NewEnvironmentRow>): void {
    this.#db.orm.update(environments).set(fields).where(eq(environments.key, key)).run()
  }

  /**
   * Deletes an environment or a snapshot, including its API keys, its snapshots, and the datasets
   * that nothing else uses.
   */
  deleteWithSnapshots(row: EnvironmentRow): void {
    const rows = this.#withSnapshots(row)
    this.#statements.deleteEnvironment.run({ key: row.key })
    for (const unused of rows) this.deleteUnused(unused)
  }

  insertApiKey(environment: number, hash: Buffer): void {
    this.#statements.insertApiKey.run({ environment, hash })
  }

  listKeyHashes(): Buffer[] {
    return this.#statements.listKeyHashes.all().map(({ hash }) => hash)
  }

  deleteApiKeys(environment: number): void {
    this.#statements.deleteApiKeys.run({ environment })
  }

  /**
   * Returns the snapshots and the baseline of an environment, oldest first. For a snapshot, returns
   * only its baseline.
   */
  listSnapshots(environment: number): EnvironmentRow[] {
    return this.#statements.listSnapshots.all({ environment })
  }

  findSnapshot(environment: number, name: string): EnvironmentRow | undefined {
    return this.#statements.findSnapshot.get({ environment, name })
  }

  /** Creates an empty dataset and returns its key. */
  insertDataset({ id, organizationId }: OwnerIds): number {
    return this.#statements.insertDataset.get({ id, organizationId }).key
  }

  /** Returns the environment id and organization id that the dataset's documents contain. */
  ownerOf(dataset: number): OwnerIds {
    const owner = this.#statements.findOwner.get({ key: dataset })
    if (!owner) throw new Error(`there is no dataset ${dataset}`)
    return owner
  }

  /**
   * Returns the environment id and organization id that the documents of each dataset contain.
   * Omits the dataset of workflows, because workflows contain neither of these ids.
   */
  listOwners({ integrations, subscribers, messages, idempotency }: DatasetKeys): DatasetOwner[] {
    return this.#statements.listOwners.all({ integrations, subscribers, messages, idempotency })
  }

  /**
   * Marks datasets as being read. They are neither written to nor deleted until `removeReader` is
   * called.
   */
  addReader(reader: DatasetKeys): void {
    for (const dataset of Object.values(reader)) {
      this.#readers.set(dataset, (this.#readers.get(dataset) ?? 0) + 1)
    }
  }

  removeReader(reader: DatasetKeys): void {
    for (const dataset of Object.values(reader)) {
      const others = (this.#readers.get(dataset) ?? 0) - 1
      if (others > 0) this.#readers.set(dataset, others)
      else this.#readers.delete(dataset)
    }
  }

  /**
   * Returns whether the environment shares the dataset with another environment, a snapshot or a
   * reader.
   */
  isShared(kind: DatasetKind, dataset: number, environment: number): boolean {
    const otherUser = this.#statements.findUser[kind].get({ dataset, except: environment })
    return otherUser !== undefined || this.#readers.has(dataset)
  }

  /**
   * Copies all rows of a dataset into an empty dataset. If `owners` is set, replaces the old
   * owner's ids in the copies with the new owner's ids.
   */
  copyRows(
    kind: DatasetKind,
    datasets: { from: number; to: number },
    owners?: { from: OwnerIds; to: OwnerIds }
  ): void {
    for (const table of DATASET_TABLES[kind]) {
      const statement = this.#db.client.prepare(copySql(table, owners !== undefined))
      statement.run({ ...datasets, ...(owners && idReplacements(owners.from, owners.to)) })
    }
  }

  /** Deletes each given dataset that nothing uses anymore, with its rows. */
  deleteUnused(keys: DatasetKeys): void {
    for (const kind of DATASET_KINDS) {
      const dataset = keys[kind]
      const user = this.#statements.findUser[kind].get({ dataset, except: NO_KEY })
      const isUsed = user !== undefined || this.#readers.has(dataset)
      if (!isUsed) this.#statements.deleteDataset.run({ key: dataset })
    }
  }

  /**
   * Deletes datasets that belong to no environment or snapshot. Such datasets are left over if the
   * process was killed while only a reader used them.
   */
  deleteUnreferenced(): void {
    const { orm } = this.#db
    const isUnreferenced = DATASET_KINDS.map((kind) =>
      notInArray(datasets.key, orm.select({ key: environments[kind] }).from(environments))
    )
    orm
      .delete(datasets)
      .where(and(...isUnreferenced))
      .run()
  }

  /** Returns the number of rows in each dataset. Workflow steps aren't counted. */
  countRows(keys: DatasetKeys): Record<DatasetKind, number> {
    const { orm } = this.#db
    return perKind((kind) => {
      const [table] = DATASET_TABLES[kind]
      const query = orm.select({ rows: count() }).from(table)
      return query.where(eq(table.dataset, keys[kind])).get()?.rows ?? 0
    })
  }

  /** Returns the rows of an environment and its snapshots, and of the baselines of both. */
  #withSnapshots(row: EnvironmentRow): EnvironmentRow[] {
    const snapshots = this.listSnapshots(row.key)
    return [row, ...snapshots.flatMap((snapshot) => this.#withSnapshots(snapshot))]
  }
}

/** A key that no environment has, because keys start at 1. */
const NO_KEY = 0

function prepareStatements(db: Db) {
  return preparedOnUse({ ...environmentStatements(db), ...datasetStatements(db) })
}

function environmentStatements({ orm }: Db) {
  const { placeholder } = sql
  const isEnvironment = isNull(environments.snapshotOf)
  const select = () => orm.select().from(environments).$dynamic()
  const isSnapshotOf = eq(environments.snapshotOf, placeholder('environment'))
  const isInRange = (column: typeof environments.name | typeof environments.id) =>
    and(gte(column, placeholder('from')), lt(column, placeholder('to')), isEnvironment)

  return {
    listEnvironments: () => select().where(isEnvironment).orderBy(environments.key).prepare(),
    findByKey: () =>
      select()
        .where(eq(environments.key, placeholder('key')))
        .prepare(),
    findById: () =>
      select()
        .where(and(eq(environments.id, placeholder('id')), isEnvironment))
        .prepare(),
    listByName: () =>
      select()
        .where(and(eq(environments.name, placeholder('name')), isEnvironment))
        .prepare(),
    findByKeyHash: () =>
      orm
        .select(getTableColumns(environments))
        .from(apiKeys)
        .innerJoin(environments, eq(environments.key, apiKeys.environment))
        .where(eq(apiKeys.hash, placeholder('hash')))
        .prepare(),
    listNames: () =>
      orm
        .select({ name: environments.name })
        .from(environments)
        .where(isInRange(environments.name))
        .prepare(),
    listIds: () =>
      orm
        .select({ id: environments.id })
        .from(environments)
        .where(isInRange(environments.id))
        .prepare(),
    deleteEnvironment: () =>
      orm
        .delete(environments)
        .where(eq(environments.key, placeholder('key')))
        .prepare(),
    listSnapshots: () => select().where(isSnapshotOf).orderBy(environments.key).prepare(),
    findSnapshot: () =>
      select()
        .where(and(isSnapshotOf, eq(environments.snapshotName, placeholder('name'))))
        .prepare(),
    insertApiKey: () =>
      orm
        .insert(apiKeys)
        .values({ environment: placeholder('environment'), hash: placeholder('hash') })
        .prepare(),
    listKeyHashes: () => orm.select({ hash: apiKeys.hash }).from(apiKeys).prepare(),
    deleteApiKeys: () =>
      orm
        .delete(apiKeys)
        .where(eq(apiKeys.environment, placeholder('environment')))
        .prepare()
  }
}

/** The kinds of records whose documents contain the ids of their environment and organization. */
const KINDS_WITH_IDS = ['integrations', 'subscribers', 'messages', 'idempotency'] as const

function datasetStatements({ orm }: Db) {
  const { placeholder } = sql
  const isOneOfKinds = inArray(
    datasets.key,
    KINDS_WITH_IDS.map((kind) => placeholder(kind))
  )

  return {
    insertDataset: () =>
      orm
        .insert(datasets)
        .values({ environmentId: placeholder('id'), organizationId: placeholder('organizationId') })
        .returning({ key: datasets.key })
        .prepare(),
    deleteDataset: () =>
      orm
        .delete(datasets)
        .where(eq(datasets.key, placeholder('key')))
        .prepare(),
    findOwner: () =>
      orm
        .select({ id: datasets.environmentId, organizationId: datasets.organizationId })
        .from(datasets)
        .where(eq(datasets.key, placeholder('key')))
        .prepare(),
    listOwners: () =>
      orm
        .select({
          key: datasets.key,
          id: datasets.environmentId,
          organizationId: datasets.organizationId
        })
        .from(datasets)
        .where(isOneOfKinds)
        .prepare(),
    findUser: () =>
      perKind((kind) =>
        orm
          .select({ key: environments.key })
          .from(environments)
          .where(
            and(
              eq(environments[kind], placeholder('dataset')),
              ne(environments.key, placeholder('except'))
            )
          )
          .prepare()
      )
  }
}

export function perKind<Value>(create: (kind: DatasetKind) => Value): Record<DatasetKind, Value> {
  const entries = DATASET_KINDS.map((kind) => [kind, create(kind)])
  return Object.fromEntries(entries) as Record<DatasetKind, Value>
}

/**
 * Returns the JSON fragments that contain the old owner's ids, and the same fragments with the new
 * owner's ids. The fragments never match inside a JSON string, because quotes are escaped there.
 */
export function idReplacements(from: OwnerIds, to: OwnerIds) {
  return {
    oldEnvironment: `"_environmentId":"${from.id}"`,
    environment: `"_environmentId":"${to.id}"`,
    oldOrganization: `"_organizationId":"${from.organizationId}"`,
    organization: `"_organizationId":"${to.organizationId}"`
  }
}

/**
 * Returns an SQL expression that replaces the owner's ids in JSON. Bind its parameters to the
 * result of `idReplacements`.
 */
export const withReplacedIds = (json: string): string =>
  `replace(replace(${json}, @oldEnvironment, @environment), @oldOrganization, @organization)`

/** For each column that contains JSON, the SQL expression that replaces the owner's ids. */
const MOVED_COLUMNS: Record<string, string> = {
  document: withReplacedIds('document'),
  body: `CAST(${withReplacedIds('CAST(body AS TEXT)')} AS BLOB)`
}

/**
 * Returns the SQL that copies a dataset's rows and keeps their order. The SQL is raw because
 * drizzle's `INSERT … SELECT` would list every column twice. The copying happens inside SQLite, so
 * even a million messages take only seconds.
 */
function copySql(table: SQLiteTable, isMoved: boolean): string {
  const columns = Object.values(getTableColumns(table))
    .map(({ name }) => name)
    .filter((name) => name !== 'dataset' && name !== 'sequence')
  const values = columns.map((column) => (isMoved && MOVED_COLUMNS[column]) || column)
  const name = getTableName(table)
  return `INSERT INTO ${name} (dataset, ${columns.join()})
    SELECT @to, ${values.join()} FROM ${name} WHERE dataset = @from ORDER BY rowid`
}
