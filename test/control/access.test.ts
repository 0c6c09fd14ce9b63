import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { connect } from '../../src/client/index.js'
import { setClock } from '../support/control.js'
import { requestWithHost } from '../support/host-header.js'
import { useMock } from '../support/mock.js'
import { givenEnvironment } from './environments/environment-client.js'

const TOKEN = 'let-me-in'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** The routes that affect all environments. */
const ROUTES: [method: string, path: string][] = [
  ['POST', '/_mock/environments'],
  ['GET', '/_mock/environments'],
  ['GET', '/_mock/environments/Production/keys'],
  ['DELETE', '/_mock/environments/Production']
]

const STRANGERS: [title: string, headers: Record<string, string>][] = [
  ['a name that points here (DNS rebinding)', { host: 'rebound.example:4210' }],
  ['a name that begins like loopback', { host: '127.0.0.1.rebound.example' }],
  ['a name that ends like loopback', { host: 'evil-localhost' }],
  ['the origin of another site', { origin: 'https://evil.example' }],
  ['an origin that begins like loopback', { origin: 'http://localhost.evil.example' }],
  ['the origin of a page from nowhere', { origin: 'null' }],
  ['a proxy here, on behalf of another machine', { 'x-forwarded-for': '127.0.0.1, 203.0.113.7' }],
  [
    'a proxy here, on behalf of who knows whom',
    { forwarded: 'for=127.0.0.1;proto=https, for=_hidden' }
  ]
]

test.each(STRANGERS)('%s manages no environments', async (_title, headers) => {
  const mock = await useMock()
  const before = (await mock.get('/_mock/environments')).text
  for (const [method, path] of ROUTES) {
    const refused = await requestWithHost(headers, mock.url + path, method)
    expect(refused.status).toBe(403)
    expect(JSON.parse(refused.text)).toMatchObject({ statusCode: 403, error: 'Forbidden' })
  }
  expect((await mock.get('/_mock/environments')).text).toBe(before)
})

test.each([
  ['no origin', {}],
  ['the name of loopback', { host: 'localhost:9999' }],
  ['the address of loopback in IPv6', { host: '[::1]:4210' }],
  [
    'a proxy here, on behalf of this machine',
    { 'x-forwarded-for': '127.0.0.1, ::1', forwarded: 'for="[::1]:80"' }
  ],
  ['the origin of a page of this machine', { origin: 'http://localhost:5173' }]
])('on loopback environments are managed with %s', async (_title, headers) => {
  const mock = await useMock()
  const statuses = []
  for (const [method, path] of ROUTES)
    statuses.push((await requestWithHost(headers, mock.url + path, method)).status)
  expect(statuses).toEqual([201, 200, 200, 204])
})

test('the admin token is accepted with any Host and Origin; a wrong one and an API key are rejected', async () => {
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
  'requests to a non-loopback address need the admin token, which must have been set',
  async () => {
    const mock = await useMock({ host: '0.0.0.0', adminToken: TOKEN })
    const url = `http://${outside}:${mock.port}`
    const statuses = []
    for (const [method, path] of ROUTES) {
      // Any client can send a loopback Host.
      for (const headers of [{}, { host: 'localhost' }, bearer('wrong'), bearer(TOKEN)]) {
        statuses.push((await requestWithHost(headers, url + path, method)).status)
      }
    }
    expect(statuses).toEqual([201, 200, 200, 204].flatMap((accepted) => [403, 403, 403, accepted]))
    expect(
      (await requestWithHost({ authorization: 'ApiKey development-key' }, `${url}/v1/messages`))
        .status
    ).toBe(200)
    // A user of a test runner doesn't send headers by hand.
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
  const { apiKey: key } = await givenEnvironment(mock)
  const keys = ['development-key', 'production-key']
  const states = () =>
    Promise.all(keys.map(async (each) => (await mock.get('/_mock/state', { key: each })).text))
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
