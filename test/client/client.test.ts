import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connect, MockError } from '../../src/client/index.js'
import { MAILGUN, setPrimary } from '../support/control.js'
import { useMock, useNewMock } from '../support/mock.js'

async function givenClient() {
  const server = await useMock()
  const mock = connect(server.url)
  const env = await mock.environment({ from: 'Development' })
  return { server, mock, env }
}

async function givenHttpServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
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

test('`await using` removes the environment at the end of the block, even if it is already removed', async () => {
  const { mock } = await givenClient()
  let key = ''
  {
    await using env = await mock.environment()
    await using other = await mock.environment()
    key = env.apiKey
    await other.remove()
  }
  expect((await errorOf(mock.attach(key).clock.get())).status).toBe(401)
})

test('creates an environment with a scenario, a profile, a stopped clock, faults, a key and a TTL', async () => {
  const { mock } = await givenClient()
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

test('a failed verification throws an error that names the nearest request', async () => {
  const { env } = await givenClient()
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

test('waits for a request until a timeout or an abort signal', async () => {
  const { env } = await givenClient()
  await list(env)
  const waiting = env.requests.waitFor({ path: setPrimary(MAILGUN), status: 200 }, { within: '1m' })
  await fetch(`${env.url}${setPrimary(MAILGUN)}`, { method: 'POST', headers: env.headers })
  expect(await waiting).toMatchObject({ operation: 'setIntegrationAsPrimary', sequence: 2 })
  expect((await errorOf(env.requests.waitFor({ status: 404 }, { within: 1 }))).status).toBe(417)
  const ended = env.requests.waitFor(
    { status: 404 },
    { within: '1m', signal: AbortSignal.timeout(20) }
  )
  await expect(ended).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('lists invalid fields by name, and describes each problem in the message', async () => {
  const { env } = await givenClient()
  const error = await errorOf(env.faults.add({ effect: { status: 200 }, tims: 1 } as never))
  expect(error.status).toBe(422)
  expect(Object.keys(error.fields).sort()).toEqual(['effect.status', 'tims'])
  expect(error.message).toContain('did you mean times?')
})

test('decodes a reason that is encoded for the header', async () => {
  const { env } = await givenClient()
  await list(env, `?subscriberId=${encodeURIComponent('Zoë – 100 %41')}`)
  const error = await errorOf(
    env.requests.verify({ operation: 'listMessages', query: { subscriberId: 'Ada' } })
  )
  expect(error.message).toContain('query.subscriberId is "Zoë – 100 %41"')
})

test('restores and removes a snapshot with any name, or with a generated name', async () => {
  const { env } = await givenClient()
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

test('the clock accepts times and durations', async () => {
  const { env } = await givenClient()
  const at = async (state: Promise<{ now: string }>) => (await state).now
  expect(await at(env.clock.set('2026-02-18T10:00:00Z'))).toBe('2026-02-18T10:00:00.000Z')
  expect(await at(env.clock.advance('1.5h'))).toBe('2026-02-18T11:30:00.000Z')
  expect(await at(env.clock.advance(250))).toBe('2026-02-18T11:30:00.250Z')
  expect(await at(env.clock.set(new Date(0)))).toBe('1970-01-01T00:00:00.000Z')
  await env.clock.set({ mode: 'wall' })
  expect(await env.clock.get()).toMatchObject({ setting: { mode: 'wall' } })
  for (const wrong of [
    () => env.clock.advance('1 hour' as never),
    () => env.requests.verify({ within: '1 hour' as never })
  ]) {
    expect((await errorOf(wrong())).message).toContain('1 hour is not a duration')
  }
})

test('sends the admin token to server routes only', async () => {
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

test('rejects a key or a token with characters that are invalid in a header, without printing it', async () => {
  const { mock } = await givenClient()
  const secret = 'hunter2\nhunter3'
  const refused = "the key or token contains characters that a header can't carry"
  for (const given of [
    () => mock.attach(secret),
    () => connect(mock.url, { adminToken: secret })
  ]) {
    expect(given).toThrow(MockError)
    expect(given).toThrow(new RegExp(`^${refused}$`))
  }
})

test('without a response, the error names the URL and a fix', async () => {
  const { url } = await useNewMock()
  const gone = new URL(url)
  gone.port = '9'
  const error = await errorOf(connect(gone.href).health())
  expect(error.status).toBeUndefined()
  expect(error.message).toMatch(
    /^no response from http:\/\/127\.0\.0\.1:9 \(.+\); is a server running there\? "npx/
  )
})

test('the error reports a response from another kind of server', async () => {
  const html = await givenHttpServer((_request, response) => response.end('<!doctype html>'))
  expect((await errorOf(connect(html).listEnvironments())).message).toContain(
    `check that ${html} is the URL of a notification-mock server`
  )
  const missing = await givenHttpServer((_request, response) =>
    response.writeHead(404).end('Not found')
  )
  expect(await errorOf(connect(missing).health())).toMatchObject({
    status: 404,
    message: 'GET /health failed with status 404'
  })
})

test('accepts a URL with a trailing slash or a path', async () => {
  const paths: (string | undefined)[] = []
  const proxy = await givenHttpServer((request, response) => {
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
])('rejects the URL %j', (url, message) => {
  expect(() => connect(url)).toThrow(MockError)
  expect(() => connect(url)).toThrow(message)
  expect(() => connect(url)).not.toThrow('hunter2')
})
