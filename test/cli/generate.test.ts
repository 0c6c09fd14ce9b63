import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { givenFolder, runCommand } from '../support/process.js'
import { runHere } from './here.js'

const generate = (...args: string[]) => ['seed', 'generate', ...args]

test('seed generate --out writes a seed with a message a line, and prints the outcome', async () => {
  const cwd = givenFolder()
  const args = generate('--messages', '25', '--seed', 'two-tenants', '--out', 'many.yaml', '--json')
  expect(await runCommand(args, { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^\{"environment":"Development","messages":25,"file":"many.yaml","seconds":[\d.]+\}\n$/
    )
  })
  const lines = readFileSync(join(cwd, 'many.yaml'), 'utf8').trimEnd().split('\n').slice(-25)
  for (const line of lines) expect(JSON.parse(line.slice('      - '.length))).toHaveProperty('workflow')
})

describe('seed generate is rejected', () => {
  test.each([
    ['without a target', generate('--messages', '1'), 2, 'give either --out or --data, to say where to'],
    [
      'without a number',
      generate('--out', 'a.yaml'),
      2,
      "required option '--messages <count>' not specified; give it, or set NOTIFICATION_MOCK_MESSAGES (see notification-mock seed --help)"
    ],
    ['with an invalid number', generate('--messages', '-1', '--out', 'a.yaml'), 2, 'a whole number from 0 to'],
    ['with an invalid time', generate('--messages', '1', '--until', 'noon', '--out', 'a.yaml'), 2, 'a time such'],
    ['for another kind of file', generate('--messages', '1', '--out', 'a.ndjson'), 1, 'a.ndjson must end in .yaml'],
    [
      'for an unknown environment',
      generate('--messages', '1', '--out', 'a.yaml', '--environment', 'Shop'),
      1,
      'there is no environment Shop; there are Development, Production, Northlight development'
    ],
    [
      'for an environment without a step that sends messages',
      generate('--messages', '1', '--out', 'a.yaml', '--seed', 'empty'),
      1,
      'environment Development has nothing to make messages of'
    ],
    [
      'when the folder of the seed is missing',
      generate('--messages', '1', '--out', 'none/a.yaml'),
      1,
      "error: can't write none/a.yaml: its folder does not exist; make it first"
    ],
    [
      'when the folder can not be written',
      ['seed', 'generate', '--messages', '10', '--data', '/proc/mock.db'],
      1,
      "error: can't use the data file /proc/mock.db: it or its folder is not there or can not be read or written; check the path"
    ]
  ])('%s, and writes nothing', async (_, args, code, message) => {
    const cwd = givenFolder()
    const ended = await runHere(args.map((word) => (word.startsWith('a.') ? join(cwd, word) : word)))
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(readdirSync(cwd)).toEqual([])
  })
})
