import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { packageRoot } from '../platform/package.js'
import { checkDataFile, LOCK_TIMEOUT, toStartError, watchDataFile } from './data-file.js'
import { Transactions } from './transaction.js'
import { createLogRemover, storeLogLineage } from './write-ahead-log.js'

export { toStartError } from './data-file.js'

const MIGRATIONS_FOLDER = join(packageRoot(), 'migrations')

/** The application id in the header of our data files, `NMoc` in ASCII. */
const APPLICATION_ID = 0x4e4d6f63

/** An open database. */
export class Db extends Transactions {
  readonly orm: BetterSQLite3Database
  /** The SQLite client, for the few statements in raw SQL. */
  readonly client: Database.Database
  /** Returns how the data file was lost, or undefined if it wasn't. See `watchDataFile`. */
  readonly fileProblem: () => string | undefined

  constructor(client: Database.Database, fileProblem: () => string | undefined) {
    super(client, fileProblem)
    this.orm = drizzle(client)
    this.client = client
    this.fileProblem = fileProblem
  }
}

export type OpenDatabase = ReturnType<typeof openDatabase>

/**
 * A serialized database with this version's schema. A database in memory can start as a copy of it.
 * With the kind `schema`, only the schema is copied, which is faster than running the migrations.
 * With the kind `data`, all data is copied too.
 */
export type DatabaseImage =
  | { kind: 'schema'; database: Buffer }
  /** `now` becomes the creation time of the environments, in milliseconds since 1970. */
  | { kind: 'data'; database: Buffer; now: number }

/**
 * Opens or creates the data file, or creates a database in memory if no file is given. Migrates the
 * data to this version's schema. Throws `StartError` if the file is in use, unusable, written by a
 * newer version or owned by another program. In these cases, the file stays unchanged.
 *
 * `close` merges the write-ahead log into the file and deletes the log, even if the file was moved.
 * Calling `close` again does nothing.
 */
export function openDatabase(file?: string, { image }: { image?: DatabaseImage | undefined } = {}) {
  let client: Database.Database | undefined
  try {
    client = file === undefined ? openInMemory(image) : openFile(file)
    client.pragma('foreign_keys = ON')
    // On disk, this first write creates the write-ahead log.
    client.pragma(`application_id = ${APPLICATION_ID}`)
    const isOnDisk = file !== undefined && file !== ':memory:'
    if (isOnDisk) storeLogLineage(client, file)
    if (file !== undefined || !image) {
      migrate(drizzle(client), { migrationsFolder: MIGRATIONS_FOLDER })
    }
    const db = new Db(client, isOnDisk ? watchDataFile(file) : () => undefined)
    const removeLog = isOnDisk ? createLogRemover(file) : () => {}
    return { db, close: () => closeDatabase(db, removeLog) }
  } catch (error) {
    client?.close()
    throw toStartError(error, file)
  }
}

function closeDatabase({ client, fileProblem }: Db, removeLog: () => void): void {
  const isLost = client.open && fileProblem() !== undefined
  try {
    // On close, SQLite neither merges the log into a moved file nor deletes the log. Do both here,
    // because the next start would apply the log to the file that is then at the path.
    if (isLost) client.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    client.close()
  }
  if (isLost) removeLog()
}

function openFile(file: string): Database.Database {
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER })
  checkDataFile(file, migrations.at(-1)?.folderMillis ?? 0)
  const client = new Database(file, { timeout: LOCK_TIMEOUT })
  try {
    // Set the locking mode before WAL, so that SQLite locks the file on the first access and
    // creates no -shm file.
    client.pragma('locking_mode = EXCLUSIVE')
    client.pragma('journal_mode = WAL')
    client.pragma('synchronous = NORMAL')
    // If a killed process left a log, `checkDataFile` has created an -shm file. No other process
    // can be using the -shm file, because this process holds the lock.
    rmSync(`${file}-shm`, { force: true })
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

function openInMemory(image: DatabaseImage | undefined): Database.Database {
  if (image?.kind !== 'data') {
    const client = new Database(':memory:')
    if (image) client.exec(readSchema(image.database))
    return client
  }
  const client = new Database(image.database)
  // Without this mode, SQLite would lock the deserialized database on every access, which costs
  // time. The lock isn't needed, because no other process can open this database.
  client.pragma('locking_mode = EXCLUSIVE')
  client.prepare('UPDATE environments SET created_at = ?').run(image.now)
  return client
}

/** Returns the statements that create the tables and indexes of a serialized database. */
function readSchema(database: Buffer): string {
  const client = new Database(database, { readonly: true })
  const statements = client
    .prepare("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    .pluck()
    .all()
  client.close()
  return statements.join(';')
}

/**
 * Returns a function that inserts a row and returns its rowid. Uses raw SQL, because drizzle takes
 * 50% longer to insert the thousands of rows of a seed.
 */
export function insertInto<Table extends SQLiteTable>(
  { client }: Db,
  table: Table,
  verb: 'INSERT' | 'INSERT OR REPLACE' = 'INSERT'
): (row: Table['$inferInsert']) => number {
  const columns = Object.entries(getTableColumns(table))
  const names = columns.map(([, { name }]) => name).join()
  const placeholders = columns.map(() => '?').join()
  const statement = client.prepare(
    `${verb} INTO ${getTableName(table)} (${names}) VALUES (${placeholders})`
  )
  return (row: { [column: string]: unknown }) => {
    const values = columns.map(([field, column]) => {
      const value = row[field] ?? null
      return value === null ? null : column.mapToDriverValue(value)
    })
    return Number(statement.run(values).lastInsertRowid)
  }
}
