import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requireWritable } from '../../src/platform/output-file.js'
import { createTempFolder } from '../support/process.js'

test('accepts a new file and an existing file', () => {
  const folder = createTempFolder()
  writeFileSync(join(folder, 'existing'), 'x')
  for (const name of ['new', 'existing'])
    for (const mode of ['replace', 'append'] as const)
      expect(() => requireWritable(join(folder, name), mode)).not.toThrow()
})

test.each([
  ['gone/run.html', 'its folder does not exist; create it first'],
  ['gone/', 'its folder does not exist; create it first'],
  ['file/run.html', 'part of its path is a file, not a folder; choose another path'],
  ['folder', 'it is a folder; choose a file in it'],
  ['link', 'it is a link or not a regular file; choose another file']
])('rejects %s and reports the reason', (name, reason) => {
  const folder = createTempFolder()
  mkdirSync(join(folder, 'folder'))
  writeFileSync(join(folder, 'file'), 'x')
  symlinkSync('file', join(folder, 'link'))
  const file = `${folder}/${name}`
  expect(() => requireWritable(file)).toThrow(`can't write ${file}: ${reason}`)
  expect(() => requireWritable(file, 'append')).toThrow(`can't write ${file}: ${reason}`)
})
