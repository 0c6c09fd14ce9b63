import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CONTRACT } from '../../src/openapi/contract.js'
import { buildPackage, commandIn } from '../support/process.js'

const text = readFileSync(join(import.meta.dirname, '../../docs/library.md'), 'utf8')

test('the JavaScript of docs/library.md prints what is written there, as one program', async () => {
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))]
      .map(([, content = '']) => content)
      .join('')
  // A package may import itself by its name.
  const file = join(commandIn(await buildPackage()), '../library.mjs')
  writeFileSync(file, blocks('js'))
  const { stdout, stderr } = spawnSync(process.execPath, [file], {
    encoding: 'utf8',
    timeout: 60_000
  })
  expect({ stdout, stderr }).toEqual({ stdout: blocks('text'), stderr: '' })
})

test('docs/library.md names all schemas of the contract', () => {
  const [, names = ''] = /^Each of (.*?) is a TypeScript type/ms.exec(text) ?? []
  expect([...names.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(
    Object.keys(CONTRACT).sort()
  )
})
