import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { StartError } from '../errors.js'
import { packageRoot } from '../package-root.js'
import * as schema from './schema.js'

export interface Db {
  /** Queries are built and prepared with this, once each. */
  orm: BetterSQLite3Database<typeof schema>
  /** For the few statements that are written as SQL. */
  client: Database.Database
  /**
   * Runs the work in a transaction, or in a savepoint of the one that is open, and rolls back what it throws.
   * The work must be synchronous: better-sqlite3 has no other transactions.
   */
  transaction<T>(work: () => T): T
  /** Calls back if the transaction that is open, or a savepoint of it, is rolled back; without one, never. */
  onRollback(undo: () => void): void
}

export interface OpenDatabase {
  db: Db
  close(): void
}

/**
 * Opens the database, migrated to this version's schema: in memory, or the file, which is made if it is not there.
 *
 * One process owns a file. Throws StartError, and leaves the file as it was, when the file is in use, is not ours, was
 * written by a newer version, or can't be read or written.
 */
export function openDatabase(file?: string): OpenDatabase {
  if (file !== undefined) refuseForeignFile(file)
  const client = openClient(file)
  try {
    client.pragma('foreign_keys = ON')
    const orm = drizzle(client, { schema })
    migrate(orm, { migrationsFolder: migrationsFolder() })
    client.pragma(`application_id = ${APPLICATION_ID}`)
    return { db: { orm, client, ...transactions(client) }, close: () => client.close() }
  } catch (error) {
    client.close()
    throw file === undefined ? error : fileError(file, error)
  }
}

function transactions(client: Database.Database): Pick<Db, 'transaction' | 'onRollback'> {
  const run = client.transaction((work: () => unknown) => work())
  let undoing: (() => void)[] = []
  return {
    transaction<T>(work: () => T): T {
      try {
        return run.immediate(work) as T
      } catch (error) {
        for (const undo of undoing) undo()
        throw error
      } finally {
        if (!client.inTransaction) undoing = []
      }
    },
    onRollback(undo) {
      if (client.inTransaction) undoing.push(undo)
    }
  }
}

/** Says that a database file is ours, in SQLite's own header field for it. The letters NMoc. */
const APPLICATION_ID = 0x4e4d6f63

function openClient(file: string | undefined): Database.Database {
  if (file === undefined) return new Database(':memory:')
  let client: Database.Database | undefined
  try {
    client = new Database(file, { timeout: 500 })
    // Exclusive before WAL: the lock is then held from the first access on, and there is no shared-memory file.
    client.pragma('locking_mode = EXCLUSIVE')
    client.pragma('journal_mode = WAL')
    client.pragma('synchronous = NORMAL')
    return client
  } catch (error) {
    client?.close()
    throw fileError(file, error)
  }
}

/** Looks at an existing file through a read-only connection, so that a file which is refused is not touched. */
function refuseForeignFile(file: string): void {
  if (!existsSync(file)) {
    if (!existsSync(dirname(file))) {
      throw new StartError(
        `can't make the data file ${file}: the folder ${dirname(file)} does not exist; make it first`
      )
    }
    return
  }
  let client: Database.Database | undefined
  try {
    client = new Database(file, { readonly: true, timeout: 500 })
    const tables = client.prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    if (tables.length === 0) return
    if (
      !tables.some(({ name }) => name === '__drizzle_migrations') ||
      !tables.some(({ name }) => name === 'api_keys')
    ) {
      throw new StartError(`${file} is a database of another program; name another file with --data`)
    }
    const known = Math.max(...readMigrationFiles({ migrationsFolder: migrationsFolder() }).map((m) => m.folderMillis))
    const applied = client.prepare('SELECT max(created_at) AS latest FROM __drizzle_migrations').get() as {
      latest: number
    }
    if (applied.latest > known) {
      throw new StartError(
        `${file} was written by a newer version of notification-mock; use that version, or name another file with --data`
      )
    }
  } catch (error) {
    throw fileError(file, error)
  } finally {
    client?.close()
  }
}

function fileError(file: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error
  const remedy = FILE_REMEDIES[error.code.split('_').slice(0, 2).join('_')]
  return new StartError(
    `can't use the data file ${file}: ${remedy ?? `${error.message}; name another file with --data`}`
  )
}

const FILE_REMEDIES: Record<string, string> = {
  SQLITE_BUSY: 'another notification-mock is using it; stop that one, or name another file with --data',
  SQLITE_CANTOPEN: 'it or its folder can not be read; check the path and the permissions',
  SQLITE_NOTADB: 'it is not a database; name another file with --data',
  SQLITE_READONLY: 'it or its folder can not be written; check the permissions, or name another file with --data',
  SQLITE_FULL: 'the disk is full; free some space, or name another file with --data'
}

function migrationsFolder(): string {
  return join(packageRoot(), 'migrations')
}
