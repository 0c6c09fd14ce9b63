import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/db/open.js'
import { StartError } from '../../src/domain/errors.js'
import { startServer } from '../../src/server.js'
import { expectConsistentDatasets } from '../control/environments/environment-client.js'
import { createTempFolder } from '../support/process.js'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')

const NEWER_MIGRATION = `INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', ${Date.UTC(2100, 0)})`

describe('openDatabase', () => {
  test('creates a missing file in WAL mode, with our application id and all migrations', () => {
    const { client } = open(join(createTempFolder(), 'mock.db')).db
    expect(client.pragma('journal_mode', { simple: true })).toBe('wal')
    expect(client.pragma('foreign_keys', { simple: true })).toBe(1)
    expect(client.pragma('application_id', { simple: true })).toBe(
      Buffer.from('NMoc').readUInt32BE()
    )
    expect(countRows(client, '__drizzle_migrations')).toBe(readJournal().entries.length)
  })

  test('creates the tables in an empty file', () => {
    const file = join(createTempFolder(), 'mock.db')
    writeFileSync(file, '')
    expect(countRows(open(file).db.client, 'environments')).toBe(0)
  })

  test('creates the missing tables if a process was killed before it created them', () => {
    const file = join(createTempFolder(), 'mock.db')
    new Database(file)
      .exec(
        'CREATE TABLE __drizzle_migrations ' +
          '(id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)'
      )
      .close()
    expect(countRows(open(file).db.client, 'environments')).toBe(0)
  })

  test('leaves only the data file after closing', () => {
    expect(readdirSync(dirname(createDataFile()))).toEqual(['mock.db'])
  })

  test('keeps the changes of a killed process, and merges the write-ahead log', () => {
    const file = createDataFile()
    writeAndGetKilled(file, 'INSERT INTO datasets (key) VALUES (42)')
    expect(readDatasets(file)).toEqual([42])
    expect(readdirSync(dirname(file))).toEqual(['mock.db'])
  })

  test('keeps the changes of two processes that were killed one after the other', () => {
    const file = createDataFile()
    writeAndGetKilled(file, 'INSERT INTO datasets (key) VALUES (42)')
    writeAndGetKilled(file, 'INSERT INTO datasets (key) VALUES (43)')
    expect(readDatasets(file)).toEqual([42, 43])
  })

  test.each(['PRAGMA application_id = 1', 'PRAGMA application_id = 1; PRAGMA user_version = 7'])(
    'opens the file if a process was killed right after it executed %s',
    (sql) => {
      const file = createDataFile('INSERT INTO datasets (key) VALUES (42)')
      writeAndGetKilled(file, sql, openInOtherProgram)
      expect(readDatasets(file)).toEqual([42])
    }
  )

  test.skipIf(process.platform === 'win32')(
    'creates files that only the owner can read, and keeps the mode of existing files',
    () => {
      const folder = createTempFolder()
      const previousMask = process.umask(0)
      onTestFinished(() => {
        process.umask(previousMask)
      })
      expect(modesWhileOpen(folder)).toEqual({ 'mock.db': '600', 'mock.db-wal': '600' })
      chmodSync(join(folder, 'mock.db'), 0o640)
      expect(modesWhileOpen(folder)).toEqual({ 'mock.db': '640', 'mock.db-wal': '640' })
    }
  )

  test('copies only the tables and indexes of a schema image, not its data', () => {
    const migrated = open()
    migrated.db.client.exec("INSERT INTO datasets (environment_id) VALUES ('a')")
    const database = migrated.db.client.serialize()
    const copy = openDatabase(undefined, { image: { kind: 'schema', database } })
    onTestFinished(copy.close)
    expect(readStatements(copy.db.client)).toEqual(readStatements(migrated.db.client))
    expect(countRows(copy.db.client, 'datasets')).toBe(0)
  })
})

