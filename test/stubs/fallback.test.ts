import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { configOf } from '../../src/config.js'
import { type ServerOptions, startServer } from '../../src/server.js'
import { listen } from '../remote/listen.js'
import { addFault, DEVELOPMENT, head, journalOf, raw, until, verify } from '../support/control.js'
import { useLoggedMock } from '../support/logged-mock.js'
import { useNewMock } from '../support/mock.js'

const TRIGGER = '/v1/events/trigger'

/**
 * Starts a fallback server and a mock that forwards requests to it. `received` contains the
 * forwarded requests.
 */
async function useFallback(respond: RequestListener, options: ServerOptions = {}) {
  const received: IncomingMessage[] = []
  const server = await listen((request, response) => {
    received.push(request)
    respond(request, response)
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const mock = await useNewMock({ fallback: server.url, ...options })
  return { mock, received, server }
}

const echo: RequestListener = async (request, response) => {
  const body = await text(request)
  const { method, url, headers } = request
  response.writeHead(201, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ method, url, headers, body }))
}

const okay: RequestListener = (_request, response) => response.end('ok')

test('forwards the method, path, query and body unchanged, and returns the response', async () => {
  const { mock } = await useFallback(echo)
  const target = '/v2/subscribers/a%2Fb%20c?x=%7E&y=a+b&z[]=1&'
  const response = await mock.call(target, { method: 'PATCH', body: '{"name": "Ada"}' })
  expect(response).toMatchObject({
    status: 201,
    json: { method: 'PATCH', url: target, body: '{"name": "Ada"}' }
  })
})

test('puts the path of the fallback URL before the path of the request', async () => {
  const { server, received } = await useFallback(okay)
  const mock = await useNewMock({ fallback: `${server.url}/api/` })
  await mock.get('/v1/topics?a=1')
  expect(received[0]?.url).toBe('/api/v1/topics?a=1')
})

test.each(['/v1/a/../b', '/v1/%2e%2e/b', '/v1/a/..%2Fb', '/v1/"'])(
  'rejects the path %s, which forwarding could change',
  async (path) => {
    const { mock, received } = await useFallback(okay)
    const connection = raw(mock, head(`GET ${path}`, 'connection: close'))
    await connection.closed
    expect(connection.text()).toMatch(/^HTTP\/1.1 400 /)
    expect(received).toEqual([])
  }
)

test('forwards a body that is larger than the mock itself accepts', async () => {
  const { mock } = await useFallback(echo)
  const body = 'x'.repeat(2 * 1024 * 1024)
  expect((await mock.post(TRIGGER, { body })).json.body).toBe(body)
  expect(await journalOf(mock)).toMatchObject([{ bodyLength: body.length }])
})

test('forwards a request once, even if the response is a 503', async () => {
  const { mock, received } = await useFallback((_request, response) => {
    response.writeHead(503, { 'retry-after': '1' }).end()
  })
  expect((await mock.get('/v1/topics')).status).toBe(503)
  expect(received).toHaveLength(1)
})

test("replaces the client's API key with the key of the fallback server", async () => {
  const { mock, received } = await useFallback(okay, { fallbackKey: 'sk-upstream' })
  await mock.get('/v1/topics')
  expect(received[0]?.headers.authorization).toBe('ApiKey sk-upstream')
  expect(received[0]?.rawHeaders.join()).not.toContain(DEVELOPMENT)
})

test.each([null, 'nobody-has-this'])(
  'does not forward a request without a valid API key (key: %s)',
  async (key) => {
    const { mock, received } = await useFallback(okay)
    expect((await mock.post(TRIGGER, { key })).status).toBe(401)
    expect(received).toEqual([])
  }
)

test('forwards no cookies, x-mock headers or hop-by-hop headers', async () => {
  const { mock, received } = await useFallback(okay)
  const headers = { cookie: 'a=b', 'x-mock-fault': 'delay=1', te: 'trailers', 'x-own': '1' }
  await mock.get('/v1/topics', { headers })
  const names = Object.keys(received[0]?.headers ?? {})
  expect(names).toContain('x-own')
  expect(names.filter((name) => /^(cookie|x-mock-.*|te|proxy-.*)$/.test(name))).toEqual([])
})

