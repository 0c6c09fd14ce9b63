import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { commandIn, givenFolder, givenPackage } from '../support/process.js'

const DAMAGED: [name: string, damage: (text: string) => string][] = [
  ['cut in half', (text) => text.slice(0, text.length / 2)],
  ['with another letter', (text) => text.replace('"Development"', '"Devemopment"')],
  ['without a field', (text) => text.replace('"name":', '"nome":')],
  ['that is no object', () => 'null'],
  ['that is empty', () => '']
]

test.each(DAMAGED)('the default seed is read from its YAML where there is a JSON of it %s', async (_, damage) => {
  const folder = givenFolder()
  cpSync(await givenPackage(), folder, { recursive: true, verbatimSymlinks: true })
  const file = join(folder, 'seeds/default.parsed.json')
  const whole = readFileSync(file, 'utf8')
  writeFileSync(file, damage(whole))
  expect(readFileSync(file, 'utf8')).not.toBe(whole)
  const { stdout } = await promisify(execFile)(process.execPath, [commandIn(folder), 'seed', 'check', 'default'])
  expect(stdout).toMatch(/^Development: \d+ integrations/)
})
