import { describe, expect, test } from 'vitest'
import { givenMock } from '../support/mock.js'

describe('the manual on the server', () => {
  test('every link of /llms.txt is served, as text', async () => {
    const { call, url } = await givenMock()
    const { status, headers, text } = await call('/llms.txt', { key: null })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => new URL(link, `${url}/llms.txt`).pathname)
    expect(links).toContain('/docs/control.md')
    expect(links).toContain('/_mock/openapi.json')
    const answers = await Promise.all(links.map((path) => call(path, { key: null })))
    expect(answers.map(({ status }) => status)).toEqual(links.map(() => 200))
    const page = await call('/docs/control.md', { key: null })
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(page.text).toMatch(/^# Control\n/)
  })

  test('it serves no other file, and its pages are not recorded', async () => {
    const { call, url } = await givenMock()
    await call('/llms.txt', { key: null })
    const others = ['/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/none.md', '/docs/performance.svg']
    const answers = await Promise.all(others.map((path) => call(path, { key: null })))
    expect(answers.map(({ status }) => status)).toEqual(others.map(() => 404))
    const recorded = await fetch(`${url}/_mock/requests/keyless`).then((response) => response.text())
    expect(recorded).toContain('"requests":[')
    expect(recorded).not.toContain('llms')
  })
})
