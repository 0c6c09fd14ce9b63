import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRegularFile } from '../../src/platform/read-file.js'
import { createTempFolder } from '../support/process.js'

test('returns the bytes of a file, also through a link, and refuses one of more than the limit', () => {
  const file = join(createTempFolder(), 'seed.yaml')
  const bytes = Buffer.alloc(200_000, 'abc')
  writeFileSync(file, bytes)
  symlinkSync(file, `${file}.link`)
  expect(readRegularFile(file).equals(bytes)).toBe(true)
  expect(readRegularFile(`${file}.link`).equals(bytes)).toBe(true)
  expect(() => readRegularFile(file, 128 * 1024)).toThrow(
    'it has more than 0.125 MiB, the most that is read'
  )
})

// Its size is 0 by stat, and there is no end to what it has.
test.skipIf(process.platform !== 'linux')(
  'stops at the limit of a file whose size the system does not tell',
  () => {
    expect(readRegularFile('/proc/self/maps').length).toBeGreaterThan(1000)
    expect(() => readRegularFile('/proc/self/maps', 1024)).toThrow('the most that is read')
  }
)

test.skipIf(process.platform === 'win32')(
  'refuses a pipe and a link to a device, and does not wait for them',
  () => {
    const folder = createTempFolder()
    spawnSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe')])
    symlinkSync('/dev/zero', join(folder, 'zero'))
    for (const name of ['pipe', 'zero']) {
      expect(() => readRegularFile(join(folder, name))).toThrow(
        'it is no regular file: save it as one, and name that'
      )
    }
  }
)

test('throws the error of the system for a folder and for what is not there', () => {
  expect(() => readRegularFile(createTempFolder())).toThrow(
    expect.objectContaining({ code: 'EISDIR' })
  )
  expect(() => readRegularFile('/nowhere/seed.yaml')).toThrow(
    expect.objectContaining({ code: 'ENOENT' })
  )
})
