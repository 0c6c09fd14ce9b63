import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { packageRoot } from '../platform/package.js'
import { checkDataFile, dataFileCheck, LOCK_TIMEOUT, toStartError } from './data-file.js'
import { transactions } from './transaction.js'

export { toStartError } from './data-file.js'

export interface Db extends ReturnType<typeof transactions> {
  orm: BetterSQLite3Database
  /** For the few statements that are written as SQL. */
  client: Database.Database
  /** Returns why writes are refused: what has been done to the data file while it is open. */
  fileProblem(): string | undefined
}

export type OpenDatabase = ReturnType<typeof openDatabase>

export interface OpenOptions {
  /**
   * For a database in memory: one with this version's schema, in bytes, and when its environments count as created. Without
   * that its schema alone is taken, which is quicker than to migrate.
   */
  image?: { database: Buffer; createdAt?: number | undefined } | undefined
}

/**
 * Opens the database with this version's schema: the file, which is created if there is none, or one in memory. Throws
 * `StartError`, and leaves the file as it was, when it is in use, not ours, of a newer version or unusable. To close it folds
 * the write-ahead log into the file; closing twice does no harm.
 */
export function openDatabase(file?: string, { image }: OpenOptions = {}) {
  const migrationsFolder = join(packageRoot(), 'migrations')
  const isWhole = image?.createdAt !== undefined
  let client: Database.Database | undefined
  try {
    if (file !== undefined) {
      const lastMigration = readMigrationFiles({ migrationsFolder }).at(-1)?.folderMillis ?? 0
      checkDataFile(file, file, lastMigration)
    }
    client = new Database((isWhole && image?.database) || file || ':memory:', {
      timeout: LOCK_TIMEOUT
    })
    if (file !== undefined) configure(client, file)
    client.pragma('foreign_keys = ON')
    const orm = drizzle(client)
    // Nobody else can use it: without locks it is as quick as any database in memory.
    if (isWhole) client.pragma('locking_mode = EXCLUSIVE')
    if (isWhole) client.prepare('UPDATE environments SET created_at = ?').run(image.createdAt)
    else if (image) client.exec(schemaOf(image.database))
    else migrate(orm, { migrationsFolder })
    // Marks a file as ours, in SQLite's own header field for it: the letters NMoc.
    client.pragma(`application_id = ${0x4e4d6f63}`)
    const isKept = file !== undefined && file !== ':memory:'
    const fileProblem = isKept ? dataFileCheck(file) : () => undefined
    const db: Db = { orm, client, fileProblem, ...transactions(client, fileProblem) }
    return { db, close: () => void client?.close() }
  } catch (error) {
    client?.close()
    throw toStartError(error, file)
  }
}

/** Returns the statements that make the tables and indexes of a database. */
function schemaOf(database: Buffer): string {
  const client = new Database(database, { readonly: true })
  const statements = client
    .prepare("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    .pluck()
    .all()
  client.close()
  return statements.join(';')
}

function configure(client: Database.Database, file: string): void {
  // Exclusive before WAL: SQLite then locks the file on the first access and needs no -shm file.
  for (const setting of [
    'locking_mode = EXCLUSIVE',
    'journal_mode = WAL',
    'synchronous = NORMAL'
  ]) {
    client.pragma(setting)
  }
  // Checking a file left by a killed process creates an -shm file, which nobody else can be using.
  rmSync(`${file}-shm`, { force: true })
}

/** Returns a function that inserts a row and returns its rowid. In SQL: drizzle would take half as long again. */
export function insertInto<Table extends SQLiteTable>(
  { client }: Db,
  table: Table,
  verb: 'INSERT' | 'INSERT OR REPLACE' = 'INSERT'
): (row: Table['$inferInsert']) => number {
  const columns = Object.entries(getTableColumns(table))
  const names = columns.map(([, { name }]) => name).join()
  const statement = client.prepare(
    `${verb} INTO ${getTableName(table)} (${names}) VALUES (${columns.map(() => '?').join()})`
  )
  return (row: { [column: string]: unknown }) => {
    const values = columns.map(([field, column]) =>
      row[field] != null ? column.mapToDriverValue(row[field]) : null
    )
    return Number(statement.run(values).lastInsertRowid)
  }
}
