import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../src/db/open.js'
import { readImageFile, writeImageFile } from '../src/default-database.js'
import { isBuilt } from '../src/platform/package.js'
import { useNewMock } from './support/mock.js'
import { createTempFolder } from './support/process.js'
import { environmentRows } from './support/rows.js'

const IMAGE = { database: Buffer.from('\0\nthe database\n'), seededAt: 1, apiKeys: ['one-key'] }

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

test('an old image has the times of a database that was seeded now', async () => {
  const seededAt = Date.UTC(2026, 0, 1)
  const now = Date.UTC(2026, 10, 28)
  const old = await useNewMock({ now: seededAt })
  const image = { kind: 'data' as const, database: old.db.client.serialize(), seededAt, now }
  const { db, close } = openDatabase(undefined, { image })
  onTestFinished(close)
  const current = await useNewMock({ now })
  expect(environmentRows(db.client)).toEqual(environmentRows(current.db.client))
})
