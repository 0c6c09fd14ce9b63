import {
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startServer } from '../../src/server.js'
import { useLoggedMock } from '../support/logged-mock.js'
import { createTempFolder } from '../support/process.js'
import { SHOP, seedOf } from '../support/shop.js'

test.skipIf(process.platform === 'win32').each([
  ['deleted or moved', (file: string) => rmSync(file)],
  ['truncated', (file: string) => truncateSync(file, 0)],
  [
    'replaced by another',
    (file: string) => {
      writeFileSync(`${file}.new`, readFileSync(file))
      renameSync(`${file}.new`, file)
    }
  ]
])(
  'a data file that is %s under a server: writes are refused, and /health and the log say why',
  async (how, lose) => {
    const data = join(createTempFolder(), 'mock.db')
    const mock = await useLoggedMock({ data, seed: seedOf(SHOP) })
    expect((await mock.post('/v1/integrations/other/set-primary')).status).toBe(200)
    expect((await mock.get('/health')).status).toBe(200)
    lose(data)
    const reason = `the data file ${data} was ${how}: export what you need (GET /_mock/state), then start again`
    for (const answer of [
      await mock.post('/v1/integrations/main/set-primary'),
      await mock.post('/_mock/environments'),
      await mock.get('/health')
    ]) {
      expect(answer).toMatchObject({
        status: 503,
        json: { statusCode: 503, message: 'The data file is lost' }
      })
      expect(answer.headers.get('x-mock-reason')).toBe(reason)
    }
    const errors = () => mock.log.filter(({ level }) => level === 50).map(({ msg }) => msg)
    await vi.waitFor(() => expect(errors()).toContain(`${reason}; until then nothing is written`), {
      timeout: 5000
    })
    if (how === 'truncated') return
    // What was there is still read, and so can be exported.
    expect((await mock.get('/v1/messages')).status).toBe(200)
    expect((await mock.get('/_mock/state')).text).toContain('"identifier":"other"')
  }
)

test('a damaged page is a 500 that names the data file and the remedy', async () => {
  const data = join(createTempFolder(), 'mock.db')
  const messages = Array.from({ length: 500 }, () => ({ channel: 'email' as const }))
  await (
    await startServer({ port: 0, data, seed: seedOf({ messages }), logLevel: 'silent' })
  ).close()
  const mock = await useLoggedMock({ data, seed: seedOf({ messages }) })
  const [size, damaged] = [readFileSync(data).length, 65_536]
  writeSync(openSync(data, 'r+'), Buffer.alloc(damaged, 0xff), 0, damaged, size - damaged)
  const answer = await mock.get('/v1/messages', { key: 'shop-key' })
  expect(answer.status).toBe(500)
  expect(answer.headers.get('x-mock-reason')).toContain(
    `the data file ${data} is damaged: stop the server`
  )
})
