import { expect, test } from 'vitest'
import { VERSION } from '../../src/core/package.js'
import { givenMock } from '../support/mock.js'

const ACCEPT_OF_BROWSERS = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test.each([
  ['GET', undefined],
  ['GET', '*/*'],
  ['GET', 'application/json, text/plain, */*'],
  ['HEAD', undefined]
])('%s / with the Accept %s answers 200 in JSON, without a key', async (method, accept) => {
  const { url } = await givenMock()
  const response = await fetch(url, { method, headers: accept ? { accept } : {} })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const text = await response.text()
  if (method === 'HEAD') expect(text).toBe('')
  else expect(JSON.parse(text)).toMatchObject({ name: 'notification-mock', version: VERSION, health: '/health' })
})

test('what it links to is there, in JSON and on the page', async () => {
  const { url } = await givenMock()
  const { name, version, ...links } = (await (await fetch(url)).json()) as Record<string, string>
  const page = await (await fetch(url, { headers: { accept: ACCEPT_OF_BROWSERS } })).text()
  expect([...page.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path)).toEqual(Object.values(links))
  for (const path of Object.values(links)) expect((await fetch(`${url}${path}`)).status, path).toBe(200)
})

test('a browser gets a page that may load its own style and icon, and nothing else', async () => {
  const { url } = await givenMock()
  const { headers } = await fetch(url, { headers: { accept: ACCEPT_OF_BROWSERS } })
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('vary')).toMatch(/\bAccept\b/)
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/
  )
})

test('it is no request to the service: neither recorded nor answered with a fault', async () => {
  const mock = await givenMock()
  await mock.post('/_mock/faults', {
    body: JSON.stringify({ times: 'always', effect: { status: 503 } }),
    headers: { 'content-type': 'application/json' }
  })
  const authorization = `ApiKey ${mock.seededEnvironments[0]?.apiKeys[0]}`
  expect((await fetch(mock.url, { headers: { authorization, 'x-mock-fault': 'status=500' } })).status).toBe(200)
  expect((await fetch(mock.url)).status).toBe(200)
  expect((await mock.get('/_mock/requests')).json.requests).toEqual([])
  expect((await mock.get('/_mock/requests/keyless')).json.requests).toEqual([])
})

test('other methods are refused there as anywhere', async () => {
  const { url } = await givenMock()
  const response = await fetch(url, { method: 'POST' })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('GET, HEAD')
})
