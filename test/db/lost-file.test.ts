import {
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startServer } from '../../src/server.js'

const SEED = {
  environments: [
    {
      name: 'Shop',
      apiKeys: ['shop-key-7f3a'],
      integrations: ['one', 'two'].map((identifier) => ({ identifier, providerId: 'ses', channel: 'email' }))
    }
  ]
}

async function givenServer() {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-lost-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'mock.db')
  const errors: string[] = []
  const log = () => {}
  const logger = {
    ...{ level: 'error', isLevelEnabled: () => false, child: () => logger },
    ...{ trace: log, debug: log, info: log, warn: log, fatal: log },
    error: (facts: object | string, message?: string) => void errors.push(message ?? String(facts))
  }
  const server = await startServer({ port: 0, data: file, seed: SEED, logger })
  onTestFinished(() => server.close())
  const ask = (path: string, method = 'GET') =>
    fetch(`${server.url}${path}`, { method, headers: { authorization: 'ApiKey shop-key-7f3a' } })
  return { file, errors, ask }
}

test.skipIf(process.platform === 'win32').each([
  ['deleted or moved', (file: string) => rmSync(file)],
  ['deleted or moved', (file: string) => renameSync(file, `${file}.old`)],
  ['truncated', (file: string) => truncateSync(file, 0)],
  [
    'replaced by another',
    (file: string) => {
      writeFileSync(`${file}.new`, readFileSync(file))
      renameSync(`${file}.new`, file)
    }
  ]
])('a data file that is %s under a server: writes are refused, and /health and the log say why', async (how, lose) => {
  const { file, errors, ask } = await givenServer()
  expect((await ask('/v1/integrations/one/set-primary', 'POST')).status).toBe(200)
  expect((await ask('/health')).status).toBe(200)
  lose(file)
  const reason = `the data file ${file} was ${how}: export what you need (GET /_mock/state), then start again`
  for (const response of [
    await ask('/v1/integrations/two/set-primary', 'POST'),
    await ask('/_mock/environments', 'POST'),
    await ask('/health')
  ]) {
    expect(response.status).toBe(503)
    expect(response.headers.get('x-mock-reason')).toBe(reason)
    expect(await response.json()).toMatchObject({ statusCode: 503, message: 'The data file is lost' })
  }
  await vi.waitFor(() => expect(errors).toEqual([`${reason}; until then nothing is written`]), { timeout: 5000 })
  if (how === 'truncated') return
  // What was there is still read, and so can be exported.
  expect((await ask('/v1/messages')).status).toBe(200)
  expect(await (await ask('/_mock/state')).text()).toContain('"identifier":"two"')
})

test('a damaged page is a 500 that names the data file and the remedy', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-lost-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'mock.db')
  const messages = Array.from({ length: 500 }, () => ({ workflow: 'w', subscriberId: 's', channel: 'email' }))
  const workflows = [{ name: 'w', identifier: 'w' }]
  const environments = [{ ...SEED.environments[0], workflows, subscribers: [{ subscriberId: 's' }], messages }]
  await (await startServer({ port: 0, data, seed: { environments } })).close()
  const server = await startServer({ port: 0, data })
  onTestFinished(() => server.close())
  const size = readFileSync(data).length
  const descriptor = openSync(data, 'r+')
  writeSync(descriptor, Buffer.alloc(size - 65_536, 0xff), 0, size - 65_536, 65_536)
  const response = await fetch(`${server.url}/v1/messages`, { headers: { authorization: 'ApiKey shop-key-7f3a' } })
  expect(response.status).toBe(500)
  expect(response.headers.get('x-mock-reason')).toMatch(/^the data file, that of --data, is damaged: stop the server/)
})