describe('openDatabase leaves the files unchanged when it', () => {
  test('rejects a file that is already open', () => {
    const file = createDataFile()
    const { db } = open(file)
    expect(readInOtherProcess(file)).toBe('SQLITE_BUSY\n')
    expect(readStartError(file)).toBe(
      `can't use the data file ${file}: it is open in another process, ` +
        'such as another notification-mock; ' +
        'stop that process, or choose another file with --data'
    )
    // The connection that opened the file first can still write.
    db.client.exec("DELETE FROM environments WHERE id = 'none'")
  })

  test.each([
    [
      'a file from a newer version',
      NEWER_MIGRATION,
      'it was written by a newer version of notification-mock; use that version,'
    ],
    [
      'a file without the api_keys table',
      'DROP TABLE api_keys',
      'it is the database of another program; choose another file with --data'
    ],
    [
      'a file without the messages table',
      'DROP TABLE messages',
      'it is damaged, because its table messages is missing; restore a backup, or choose'
    ]
  ])('rejects %s', (_name, change, problem) => {
    const file = createDataFile(`PRAGMA foreign_keys = OFF; ${change}`)
    const contents = readFolder(dirname(file))
    expect(readStartError(file)).toContain(`can't use the data file ${file}: ${problem}`)
    expect(readFolder(dirname(file))).toEqual(contents)
  })

  test('rejects a file if a killed process of a newer version left a write-ahead log', () => {
    const file = createDataFile()
    writeAndGetKilled(file, NEWER_MIGRATION)
    const contents = readFolder(dirname(file))
    expect(readStartError(file)).toContain('it was written by a newer version')
    expect(readFolder(dirname(file))).toMatchObject(contents)
  })

  test('rejects a restored backup if a killed process left a newer write-ahead log', () => {
    const file = createDataFile('INSERT INTO datasets (key) VALUES (42)')
    const backup = readFileSync(file)
    writeAndGetKilled(file, 'INSERT INTO datasets (key) VALUES (43)')
    writeFileSync(file, backup)
    const contents = readFolder(dirname(file))
    expect(readStartError(file)).toContain(
      `${file}-wal belongs to a different version of the data file: ` +
        `if you restored the data file from a backup, delete ${file}-wal; ` +
        'otherwise restore the matching data file'
    )
    expect(readFolder(dirname(file))).toMatchObject(contents)
  })

  test.each([1, 5000])('rejects a file that is truncated to %i bytes', (length) => {
    const file = createDataFile()
    writeFileSync(file, readFileSync(file).subarray(0, length))
    const contents = readFolder(dirname(file))
    expect(readStartError(file)).toMatch(
      /: (it is not a database;|it is damaged; restore a backup, or) choose another file with --data$/
    )
    expect(readFolder(dirname(file))).toEqual(contents)
  })

  test.each(['missing/mock.db', '.'])(
    'rejects a path that is a folder or is in a missing folder: %s',
    (path) => {
      const folder = createTempFolder()
      const file = join(folder, path)
      expect(readStartError(file)).toBe(
        `can't use the data file ${file}: the file or its folder is missing, ` +
          'or permissions forbid access; check the path and the permissions'
      )
      expect(readdirSync(folder)).toEqual([])
    }
  )
})

