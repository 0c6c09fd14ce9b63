import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createMock,
  type Mock,
  type MockOptions,
  SeedError,
  type SeedReload,
  StartError
} from '../src/index.js'
import { createTempFolder } from './support/process.js'
import { seedOf } from './support/shop.js'

const SHOP = seedOf({
  apiKeys: ['shop-key'],
  integrations: ['one', 'two'].map((identifier) => ({
    identifier,
    providerId: 'ses',
    channel: 'email' as const
  }))
})

async function startMock(options: MockOptions = { seed: SHOP }): Promise<Mock> {
  const mock = await createMock(options)
  onTestFinished(() => mock.close())
  return mock
}

function call({ url }: Mock, path: string, method = 'GET', key = 'shop-key') {
  return fetch(`${url}${path}`, { method, headers: { authorization: `ApiKey ${key}` } })
}

test('the library works without a global `fetch`', async () => {
  vi.stubGlobal('fetch', undefined)
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  const mock = await startMock()
  expect(await mock.health()).toBeUndefined()
  expect(await mock.close()).toBeUndefined()
})

test('a mock listens on a free loopback port, and lists its environments and keys', async () => {
  const mock = await startMock()
  expect(mock).toMatchObject({
    url: `http://127.0.0.1:${mock.port}`,
    seeded: true,
    environments: [{ name: 'Shop', profile: 'document', apiKeys: ['shop-key'] }]
  })
  expect((await call(mock, '/v1/messages')).status).toBe(200)
})

