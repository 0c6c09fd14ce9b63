import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readImageFile, writeImageFile } from '../src/default-database.js'
import { isBuilt } from '../src/platform/package.js'
import { createTempFolder } from './support/process.js'

const IMAGE = { database: Buffer.from('\0\nthe database\n'), apiKeys: ['one-key'] }

test('an image of the default seed is read as it was saved', () => {
  const file = join(createTempFolder(), 'default.db')
  writeImageFile(file, IMAGE)
  expect(readImageFile(file)).toEqual(IMAGE)
})

test.each<[damage: string, (content: Buffer) => Buffer]>([
  ['an empty file', () => Buffer.alloc(0)],
  ['a truncated file', (content) => content.subarray(0, -1)],
  ['a file with a changed byte', (content) => content.fill('x', content.length - 2)],
  ['a file of zeros', (content) => content.fill(0)],
  ['a file with only the database', () => IMAGE.database]
])('an image that was replaced by %s is ignored', (_damage, damage) => {
  const file = join(createTempFolder(), 'default.db')
  writeImageFile(file, IMAGE)
  writeFileSync(file, damage(readFileSync(file)))
  expect(readImageFile(file)).toBeUndefined()
})

test('code that runs from its source is not taken for a build, and uses no saved image', () => {
  expect(isBuilt).toBe(false)
})
