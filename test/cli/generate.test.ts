import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatProgress } from '../../src/cli/generate.js'
import { givenFolder, runCommand } from '../support/process.js'

const generate = (...args: string[]) => ['seed', 'generate', ...args]

describe('seed generate --out', () => {
  test('writes one message a line as NDJSON', async () => {
    const cwd = givenFolder()
    expect(await runCommand(generate('--messages', '25', '--out', 'many.ndjson', '--json'), { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^\{"environment":"Development","messages":25,"file":"many.ndjson","seconds":[\d.]+\}\n$/
      )
    })
    const lines = readFileSync(join(cwd, 'many.ndjson'), 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toHaveLength(25)
  })
})

describe('seed generate is rejected', () => {
  test.each([
    ['without a target', generate('--messages', '1'), 2, 'give either --out or --data, to say where to'],
    ['with two targets', generate('--messages', '1', '--out', 'a.yaml', '--data', 'b.db'), 2, 'give either'],
    [
      'without a number',
      generate('--out', 'a.yaml'),
      2,
      "required option '--messages <count>' not specified; give it, or set NOTIFICATION_MOCK_MESSAGES (see notification-mock seed --help)"
    ],
    ['with an invalid number', generate('--messages', '-1', '--out', 'a.yaml'), 2, 'a whole number from 0 to'],
    ['with an invalid time', generate('--messages', '1', '--until', 'noon', '--out', 'a.yaml'), 2, 'a time such'],
    ['for another kind of file', generate('--messages', '1', '--out', 'a.txt'), 1, 'must end in .yaml, for a seed'],
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
      'into a data file, for an environment without a step that sends messages',
      ['seed', 'generate', '--messages', '1', '--data', 'x.db', '--seed', 'empty'],
      1,
      'error: environment Development has nothing to make messages of: it needs a workflow with a step of a channel'
    ],
    [
      'when the folder of the seed is missing',
      generate('--messages', '1', '--out', 'none/a.yaml'),
      1,
      "error: can't write none/a.yaml: its folder does not exist; make it first"
    ],
    [
      'when the folder of the seed is no folder',
      generate('--messages', '1', '--out', '/dev/null/a.yaml'),
      1,
      "error: can't write /dev/null/a.yaml: a part of its path is not a folder"
    ],
    [
      'when the folder can not be written',
      ['seed', 'generate', '--messages', '10', '--data', '/proc/mock.db'],
      1,
      "error: can't use the data file /proc/mock.db: it or its folder can not be read or written; check the path"
    ]
  ])('%s, and writes nothing', async (_, args, code, message) => {
    const cwd = givenFolder()
    const ended = await runCommand(args, { cwd })
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(readdirSync(cwd)).toEqual([])
  })
})

test('progress shows how far it is, and how long it still takes', () => {
  expect(formatProgress(412_000, 1_000_000, 8)).toBe('412,000 of 1,000,000 messages, 12 s left')
  expect(formatProgress(500, 999, 1)).toBe('500 of 999 messages, 1 s left')
})
