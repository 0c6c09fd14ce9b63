import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/db/open.js'
import { StartError } from '../../src/domain/errors.js'
import { type ServerOptions, startServer } from '../../src/server.js'
import { expectSound } from '../control/environments/environment-client.js'
import { createTempFolder } from '../support/process.js'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')

/** A database that is closed when the test ends. */
function open(file?: string) {
  const opened = openDatabase(file)
  onTestFinished(opened.close)
  return opened
}

/** The error that opening throws. It must be one of those that are told in one line. */
function refusal(file: string): string {
  try {
    open(file)
  } catch (error) {
    expect(error).toBeInstanceOf(StartError)
    expect((error as Error).message).not.toContain('\n')
    return (error as Error).message
  }
  throw new Error('it was opened')
}

/** Every file in the folder with its bytes. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')])
  )
}

/** A file of ours, closed, changed by SQL. */
function givenFile(change = '', folder = createTempFolder()): string {
  const file = join(folder, 'mock.db')
  openDatabase(file).close()
  const client = new Database(file)
  client.exec(change)
  client.close()
  return file
}

/** Leaves the file as a process does that is killed: what it has written is in the log beside it. */
function writeAndDie(file: string, sql: string): void {
  const script = `
    const client = new (require('better-sqlite3'))(process.argv[1])
    client.pragma('locking_mode = EXCLUSIVE')
    client.pragma('journal_mode = WAL')
    client.exec(process.argv[2])
    process.kill(process.pid, 'SIGKILL')`
  const { signal } = spawnSync(process.execPath, ['-e', script, file, sql], {
    cwd: join(import.meta.dirname, '../..')
  })
  expect(signal).toBe('SIGKILL')
  expect(readdirSync(join(file, '..'))).toContain('mock.db-wal')
}

const FROM_THE_FUTURE = `INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', ${Date.UTC(2100, 0)})`

describe('a file', () => {
  test('that is not there is made, in WAL mode, with our application id and every migration', () => {
    const file = join(createTempFolder(), 'mock.db')
    const { client } = open(file).db
    expect(client.pragma('journal_mode', { simple: true })).toBe('wal')
    expect(client.pragma('foreign_keys', { simple: true })).toBe(1)
    expect(client.pragma('application_id', { simple: true })).toBe(
      Buffer.from('NMoc').readUInt32BE()
    )
    const { entries } = JSON.parse(readFileSync(join(MIGRATIONS, 'meta/_journal.json'), 'utf8'))
    expect(client.prepare('SELECT count(*) FROM __drizzle_migrations').pluck().get()).toBe(
      entries.length
    )
  })

  test('is used like one that is not there if it is empty, or if its first start was killed before its tables were made', () => {
    const empty = join(createTempFolder(), 'mock.db')
    writeFileSync(empty, '')
    const begun = join(createTempFolder(), 'mock.db')
    new Database(begun)
      .exec(
        'CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)'
      )
      .close()
    for (const file of [empty, begun]) {
      expect(open(file).db.client.prepare('SELECT count(*) FROM environments').pluck().get()).toBe(
        0
      )
    }
  })

  test('keeps what was written, also when the process that wrote it was killed, and then no file stays beside it', () => {
    const file = givenFile()
    expect(readdirSync(join(file, '..'))).toEqual(['mock.db'])
    writeAndDie(file, 'INSERT INTO datasets (key) VALUES (42)')
    const { db, close } = openDatabase(file)
    expect(db.client.prepare('SELECT key FROM datasets').pluck().all()).toEqual([42])
    close()
    expect(readdirSync(join(file, '..'))).toEqual(['mock.db'])
  })
})

async function serve(options: ServerOptions) {
  const server = await startServer({ port: 0, logLevel: 'silent', ...options })
  onTestFinished(() => server.close())
  return server
}

