import { expect, test } from 'vitest'
import { runHere } from './here.js'

test.each([
  [
    ['--prot', '0', '--', 'true'],
    "'--prot'; did you mean --port? (see notification-mock exec --help)"
  ],
  [[], "missing required argument 'command'"],
  [['--env', 'A=urls', '--', 'true'], 'It must be <name>=url, <name>=url/<path>'],
  [['--allow', 'everything', '--', 'true'], 'It must be one of path-not-mocked, ']
])('rejects an invalid command line: %j', async (args, message) => {
  const ended = await runHere(['exec', ...args])
  expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(LINE) })
  expect(ended.stderr).toContain(message)
})

const LINE = /^notification-mock exec: [^\n]+\n$/
