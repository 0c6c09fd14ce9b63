import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'

interface Document {
  paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[] }>>
}

/** Returns all values of an attribute in the page. */
const valuesOf = (page: string, attribute: string) =>
  [...page.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) => value)

test('/docs describes every operation and every control route with its parameters', async () => {
  const { get } = await useMock()
  const page = (await get('/docs', { key: null })).text
  for (const url of ['/openapi.json', '/_mock/openapi.json']) {
    const { paths } = (await get(url, { key: null })).json as Document
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId, parameters = [] }] of Object.entries(methods)) {
        const section = page.split(` id="${operationId}"`)[1]?.split(/<\/(?:section|details)>/)[0]
        expect(section).toContain(`<b>${method.toUpperCase()}</b> ${path}<`)
        for (const { name } of parameters) expect(section).toContain(`<dt><code>${name}</code>`)
      }
    }
  }
})

test('every link to a type or a section in the docs has a target', async () => {
  const { get } = await useMock()
  const page = (await get('/docs', { key: null })).text
  const links = new Set(valuesOf(page, 'href'))
  const typeUrls = [...links].filter((link) => link.startsWith('docs/types/'))
  expect(typeUrls).toContain('docs/types/NewFaultRule')
  const typePages = await Promise.all(typeUrls.map((url) => get(`/${url}`, { key: null })))
  for (const text of [page, ...typePages.map((response) => response.text)]) {
    const anchors = valuesOf(text, 'href').filter((link) => link.startsWith('#'))
    const ids = valuesOf(text, 'id').map((id) => `#${id}`)
    expect(anchors.filter((anchor) => !ids.includes(anchor))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  }
})

test('/docs?environment=… links to the request form for that environment', async () => {
  const { get } = await useMock()
  const page = (await get('/docs?environment=A%20%26%20B', { key: null })).text
  expect(valuesOf(page, 'href')).toContain(
    './#/requests/new?operation=listMessages&amp;environment=A+%26+B'
  )
})

test('/docs has no links to the request form if the inspector is turned off', async () => {
  const { get } = await useMock({ inspector: false })
  expect((await get('/docs', { key: null })).text).not.toContain('Try it')
})

test('the docs allow no scripts and no connections', async () => {
  const { get } = await useMock()
  for (const path of ['/docs', '/docs/types/Integration']) {
    const { headers } = await get(path, { key: null })
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'none'; .*connect-src 'none';/
    )
  }
})

test('an unknown path under /docs gets 404, and a POST gets 405', async () => {
  const { get, post } = await useMock()
  for (const path of ['/docs/none', '/docs/types/none', '/docs/types/constructor'])
    expect((await get(path)).status).toBe(404)
  expect(await post('/docs')).toMatchObject({
    status: 405,
    json: { message: 'POST is not allowed for /docs' }
  })
})

test('/docs/ redirects to /docs, because the links in the page are relative', async () => {
  const { url } = await useMock()
  const response = await fetch(`${url}/docs/`)
  expect([response.status, response.url]).toEqual([200, `${url}/docs`])
})
