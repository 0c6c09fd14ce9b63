import { readFileSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { StartError } from '../core/errors.js'
import { packageRoot } from '../core/package-root.js'
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
  /**
   * The same for work that pauses, during which nobody else may use the database. It is rolled back also when it is not
   * gone on with, by `return` or `throw`.
   */
  inSteps<Step, T>(work: () => Generator<Step, T, undefined>): Generator<Step, T, undefined>
  /** Calls back if the transaction that is open, or a savepoint of it, is rolled back; without one, never. */
  onRollback(undo: () => void): void
}

export interface OpenDatabase {
  db: Db
  /** Folds the write-ahead log into the file. Closing twice does no harm. */
  close(): void
}

export interface OpenOptions {
  template?: string | undefined
  draft?: boolean
  of?: string | undefined
}

/**
 * Opens the database, migrated to this version's schema: in memory, or the file, which is made if it is not there. A
 * draft is a new file that is of no use until it has been closed: it is written faster, into this one file, and is
 * spoilt if the process dies. In memory, and as a draft, it can begin as a copy of a template, a file that this version
 * has made.
 *
 * `of` is the file that a draft is to become, and is named in complaints.
 *
 * One process owns a file. Throws StartError, and leaves the file as it was, when the file is in use, is not ours, was
 * written by a newer version, or can't be read or written.
 */
export function openDatabase(file?: string, { template, draft = false, of = file }: OpenOptions = {}): OpenDatabase {
  let client: Database.Database | undefined
  try {
    if (file !== undefined) refuse(file, of)
    if (file !== undefined && template !== undefined) beginAs(file, template, of)
    const opened = openClient(file, draft)
    client = opened
    const orm = drizzle(client, { schema })
    if (file === undefined && template !== undefined) copyAll(template, client)
    client.pragma('foreign_keys = ON')
    if (template === undefined) migrate(orm, { migrationsFolder: migrationsFolder() })
    client.pragma(`application_id = ${APPLICATION_ID}`)
    return { db: { orm, client, ...transactions(client) }, close: () => void opened.close() }
  } catch (error) {
    client?.close()
    throw explained(error, of)
  }
}

/** With the permissions of a new file, not those of the template. */
function beginAs(file: string, template: string, of = file): void {
  const bytes = readFileSync(template)
  try {
    writeFileSync(file, bytes)
  } catch (error) {
    rmSync(file, { force: true })
    const { SQLITE_FULL, SQLITE_CANTOPEN } = FILE_REMEDIES
    const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
    throw unusable(of, isFull ? SQLITE_FULL : SQLITE_CANTOPEN)
  }
}

/** Not by deserializing: such a database is not as fast to write to, and may not grow beyond a gigabyte. */
function copyAll(template: string, client: Database.Database): void {
  // Rows come before those that they refer to.
  client.pragma('foreign_keys = OFF')
  client.prepare('ATTACH ? AS template').run(template)
  const made = client
    .prepare<[], { name: string; type: string; sql: string }>(
      `SELECT name, type, sql FROM template.sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type = 'table' DESC`
    )
    .all()
  client.transaction(() => {
    for (const { name, type, sql } of made) {
      client.exec(sql)
      if (type === 'table') client.exec(`INSERT INTO main."${name}" SELECT * FROM template."${name}"`)
    }
    client.exec('DELETE FROM sqlite_sequence; INSERT INTO sqlite_sequence SELECT * FROM template.sqlite_sequence')
  })()
  client.exec('DETACH template')
}

