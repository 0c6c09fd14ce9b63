import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect, MockError } from '../../src/client/index.js'
import { MAILGUN, setPrimary } from '../support/control.js'
import { useMock, useNewMock } from '../support/mock.js'

async function createClient() {
  const server = await useMock()
  const mock = connect(server.url)
  const env = await mock.environment({ from: 'Development' })
  return { server, mock, env }
}

async function createHttpServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  await new Promise((listening) => server.once('listening', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function errorOf(promise: Promise<unknown>): Promise<MockError> {
  const error = await promise.then(
    () => expect.unreachable(),
    (thrown) => thrown
  )
  expect(error).toBeInstanceOf(MockError)
  return error
}

const list = ({ url, headers }: { url: string; headers: Record<string, string> }, query = '') =>
  fetch(`${url}/v1/messages${query}`, { headers })

test('`await using` removes the environment, unless it is already removed', async () => {
  const { mock } = await createClient()
  let key = ''
  {
    await using env = await mock.environment()
    await using other = await mock.environment()
    key = env.apiKey
    await other.remove()
  }
  expect((await errorOf(mock.attach(key).clock.get())).status).toBe(401)
})

test('creates an environment with all options', async () => {
  const { mock } = await createClient()
  await using env = await mock.environment({
    scenario: 'failures',
    profile: 'live',
    clock: new Date('2026-02-18T10:00:00Z'),
    faults: [{ operation: 'listMessages', effect: { status: 429 } }],
    apiKey: 'a-key-of-my-own',
    ttl: '1.5m'
  })
  expect([env.apiKey, env.profile]).toEqual(['a-key-of-my-own', 'live'])
  expect((await env.clock.get()).now).toBe('2026-02-18T10:00:00.000Z')
  expect((await list(env)).status).toBe(429)
  expect(
    (await mock.listEnvironments()).find(({ environmentId }) => environmentId === env.id)?.ttl
  ).toBe(90_000)
})

test('the client for browsers reports a missing global fetch', async () => {
  vi.stubGlobal('fetch', undefined)
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  await expect(connect('http://127.0.0.1:1').health()).rejects.toThrow(
    'there is no global `fetch` function; pass a function as the option `fetch`'
  )
})

test('if a verification fails, the error names the request that nearly matches', async () => {
  const { env } = await createClient()
  await list(env, '?channel=sms')
  const expected = { operation: 'listMessages', query: { channel: 'email' } } as const
  const error = await errorOf(env.requests.verify({ ...expected, within: '1ms' }))
  expect(error).toMatchObject({ name: 'MockError', status: 417, fields: {} })
  expect(error.message).toBe(error.reason)
  expect(error.message).toMatch(/nearest is request 1, where query.channel is "sms"/)
  expect(error.context.nearest).toMatchObject([{ request: { sequence: 1 } }])
  expect(
    await env.requests.verify({ ...expected, query: { channel: 'sms' }, count: 1, within: 500 })
  ).toEqual({
    matched: 1,
    requests: [1]
  })
})

test('waits for a request until it arrives, the time runs out or the signal aborts', async () => {
  const { env } = await createClient()
  await list(env)
  const waiting = env.requests.waitFor({ path: setPrimary(MAILGUN), status: 200 }, { within: '1m' })
  await fetch(`${env.url}${setPrimary(MAILGUN)}`, { method: 'POST', headers: env.headers })
  expect(await waiting).toMatchObject({ operation: 'setIntegrationAsPrimary', sequence: 2 })
  expect((await errorOf(env.requests.waitFor({ status: 404 }, { within: 1 }))).status).toBe(417)
  const aborted = env.requests.waitFor(
    { status: 404 },
    { within: '1m', signal: AbortSignal.timeout(20) }
  )
  await expect(aborted).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('`fields` of an error has an entry for each invalid field of the request', async () => {
  const { env } = await createClient()
  const error = await errorOf(env.faults.add({ effect: { status: 200 }, tims: 1 } as never))
  expect(error.status).toBe(422)
  expect(Object.keys(error.fields).sort()).toEqual(['effect.status', 'tims'])
  expect(error.message).toContain('did you mean times?')
})

test('an error message contains the decoded `x-mock-reason` header', async () => {
  const { env } = await createClient()
  await list(env, `?subscriberId=${encodeURIComponent('Zoë – 100 %41')}`)
  const error = await errorOf(
    env.requests.verify({ operation: 'listMessages', query: { subscriberId: 'Ada' } })
  )
  expect(error.message).toContain('query.subscriberId is "Zoë – 100 %41"')
})

test('restores and removes snapshots with generated names or unusual characters', async () => {
  const { env } = await createClient()
  for (const name of ['a/b?c#d %', undefined]) {
    const before = await env.snapshot(name)
    await env.seed('environments: [{ name: x, messages: [{ channel: sms, subject: Added }] }]')
    const size = async () => (await env.state()).environments[0]?.messages?.length
    expect(await size()).toBe(61)
    expect(await env.state({ format: 'yaml' })).toMatch(/^environments:/)
    expect(await before.restore({ parts: ['data'] })).toMatchObject({ parts: ['data'] })
    expect(await size()).toBe(60)
    await env.snapshot(name)
    await before.remove()
  }
  expect(await env.snapshots()).toMatchObject([{ size: { messages: 60 } }])
})

test('sets the clock to a time, and advances it by a duration', async () => {
  const { env } = await createClient()
  const at = async (state: Promise<{ now: string }>) => (await state).now
  expect(await at(env.clock.set('2026-02-18T10:00:00Z'))).toBe('2026-02-18T10:00:00.000Z')
  expect(await at(env.clock.advance('1.5h'))).toBe('2026-02-18T11:30:00.000Z')
  expect(await at(env.clock.advance(250))).toBe('2026-02-18T11:30:00.250Z')
  expect(await at(env.clock.set(new Date(0)))).toBe('1970-01-01T00:00:00.000Z')
  await env.clock.set({ mode: 'wall' })
  expect(await env.clock.get()).toMatchObject({ setting: { mode: 'wall' } })
  for (const invalid of [
    () => env.clock.advance('1 hour' as never),
    () => env.requests.verify({ within: '1 hour' as never })
  ]) {
    expect((await errorOf(invalid())).message).toContain('1 hour is not a duration')
  }
})

test("sends the admin token only to routes that don't take an API key", async () => {
  const { url } = await useNewMock({ adminToken: 'the-admin-token' })
  const sent: [string, string][] = []
  const mock = connect(url, {
    adminToken: 'the-admin-token',
    fetch: (input, init) => {
      sent.push([
        new URL(String(input)).pathname,
        new Headers(init?.headers).get('authorization') ?? ''
      ])
      return fetch(input, init)
    }
  })
  await using env = await mock.environment()
  await env.clock.get()
  expect(sent).toEqual([
    ['/_mock/environments', 'Bearer the-admin-token'],
    ['/_mock/clock', `ApiKey ${env.apiKey}`]
  ])
  const error = await errorOf(connect(url, { adminToken: 'another-token' }).environment())
  expect(error.status).toBe(403)
  expect(error.message).not.toContain('another-token')
})

test('an error about invalid characters in a secret does not contain the secret', async () => {
  const { mock } = await createClient()
  const secret = 'hunter2\nhunter3'
  const message = "the key or token contains characters that a header can't carry"
  for (const call of [() => mock.attach(secret), () => connect(mock.url, { adminToken: secret })]) {
    expect(call).toThrow(MockError)
    expect(call).toThrow(new RegExp(`^${message}$`))
  }
})

test('throws an error that names the URL and a fix if there is no response', async () => {
  const { url } = await useNewMock()
  const unused = new URL(url)
  unused.port = '9'
  const error = await errorOf(connect(unused.href).health())
  expect(error.status).toBeUndefined()
  expect(error.message).toMatch(
    /^no response from http:\/\/127\.0\.0\.1:9 \(.+\); is a server running there\? "npx/
  )
})

test('throws a clear error if the server is not a notification-mock server', async () => {
  const html = await createHttpServer((_request, response) => response.end('<!doctype html>'))
  expect((await errorOf(connect(html).listEnvironments())).message).toContain(
    `check that ${html} is the URL of a notification-mock server`
  )
  const missing = await createHttpServer((_request, response) =>
    response.writeHead(404).end('Not found')
  )
  expect(await errorOf(connect(missing).health())).toMatchObject({
    status: 404,
    message: 'GET /health failed with status 404'
  })
})

test('accepts a server URL with a trailing slash or a path', async () => {
  const paths: (string | undefined)[] = []
  const proxy = await createHttpServer((request, response) => {
    paths.push(request.url)
    response.end('{"status":"ok"}')
  })
  for (const url of [`${proxy}/`, `${proxy}/mock/`]) await connect(url).health()
  expect(paths).toEqual(['/health', '/mock/health'])
})

test.each([
  [
    'localhost:4210',
    'localhost:4210 is not a valid server URL; use one like http://127.0.0.1:4210'
  ],
  ['', ' is not a valid server URL'],
  ['http://127.0.0.1:4210/?key=x', 'is not a valid server URL'],
  ['http://user:hunter2@127.0.0.1:4210', 'a server URL must not contain a user name or password']
])('rejects %j as a server URL', (url, message) => {
  expect(() => connect(url)).toThrow(MockError)
  expect(() => connect(url)).toThrow(message)
  expect(() => connect(url)).not.toThrow('hunter2')
})
