import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTempFolder, runCommand } from '../support/process.js'
import { runHere } from './here.js'

const generate = (...args: string[]) => ['seed', 'generate', ...args]

test('seed generate --out writes a seed with a message a line, and prints the outcome', async () => {
  const cwd = createTempFolder()
  const args = generate('--messages', '25', '--seed', 'two-tenants', '--out', 'many.yaml', '--json')
  expect(await runCommand(args, { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^\{"environment":"Development","messages":25,"file":"many.yaml","seconds":[\d.]+\}\n$/
    )
  })
  const lines = readFileSync(join(cwd, 'many.yaml'), 'utf8').trimEnd().split('\n').slice(-25)
  for (const line of lines)
    expect(JSON.parse(line.slice('      - '.length))).toHaveProperty('templateIdentifier')
})

const OUT = ['--out', 'a.yaml']
test.each<[string, string[], number, string]>([
  ['without a target', [], 2, 'give either --out or --data, to say where to'],
  ['with an invalid number', ['--messages', '-1', ...OUT], 2, 'a whole number from 0 to'],
  ['with an invalid time', ['--until', 'noon', ...OUT], 2, 'a time such'],
  ['for another kind of file', ['--out', 'a.ndjson'], 1, 'a.ndjson must end in .yaml'],
  [
    'for an unknown environment',
    [...OUT, '--environment', 'Shop'],
    1,
    'there is no environment Shop; there'
  ],
  [
    'for a seed without a step that sends',
    [...OUT, '--seed', 'empty'],
    1,
    'environment Development has nothing to make'
  ],
  [
    'for a folder that is missing',
    ['--out', 'none/a.yaml'],
    1,
    "can't write none/a.yaml: its folder does not exist"
  ],
  [
    'for a read-only folder',
    ['--data', '/proc/mock.db'],
    1,
    "can't use the data file /proc/mock.db: it or"
  ]
])('seed generate is rejected %s, and writes nothing', async (_, args, code, message) => {
  const cwd = createTempFolder()
  const words = args.map((word) => (word.startsWith('a.') ? join(cwd, word) : word))
  const ended = await runHere(generate('--messages', '1', ...words))
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
  expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(readdirSync(cwd)).toEqual([])
})
