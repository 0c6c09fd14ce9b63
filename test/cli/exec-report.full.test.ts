import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Report } from '../../src/client/index.js'
import { createTempFolder, runCommand, startCommand } from '../support/process.js'

/**
 * Acts like a test: sends a request with a misspelled parameter to a new environment, and a request
 * without a valid API key. Then removes the folder `cleaned`, just as test runners remove their old
 * output.
 */
const PROGRAM = `
  import { rmSync } from 'node:fs'
  const { NOTIFICATION_MOCK_URL: url, NOTIFICATION_MOCK_REPORT: report } = process.env
  const call = async (method, path, key, body) =>
    (await fetch(url + path, {
      method,
      headers: { authorization: 'ApiKey ' + key },
      body: body && JSON.stringify(body)
    })).text()
  const environment = await call('POST', '/_mock/environments', 'none', { from: 'Development' })
  const { apiKey } = JSON.parse(environment)
  const error = 'expected <b>\\n  at x'
  await call('PUT', '/_mock/test', apiKey, { title: 'a | test', outcome: 'failed', error })
  await call('GET', '/v1/messages?chanel=email&limit=100', apiKey)
  await call('GET', '/v1/messages', 'wrong')
  console.log(report)
  rmSync('cleaned', { recursive: true })
  process.exitCode = Number(process.argv.at(-1))`

async function run(args: readonly string[], code = 0) {
  const folder = createTempFolder()
  writeFileSync(join(folder, 'program.mjs'), PROGRAM)
  mkdirSync(join(folder, 'cleaned'))
  const command = [
    process.execPath,
    'program.mjs',
    '--token=hidden-value',
    'db://ada:hidden-value@host',
    `${code}`
  ]
  const ended = await runCommand(['exec', ...args, '--', ...command], { cwd: folder })
  return { ...ended, read: (name: string) => readFileSync(join(folder, name), 'utf8'), folder }
}

test('--report lists all tests, and shows the command with masked secrets', async () => {
  const { code, stdout, stderr, read, folder } = await run(['--report', 'run.html'], 3)
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: 'notification-mock exec: the report is in run.html\n'
  })
  expect(stdout).toBe(`${join(folder, 'run.html')}\n`)
  const [, data = ''] = /data-encoding="deflate-raw">([^<]*)</.exec(read('run.html')) ?? []
  const report: Report = JSON.parse(inflateRawSync(Buffer.from(data, 'base64')).toString())
  expect(report.run).toMatchObject({
    command: `${process.execPath} program.mjs --token=*** db://***@host 3`,
    exitCode: 3
  })
  expect(report.tests).toMatchObject([
    {
      title: 'a | test',
      outcome: 'failed',
      unauthenticatedUpTo: 1,
      hints: [{ id: 'unknown-parameter' }]
    }
  ])
  expect(report.unauthenticated).toMatchObject([{ status: 401 }])
})

test('--summary writes failures, hints and coverage, and escapes Markdown and HTML', async () => {
  const { code, read } = await run(['--summary', 'summary.md'])
  expect(code).toBe(0)
  const summary = read('summary.md')
  expect(summary).toContain('## Tests against notification-mock: 1 of 1 failed')
  expect(summary).toContain(
    '- failed: a &#124; test: expected &#60;b&#62;; ' +
      '1 request had no valid API key: no environment has this key'
  )
  expect(summary).toContain(
    '- hint: a &#124; test: listMessages has no parameter chanel; did you mean channel?'
  )
  expect(summary).toContain('## Coverage of the API')
  expect(summary).not.toContain('<b>')
})

test('--strict fails a command that causes hints, and prints each hint on one line', async () => {
  const { code, stderr } = await run(['--strict'])
  expect(code).toBe(1)
  expect(stderr).toContain(
    'notification-mock exec: a | test: listMessages has no parameter chanel; ' +
      'did you mean channel? (unknown-parameter)\n'
  )
})

test('--strict ignores hints that --allow permits', async () => {
  expect(await run(['--strict', '--allow', 'unknown-parameter'])).toMatchObject({
    code: 0,
    stderr: ''
  })
})

test('--strict keeps the exit code of a failed command', async () => {
  expect(await run(['--strict'], 7)).toMatchObject({ code: 7 })
})

const CANT_WRITE = "notification-mock exec: warning: can't write cleaned/file: its folder does not"

test.each(['--report', '--coverage-json'])(
  "if the file for %s can't be written, warns and keeps the command's exit code",
  async (flag) => {
    const { code, stderr, read } = await run([flag, 'cleaned/file', '--summary', 'summary.md'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(CANT_WRITE) })
    expect(read('summary.md')).toContain('1 of 1 failed')
  }
)

test("--strict still fails the command if a report can't be written", async () => {
  const flags = ['--strict', '--report', 'cleaned/file', '--summary', 'cleaned/file']
  const { code, stderr } = await run(flags)
  expect(code).toBe(1)
  expect(stderr.split(CANT_WRITE)).toHaveLength(3)
  expect(stderr).toContain('(unknown-parameter)\n')
})

test('`open` starts a server that can repeat the requests of a failed test', async () => {
  const { folder } = await run(['--report', 'run.html'])
  const { url, printed } = await startCommand(['open', 'run.html', '--test', 'a |'], {
    cwd: folder
  })
  expect(printed).toContain(`Reopened "a | test" at ${url}\n`)
  expect(printed).toContain('The next request is 1:\n')
  const [, apiKey = ''] = /ApiKey (\S+)\n/.exec(printed) ?? []
  const response = await fetch(`${url}/_mock/replay/next`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${apiKey}` }
  })
  expect(await response.json()).toMatchObject({ sequence: 1, status: 200, result: 'equal' })
})

test('merge-reports merges two runs into a report that `open` can read', async () => {
  const { folder } = await run(['--report', 'run.html'])
  const { folder: other } = await run(['--report', 'run.html'])
  const files = [folder, other].map((name) => join(name, 'run.html'))
  const flags = ['--report', 'all.html', '--summary', 'all.md', '--min', '8']
  const cwd = createTempFolder()
  const merged = await runCommand(['merge-reports', ...files, ...flags], { cwd })
  expect(merged).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('listMessages: 4 of 19 covered by 4 requests')
  })
  expect(readFileSync(join(cwd, 'all.md'), 'utf8')).toContain('2 of 2 failed')
  const { printed } = await startCommand(['open', 'all.html'], { cwd })
  expect(printed).toContain('Reopened "a | test" at ')
})

test('`open` reports an unknown test or file as a usage error', async () => {
  const { folder } = await run(['--report', 'run.html', '--report-state', 'off'])
  const open = async (...args: string[]) => {
    const { code, stderr } = await runCommand(['open', ...args], { cwd: folder })
    return `${code} ${stderr}`
  }
  expect(await open('run.html', '--test', 'b')).toMatch(/^2 error: no test has "b" in its title/)
  expect(await open('run.html')).toMatch(/^2 .*"a \| test" can't be reopened/)
  expect(await open('none.html')).toMatch(/^2 error: can't read none.html/)
})