describe('is refused, and stays as it was to the byte: a file', () => {
  test('that another process has open, which is not disturbed', () => {
    const file = givenFile()
    const script = `
      const client = new (require('better-sqlite3'))(process.argv[1], { timeout: 500 })
      try { client.pragma('journal_mode'); client.prepare('SELECT * FROM environments').all() } catch (error) { console.log(error.code) }`
    const { db } = open(file)
    const { stdout } = spawnSync(process.execPath, ['-e', script, file], {
      cwd: MIGRATIONS,
      encoding: 'utf8'
    })
    expect(stdout).toBe('SQLITE_BUSY\n')
    expect(refusal(file)).toBe(
      `can't use the data file ${file}: another process has it open, such as a notification-mock; stop that one, or name another with --data`
    )
    db.client.exec("DELETE FROM environments WHERE id = 'none'")
  })

  test.each([
    [
      'of a newer version',
      FROM_THE_FUTURE,
      'it was written by a newer version of notification-mock; use that version,'
    ],
    [
      'without our keys',
      'DROP TABLE api_keys',
      'it is a database of another program; name another file with --data'
    ],
    [
      'without our messages',
      'DROP TABLE messages',
      'its table messages is missing: it is damaged: put back a copy, or name'
    ]
  ])('%s', (_, change, reason) => {
    const file = givenFile(`PRAGMA foreign_keys = OFF; ${change}`)
    const before = contents(join(file, '..'))
    expect(refusal(file)).toContain(`can't use the data file ${file}: ${reason}`)
    expect(contents(join(file, '..'))).toEqual(before)
  })

  test('of a newer version that was killed: its log is not folded in either', () => {
    const file = givenFile()
    writeAndDie(file, FROM_THE_FUTURE)
    const before = contents(join(file, '..'))
    expect(refusal(file)).toContain('it was written by a newer version')
    expect(contents(join(file, '..'))).toMatchObject(before)
  })

  test.each([1, 5000])('that is no database, or was cut off after %i bytes', (length) => {
    const file = givenFile()
    writeFileSync(file, readFileSync(file).subarray(0, length))
    const before = contents(join(file, '..'))
    expect(refusal(file)).toMatch(
      /: (it is not a database;|it is damaged: put back a copy, or) name another file with --data$/
    )
    expect(contents(join(file, '..'))).toEqual(before)
  })

  test.each(['gone/mock.db', '.'])(
    'in a folder that is not there, or that is a folder: %s',
    (path) => {
      const folder = createTempFolder()
      const file = join(folder, path)
      expect(refusal(file)).toBe(
        `can't use the data file ${file}: it or its folder is not there or can not be read or written; check the path and the permissions`
      )
      expect(readdirSync(folder)).toEqual([])
    }
  )
})

