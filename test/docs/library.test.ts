import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CONTRACT } from '../../src/openapi/contract.js'

test('docs/library.md names every schema of notification-mock/contract', () => {
  const text = readFileSync('docs/library.md', 'utf8')
  const [, list = ''] =
    /^Each of these names is both a TypeScript type.*?: (.*?)\.$/ms.exec(text) ?? []
  const names = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  expect(names.sort()).toEqual(Object.keys(CONTRACT).sort())
})
