import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { connect } from '../../src/client/index.js'
import { setClock } from '../support/control.js'
import { requestWithHost } from '../support/host-header.js'
import { useMock } from '../support/mock.js'
import { createEnvironment } from './environments/environment-client.js'

const TOKEN = 'let-me-in'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** The routes that manage environments. */
const ROUTES: [method: string, path: string][] = [
  ['POST', '/_mock/environments'],
  ['GET', '/_mock/environments'],
  ['GET', '/_mock/environments/Production/keys'],
  ['DELETE', '/_mock/environments/Production']
]

const FOREIGN_REQUESTS: [title: string, headers: Record<string, string>][] = [
  ['a Host that resolves to this machine (DNS rebinding)', { host: 'rebound.example:4210' }],
  ['a Host that starts with a loopback address', { host: '127.0.0.1.rebound.example' }],
  ['a Host that ends with localhost', { host: 'evil-localhost' }],
  ['the Origin of another site', { origin: 'https://evil.example' }],
  ['an Origin that starts with localhost', { origin: 'http://localhost.evil.example' }],
  ['the Origin null', { origin: 'null' }],
  ['a proxy header that names another machine', { 'x-forwarded-for': '127.0.0.1, 203.0.113.7' }],
  [
    "a proxy header that hides the client's address",
    { forwarded: 'for=127.0.0.1;proto=https, for=_hidden' }
  ]
]

test.each(FOREIGN_REQUESTS)('rejects management requests with %s', async (_title, headers) => {
  const mock = await useMock()
  const before = (await mock.get('/_mock/environments')).text
  for (const [method, path] of ROUTES) {
    const response = await requestWithHost(headers, mock.url + path, method)
    expect(response.status).toBe(403)
    expect(JSON.parse(response.text)).toMatchObject({ statusCode: 403, error: 'Forbidden' })
  }
  expect((await mock.get('/_mock/environments')).text).toBe(before)
})

test.each([
  ['no Origin', {}],
  ['the Host localhost', { host: 'localhost:9999' }],
  ['the Host [::1]', { host: '[::1]:4210' }],
  [
    'proxy headers that name this machine',
    { 'x-forwarded-for': '127.0.0.1, ::1', forwarded: 'for="[::1]:80"' }
  ],
  ['the Origin of a page on this machine', { origin: 'http://localhost:5173' }]
])('accepts management requests from loopback with %s', async (_title, headers) => {
  const mock = await useMock()
  const statuses = []
  for (const [method, path] of ROUTES)
    statuses.push((await requestWithHost(headers, mock.url + path, method)).status)
  expect(statuses).toEqual([201, 200, 200, 204])
})

test('accepts the admin token with any Host and Origin, but no other tokens or keys', async () => {
  const mock = await useMock({ adminToken: TOKEN })
  const foreign = { host: 'mock.example', origin: 'https://console.example' }
  const statuses = []
  for (const [method, path] of ROUTES) {
    for (const headers of [
      { ...foreign, ...bearer('wrong') },
      bearer(`${TOKEN}x`),
      { ...foreign, authorization: 'ApiKey development-key' },
      { ...foreign, ...bearer(TOKEN) }
    ]) {
      statuses.push((await requestWithHost(headers, mock.url + path, method)).status)
    }
  }
  expect(statuses).toEqual([201, 200, 200, 204].flatMap((accepted) => [403, 403, 403, accepted]))
})

const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address

test.skipIf(outside === undefined)(
  "management requests to a non-loopback address need the server's admin token",
  async () => {
    const mock = await useMock({ host: '0.0.0.0', adminToken: TOKEN })
    const url = `http://${outside}:${mock.port}`
    const statuses = []
    for (const [method, path] of ROUTES) {
      // Any client can send a loopback Host, so the server must not trust this header.
      for (const headers of [{}, { host: 'localhost' }, bearer('wrong'), bearer(TOKEN)]) {
        statuses.push((await requestWithHost(headers, url + path, method)).status)
      }
    }
    expect(statuses).toEqual([201, 200, 200, 204].flatMap((accepted) => [403, 403, 403, accepted]))
    expect(
      (await requestWithHost({ authorization: 'ApiKey development-key' }, `${url}/v1/messages`))
        .status
    ).toBe(200)
    // Users of the test fixtures set no headers, so the error must name the environment variable.
    await expect(connect(url).listEnvironments()).rejects.toThrow(
      'set NOTIFICATION_MOCK_ADMIN_TOKEN'
    )

    const { port } = await useMock({ host: '0.0.0.0' })
    for (const headers of [{}, bearer(''), bearer('undefined')]) {
      expect(
        (await requestWithHost(headers, `http://${outside}:${port}/_mock/environments`)).status
      ).toBe(403)
    }
  }
)

test('a key gives access only to its own environment', async () => {
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock)
  const otherKeys = ['development-key', 'production-key']
  const states = () =>
    Promise.all(
      otherKeys.map(async (otherKey) => (await mock.get('/_mock/state', { key: otherKey })).text)
    )
  const before = await states()
  await mock.call('/_mock/snapshots/a', { method: 'PUT', key: 'development-key' })
  await mock.post('/_mock/seed?mode=replace', {
    key,
    body: 'environments: [{name: x, messages: [{channel: sms}]}]'
  })
  await setClock(mock, { mode: 'fixed', at: '2000-01-01' }, key)

  expect((await mock.post('/_mock/snapshots/a/restore', { key })).status).toBe(404)
  expect((await mock.call('/_mock/snapshots/a', { method: 'DELETE', key })).status).toBe(404)
  expect((await mock.get('/_mock/snapshots', { key })).json).toEqual({ snapshots: [] })
  expect(await states()).toEqual(before)
})