describe('migrations', () => {
  const journal = JSON.parse(readFileSync(join(MIGRATIONS, 'meta/_journal.json'), 'utf8'))
  const entries: object[] = journal.entries

  /** A file as the version wrote it that had the first migrations only. */
  function givenOlderFile(count: number): string {
    const folder = createTempFolder()
    const migrationsFolder = join(folder, 'migrations')
    cpSync(MIGRATIONS, migrationsFolder, { recursive: true })
    const older = JSON.stringify({ ...journal, entries: entries.slice(0, count) })
    writeFileSync(join(migrationsFolder, 'meta/_journal.json'), older)
    const file = join(folder, 'mock.db')
    const client = new Database(file)
    migrate(drizzle(client), { migrationsFolder })
    client.close()
    return file
  }

  const shapeOf = (client: Database.Database) =>
    client.prepare('SELECT type, name, tbl_name FROM sqlite_schema ORDER BY type, name').all()

  test.each(entries.map((_, index) => index + 1))(
    'an older file with the first %i is brought forward',
    (count) => {
      const { client } = open(givenOlderFile(count)).db
      expect(shapeOf(client)).toEqual(shapeOf(open().db.client))
      expect(client.prepare('SELECT count(*) FROM __drizzle_migrations').pluck().get()).toBe(
        entries.length
      )
      expect(client.pragma('foreign_key_check')).toEqual([])
    }
  )

  test('a data file of the former version, with its rows, is served as it was, and forks show their own ids', async () => {
    const file = givenOlderFile(5)
    const client = new Database(file)
    const hash = createHash('sha256').update('shop-key').digest()
    const [id, organizationId] = ['a'.repeat(24), 'b'.repeat(24)]
    const documentOf = (subject: string) =>
      JSON.stringify({
        _id: id,
        _environmentId: id,
        _organizationId: organizationId,
        channel: 'email',
        subject
      })
    // The baseline has messages of its own, and a killed process has left a dataset that nothing refers to.
    client.exec('INSERT INTO datasets (key) VALUES (1), (2), (3), (4), (5), (6), (7)')
    const environment = client.prepare(
      `INSERT INTO environments
      (key, id, organization_id, name, assumptions, clock, integrations, subscribers, workflows, messages, idempotency,
        snapshot_of, snapshot_name, created_at)
      VALUES (?, ?, ?, 'Shop', '{}', '{"mode":"wall"}', 1, 2, 3, ?, 5, ?, ?, 0)`
    )
    environment.run(1, id, organizationId, 4, null, null)
    environment.run(2, id, organizationId, 6, 1, '')
    client.prepare('INSERT INTO api_keys (hash, environment) VALUES (?, 1)').run(hash)
    const message = client.prepare(
      `INSERT INTO messages (dataset, id, created_at, channel, transaction_id, context, document)
      VALUES (?, ?, 0, 'email', 'order-1', '[]', ?)`
    )
    message.run(4, id, documentOf('present'))
    message.run(6, id, documentOf('former'))
    client.close()

    const server = await serve({ data: file })
    expect(server.seeded).toBe(false)
    const send = async (path: string, key: string, method = 'GET') =>
      (
        await fetch(server.url + path, { method, headers: { authorization: `ApiKey ${key}` } })
      ).json()
    const { environment: fork, apiKey } = await (await server.loadSeeds()).createEnvironment({
      from: 'Shop'
    })
    const owner = { _environmentId: fork.id, _organizationId: fork.organizationId }
    for (const subject of ['present', 'former']) {
      const expected = JSON.parse(documentOf(subject))
      expect(await send('/v1/messages', 'shop-key')).toMatchObject({
        totalCount: 1,
        data: [expected]
      })
      await send('/_mock/reset', 'shop-key', 'POST')
    }
    expect(await send('/v1/messages', apiKey)).toMatchObject({
      data: [{ subject: 'present', ...owner }]
    })
    const former = await (await server.loadSeeds()).createEnvironment({ from: 'Shop' })
    expect(await send('/v1/messages', former.apiKey)).toMatchObject({
      data: [{ subject: 'former', _environmentId: former.environment.id }]
    })
    expectSound(server.db)
  })
})

test.skipIf(process.platform === 'win32')(
  'a new file can be read by its owner only, an old one keeps its mode',
  () => {
    const folder = createTempFolder()
    const modes = () => {
      const { close } = openDatabase(join(folder, 'mock.db'))
      const all = readdirSync(folder).map((name) => [
        name,
        (statSync(join(folder, name)).mode & 0o777).toString(8)
      ])
      close()
      return Object.fromEntries(all)
    }
    const before = process.umask(0)
    onTestFinished(() => void process.umask(before))
    expect(modes()).toEqual({ 'mock.db': '600', 'mock.db-wal': '600' })
    chmodSync(join(folder, 'mock.db'), 0o640)
    expect(modes()).toEqual({ 'mock.db': '640', 'mock.db-wal': '640' })
  }
)

test('a database of the schema of an image has its tables and indexes, as migrated, and nothing of what is in it', () => {
  const schemaIn = ({ db }: ReturnType<typeof open>) =>
    db.client
      .prepare(
        "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
      )
      .all()
  const migrated = open()
  migrated.db.client.exec("INSERT INTO datasets (environment_id) VALUES ('a')")
  const opened = openDatabase(undefined, { image: { database: migrated.db.client.serialize() } })
  onTestFinished(opened.close)
  expect(schemaIn(opened)).toEqual(schemaIn(migrated))
  expect(opened.db.client.prepare('SELECT count(*) FROM datasets').pluck().get()).toBe(0)
})
