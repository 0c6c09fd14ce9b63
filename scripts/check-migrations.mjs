#!/usr/bin/env node
/**
 * Checks that the migrations match src/db/schema.ts.
 *
 *     node scripts/check-migrations.mjs [project folder]
 *
 * 1. Migrations must not conflict. For example, two migrations must not start from the same state.
 * 2. Every change to the schema must have a migration. `drizzle-kit generate`, run on a copy of
 *    migrations/, must not write a new one.
 * 3. A database created by the migrations must have every table, column, key and index of the
 *    schema. drizzle-kit can't check this, because it compares only its own snapshots and doesn't
 *    notice SQL that was edited by hand.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const committed = join(folder, 'migrations')
// drizzle-kit doesn't export its command, so find the file by its path.
const kit = join(createRequire(import.meta.url).resolve('drizzle-kit'), '../bin.cjs')
const scratch = mkdtempSync(join(tmpdir(), 'migrations-'))

try {
  const problems = check()
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else console.log(`${sqlFiles(committed).length} migrations match the schema`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function check() {
  if (sqlFiles(committed).length === 0)
    return ['migrations/ has no migration: run `npm run db:generate`']

  const checked = drizzleKit('check', committed)
  if (!checked.ok) return [checked.output, 'the migrations conflict with each other']

  const copy = join(scratch, 'copy')
  cpSync(committed, copy, { recursive: true })
  const generated = drizzleKit('generate', copy)
  if (!generated.ok)
    return [generated.output, 'drizzle-kit could not generate a migration from the schema']
  const written = diffFolders(committed, copy)
  if (written.length > 0)
    return [...written, 'the schema changed without a migration: run `npm run db:generate`']

  const fresh = join(scratch, 'fresh')
  mkdirSync(fresh)
  drizzleKit('generate', fresh)
  const actual = new Set(shapeOf(committed))
  const lacking = shapeOf(fresh).filter((fact) => !actual.has(fact))
  if (lacking.length > 0)
    return [...lacking, 'the migrations were edited by hand and lack the definitions above']
  return []
}

/**
 * Runs drizzle-kit. Also checks that drizzle-kit printed its success message, because it exits with
 * 0 after some errors.
 */
function drizzleKit(command, out) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [kit, command], {
    cwd: folder,
    // The path is relative, because drizzle-kit prepends `./` even to an absolute path.
    env: { ...process.env, MIGRATIONS_FOLDER: relative(folder, out) },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8'
  })
  const output = (stdout + stderr).trim()
  const success = command === 'check' ? /Everything's fine/ : /No schema changes|Your SQL migration/
  return { ok: status === 0 && success.test(output), output }
}

function diffFolders(before, after) {
  const names = new Set([before, after].flatMap((where) => readdirSync(where, { recursive: true })))
  return [...names].sort().flatMap((name) => {
    const old = read(join(before, name))
    const now = read(join(after, name))
    if (old === now) return []
    if (old !== undefined) return [`changed: ${name}`]
    return [name.endsWith('.sql') ? `new: ${name}\n${now}` : `new: ${name}`]
  })
}

/** Returns the tables, columns, keys and indexes that these migrations create, one line each. */
function shapeOf(migrationsFolder) {
  const database = new Database(':memory:')
  try {
    migrate(drizzle(database), { migrationsFolder })
    const objects = database
      .prepare(
        "select type, name, sql from sqlite_master where name not like '\\_\\_%' escape '\\'"
      )
      .all()
    return objects.flatMap(({ type, name, sql }) => {
      if (type === 'index')
        return sql ? [`index ${name}: ${sql.replaceAll('"', '`').replaceAll(/\s+/g, ' ')}`] : []
      if (type !== 'table') return []
      return ['table_xinfo', 'foreign_key_list'].flatMap((pragma) =>
        // Leave out `cid`, `id` and `seq`, because they depend on the order in which columns and
        // keys were created.
        database
          .pragma(`${pragma}("${name}")`)
          .map(({ cid, id, seq, ...facts }) => `${name} ${pragma}: ${JSON.stringify(facts)}`)
      )
    })
  } finally {
    database.close()
  }
}

function sqlFiles(where) {
  try {
    return readdirSync(where).filter((name) => name.endsWith('.sql'))
  } catch {
    return []
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