describe('migrations', () => {
  const { entries } = readJournal()

  test.each(entries.map((_, index) => index + 1))(
    'bring a file with only the first %i migrations up to date',
    (count) => {
      const { client } = open(createOlderFile(count)).db
      expect(readTables(client)).toEqual(readTables(open().db.client))
      expect(countRows(client, '__drizzle_migrations')).toBe(entries.length)
      expect(client.pragma('foreign_key_check')).toEqual([])
    }
  )

  test('keep the messages of an environment and of its baseline', async () => {
    const { server, send } = await serveOlderFile()
    expect(server.seeded).toBe(false)
    expect(await send('/v1/messages', 'shop-key')).toMatchObject({
      totalCount: 1,
      data: [message('present')]
    })
    await send('/_mock/reset', 'shop-key', 'POST')
    expect(await send('/v1/messages', 'shop-key')).toMatchObject({
      totalCount: 1,
      data: [message('former')]
    })
    expectConsistentDatasets(server.db)
  })

  test('keep the messages, and a new fork returns them with its own ids', async () => {
    const { server, send } = await serveOlderFile()
    const seeds = await server.loadSeeds()
    const { environment, apiKey } = await seeds.createEnvironment({ from: 'Shop' })
    const { id, organizationId } = environment
    expect(await send('/v1/messages', apiKey)).toMatchObject({
      data: [{ subject: 'present', _environmentId: id, _organizationId: organizationId }]
    })
    expectConsistentDatasets(server.db)
  })

  test("keep the baseline's messages, and a fork created after a reset returns them", async () => {
    const { server, send } = await serveOlderFile()
    await send('/_mock/reset', 'shop-key', 'POST')
    const seeds = await server.loadSeeds()
    const { environment, apiKey } = await seeds.createEnvironment({ from: 'Shop' })
    expect(await send('/v1/messages', apiKey)).toMatchObject({
      data: [{ subject: 'former', _environmentId: environment.id }]
    })
    expectConsistentDatasets(server.db)
  })
})

/** Opens a database and closes it when the test ends. */
function open(file?: string) {
  const database = openDatabase(file)
  onTestFinished(database.close)
  return database
}

/** Opens the file, which must throw a `StartError` with a one-line message. Returns the message. */
function readStartError(file: string): string {
  try {
    open(file)
  } catch (error) {
    expect(error).toBeInstanceOf(StartError)
    expect((error as Error).message).not.toContain('\n')
    return (error as Error).message
  }
  throw new Error('openDatabase threw no error')
}

/** Returns the content of every file in the folder, in base64. */
function readFolder(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')])
  )
}

/** Creates a data file, runs the given SQL on its database, and closes it. */
function createDataFile(sql = ''): string {
  const file = join(createTempFolder(), 'mock.db')
  openDatabase(file).close()
  const client = new Database(file)
  client.exec(sql)
  client.close()
  return file
}

type OpenFile = (file: string) => { db: { client: Database.Database }; close: () => unknown }

/**
 * Executes SQL in the data file, then leaves the files as a killed process would: with the changes
 * still in the write-ahead log.
 */
function writeAndGetKilled(file: string, sql: string, openFile: OpenFile = openDatabase): void {
  const killed = join(createTempFolder(), 'killed')
  const { db, close } = openFile(file)
  db.client.exec(sql)
  cpSync(dirname(file), killed, { recursive: true })
  close()
  cpSync(killed, dirname(file), { recursive: true })
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
}

/**
 * Opens the file with plain SQLite. Unlike `openDatabase`, this doesn't store the lineage of the
 * write-ahead log in the file.
 */
function openInOtherProgram(file: string) {
  const client = new Database(file)
  client.pragma('locking_mode = EXCLUSIVE')
  client.pragma('journal_mode = WAL')
  return { db: { client }, close: () => client.close() }
}

/** Reads the file in another process and returns the error code that the process prints. */
function readInOtherProcess(file: string): string {
  const script = `
    const client = new (require('better-sqlite3'))(process.argv[1], { timeout: 500 })
    try {
      client.pragma('journal_mode')
      client.prepare('SELECT * FROM environments').all()
    } catch (error) {
      console.log(error.code)
    }`
  const { stdout } = spawnSync(process.execPath, ['-e', script, file], {
    cwd: MIGRATIONS,
    encoding: 'utf8'
  })
  return stdout
}

/** Opens the data file in the folder, and returns the modes of all files in the folder. */
function modesWhileOpen(folder: string): Record<string, string> {
  const { close } = openDatabase(join(folder, 'mock.db'))
  const modes = readdirSync(folder).map((name) => {
    const { mode } = statSync(join(folder, name))
    return [name, (mode & 0o777).toString(8)]
  })
  close()
  return Object.fromEntries(modes)
}

