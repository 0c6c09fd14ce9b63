import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRegularFile } from '../../src/platform/read-file.js'
import { createTempFolder } from '../support/process.js'

test('returns the bytes of a file, even if the path is a link', () => {
  const { file, bytes } = createFile()
  symlinkSync(file, `${file}.link`)
  expect(readRegularFile(file).equals(bytes)).toBe(true)
  expect(readRegularFile(`${file}.link`).equals(bytes)).toBe(true)
})

test('throws for a file that is larger than the limit', () => {
  const { file } = createFile()
  expect(() => readRegularFile(file, 128 * 1024)).toThrow(
    'it is larger than the limit of 0.125 MiB'
  )
})

// Linux reports a size of 0 for `/proc/self/maps`.
test.skipIf(process.platform !== 'linux')(
  'throws for a file that exceeds the limit, even if the system reports a smaller size',
  () => {
    expect(readRegularFile('/proc/self/maps').length).toBeGreaterThan(1000)
    expect(() => readRegularFile('/proc/self/maps', 1024)).toThrow('it is larger than the limit')
  }
)

test.skipIf(process.platform === 'win32')(
  'throws for a pipe or a link to a device, without waiting for data',
  () => {
    const folder = createTempFolder()
    spawnSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe')])
    symlinkSync('/dev/zero', join(folder, 'zero'))
    for (const name of ['pipe', 'zero']) {
      expect(() => readRegularFile(join(folder, name))).toThrow(
        'it is not a regular file: save its content to a file, and use that file'
      )
    }
  }
)

test('throws the system error for a folder or a missing file', () => {
  expect(() => readRegularFile(createTempFolder())).toThrow(
    expect.objectContaining({ code: 'EISDIR' })
  )
  expect(() => readRegularFile('/nowhere/seed.yaml')).toThrow(
    expect.objectContaining({ code: 'ENOENT' })
  )
})

function createFile(): { file: string; bytes: Buffer } {
  const file = join(createTempFolder(), 'seed.yaml')
  const bytes = Buffer.alloc(200_000, 'abc')
  writeFileSync(file, bytes)
  return { file, bytes }
}
