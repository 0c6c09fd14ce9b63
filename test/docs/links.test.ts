import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  files: string[]
}
const PAGES = [
  'README.md',
  ...files.filter((name) => /\.(md|txt)$/.test(name)),
  ...['docs', 'docs/contributing'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) =>
      name.endsWith('.md') ? `${folder}/${name}` : []
    )
  )
]

test.each(PAGES)(
  'every link in %s leads to a file of the package, or to a heading of it',
  (page) => {
    const text = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```$/gms, '')
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([])
  }
)

function leadsSomewhere(page: string, link: string): boolean {
  // Those that begin with a slash are addresses of the server: see test/openapi/manual.test.ts.
  if (/^(https?:|mailto:|\/)/.test(link)) return true
  const [path = '', heading] = link.split('#')
  const file = path === '' ? page : relative(root, join(root, dirname(page), path))
  const isPacked = ['README.md', 'LICENSE', ...files].some(
    (name) => file === name || file.startsWith(`${name}/`)
  )
  if (!isPacked || !existsSync(join(root, file))) return false
  return heading === undefined || headingsOf(file).includes(heading)
}

function headingsOf(file: string): string[] {
  const headings = readFileSync(join(root, file), 'utf8')
    .toLowerCase()
    .matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, text = '']) => text.replace(/[^\w\- ]/g, '').replaceAll(' ', '-'))
}