test('drops cookies, x-mock headers and hop-by-hop headers from the response', async () => {
  const dropped = { 'set-cookie': 'a=b', 'x-mock-stub': '1', connection: 'x-hop', 'x-hop': '1' }
  const { mock } = await useFallback((_request, response) =>
    response.writeHead(200, { ...dropped, 'x-own': '1' }).end()
  )
  const { headers } = await mock.get('/v1/topics')
  expect(headers.get('x-own')).toBe('1')
  for (const name of ['set-cookie', 'x-mock-stub', 'x-hop']) expect(headers.get(name)).toBeNull()
})

test('returns a redirect instead of following it', async () => {
  const { mock, received } = await useFallback((_request, response) =>
    response.writeHead(302, { location: '/v1/moved' }).end()
  )
  const connection = raw(mock, head('GET /v1/topics', 'connection: close'))
  await connection.closed
  expect(connection.text()).toMatch(/^HTTP\/1.1 302 .*location: \/v1\/moved/s)
  expect(received).toHaveLength(1)
})

test('faults, operations and stubs take precedence over the fallback server', async () => {
  const { mock, received } = await useFallback(okay)
  await mock.post('/_mock/stubs', { body: JSON.stringify({ method: 'POST', path: TRIGGER }) })
  await addFault(mock, { match: { path: '/v1/topics' }, effect: { status: 503 } })
  expect((await mock.get('/v1/topics')).status).toBe(503)
  expect((await mock.get('/v1/messages')).status).toBe(200)
  expect((await mock.post(TRIGGER)).headers.get('x-mock-stub')).toBe('stub-1')
  expect((await mock.call('/v1/messages', { method: 'PUT' })).status).toBe(405)
  expect(received).toEqual([])
})

test('records a request body even if a fault responds instead of the fallback server', async () => {
  const { mock } = await useFallback(okay)
  await addFault(mock, { match: { path: TRIGGER }, effect: { status: 503 } })
  await mock.post(TRIGGER, { body: '{"name":"welcome"}' })
  const [request] = await journalOf(mock)
  expect(request).toMatchObject({ status: 503, body: '{"name":"welcome"}' })
  expect(request?.flags).toEqual({ faulted: 'fault-1' })
})

test('with the fault `truncate`, sends half of a forwarded response', async () => {
  const { mock } = await useFallback((_request, response) => response.end('12345678'))
  await addFault(mock, { match: { path: '/v1/topics' }, effect: { abort: 'truncate' } })
  const connection = raw(mock, head('GET /v1/topics'))
  await connection.closed
  expect(connection.text()).toMatch(/\r\n\r\n1234$/)
})

test('records a forwarded request, but does not count it as unmocked or as coverage', async () => {
  const { mock } = await useFallback(echo)
  await mock.post(TRIGGER, { body: '{"name":"welcome","password":"1234"}' })
  const [request] = await journalOf(mock)
  expect(request).toMatchObject({ status: 201, body: '{"name":"welcome","password":"***"}' })
  expect(request?.flags).toEqual({ forwarded: true })
  const coverage = (await mock.get('/_mock/coverage')).json
  expect(coverage).toMatchObject({ covered: 0, requests: 0, unmocked: { requests: 0 } })
})

test('verifies a forwarded request by its method, path and body', async () => {
  const { mock } = await useFallback(okay)
  await mock.post(TRIGGER, { body: '{"name":"welcome"}' })
  const pattern = { method: 'POST', path: TRIGGER, body: { matches: 'welcome' }, count: 1 }
  expect((await verify(mock, pattern)).status).toBe(200)
})

test('records the first 16 KiB of a streamed response, and its size', async () => {
  const { mock } = await useFallback((_request, response) => {
    response.write('x,'.repeat(10_000))
    response.end()
  })
  await mock.get('/v1/topics')
  const { json } = await mock.get('/_mock/requests/1')
  expect(json).toMatchObject({ size: 20_000, response: { status: 200, truncated: true } })
  expect(json.response.body).toHaveLength(16_384)
})

/** Returns a URL on which nothing listens. */
async function closedUrl(): Promise<string> {
  const server = await listen(okay)
  await server[Symbol.asyncDispose]()
  return server.url
}

