import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { openDatabase } from '../../src/db/open.js'
import { startServer } from '../../src/server.js'
import { useLoggedMock } from '../support/logged-mock.js'
import { createTempFolder } from '../support/process.js'
import { SHOP, seedOf } from '../support/shop.js'

const REPLACED = 'replaced by another file'

const LOSSES: [how: string, lose: (file: string) => void][] = [
  ['deleted or moved', (file) => rmSync(file)],
  ['truncated', (file) => truncateSync(file, 0)],
  [REPLACED, replaceByCopy]
]

describe.skipIf(process.platform === 'win32').each(LOSSES)(
  'a data file that is %s while the server runs',
  (how, lose) => {
    test('makes writes and the health check fail with 503 and a reason', async () => {
      const { mock, reason } = await startAndLoseFile(how, lose)
      for (const response of [
        await mock.post('/v1/integrations/main/set-primary'),
        await mock.post('/_mock/environments'),
        await mock.get('/health')
      ]) {
        expect(response).toMatchObject({
          status: 503,
          json: { statusCode: 503, message: 'The data file is lost' }
        })
        expect(response.headers.get('x-mock-reason')).toBe(reason)
      }
    })

    test('is reported as an error in the log', async () => {
      const { mock, reason } = await startAndLoseFile(how, lose)
      const errors = () => mock.log.filter(({ level }) => level === 50).map(({ msg }) => msg)
      await vi.waitFor(
        () => expect(errors()).toContain(`${reason}; nothing is written until the restart`),
        { timeout: 5000 }
      )
    })
  }
)

test.skipIf(process.platform === 'win32').each(LOSSES.filter(([how]) => how !== 'truncated'))(
  'data can be read and exported after the data file was %s',
  async (how, lose) => {
    const { mock } = await startAndLoseFile(how, lose)
    expect((await mock.get('/v1/messages')).status).toBe(200)
    expect((await mock.get('/_mock/state')).text).toContain('"identifier":"other"')
  }
)

test('a backup that replaced the data file is used at the next start', () => {
  const { file, backup } = createFileWithBackup()
  const { close } = openAndWrite(file)
  renameSync(backup, file)
  close()
  expect(readdirSync(dirname(file))).toEqual(['mock.db'])
  expect(readDatasets(file)).toEqual([])
})

test('closing the database writes all changes to a data file that was moved', () => {
  const { file, backup } = createFileWithBackup()
  const { close } = openAndWrite(file)
  renameSync(file, backup)
  close()
  expect(readdirSync(dirname(file))).toEqual(['backup.db'])
  expect(readDatasets(backup)).toEqual([42])
})

test('closing does not delete the WAL file of a backup that replaced the data file', () => {
  const { file, backup } = createFileWithBackup()
  const { close } = openAndWrite(file)
  renameSync(backup, file)
  writeFileSync(`${file}.log`, 'the log of the backup')
  renameSync(`${file}.log`, `${file}-wal`)
  close()
  expect(readFileSync(`${file}-wal`, 'utf8')).toBe('the log of the backup')
})

test('responds with 500 and suggests a fix if the data file has a damaged page', async () => {
  const data = join(createTempFolder(), 'mock.db')
  const messages = Array.from({ length: 500 }, () => ({ channel: 'email' as const }))
  const seed = seedOf({ messages })
  const server = await startServer({ port: 0, data, seed, logLevel: 'silent' })
  await server.close()
  const mock = await useLoggedMock({ data, seed })
  overwriteEnd(data, 65_536)

  const response = await mock.get('/v1/messages', { key: 'shop-key' })
  expect(response.status).toBe(500)
  expect(response.headers.get('x-mock-reason')).toContain(
    `the data file ${data} is damaged: stop the server`
  )
})

async function startAndLoseFile(how: string, lose: (file: string) => void) {
  const data = join(createTempFolder(), 'mock.db')
  const mock = await useLoggedMock({ data, seed: seedOf(SHOP) })
  expect((await mock.post('/v1/integrations/other/set-primary')).status).toBe(200)
  expect((await mock.get('/health')).status).toBe(200)
  lose(data)
  const reason =
    `the data file ${data} was ${how}: ` +
    'export what you need (GET /_mock/state), then restart the server' +
    (how === REPLACED ? `; if you have to kill the server, delete ${data}-wal afterwards` : '')
  return { mock, reason }
}

function createFileWithBackup(): { file: string; backup: string } {
  const folder = createTempFolder()
  const file = join(folder, 'mock.db')
  const backup = join(folder, 'backup.db')
  openDatabase(file).close()
  copyFileSync(file, backup)
  return { file, backup }
}

function openAndWrite(file: string) {
  const database = openDatabase(file)
  database.db.client.exec('INSERT INTO datasets (key) VALUES (42)')
  return database
}

/** Returns the keys of the datasets in the file. */
function readDatasets(file: string): unknown[] {
  const { db, close } = openDatabase(file)
  const keys = db.client.prepare('SELECT key FROM datasets').pluck().all()
  close()
  return keys
}

function replaceByCopy(file: string): void {
  writeFileSync(`${file}.new`, readFileSync(file))
  renameSync(`${file}.new`, file)
}

function overwriteEnd(file: string, length: number): void {
  const size = statSync(file).size
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(length, 0xff), 0, length, size - length)
  closeSync(descriptor)
}
