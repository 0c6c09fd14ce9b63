import { closeSync, openSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { attempt, StartError } from '../domain/errors.js'
import * as schema from './schema.js'

/** How long another process may lock the file before it counts as in use, in milliseconds. */
export const LOCK_TIMEOUT = 500

/**
 * Throws when the file is not ours, of a newer version than `lastMigration` or unusable: it stays as it was. If there is none,
 * creates an empty one that only its owner can read, as will be the log beside it.
 */
export function checkDataFile(file: string, name: string, lastMigration: number): void {
  const found = attempt(() => statSync(file))
  if (found === undefined) {
    // SQLite says better why a file can't be created.
    if (file !== ':memory:') attempt(() => closeSync(openSync(file, 'wx', 0o600)))
    return
  }
  if (!found.isFile() && !found.isDirectory())
    throw unusable(name, 'it is no regular file; name another file with --data')
  // Smaller than any page: SQLite would take it for an empty database, and overwrite it.
  if (found.size > 0 && found.size < 512) throw unusable(name, REMEDIES.SQLITE_NOTADB)
  // To read the log that a killed process left would fold it into the file, unless the connection is read-only. Else a
  // connection that may write is better, as it leaves no files of its own.
  const readonly = Boolean(attempt(() => statSync(`${file}-wal`).size))
  const client = new Database(file, { readonly, timeout: LOCK_TIMEOUT })
  try {
    const problem = contentProblem(client, lastMigration)
    if (problem) throw unusable(name, problem)
  } finally {
    client.close()
  }
}

function contentProblem(client: Database.Database, lastMigration: number): string | undefined {
  const tables = client.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  // The migrator creates its own table first: a first start that was killed may have left only that.
  if (tables.every((name) => name === '__drizzle_migrations')) return undefined
  if (!tables.includes('__drizzle_migrations') || !tables.includes('api_keys')) {
    return 'it is a database of another program; name another file with --data'
  }
  const applied = Number(
    client.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get()
  )
  const names = Object.values(schema).flatMap((each) =>
    is(each, SQLiteTable) ? getTableName(each) : []
  )
  // An older file does not have all tables yet.
  const missing = applied === lastMigration && names.find((name) => !tables.includes(name))
  if (missing) return `its table ${missing} is missing: ${DAMAGED}`
  if (applied <= lastMigration) return undefined
  return 'it was written by a newer version of notification-mock; use that version, or name another file with --data'
}

/** Returns a function that looks at an open data file, in microseconds, and says for good how it was lost, if it was. */
export function dataFileCheck(file: string): () => string | undefined {
  let known = statSync(file)
  let problem: string | undefined
  const lost = (how: string) =>
    `the data file ${file} was ${how}: export what you need (GET /_mock/state), then start again`
  return () => {
    const found = problem ? known : statSync(file, { throwIfNoEntry: false })
    if (!found) problem = lost('deleted or moved')
    else if (found.ino !== known.ino) problem = lost('replaced by another')
    // SQLite never makes it shorter.
    else if (found.size < known.size) problem = lost('truncated')
    else known = found
    return problem
  }
}

/** Returns a `StartError` with the remedy where the error is about the file or the addon, else the error itself. */
export function toStartError(error: unknown, file: string | undefined): unknown {
  const { message = '', code, cause } = error as NodeJS.ErrnoException
  if (
    code === 'ERR_DLOPEN_FAILED' ||
    /^Could not locate the bindings file|better_sqlite3\.node/.test(message)
  ) {
    // Where version 13 can run, it needs no building; 12, as Node 20 has it, may abort if it is built for a later Node.
    const remedy = `run: ${Number(process.versions.napi) < 10 ? 'npm rebuild' : 'npm update'} better-sqlite3`
    return new StartError(
      `the database addon was not built for this Node, ${process.version}; ${remedy}`
    )
  }
  if (file === undefined) return error
  // better-sqlite3 itself looks whether there is a folder.
  if (/directory does not exist/.test(message)) return unusable(file, REMEDIES.SQLITE_CANTOPEN)
  // drizzle wraps what fails in a migration.
  const failure = cause instanceof Database.SqliteError ? cause : error
  if (!(failure instanceof Database.SqliteError)) return error
  const remedy = REMEDIES[failure.code.split('_').slice(0, 2).join('_') as keyof typeof REMEDIES]
  return unusable(file, remedy ?? `${failure.message}; name another file with --data`)
}

const unusable = (file: string, problem: string) =>
  new StartError(`can't use the data file ${file}: ${problem}`)

const DAMAGED = 'it is damaged: put back a copy, or name another file with --data'

const REMEDIES = {
  SQLITE_BUSY:
    'another process has it open, such as a notification-mock; stop that one, or name another with --data',
  SQLITE_CANTOPEN:
    'it or its folder is not there or can not be read or written; check the path and the permissions',
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: 'it is not a database; name another file with --data',
  SQLITE_READONLY:
    'it or its folder can not be written; check the permissions, or name another file with --data',
  SQLITE_FULL: 'the disk is full; free some space, or name another file with --data'
}
