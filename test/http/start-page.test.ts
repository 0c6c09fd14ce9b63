import { expect, test } from 'vitest'
import { VERSION } from '../../src/platform/package.js'
import { requestWithHost } from '../support/host-header.js'
import { useMock } from '../support/mock.js'

const ACCEPT_OF_BROWSERS = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test.each([
  ['GET', undefined],
  ['GET', '*/*'],
  ['GET', 'application/json, text/plain, */*'],
  ['HEAD', undefined]
])(
  '%s / with the Accept header %s needs no API key, and responds with JSON',
  async (method, accept) => {
    const { url } = await useMock()
    const response = await fetch(url, { method, headers: accept ? { accept } : {} })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const text = await response.text()
    if (method === 'HEAD') expect(text).toBe('')
    else {
      const { name, version, ...links } = JSON.parse(text)
      expect([name, version, links.health]).toEqual(['notification-mock', VERSION, '/health'])
      for (const path of Object.values(links))
        expect((await fetch(`${url}${path}`)).status).toBe(200)
    }
  }
)

test('browsers get the inspector, which may load scripts only from its own origin', async () => {
  const { url } = await useMock()
  const page = await fetch(url, { headers: { accept: ACCEPT_OF_BROWSERS } })
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('vary')).toMatch(/\bAccept\b/)
  const files = [...(await page.text()).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path)
  expect(files.sort()).toEqual([
    'inspector/inspector.css',
    'inspector/inspector.js',
    'inspector/inspector.svg'
  ])
  const responses = [page, ...(await Promise.all(files.map((path) => fetch(`${url}/${path}`))))]
  for (const { status, headers } of responses) {
    expect([status, headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'.*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/
    )
  }
  for (const path of ['index.html', 'inspector.js.map', '..%2findex.js', 'main.tsx']) {
    expect((await fetch(`${url}/inspector/${path}`)).status, path).toBe(404)
  }
})

/** Sends a request with the Accept header of a browser. */
const visit = (url: string, headers: Record<string, string>) =>
  requestWithHost({ accept: ACCEPT_OF_BROWSERS, ...headers }, url)

const STRANGERS = [{ host: 'evil.example' }, { origin: 'http://evil.example' }]

test.each(STRANGERS)(
  'a request with %j can read the JSON summary, but not the inspector or API keys',
  async (stranger) => {
    const { url } = await useMock()
    for (const path of ['/', '/inspector/inspector.js', '/_mock/environments/Development/keys']) {
      expect((await visit(`${url}${path}`, stranger)).status, path).toBe(403)
    }
    const summary = await visit(url, { ...stranger, accept: '*/*' })
    const allowed = 'origin' in stranger ? stranger.origin : undefined
    expect([summary.status, summary.headers['access-control-allow-origin']]).toEqual([200, allowed])
  }
)

test('inspector files have no CORS headers, even if an admin token is set', async () => {
  const own = await useMock()
  const open = await useMock({ adminToken: 'let-me-in' })
  for (const path of ['/', '/inspector/inspector.js', '/inspector/inspector.css']) {
    for (const response of [
      await visit(`${own.url}${path}`, {}),
      await visit(`${own.url}${path}`, { origin: 'http://localhost:5173' }),
      ...(await Promise.all(STRANGERS.map((stranger) => visit(`${open.url}${path}`, stranger))))
    ]) {
      expect(response.status).toBe(200)
      expect(
        Object.keys(response.headers).filter((name) => name.startsWith('access-control-'))
      ).toEqual([])
    }
  }
})
