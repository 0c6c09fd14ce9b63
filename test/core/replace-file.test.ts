import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { replaceFile } from '../../src/core/replace-file.js'

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

test('a file is written beside it and then replaced', async () => {
  const folder = givenFolder({ 'mock.db': 0 })
  const file = join(folder, 'mock.db')
  const written = await replaceFile(file, async (tempFile) => {
    writeFileSync(tempFile, 'new')
    expect(dirname(tempFile)).toBe(folder)
    expect(basename(tempFile)).toMatch(/^\.mock\.db\.[0-9a-f-]{36}$/)
    expect(readFileSync(file, 'utf8')).toBe('')
    return tempFile
  })
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(
    await replaceFile(file, async (tempFile) => {
      writeFileSync(tempFile, '')
      return tempFile
    })
  ).not.toBe(written)
  expect(readdirSync(folder)).toEqual(['mock.db'])
})

test('a file is as it was when writing it fails', async () => {
  const folder = givenFolder({ 'mock.db': 0 })
  const failing = replaceFile(join(folder, 'mock.db'), async (tempFile) => {
    writeFileSync(tempFile, 'half')
    throw new Error('failed')
  })
  await expect(failing).rejects.toThrow('failed')
  expect(readdirSync(folder)).toEqual(['mock.db'])
  expect(readFileSync(join(folder, 'mock.db'), 'utf8')).toBe('')
})

test('deletes temporary files that were not written to for an hour, and nothing else', async () => {
  const others = {
    [`.mock.db.${ID.replace('3f', '4f')}`]: HOUR - 60,
    [`.other.db.${ID}`]: 9 * HOUR,
    [`mock.db.${ID}`]: 9 * HOUR,
    '.mock.db.notes': 9 * HOUR,
    'mock.db': 9 * HOUR
  }
  const folder = givenFolder({ [`.mock.db.${ID}`]: HOUR + 60, ...others })
  await replaceFile(join(folder, 'mock.db'), async (tempFile) => writeFileSync(tempFile, ''))
  expect(readdirSync(folder).sort()).toEqual(Object.keys(others).sort())
})

test('rejects with the error of writing when the folder is missing', async () => {
  const writing = replaceFile('/nowhere/mock.db', async (tempFile) => writeFileSync(tempFile, ''))
  await expect(writing).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' })
})
