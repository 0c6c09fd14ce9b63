import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { replaceFile, replaceFileSync } from '../../src/platform/replace-file.js'
import { createTempFolder } from '../support/process.js'

/** Creates an empty file in a new folder. */
function createFile(): string {
  const folder = createTempFolder()
  writeFileSync(join(folder, 'mock.db'), '')
  return join(folder, 'mock.db')
}

test('replaceFile writes a temporary file next to the file, then replaces the file', async () => {
  const file = createFile()
  await replaceFile(file, async (tempFile) => {
    writeFileSync(tempFile, 'new')
    expect(dirname(tempFile)).toBe(dirname(file))
    expect(basename(tempFile)).toMatch(/^\.mock\.db\.[0-9a-f-]{36}$/)
    expect(readFileSync(file, 'utf8')).toBe('')
  })
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(readdirSync(dirname(file))).toEqual(['mock.db'])
})

test('replaceFile leaves the file unchanged if the write fails', async () => {
  const file = createFile()
  const failing = replaceFile(file, async (tempFile) => {
    writeFileSync(tempFile, 'half')
    throw new Error('failed')
  })
  await expect(failing).rejects.toThrow('failed')
  expect(readdirSync(dirname(file))).toEqual(['mock.db'])
  expect(readFileSync(file, 'utf8')).toBe('')
})

test.skipIf(process.platform === 'win32')(
  'replaceFile and replaceFileSync reject a symbolic link, and leave it unchanged',
  async () => {
    const file = createFile()
    symlinkSync(file, `${file}.link`)
    const error = expect.objectContaining({ code: 'ELOOP', syscall: 'open' })
    expect(() => replaceFileSync(`${file}.link`, 'new')).toThrow(error)
    await expect(
      replaceFile(`${file}.link`, async (tempFile) => writeFileSync(tempFile, 'new'))
    ).rejects.toEqual(error)
    expect(readFileSync(file, 'utf8')).toBe('')
    expect(readdirSync(dirname(file))).toEqual(['mock.db', 'mock.db.link'])
  }
)

test('replaceFileSync replaces the file and sets the mode', () => {
  const file = createFile()
  const before = statSync(file).ino
  replaceFileSync(file, 'new', 0o600)
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(statSync(file).ino).not.toBe(before)
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(file))).toEqual(['mock.db'])
})
