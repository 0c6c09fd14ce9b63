import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFileFor } from '../../../src/seeds/generate/temp-file.js'

const HOUR = 3600

/** A folder with these files, each last written so many seconds ago. */
function givenFolder(files: Record<string, number>): string {
  const folder = mkdtempSync(join(tmpdir(), 'temp-file-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, age] of Object.entries(files)) {
    writeFileSync(join(folder, name), '')
    const time = Date.now() / 1000 - age
    utimesSync(join(folder, name), time, time)
  }
  return folder
}

const ID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'

test('a temporary file lies beside its file, under a name of its own', () => {
  const folder = givenFolder({})
  const [one, other] = [tempFileFor(join(folder, 'mock.db')), tempFileFor(join(folder, 'mock.db'))]
  expect(dirname(one)).toBe(folder)
  expect(basename(one)).toMatch(/^\.mock\.db\.[0-9a-f-]{36}$/)
  expect(other).not.toBe(one)
  expect(dirname(tempFileFor('mock.db'))).toBe('.')
})

test('deletes temporary files that were not written to for an hour, and nothing else', () => {
  const folder = givenFolder({
    [`.mock.db.${ID}`]: HOUR + 60,
    [`.mock.db.${ID.replace('3f', '4f')}`]: HOUR - 60,
    [`.other.db.${ID}`]: 9 * HOUR,
    [`mock.db.${ID}`]: 9 * HOUR,
    '.mock.db.notes': 9 * HOUR,
    'mock.db': 9 * HOUR
  })
  tempFileFor(join(folder, 'mock.db'))
  expect(readdirSync(folder).sort()).toEqual(
    [`.mock.db.${ID.replace('3f', '4f')}`, '.mock.db.notes', `.other.db.${ID}`, 'mock.db', `mock.db.${ID}`].sort()
  )
})

test('returns a path even when the folder is missing', () => {
  expect(basename(tempFileFor('/nowhere/mock.db'))).toMatch(/^\.mock\.db\./)
})
