import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { replaceFile, replaceFileSync } from '../../src/platform/replace-file.js'
import { createTempFolder } from '../support/process.js'

/** An empty file, alone in its folder. */
function givenFile(): string {
  const folder = createTempFolder()
  writeFileSync(join(folder, 'mock.db'), '')
  return join(folder, 'mock.db')
}

test('a file is written beside it and then replaced', async () => {
  const file = givenFile()
  await replaceFile(file, async (tempFile) => {
    writeFileSync(tempFile, 'new')
    expect(dirname(tempFile)).toBe(dirname(file))
    expect(basename(tempFile)).toMatch(/^\.mock\.db\.[0-9a-f-]{36}$/)
    expect(readFileSync(file, 'utf8')).toBe('')
  })
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(readdirSync(dirname(file))).toEqual(['mock.db'])
})

test('a file is as it was when writing it fails', async () => {
  const file = givenFile()
  const failing = replaceFile(file, async (tempFile) => {
    writeFileSync(tempFile, 'half')
    throw new Error('failed')
  })
  await expect(failing).rejects.toThrow('failed')
  expect(readdirSync(dirname(file))).toEqual(['mock.db'])
  expect(readFileSync(file, 'utf8')).toBe('')
})

test.skipIf(process.platform === 'win32')('a link is not followed, and stays', async () => {
  const file = givenFile()
  symlinkSync(file, `${file}.link`)
  const error = expect.objectContaining({ code: 'ELOOP', syscall: 'open' })
  expect(() => replaceFileSync(`${file}.link`, 'new')).toThrow(error)
  await expect(
    replaceFile(`${file}.link`, async (tempFile) => writeFileSync(tempFile, 'new'))
  ).rejects.toEqual(error)
  expect(readFileSync(file, 'utf8')).toBe('')
  expect(readdirSync(dirname(file))).toEqual(['mock.db', 'mock.db.link'])
})

test('a file is replaced at once, with the mode that is given', () => {
  const file = givenFile()
  const before = statSync(file).ino
  replaceFileSync(file, 'new', 0o600)
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(statSync(file).ino).not.toBe(before)
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(file))).toEqual(['mock.db'])
})