test.each<[string, RequestListener | undefined, RegExp]>([
  ['refuses the connection', undefined, /refused the connection/],
  ['closes the connection', (request) => request.socket.destroy(), /closed the connection/],
  ['sends invalid HTTP', (request) => request.socket.end('hello\r\n\r\n'), /malformed response/]
])('responds with 424 and a reason if the fallback server %s', async (_, respond, reason) => {
  const { server } = await useFallback(respond ?? okay)
  const fallback = respond ? server.url : await closedUrl()
  const mock = await useNewMock({ fallback })
  const response = await mock.post(TRIGGER, { body: '{}' })
  expect(response).toMatchObject({
    status: 424,
    json: { statusCode: 424, message: `POST ${TRIGGER} could not be forwarded` }
  })
  expect(response.headers.get('x-mock-reason')).toMatch(reason)
})

test('responds with 424 if the fallback server sends nothing within the timeout', async () => {
  const { mock } = await useFallback(() => {}, { fallbackTimeout: 50 })
  const response = await mock.post(TRIGGER, { body: '{}' })
  expect(response.status).toBe(424)
  expect(response.headers.get('x-mock-reason')).toMatch(/sent nothing for 50 ms/)
})

test('closes the connection if the fallback server dies during its response', async () => {
  const { mock } = await useFallback((_request, response) => {
    response.writeHead(200, { 'content-length': 10 })
    response.write('half', () => response.destroy())
  })
  await expect(mock.get('/v1/topics')).rejects.toThrow('aborted')
  const [request] = await journalOf(mock)
  expect(request).toMatchObject({ reason: expect.stringMatching(/closed the connection before/) })
  expect(request).not.toHaveProperty('status')
})

test('aborts the forwarded request if the client disconnects', async () => {
  const { mock, received } = await useFallback(() => {})
  const connection = raw(mock, head('GET /v1/topics'))
  await until(() => received.length > 0)
  const [request] = received as [IncomingMessage]
  const closed = once(request.socket, 'close')
  connection.socket.destroy()
  await closed
})

/** Returns a URL on which a server can listen later. */
const freeUrl = closedUrl

test('rejects a request that comes back to the mock through another mock', async () => {
  const url = await freeUrl()
  const other = await useNewMock({ fallback: url, fallbackKey: DEVELOPMENT })
  const port = Number(new URL(url).port)
  const mock = await useNewMock({ fallback: other.url, fallbackKey: DEVELOPMENT, port })
  const response = await mock.get('/v1/topics')
  expect(response.status).toBe(424)
  expect(response.json.message).toBe(`The fallback server ${other.url} leads back to this server`)
})

test('rejects a request that the mock forwards to itself', async () => {
  const fallback = await freeUrl()
  const mock = await useNewMock({ fallback, port: Number(new URL(fallback).port) })
  expect((await mock.get('/v1/topics')).json.message).toMatch(/leads back to this server$/)
})

test("the log and the journal don't contain the fallback server's API key", async () => {
  const key = 'sk-upstream-91c2'
  const { server } = await useFallback(echo)
  const mock = await useLoggedMock({ fallback: server.url, fallbackKey: key })
  await mock.post(TRIGGER, { body: key })
  await server[Symbol.asyncDispose]()
  const failed = await mock.post(`/v1/${key}`, { body: key })
  expect(failed.status).toBe(424)
  const all = [mock.log, await journalOf(mock), (await mock.get('/_mock/requests/1')).json]
  expect(JSON.stringify(all)).not.toContain(key)
})

test.each([
  [{ fallback: 'ftp://127.0.0.1' }, /must be a URL that starts with http/],
  [{ fallback: 'http://user:pass@127.0.0.1' }, /must not contain a user name or password/],
  [{ fallback: 'http://127.0.0.1/?a' }, /must not contain \? or #/],
  [{ fallback: 'http://prism:4010' }, /another machine; set its API key with --fallback-key/],
  [{ fallbackKey: 'key' }, /is set, but no fallback server/]
])('the server does not start with %o', async (options, message) => {
  await expect(startServer(options)).rejects.toThrow(message)
})

test('accepts a fallback server on another machine if its API key is given', () => {
  const options = { fallback: 'http://prism:4010', fallbackKey: 'fallback' }
  expect(configOf(options)).toMatchObject(options)
})
