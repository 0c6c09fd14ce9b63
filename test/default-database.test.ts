import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readDefaultImageAt, readImageFile, writeImageFile } from '../src/default-database.js'
import { isBuilt } from '../src/platform/package.js'
import { useNewMock } from './support/mock.js'
import { createTempFolder } from './support/process.js'
import { environmentRows } from './support/rows.js'

const IMAGE = { database: Buffer.from('\0\nthe database\n'), seededAt: 1, apiKeys: ['one-key'] }

test('reads an image of the default seed exactly as it was saved', () => {
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
])('readImageFile returns undefined for %s', (_damage, damage) => {
  const file = join(createTempFolder(), 'default.db')
  writeImageFile(file, IMAGE)
  writeFileSync(file, damage(readFileSync(file)))
  expect(readImageFile(file)).toBeUndefined()
})

test('isBuilt is false when the code runs from source, so no saved image is read', () => {
  expect(isBuilt).toBe(false)
})

test('an old image gets the timestamps of a seed that is applied now', async () => {
  const now = Date.UTC(2026, 10, 28)
  const seed = readFileSync('seeds/default.yaml', 'utf8')
  const applied = await useNewMock({ now, seed })
  await useNewMock({ now: Date.UTC(2026, 0, 1) })
  const withImage = await useNewMock({ now })
  expect(environmentRows(withImage.db.client)).toEqual(environmentRows(applied.db.client))
})

test('timestamps are shifted again only if they are off by more than the tolerance', async () => {
  const now = Date.UTC(2026, 10, 28)
  await useNewMock({ now })
  const image = readDefaultImageAt(now, 0)
  expect(readDefaultImageAt(now + 1000, 1000)).toBe(image)
  expect(readDefaultImageAt(now + 1001, 1000)).not.toBe(image)
  expect(readDefaultImageAt(now + 1002, 0)?.seededAt).toBe(now + 1002)
})
