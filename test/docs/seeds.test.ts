import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'
import { blocksOf } from './examples.js'

test('docs/seeds.md lists exactly the built-in seeds', () => {
  const text = readFileSync('docs/seeds.md', 'utf8')
  const [section = ''] = /^## Built-in seeds\n.*?(?=^## )/ms.exec(text) ?? []
  const listed = [...section.matchAll(/^\| `(\w[\w-]*)` \|/gm)].map(([, name]) => `${name}.yaml`)
  expect(listed.sort()).toEqual(readdirSync('seeds').filter((name) => name.endsWith('.yaml')))
})

test('the seed in docs/write-seeds.md generates as many messages as it says', async () => {
  const seed = blocksOf('docs/write-seeds.md').find(({ text }) => text.includes('generate:'))
  expect(seed?.text).toContain('messages: 10000')
  const mock = await useMock({ seed: seed?.text ?? '' })
  expect((await mock.get('/v1/messages?limit=1')).json.totalCount).toBe(10_000)
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