function transactions(client: Database.Database): Pick<Db, 'transaction' | 'inSteps' | 'onRollback'> {
  const run = client.transaction((work: () => unknown) => work())
  let undoing: (() => void)[] = []
  const begin = client.prepare('BEGIN IMMEDIATE')
  const commit = client.prepare('COMMIT')
  const rollback = client.prepare('ROLLBACK')
  return {
    *inSteps(work) {
      begin.run()
      try {
        const result = yield* work()
        commit.run()
        return result
      } finally {
        if (client.inTransaction) {
          rollback.run()
          for (const undo of undoing) undo()
        }
        undoing = []
      }
    },
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

/**
 * Larger pages leave less of them empty, but a change of one makes the log of a file longer. (Without any journal it
 * would be no faster, and better-sqlite3 does not let one go without.)
 */
const DRAFT_SETTINGS = [
  'page_size = 16384',
  'journal_mode = MEMORY',
  'synchronous = OFF',
  'locking_mode = EXCLUSIVE',
  'cache_size = -65536'
]

/** How long another process may hold the file before it counts as in use, in milliseconds. */
const PATIENCE = 500

/** The size of the smallest page, and a database has at least one. */
const SMALLEST = 512

function openClient(file = ':memory:', draft = false): Database.Database {
  const client = new Database(file, { timeout: PATIENCE })
  if (file === ':memory:') return client
  if (draft) {
    for (const setting of DRAFT_SETTINGS) client.pragma(setting)
    return client
  }
  try {
    // Exclusive before WAL: the lock is then held from the first access on, and there is no shared-memory file.
    client.pragma('locking_mode = EXCLUSIVE')
    client.pragma('journal_mode = WAL')
    client.pragma('synchronous = NORMAL')
    // Looking at what a killed process left behind made one, and nobody else can be using it now.
    rmSync(`${file}-shm`, { force: true })
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

/** Throws StartError when the file can't be ours. */
function refuse(file: string, of = file): void {
  const found = statSync(file, { throwIfNoEntry: false })
  const complaint = found ? complaintAboutFile(file, found) : complaintAboutFolder(dirname(file))
  if (complaint) throw unusable(of, complaint)
}

function complaintAboutFolder(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found) return `the folder ${folder} does not exist; make it first`
  return found.isDirectory() ? undefined : `${folder} is not a folder; name another file with --data`
}

function complaintAboutFile(file: string, found: Stats): string | undefined {
  if (found.isDirectory()) return `it is a folder; name a file in it: ${join(file, 'mock.db')}`
  // SQLite takes it for an empty database, and would write over it.
  if (found.size > 0 && found.size < SMALLEST) return FILE_REMEDIES.SQLITE_NOTADB
  // Reading what a killed process left in the log would fold it into the file, and the file is to stay as it is. Else a
  // connection that may write is better: it leaves no files of its own behind.
  const readonly = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
  const client = new Database(file, { readonly, timeout: PATIENCE })
  try {
    return complaintAbout(client)
  } finally {
    client.close()
  }
}

function complaintAbout(client: Database.Database): string | undefined {
  const tables = client.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  // The migrator makes its own table before it begins: a first start that was killed may have left that, and no more.
  if (tables.every((name) => name === '__drizzle_migrations')) return undefined
  if (!tables.includes('__drizzle_migrations') || !tables.includes('api_keys')) {
    return 'it is a database of another program; name another file with --data'
  }
  const applied = client.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get()
  const known = readMigrationFiles({ migrationsFolder: migrationsFolder() }).map(({ folderMillis }) => folderMillis)
  if (Number(applied) > Math.max(...known)) {
    return 'it was written by a newer version of notification-mock; use that version, or name another file with --data'
  }
  return undefined
}

function unusable(file: string, complaint = ''): StartError {
  return new StartError(`can't use the data file ${file}: ${complaint}`)
}

/** The same error, or where it is the file's, a StartError that names it and says what to do. */
export function explained(error: unknown, file: string | undefined): unknown {
  const { message, code, cause } = error as { message?: string; code?: unknown; cause?: unknown }
  if (code === 'ERR_DLOPEN_FAILED' || /^Could not locate the bindings file|better_sqlite3\.node/.test(message ?? '')) {
    return new StartError(
      `the database addon was not built for this Node, ${process.version}; run: npm rebuild better-sqlite3`
    )
  }
  // drizzle wraps what fails in a migration.
  const failure = cause instanceof Database.SqliteError ? cause : error
  if (file === undefined || !(failure instanceof Database.SqliteError)) return explainedPath(error, file)
  const remedy = FILE_REMEDIES[failure.code.split('_').slice(0, 2).join('_')]
  return unusable(file, remedy ?? `${failure.message}; name another file with --data`)
}

function explainedPath(error: unknown, file: string | undefined): unknown {
  const { syscall, code } = error as NodeJS.ErrnoException
  if (syscall !== 'stat' || file === undefined) return error
  const reason = code === 'ENOTDIR' ? 'a part of its path is not a folder' : 'it or its folder can not be read'
  return unusable(file, `${reason}; check the path and the permissions`)
}

const FILE_REMEDIES: Record<string, string> = {
  SQLITE_BUSY: 'another process has it open, such as a notification-mock; stop that one, or name another with --data',
  SQLITE_CANTOPEN: 'it or its folder can not be read or written; check the path and the permissions',
  SQLITE_NOTADB: 'it is not a database; name another file with --data',
  SQLITE_READONLY: 'it or its folder can not be written; check the permissions, or name another file with --data',
  SQLITE_FULL: 'the disk is full; free some space, or name another file with --data'
}

function migrationsFolder(): string {
  return join(packageRoot(), 'migrations')
}
