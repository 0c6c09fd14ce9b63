import { closeSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { attempt, StartError } from '../core/errors.js'

/** How long another process may lock the file before it counts as in use, in milliseconds. */
export const LOCK_TIMEOUT = 500

/** The size of SQLite's smallest page: no database is smaller. */
const MIN_SIZE = 512

/**
 * Throws `StartError` when the file is not ours, was written by a newer version than `lastMigration`, or can't be used.
 * The message calls it `name`. The file stays as it was.
 */
export function checkDataFile(file: string, name: string, lastMigration: number): void {
  const problem = problemOf(file, lastMigration)
  if (problem) throw unusable(name, problem)
}

function problemOf(file: string, lastMigration: number): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return folderProblem(dirname(file))
  if (found.isDirectory()) return `it is a folder; name a file in it: ${join(file, 'mock.db')}`
  // SQLite would take it for an empty database, and overwrite it.
  if (found.size > 0 && found.size < MIN_SIZE) return REMEDIES.SQLITE_NOTADB
  // To read the log that a killed process left would fold it into the file, unless the connection is read-only. Else a
  // connection that may write is better, as it leaves no files of its own.
  const readonly = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
  const client = new Database(file, { readonly, timeout: LOCK_TIMEOUT })
  try {
    return contentProblem(client, lastMigration)
  } finally {
    client.close()
  }
}

function folderProblem(folder: string): string | undefined {
  try {
    return statSync(folder).isDirectory() ? undefined : `${folder} is not a folder; name another file with --data`
  } catch (error) {
    // With throwIfNoEntry: false, Node 24 would not throw ENOTDIR either.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return `the folder ${folder} does not exist; make it first`
  }
}

function contentProblem(client: Database.Database, lastMigration: number): string | undefined {
  const tables = client.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  // The migrator creates its own table first: a first start that was killed may have left only that.
  if (tables.every((name) => name === '__drizzle_migrations')) return undefined
  if (!tables.includes('__drizzle_migrations') || !tables.includes('api_keys')) {
    return 'it is a database of another program; name another file with --data'
  }
  const applied = client.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get()
  if (Number(applied) <= lastMigration) return undefined
  return 'it was written by a newer version of notification-mock; use that version, or name another file with --data'
}

/**
 * Creates an empty file that only its owner can read, as it will hold what clients have sent; SQLite gives the log beside it
 * the same mode. A file that there is keeps its own.
 */
export function createDataFile(file: string): void {
  // SQLite says better why a file can't be created.
  if (file !== ':memory:') attempt(() => closeSync(openSync(file, 'wx', 0o600)))
}

/** Returns a `StartError` with the remedy where the error is about the file or the addon, else the error itself. */
export function toStartError(error: unknown, file: string | undefined): unknown {
  const { message = '', code, cause, syscall } = error as NodeJS.ErrnoException
  if (code === 'ERR_DLOPEN_FAILED' || /^Could not locate the bindings file|better_sqlite3\.node/.test(message)) {
    // Where version 13 can run, it needs no building; 12, as Node 20 has it, may abort if it is built for a later Node.
    const remedy = Number(process.versions.napi) < 10 ? 'npm rebuild' : 'npm update'
    return new StartError(
      `the database addon was not built for this Node, ${process.version}; run: ${remedy} better-sqlite3`
    )
  }
  if (file === undefined) return error
  // drizzle wraps what fails in a migration.
  const failure = cause instanceof Database.SqliteError ? cause : error
  if (failure instanceof Database.SqliteError) {
    const remedy = REMEDIES[failure.code.split('_').slice(0, 2).join('_')]
    return unusable(file, remedy ?? `${failure.message}; name another file with --data`)
  }
  if (syscall !== 'stat') return error
  const reason = code === 'ENOTDIR' ? 'a part of its path is not a folder' : 'it or its folder can not be read'
  return unusable(file, `${reason}; check the path and the permissions`)
}

function unusable(file: string, problem: string): StartError {
  return new StartError(`can't use the data file ${file}: ${problem}`)
}

const REMEDIES: Record<string, string> & { SQLITE_NOTADB: string } = {
  SQLITE_BUSY: 'another process has it open, such as a notification-mock; stop that one, or name another with --data',
  SQLITE_CANTOPEN: 'it or its folder can not be read or written; check the path and the permissions',
  SQLITE_NOTADB: 'it is not a database; name another file with --data',
  SQLITE_READONLY: 'it or its folder can not be written; check the permissions, or name another file with --data',
  SQLITE_FULL: 'the disk is full; free some space, or name another file with --data'
}
