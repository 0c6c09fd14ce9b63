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

export { toStartError } from './data-file.js'

const MIGRATIONS_FOLDER = join(packageRoot(), 'migrations')

/** The letters `NMoc` in SQLite's header field for an application id mark a file as ours. */
const APPLICATION_ID = 0x4e4d6f63

/** An open database. */
export class Db extends Transactions {
  readonly orm: BetterSQLite3Database
  /** For the few statements that are raw SQL. */
  readonly client: Database.Database
  /** Returns why nothing can be written: what happened to the data file while it was open. */
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
 * A serialized database with this version's schema. Opening one in memory copies the schema alone
 * (`schema`), which is faster than running the migrations, or all of its data (`data`).
 */
export type DatabaseImage =
  | { kind: 'schema'; database: Buffer }
  /** Sets the creation time of its environments, in milliseconds since 1970. */
  | { kind: 'data'; database: Buffer; createdAt: number }

/**
 * Opens the file, creating it if it is missing, or a database in memory. Migrates it to this
 * version's schema. Throws `StartError` without changing the file if it is in use, unusable,
 * of a newer version or of another program.
 *
 * `close` merges the write-ahead log into the file. You can call it twice.
 */
export function openDatabase(file?: string, { image }: { image?: DatabaseImage | undefined } = {}) {
  let client: Database.Database | undefined
  try {
    client = file === undefined ? openInMemory(image) : openFile(file)
    client.pragma('foreign_keys = ON')
    if (file !== undefined || !image) {
      migrate(drizzle(client), { migrationsFolder: MIGRATIONS_FOLDER })
    }
    client.pragma(`application_id = ${APPLICATION_ID}`)
    const isOnDisk = file !== undefined && file !== ':memory:'
    const db = new Db(client, isOnDisk ? watchDataFile(file) : () => undefined)
    const close = (): void => {
      db.client.close()
    }
    return { db, close }
  } catch (error) {
    client?.close()
    throw toStartError(error, file)
  }
}

function openFile(file: string): Database.Database {
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER })
  checkDataFile(file, migrations.at(-1)?.folderMillis ?? 0)
  const client = new Database(file, { timeout: LOCK_TIMEOUT })
  try {
    // Exclusive before WAL: SQLite then locks the file on the first access and needs no -shm file.
    client.pragma('locking_mode = EXCLUSIVE')
    client.pragma('journal_mode = WAL')
    client.pragma('synchronous = NORMAL')
    // Checking a file left by a killed process creates an -shm file, which nobody else can be
    // using.
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
  // SQLite locks a deserialized database on every access, which is slower and has no use here.
  client.pragma('locking_mode = EXCLUSIVE')
  client.prepare('UPDATE environments SET created_at = ?').run(image.createdAt)
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
 * Returns a function that inserts a row and returns its rowid. Raw SQL, because a seed inserts
 * thousands of rows and drizzle takes 50 % longer.
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
