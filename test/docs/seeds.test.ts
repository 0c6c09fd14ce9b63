import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('docs/seeds.md lists exactly the built-in seeds', () => {
  const text = readFileSync('docs/seeds.md', 'utf8')
  const [section = ''] = /^## Built-in seeds\n.*?(?=^## )/ms.exec(text) ?? []
  const listed = [...section.matchAll(/^\| `(\w[\w-]*)` \|/gm)].map(([, name]) => `${name}.yaml`)
  expect(listed.sort()).toEqual(readdirSync('seeds').filter((name) => name.endsWith('.yaml')))
})

test('docs/seeds.md states the limits that src/seeds/limits.ts sets', async () => {
  const { FILE_LIMITS, MAX_GENERATED, REQUEST_LIMITS, formatLimit } = await import(
    '../../src/seeds/limits.js'
  )
  const text = readFileSync('docs/seeds.md', 'utf8')
  for (const limit of ['json', 'yaml', 'added'] as const) {
    expect(text).toContain(
      `| ${formatLimit(REQUEST_LIMITS[limit])} | ${formatLimit(FILE_LIMITS[limit])} |`
    )
  }
  expect(text).toContain(`| ${MAX_GENERATED.toLocaleString('en')} |`)
})
