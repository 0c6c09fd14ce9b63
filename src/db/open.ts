import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { packageRoot } from '../core/package.js'
import { checkDataFile, createDataFile, LOCK_TIMEOUT, toStartError } from './data-file.js'
import { type Transactions, transactions } from './transaction.js'

export { toStartError } from './data-file.js'

export interface Db extends Transactions {
  orm: BetterSQLite3Database
  /** For the few statements that are written as SQL. */
  client: Database.Database
}

export interface OpenDatabase {
  db: Db
  /** Folds the write-ahead log into the file. Closing twice does no harm. */
  close(): void
}

export interface OpenOptions {
  /** For a new file that counts only once it is closed: written faster, but useless if the process dies. */
  bulkLoad?: boolean
  /** What error messages call the file, where it is to be renamed. */
  of?: string | undefined
}

/**
 * Opens the database with this version's schema: the file, which is created if there is none, or one in memory.
 *
 * One process owns a file. Throws `StartError`, and leaves the file as it was, when it is in use, is not ours, was
 * written by a newer version, or can't be read or written.
 */
export function openDatabase(file?: string, { bulkLoad = false, of = file }: OpenOptions = {}): OpenDatabase {
  const migrationsFolder = join(packageRoot(), 'migrations')
  let client: Database.Database | undefined
  try {
    if (file !== undefined) {
      const lastMigration = readMigrationFiles({ migrationsFolder }).at(-1)?.folderMillis ?? 0
      checkDataFile(file, of ?? file, lastMigration)
      createDataFile(file)
    }
    client = new Database(file ?? ':memory:', { timeout: LOCK_TIMEOUT })
    if (file !== undefined) configure(client, file, bulkLoad)
    client.pragma('foreign_keys = ON')
    const orm = drizzle(client)
    migrate(orm, { migrationsFolder })
    client.pragma(`application_id = ${APPLICATION_ID}`)
    const close = client.close.bind(client)
    return { db: { orm, client, ...transactions(client) }, close: () => void close() }
  } catch (error) {
    client?.close()
    throw toStartError(error, of)
  }
}

/** Marks a database file as ours, in SQLite's own header field for it: the letters NMoc. */
const APPLICATION_ID = 0x4e4d6f63

function configure(client: Database.Database, file: string, bulkLoad: boolean): void {
  // Exclusive before WAL: the file is then locked from the first access on, and there is no shared-memory file.
  client.pragma('locking_mode = EXCLUSIVE')
  if (bulkLoad) {
    // Larger pages leave less of them empty, but would make a write-ahead log longer.
    client.pragma('page_size = 16384')
    client.pragma('journal_mode = MEMORY')
    client.pragma('synchronous = OFF')
    client.pragma('cache_size = -65536')
    return
  }
  client.pragma('journal_mode = WAL')
  client.pragma('synchronous = NORMAL')
  // The check of a file that a killed process left creates one, and nobody else can be using it now.
  rmSync(`${file}-shm`, { force: true })
}
