import { closeSync, openSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { StartError } from '../domain/errors.js'
import { isInBundle, MARK_EXTERNAL } from '../platform/package.js'
import * as schema from './schema.js'
import { isForeignLog, logOf } from './write-ahead-log.js'

/** Milliseconds to wait for another process's lock before reporting that the file is in use. */
export const LOCK_TIMEOUT = 500

/** SQLite's smallest page size in bytes. SQLite treats a smaller file as an empty database. */
const SMALLEST_PAGE = 512

const RESTORE = 'restore a backup, or choose another file with --data'

const PROBLEMS = {
  SQLITE_BUSY:
    'it is open in another process, such as another notification-mock; ' +
    'stop that process, or choose another file with --data',
  SQLITE_CANTOPEN:
    'the file or its folder is missing, or permissions forbid access; ' +
    'check the path and the permissions',
  SQLITE_CORRUPT: `it is damaged; ${RESTORE}`,
  SQLITE_NOTADB: 'it is not a database; choose another file with --data',
  SQLITE_READONLY:
    'the file or its folder is read-only; ' +
    'check the permissions, or choose another file with --data',
  SQLITE_FULL: 'the disk is full; free some space, or choose another file with --data'
}

/**
 * Throws `StartError` if the file is unusable, belongs to another program, or has migrations newer
 * than `lastMigration`. Never changes an existing file. Creates a missing file so that only its
 * owner can access it. SQLite gives the write-ahead log the same permissions as the file.
 */
export function checkDataFile(file: string, lastMigration: number): void {
  const stats = statOrUndefined(file)
  if (stats === undefined) {
    if (file !== ':memory:') createPrivateFile(file)
    return
  }
  if (!stats.isFile() && !stats.isDirectory()) {
    throw unusable(file, 'it is not a regular file; choose another file with --data')
  }
  // Reject a file that is smaller than a page, because SQLite would overwrite it.
  if (stats.size > 0 && stats.size < SMALLEST_PAGE) throw unusable(file, PROBLEMS.SQLITE_NOTADB)

  // If a killed process left a write-ahead log, open the file read-only, because a writable
  // connection would merge the log into the file. Without a log, open it read-write, because a
  // read-only connection would create `-wal` and `-shm` files and not delete them.
  const hasLog = Boolean(statOrUndefined(logOf(file))?.size)
  const client = new Database(file, { readonly: hasLog, timeout: LOCK_TIMEOUT })
  try {
    // This throws if another process has the file open, so that `isForeignLog` doesn't run then.
    client.pragma('schema_version')
    if (hasLog && isForeignLog(file)) throw unusable(file, foreignLog(file))
    const problem = findContentProblem(client, lastMigration)
    if (problem) throw unusable(file, problem)
  } finally {
    client.close()
  }
}

/**
 * Returns the file's stats, or undefined if it doesn't exist. Also returns undefined after a system
 * error, because SQLite reports the reason when it opens the file.
 */
function statOrUndefined(file: string) {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}

/**
 * Creates an empty file that only its owner can access. Ignores system errors, because SQLite
 * reports the reason when it opens the file.
 */
function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

function findContentProblem(client: Database.Database, lastMigration: number): string | undefined {
  const tables = client.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  // The migrator creates its own table first. A file without other tables is valid, because the
  // process may have been killed during the first start.
  if (tables.every((name) => name === '__drizzle_migrations')) return undefined
  if (!tables.includes('__drizzle_migrations') || !tables.includes('api_keys')) {
    return 'it is the database of another program; choose another file with --data'
  }
  const newestMigration = Number(
    client.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get()
  )
  if (newestMigration > lastMigration) {
    return (
      'it was written by a newer version of notification-mock; ' +
      'use that version, or choose another file with --data'
    )
  }
  // A file from an older version may lack tables, which the migrations will create.
  if (newestMigration < lastMigration) return undefined
  const missing = tableNames().find((name) => !tables.includes(name))
  return missing && `it is damaged, because its table ${missing} is missing; ${RESTORE}`
}

function foreignLog(file: string): string {
  const log = logOf(file)
  return (
    `${log} belongs to a different version of the data file: ` +
    `if you restored the data file from a backup, delete ${log}; ` +
    'otherwise restore the matching data file, or choose another file with --data'
  )
}

function tableNames(): string[] {
  return Object.values(schema).flatMap((value) =>
    is(value, SQLiteTable) ? getTableName(value) : []
  )
}

/**
 * Returns a function that checks whether the open data file was deleted, replaced or truncated. The
 * function takes microseconds. It returns a description of the problem, or undefined. After it has
 * found a problem, it returns the same description on every call.
 */
export function watchDataFile(file: string): () => string | undefined {
  let lastStats = statSync(file)
  let problem: string | undefined
  return () => {
    if (problem) return problem
    const stats = statSync(file, { throwIfNoEntry: false })
    const loss = findLoss(lastStats, stats)
    if (loss) {
      problem =
        `the data file ${file} was ${loss}: ` +
        'export what you need (GET /_mock/state), then restart the server'
      if (loss === REPLACED) {
        problem += `; if you have to kill the server, delete ${logOf(file)} afterwards`
      }
    }
    if (stats) lastStats = stats
    return problem
  }
}

const REPLACED = 'replaced by another file'

type FileStats = { ino: number; size: number }

function findLoss(lastStats: FileStats, stats: FileStats | undefined): string | undefined {
  if (!stats) return 'deleted or moved'
  if (stats.ino !== lastStats.ino) return REPLACED
  // SQLite itself never shrinks the file, so another program did.
  return stats.size < lastStats.size ? 'truncated' : undefined
}

/**
 * Converts an error about the data file or the database addon to a `StartError` that says how to
 * fix the problem. Returns any other error unchanged.
 */
export function toStartError(error: unknown, file: string | undefined): unknown {
  const { message = '', code, cause } = error as NodeJS.ErrnoException
  const isAddonMissing = /^Could not locate the bindings file|better_sqlite3\.node/.test(message)
  if (code === 'ERR_DLOPEN_FAILED' || isAddonMissing) return addonError()
  if (file === undefined) return error
  // If the folder is missing, better-sqlite3 throws a TypeError before SQLite is called.
  if (/directory does not exist/.test(message)) return unusable(file, PROBLEMS.SQLITE_CANTOPEN)
  // If a migration fails, drizzle throws its own error, with SQLite's error as the cause.
  const sqliteError = cause instanceof Database.SqliteError ? cause : error
  if (!(sqliteError instanceof Database.SqliteError)) return error
  const primaryCode = sqliteError.code.split('_').slice(0, 2).join('_')
  const problem = PROBLEMS[primaryCode as keyof typeof PROBLEMS]
  return unusable(file, problem ?? `${sqliteError.message}; choose another file with --data`)
}

function addonError(): StartError {
  if (isInBundle()) return new StartError(`the database addon was not found: ${MARK_EXTERNAL}`)
  // Node 20 uses better-sqlite3 12, which must be rebuilt if it was built for another Node version.
  // better-sqlite3 13 comes prebuilt, so an update is enough.
  const command = Number(process.versions.napi) < 10 ? 'npm rebuild' : 'npm update'
  return new StartError(
    `the database addon was not built for Node ${process.version}; ` +
      `run: ${command} better-sqlite3`
  )
}

function unusable(file: string, problem: string): StartError {
  return new StartError(`can't use the data file ${file}: ${problem}`)
}
