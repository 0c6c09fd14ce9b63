import { describe, expect, test } from 'vitest'
import { runCommand } from '../support/process.js'
import { runHere } from './here.js'

describe('checks the files that it will write before it runs the command', () => {
  test.concurrent.each(['--report', '--summary', '--coverage-json', '--export-on-exit'])(
    'rejects an unwritable file of %s',
    async (flag) => {
      const command = [process.execPath, '-e', 'console.log("was run")']
      const ended = await runCommand(['exec', flag, 'gone/file', '--', ...command])
      const problem = "can't write gone/file: its folder does not exist; create it first"
      const stderr = `notification-mock exec: ${problem}\n`
      expect(ended).toEqual({ code: 125, signal: null, stdout: '', stderr })
    }
  )
})

test("stops the server when the command ends, and exits with the command's exit code", async () => {
  const program = `
    const { NOTIFICATION_MOCK_URL: url, NOTIFICATION_MOCK_API_KEY: key } = process.env
    const headers = { authorization: 'ApiKey ' + key }
    fetch(url + '/v1/messages', { headers }).then(async (response) => {
      console.log(url)
      console.error((await response.json()).totalCount)
      process.exitCode = 42
    })`
  // `exec` ignores PORT, which may be meant for the product under test.
  const { stdout, ...ended } = await runCommand(['exec', '--', process.execPath, '-e', program], {
    env: { PORT: '1' }
  })
  expect(ended).toEqual({ code: 42, signal: null, stderr: '60\n' })
  await expect(fetch(`${stdout.trim()}/health`)).rejects.toThrow('fetch failed')
})

test("adds this machine to the command's NO_PROXY", async () => {
  const program = 'console.log(process.env.NO_PROXY); console.log(process.env.no_proxy)'
  const { stdout } = await runCommand(
    ['exec', '--no-seed', '--', process.execPath, '-e', program],
    {
      env: { no_proxy: 'one.example, two.example', NO_PROXY: '' }
    }
  )
  const hosts = 'one.example,two.example,localhost,127.0.0.1,::1,[::1]'
  expect(stdout).toBe(`${hosts}\n${hosts}\n`)
})

test('prints one plain line for a path that is not mocked', async () => {
  const program = `
    const { NOTIFICATION_MOCK_URL: url, NOTIFICATION_MOCK_API_KEY: key } = process.env
    const init = { method: 'POST', headers: { authorization: 'ApiKey ' + key } }
    const trigger = () => fetch(url + '/v1/events/trigger', init)
    trigger().then(trigger)`
  const { stderr } = await runCommand(['exec', '--', process.execPath, '-e', program])
  expect(stderr).toMatch(
    /^notification-mock: POST \/v1\/events\/trigger 404: add a stub for it [^\n]+\n$/
  )
})

describe('errors of exec itself have their own exit codes and one-line messages', () => {
  test.concurrent.each<[string, string[], number, string]>([
    ['a missing seed', ['--seed', 'gone.yaml', '--', 'true'], 125, "gone.yaml: can't be read"],
    ["a command that can't be executed", ['--', '/'], 126, "can't run /: it is not executable"],
    [
      'a missing command',
      ['--', 'gone'],
      127,
      "can't run gone: the command, or the interpreter in its first line, does not exist"
    ]
  ])('reports %s', async (_, args, code, message) => {
    const ended = await runCommand(['exec', ...args])
    expect(ended).toEqual({ code, signal: null, stdout: '', stderr: expect.stringMatching(LINE) })
    expect(ended.stderr).toContain(message)
  })

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
})

const LINE = /^notification-mock exec: [^\n]+\n$/
