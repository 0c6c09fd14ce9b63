import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'

/**
 * Returns the paths on this server that a page links to. Ignores code blocks. Also ignores images,
 * because the package doesn't contain the image files.
 */
function linksOf(text: string, pageUrl: string): string[] {
  const links = text.replace(/^```.*?^```$/gms, '').matchAll(/(?<!!\[[^\]]*)\]\(([^)\s]+)\)/g)
  const urls = [...links].map(([, link = '']) => new URL(link, pageUrl))
  return [
    ...new Set(
      urls.filter(({ host }) => host === new URL(pageUrl).host).map(({ pathname }) => pathname)
    )
  ]
}

test('serves every page that /llms.txt and its Markdown pages link to', async () => {
  const { call, url } = await useMock()
  const { status, headers, text } = await call('/llms.txt', { key: null })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const links = linksOf(text, `${url}/llms.txt`)
  expect(links).toEqual(expect.arrayContaining(['/docs/control-routes.md', '/_mock/openapi.json']))
  const pages = await Promise.all(links.map((path) => call(path, { key: null })))
  const further = pages.flatMap((page, index) =>
    links[index]?.endsWith('.md') ? linksOf(page.text, `${url}${links[index]}`) : []
  )
  const linked = await Promise.all([...new Set(further)].map((path) => call(path, { key: null })))
  expect([...pages, ...linked].filter(({ status }) => status !== 200)).toEqual([])
  const page = await call('/docs/control-routes.md', { key: null })
  expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(page.text).toMatch(/^# Control routes\n/)
})

test('serves no file outside the manual', async () => {
  const { call } = await useMock()
  for (const path of [
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/none.md',
    '/docs/none.png'
  ])
    expect((await call(path, { key: null })).status, path).toBe(404)
})
