import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  files: string[]
}
const PACKED = ['README.md', 'LICENSE', 'package.json', ...files]

/** Returns the paths of a folder's pages, relative to the repository root. */
const pagesIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => /\.(md|txt)$/.test(name))
    .map((name) => join(folder, name))

const PAGES = ['.', 'docs', 'docs/contributing', '.github'].flatMap(pagesIn)
const USER_PAGES = pagesIn('docs').filter((page) => page !== 'docs/README.md')

test.each(PAGES)('every link in %s leads to an existing file or heading', (page) => {
  expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([])
})

test.each(['SKILL.md', 'llms.txt', ...USER_PAGES])(
  'every link in %s leads to a file in the package',
  (page) => {
    const paths = linksOf(page).flatMap((link) => {
      const [path = ''] = link.split('#')
      // Skip screenshots, because the package doesn't contain them.
      return isExternal(link) || path === '' || path.endsWith('.png') ? [] : [resolve(page, path)]
    })
    expect(paths.filter((path) => !isPacked(path))).toEqual([])
  }
)

test.each(USER_PAGES)('every link in %s leads to a file that the server serves', (page) => {
  const paths = linksOf(page).flatMap((link) => {
    const [path = ''] = link.split('#')
    return isExternal(link) || path === '' ? [] : [join('docs', path)]
  })
  const served = /^docs\/[a-z\d-]+\.(md|png)$|^seeds\/schema\.json$/
  expect(paths.filter((path) => !served.test(path))).toEqual([])
})

test.each([...USER_PAGES, ...pagesIn('docs/contributing')])(
  'the title of %s matches its file name',
  (page) => {
    const [, title = ''] = /^# (.*)$/m.exec(read(page)) ?? []
    const name = page.replace(/^.*\/|\.md$/g, '')
    const expected = { api: 'api-reference' }[name] ?? name
    expect(title.toLowerCase().replaceAll(' ', '-')).toBe(expected)
  }
)

test('docs/README.md lists every page', () => {
  const listed = linksOf('docs/README.md').map((link) => join('docs', link))
  const pages = [...USER_PAGES, ...pagesIn('docs/contributing')]
  expect(pages.filter((page) => !listed.includes(page))).toEqual([])
})

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

function linksOf(page: string): string[] {
  const text = read(page).replace(/^```.*?^```$/gms, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
}

/**
 * Returns whether the link is a URL or a path on the server, instead of a path to a file. Paths on
 * the server start with a slash. test/openapi/manual.test.ts checks them.
 */
function isExternal(link: string): boolean {
  return /^(https?:|mailto:|\/)/.test(link)
}

/** Resolves a path in a page. Returns it relative to the repository root. */
function resolve(page: string, path: string): string {
  return relative(root, join(root, dirname(page), path))
}

function isPacked(file: string): boolean {
  return PACKED.some((name) => {
    const isGlob = name === join(dirname(name), '*.md')
    if (isGlob) return dirname(file) === dirname(name) && file.endsWith('.md')
    return file === name || file.startsWith(`${name}/`)
  })
}

function leadsSomewhere(page: string, link: string): boolean {
  if (isExternal(link)) return true
  const [path = '', heading] = link.split('#')
  const file = path === '' ? page : resolve(page, path)
  if (!existsSync(join(root, file))) return false
  return heading === undefined || headingsOf(file).includes(heading)
}

function headingsOf(file: string): string[] {
  const headings = read(file)
    .toLowerCase()
    .matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, text = '']) => text.replace(/[^\w\- ]/g, '').replaceAll(' ', '-'))
}