describe('exportOnExit', () => {
  test('exports a seed that restores all environments and their exact responses', async () => {
    const file = join(createTempFolder(), 'state.yaml')
    const first = await createMock({ seeds: ['default'], exportOnExit: file })
    await call(first, '/v1/integrations/mailgun-eu/set-primary', 'POST', 'development-key')
    const own = await first.environment({ from: 'Development', name: 'Own', profile: 'live' })
    const keys = [...first.environments.flatMap(({ apiKeys }) => apiKeys), own.apiKey]
    const responses = (mock: Mock) =>
      Promise.all(
        keys.map(async (key) => (await call(mock, '/v1/messages?limit=100', 'GET', key)).text())
      )
    const [before, listed] = [await responses(first), await first.listEnvironments()]
    await first.close()

    const second = await startMock({ seeds: [file] })
    expect(await responses(second)).toEqual(before)
    const facts = (all: typeof listed) =>
      all.map(({ environmentId, organizationId, name, profile }) => [
        environmentId,
        organizationId,
        name,
        profile
      ])
    expect(facts(await second.listEnvironments())).toEqual(facts(listed))
  })

  test('exports no secrets from requests, faults or server options', async () => {
    const file = join(createTempFolder(), 'state.yaml')
    const mock = await createMock({ seed: SHOP, adminToken: 'hunter2', exportOnExit: file })
    const env = mock.attach('shop-key')
    await env.faults.add({ effect: { status: 500, body: 'hunter2' }, times: 1 })
    for (const key of ['first', 'hunter2']) {
      await fetch(`${mock.url}/v1/integrations/one/set-primary?token=hunter2`, {
        method: 'POST',
        headers: { ...env.headers, 'idempotency-key': key, cookie: 'hunter2' }
      })
    }
    await env.snapshot()
    await mock.close()
    expect(readFileSync(file, 'utf8')).not.toContain('hunter2')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('rejects an unwritable export file, and a failed start keeps the old export', async () => {
    const path = createTempFolder()
    await expect(createMock({ exportOnExit: join(path, 'gone/state.yaml') })).rejects.toThrow(
      /can't write .*: its folder does not exist; create it first/
    )
    await expect(createMock({ exportOnExit: path })).rejects.toThrow(
      /can't write .*: it is a folder; choose a file in it/
    )
    const file = join(path, 'state.yaml')
    writeFileSync(file, 'before')
    const { port } = await startMock()
    await expect(createMock({ port, exportOnExit: file })).rejects.toThrow('the port is taken')
    expect(readFileSync(file, 'utf8')).toBe('before')
  })

  test('if the export fails, logs the error, and close() rejects', async () => {
    const file = join(createTempFolder(), 'state.yaml')
    const lines: string[] = []
    const logger = pino(
      { level: 'error' },
      {
        write: (line: string) => {
          lines.push(line)
        }
      }
    )
    const mock = await createMock({ seed: SHOP, exportOnExit: file, logger })
    mkdirSync(file)
    await expect(mock.close()).rejects.toThrow('is not a regular file')
    expect(lines).toEqual([expect.stringContaining("can't export the data to")])
  })
})

test('several mocks in one process share no data', async () => {
  const mocks = await Promise.all(Array.from({ length: 5 }, () => startMock()))
  expect(new Set(mocks.map(({ port }) => port)).size).toBe(5)
  const [first, second] = mocks as [Mock, Mock]
  expect((await call(first, '/v1/integrations/two/set-primary', 'POST')).status).toBe(200)
  await first.close()
  expect(
    (await second.attach('shop-key').integrations.list()).map(({ primary }) => primary)
  ).toEqual([false, false])
  for (const mock of mocks.slice(1)) expect((await call(mock, '/v1/messages')).status).toBe(200)
})

test('a mock with a data file can be closed and started again', async () => {
  const folder = createTempFolder()
  const options = { seed: SHOP, data: join(folder, 'mock.db') }
  const first = await createMock(options)
  const { apiKey } = await first.environment({ name: 'Mine' })
  expect([await first.apiKeys('Shop'), await first.apiKeys('Mine')]).toEqual([
    ['shop-key'],
    [apiKey]
  ])
  await first.close()
  expect(readdirSync(folder)).toEqual(['mock.db'])
  const stored = readFileSync(options.data)
  expect([apiKey, 'shop-key'].filter((key) => stored.includes(key))).toEqual([])

  expect((await startMock({ port: first.port })).port).toBe(first.port)
  const second = await startMock(options)
  expect(second.seeded).toBe(false)
  expect((await call(second, '/v1/messages', 'GET', apiKey)).status).toBe(200)
  expect([await second.apiKeys('Shop'), await second.apiKeys('Mine')]).toEqual([
    ['shop-key'],
    [apiKey]
  ])
  expect(second.environments.map(({ name, apiKeys }) => [name, apiKeys])).toEqual([
    ['Shop', ['shop-key']],
    ['Mine', []]
  ])
})

test('close() waits for requests in progress, even if it is called twice', async () => {
  const mock = await startMock()
  const responses = Promise.all(
    Array.from({ length: 20 }, () => call(mock, '/v1/messages').then(({ status }) => status))
  )
  await call(mock, '/health')
  const closings = Promise.all([mock.close(), mock.close()])
  expect(new Set(await responses)).toEqual(new Set([200]))
  await closings
  await expect(call(mock, '/v1/messages')).rejects.toThrow()
})

test("close() waits for the rest of a request's body, even after the response", async () => {
  const warnings: string[] = []
  const logger = pino(
    { level: 'warn' },
    {
      write: (line) => {
        warnings.push(line)
      }
    }
  )
  const mock = await startMock({ seed: SHOP, logger })
  const socket = connect(mock.port, '127.0.0.1')
  socket.write(
    'POST /v1/integrations/two/set-primary HTTP/1.1\r\n' +
      `Host: x\r\nContent-Length: 2000\r\n\r\n${'{'.repeat(1000)}`
  )
  const [response] = await once(socket, 'data')
  expect(String(response)).toMatch(/^HTTP\/1.1 401 /)
  const closing = mock.close()
  socket.write('{'.repeat(1000))
  await closing
  // The server would log a warning if it closed a busy connection.
  expect(warnings).toEqual([])
})

test('after close(), requests to a new server on the same port succeed', async () => {
  const first = await startMock()
  const { port } = first
  await call(first, '/health')
  await call(first, '/health')
  await first.close()
  for (let start = 0; start < 10; start += 1) {
    const mock = await createMock({ port, seed: SHOP })
    try {
      const statuses = [await call(mock, '/v1/messages'), await call(mock, '/v1/messages')]
      expect(statuses.map(({ status }) => status)).toEqual([200, 200])
    } finally {
      await mock.close()
    }
  }
})

test('during close(), the server still responds to a partly received request', async () => {
  const mock = await startMock()
  const socket = connect(mock.port, '127.0.0.1')
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  socket.write('GET /health HTTP/1.1\r\n')
  // When this response arrives, the server has also received the request line above.
  await call(mock, '/health')
  const closing = mock.close()
  socket.write('Host: x\r\n\r\n')
  const [response] = await once(socket, 'data')
  expect(String(response)).toMatch(/^HTTP\/1.1 200 /)
  await closing
})

test('responses depend on the profile, the assumptions and the clock', async () => {
  const mock = await startMock({
    seed: SHOP,
    profile: 'live',
    assumptions: { 'total-count': 'present' },
    clock: () => Date.UTC(2026, 1, 18)
  })
  expect(await (await call(mock, '/v1/messages')).json()).toMatchObject({ totalCount: 0 })
  expect(await (await call(mock, '/_mock/clock')).json()).toMatchObject({
    now: '2026-02-18T00:00:00.000Z'
  })
  expect(mock.environments[0]?.profile).toBe('live')
})

test('accepts a seed as an object, YAML or JSON, and applies it after the seed files', async () => {
  const folder = createTempFolder()
  writeFileSync(join(folder, 'base.yaml'), 'environments: [{ name: Base }]')
  const names = async (options: MockOptions) =>
    (await startMock(options)).environments.map(({ name }) => name)
  expect(await names({ seed: 'environments: [{ name: Yaml }]' })).toEqual(['Yaml'])
  expect(await names({ seed: '{"environments":[{"name":"Json"}]}' })).toEqual(['Json'])
  expect(await names({ seeds: [join(folder, 'base.yaml')], seed: SHOP })).toEqual(['Base', 'Shop'])
})

test('reloads changed seed files, and passes the result to `watch`', async () => {
  const folder = createTempFolder()
  const file = join(folder, 'shop.json')
  writeFileSync(file, JSON.stringify(SHOP))
  const reloads: SeedReload[] = []
  let settle = (_: unknown) => {}
  const watch = (reload: SeedReload) => settle(reloads.push(reload))
  const next = () => new Promise((settled) => (settle = settled))
  const mock = await startMock({
    seeds: [file],
    seed: { environments: [{ name: 'Value' }] },
    watch
  })
  writeFileSync(file, '{}')
  await next()
  writeFileSync(file, JSON.stringify(SHOP).replace('shop-key', 'new-key'))
  await next()
  expect(reloads).toEqual([
    { applied: false, files: [file], error: expect.any(SeedError) },
    {
      applied: true,
      files: [file],
      changes: [expect.objectContaining({ name: 'Shop', change: 'reloaded', apiKeys: ['new-key'] })]
    }
  ])
  const changes = await mock.attach('new-key').requests.changes()
  expect(changes).toMatchObject([{ sequence: 1, after: 0, summary: 'Load the changed seed files' }])
  for (const key of ['new-key', 'value-key']) {
    const response = await fetch(`${mock.url}/v1/messages`, {
      headers: { authorization: `ApiKey ${key}` }
    })
    expect(response.status).toBe(200)
  }
})

describe('createMock', () => {
  test('rejects a taken port', async () => {
    const server = createServer()
    onTestFinished(() => {
      server.close()
    })
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
    const { port } = server.address() as { port: number }
    const failure = createMock({ seed: SHOP, port })
    await expect(failure).rejects.toThrow(StartError)
    await expect(failure).rejects.toThrow(
      `can't listen on 127.0.0.1:${port}: the port is taken; stop the process that uses it`
    )
  })

  test('rejects an invalid seed, and names the path of each error', async () => {
    const failure = createMock({ seed: { environments: [{ nam: 'Shop' }] } })
    await expect(failure).rejects.toThrow(SeedError)
    await expect(failure).rejects.toMatchObject({
      issues: [
        { file: 'seed', path: 'environments[0]', message: 'must have name' },
        {
          file: 'seed',
          path: 'environments[0].nam',
          message: 'is not a known field; did you mean name?'
        }
      ]
    })
  })

  test.each<[string, object, string]>([
    ['a path instead of a seed', { seed: './shop.yaml' }, 'to load ./shop.yaml, add it to `seeds`'],
    [
      'a watch option that is not a function',
      { seeds: ['default'], watch: true },
      'watch must be a function'
    ],
    [
      'a watch option without seed files',
      { watch: () => {} },
      'there are no files to watch; add files to `seeds`'
    ],
    ['an unknown option', { prot: 4210 }, 'there is no option prot; did you mean port?'],
    [
      'a port that is a string',
      { port: '4210' },
      "the port must be an integer from 0 to 65535, not the string '4210'"
    ],
    [
      'a clock that is not a function',
      { clock: '2026-02-18' },
      'clock must be a function that returns milliseconds'
    ],
    ['an empty host', { host: '' }, 'the host must be'],
    [
      "a token that can't be sent in a header",
      { adminToken: 'a\nb' },
      "characters that a header can't carry"
    ],
    [
      'an unknown profile',
      { profile: 'lvie' },
      'the profile must be one of document, live, not lvie'
    ],
    [
      'an unknown value of an assumption',
      { assumptions: { envelope: 'box' } },
      'envelope must be one of bare, data, not box'
    ],
    [
      'a journal size that is not an integer',
      { journal: 1.5 },
      'the journal size must be an integer'
    ],
    ['a missing data folder', { data: '/no/such/mock.db' }, 'the file or its folder is missing']
  ])('rejects %s', async (_, options, message) => {
    const failure = createMock({ seed: SHOP, ...options } as MockOptions)
    await expect(failure).rejects.toThrow(StartError)
    await expect(failure).rejects.toThrow(message)
  })

  test('rejects the address of another machine, and keeps the data file usable', async () => {
    const folder = createTempFolder()
    const data = join(folder, 'mock.db')
    await expect(createMock({ seed: SHOP, data, host: '192.0.2.1' })).rejects.toThrow(
      'this machine does not have this address'
    )
    expect(readdirSync(folder)).toEqual(['mock.db'])
    expect((await startMock({ seed: SHOP, data })).environments).toHaveLength(1)
  })
})

test('a mock prints nothing and adds no listeners to the process', async () => {
  const written = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write'))
  const console = (['log', 'warn', 'error'] as const).map((method) =>
    vi.spyOn(globalThis.console, method)
  )
  onTestFinished(() => {
    vi.restoreAllMocks()
  })
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)])
  const before = listeners()
  const mock = await createMock({ seed: SHOP })
  await call(mock, '/v1/messages', 'GET', 'no-key')
  expect(listeners()).toEqual(before)
  await mock.close()
  for (const spy of [...written, ...console]) expect(spy).not.toHaveBeenCalled()
})