/** Returns the keys of all datasets in the file. */
function readDatasets(file: string): unknown[] {
  const { db, close } = openDatabase(file)
  const keys = db.client.prepare('SELECT key FROM datasets').pluck().all()
  close()
  return keys
}

function countRows(client: Database.Database, table: string): unknown {
  return client.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
}

function readTables(client: Database.Database): unknown[] {
  return client.prepare('SELECT type, name, tbl_name FROM sqlite_schema ORDER BY type, name').all()
}

function readStatements(client: Database.Database): unknown[] {
  const where = "WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
  return client.prepare(`SELECT type, name, sql FROM sqlite_schema ${where}`).all()
}

function readJournal(): { entries: object[] } {
  return JSON.parse(readFileSync(join(MIGRATIONS, 'meta/_journal.json'), 'utf8'))
}

/** Creates a data file with only the first `migrationCount` migrations, as an older version did. */
function createOlderFile(migrationCount: number): string {
  const folder = createTempFolder()
  const migrationsFolder = join(folder, 'migrations')
  cpSync(MIGRATIONS, migrationsFolder, { recursive: true })
  const journal = readJournal()
  const olderJournal = { ...journal, entries: journal.entries.slice(0, migrationCount) }
  writeFileSync(join(migrationsFolder, 'meta/_journal.json'), JSON.stringify(olderJournal))
  const file = join(folder, 'mock.db')
  const client = new Database(file)
  migrate(drizzle(client), { migrationsFolder })
  client.close()
  return file
}

const ID = 'a'.repeat(24)
const ORGANIZATION_ID = 'b'.repeat(24)

const message = (subject: string) => ({
  _id: ID,
  _environmentId: ID,
  _organizationId: ORGANIZATION_ID,
  channel: 'email',
  subject
})

/**
 * Inserts an environment that has the message `present`, while its baseline has the message
 * `former`. Also inserts the unused dataset 7, as if a process had been killed before deleting it.
 * The SQL uses only columns that exist after the first five migrations.
 */
function fillOlderFile(file: string): void {
  const client = new Database(file)
  client.exec('INSERT INTO datasets (key) VALUES (1), (2), (3), (4), (5), (6), (7)')
  const insertEnvironment = client.prepare(
    `INSERT INTO environments
      (key, id, organization_id, name, assumptions, clock,
        integrations, subscribers, workflows, messages, idempotency,
        snapshot_of, snapshot_name, created_at)
      VALUES (?, ?, ?, 'Shop', '{}', '{"mode":"wall"}', 1, 2, 3, ?, 5, ?, ?, 0)`
  )
  insertEnvironment.run(1, ID, ORGANIZATION_ID, 4, null, null)
  insertEnvironment.run(2, ID, ORGANIZATION_ID, 6, 1, '')
  const keyHash = createHash('sha256').update('shop-key').digest()
  client.prepare('INSERT INTO api_keys (hash, environment) VALUES (?, 1)').run(keyHash)
  const insertMessage = client.prepare(
    `INSERT INTO messages (dataset, id, created_at, channel, transaction_id, context, document)
      VALUES (?, ?, 0, 'email', 'order-1', '[]', ?)`
  )
  insertMessage.run(4, ID, JSON.stringify(message('present')))
  insertMessage.run(6, ID, JSON.stringify(message('former')))
  client.close()
}

/** Starts a server with a data file from an older version, which had only five migrations. */
async function serveOlderFile() {
  const file = createOlderFile(5)
  fillOlderFile(file)
  const server = await startServer({ port: 0, logLevel: 'silent', data: file })
  onTestFinished(() => server.close())
  const send = async (path: string, apiKey: string, method = 'GET') => {
    const headers = { authorization: `ApiKey ${apiKey}` }
    const response = await fetch(server.url + path, { method, headers })
    return response.json()
  }
  return { server, send }
}
