import { on, once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import {
  buildPackage,
  commandIn,
  createDependentPackage,
  createTempFolder,
  type Options,
  type ProcessResult,
  type RunningProcess,
  runCommand,
  spawnCommand,
  startProcess
} from '../support/process.js'

/** Options that start `exec` without a terminal, as in CI. */
const WITHOUT_TERMINAL = { detached: true } as const

/** Runs a command with `exec`, and returns how `exec` ended. */
async function runWithExec(words: string[], options: Options = {}): Promise<ProcessResult> {
  return (
    await spawnCommand(['exec', '--no-seed', '--', ...words], { ...WITHOUT_TERMINAL, ...options })
  ).ended
}

/** Resolves when the process has exited. A zombie counts as exited. */
async function untilEnded(pid: number): Promise<void> {
  const isRunning = () =>
    existsSync(`/proc/${pid}/stat`) && !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  await vi.waitFor(() => expect(isRunning()).toBe(false), { timeout: 10_000, interval: 10 })
}

const REQUEST = `"${process.execPath}" -e "fetch(process.env.NOTIFICATION_MOCK_URL + '/health')"`
/**
 * A shell with a child process. The shell first waits for a response from the server, then prints
 * both process ids. By then, the guard knows which processes to end if `exec` is killed.
 */
const SHELL_WITH_CHILD = ['sh', '-c', `sleep 1000 & ${REQUEST} && echo $$ $!; wait; true`]

async function startShellWithChild(
  options: Options = {}
): Promise<{ exec: RunningProcess; pids: number[] }> {
  const args = [commandIn(await buildPackage()), 'exec', '--no-seed', '--', ...SHELL_WITH_CHILD]
  const exec = await startProcess(process.execPath, args, {
    ...WITHOUT_TERMINAL,
    ready: /^\d+ \d+\n/,
    ...options
  })
  return { exec, pids: exec.printed.trim().split(' ').map(Number) }
}

test.each(['SIGTERM', 'SIGKILL', 'SIGSEGV'] as const)(
  'if the signal %s kills the command, exec ends with the same signal',
  async (signal) => {
    const words = ['sh', '-c', `ulimit -c 0; kill -${constants.signals[signal]} $$`]
    expect(await runWithExec(words, { cwd: createTempFolder() })).toMatchObject({
      code: null,
      signal
    })
  }
)

describe.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s sent only to exec', (signal) => {
  test('ends the command and all of its child processes', async () => {
    const { exec, pids } = await startShellWithChild()
    exec.child.kill(signal)
    const { code, stderr } = await exec.ended
    expect(stderr).toBe('')
    // A shell that handles the signal exits with 128 plus the signal's number.
    expect([null, 128 + constants.signals[signal]]).toContain(code)
    for (const pid of pids) await untilEnded(pid)
  })

  test('keeps the server running while the command handles a signal', async () => {
    const program = `process.on('${signal}', async () => {
      const { status } = await fetch(process.env.NOTIFICATION_MOCK_URL + '/health')
      process.exit(status - 100)
    }); setInterval(() => {}, 1000); console.log('ready')`
    const args = ['exec', '--no-seed', '--', process.execPath, '-e', program]
    const { child, ended } = await spawnCommand(args, WITHOUT_TERMINAL)
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await ended).toMatchObject({ code: 100, signal: null, stderr: '' })
  })
})

test('SIGKILL sent to exec ends the command and all of its child processes', async () => {
  const { exec, pids } = await startShellWithChild()
  exec.child.kill('SIGKILL')
  for (const pid of pids) await untilEnded(pid)
})

test('exec ends processes that the command left running, even if they ignore SIGTERM', async () => {
  const cwd = createTempFolder()
  const folder = createTempFolder()
  const script = `trap '' TERM; sleep 1000 & echo $!; trap - TERM; sleep 1000 & echo $!; exit 3`
  const { code, stdout } = await runWithExec(['sh', '-c', script], {
    cwd,
    env: { TMPDIR: folder, HOME: folder }
  })
  expect(code).toBe(3)
  const pids = stdout.trim().split('\n').map(Number)
  expect(pids).toHaveLength(2)
  for (const pid of pids) await untilEnded(pid)
  // Newer versions of Node save compiled code in the folder for temporary files.
  const left = readdirSync(folder).filter((name) => name !== 'node-compile-cache')
  expect([...readdirSync(cwd), ...left]).toEqual([])
})

test('exec ends the command and exits with 125 if the server fails', async () => {
  const fault = join(createTempFolder(), 'fault.mjs')
  writeFileSync(fault, `process.once('SIGWINCH', () => { throw new Error('out of the blue') })`)
  const { exec, pids } = await startShellWithChild({ env: { NODE_OPTIONS: `--import=${fault}` } })
  exec.child.kill('SIGWINCH')
  const { code, stderr } = await exec.ended
  expect(code).toBe(125)
  expect(stderr).toMatch(/^notification-mock exec: the server failed, .*: Error: out of the blue\n/)
  expect(stderr).toMatch(/^(notification-mock exec: .*\n)+$/)
  for (const pid of pids) await untilEnded(pid)
})

test('at a terminal, the command can read input, and receives Ctrl-C only once', async () => {
  const file = join(createTempFolder(), 'program.mjs')
  // The program exits 300 ms after the first signal, so that it can count a second signal.
  const program = `import { openSync } from 'node:fs'
    import { ReadStream } from 'node:tty'
    let interrupts = 0
    process.on('SIGINT', () => {
      interrupts += 1
      setTimeout(() => process.exit(interrupts), 300)
    })
    new ReadStream(openSync('/dev/tty', 'r+')).on('data', (line) => console.log('has read ' + line))
    console.log('listening')`
  writeFileSync(file, program)
  const ours = `"${process.execPath}" "${commandIn(await buildPackage())}"`
  // The shell's own `exec` replaces the shell with the command. Otherwise, the shell would wait for
  // the command, and Ctrl-C would end the shell.
  const command = `exec ${ours} exec --no-seed -- "${process.execPath}" "${file}"`
  const { child, ended } = await startProcess('script', ['-qec', command, '/dev/null'], {
    ready: /listening/
  })
  child.stdin.write('hello\n')
  for await (const [text] of on(child.stdout, 'data')) if (text.includes('has read hello')) break
  child.stdin.write('\x03')
  expect(await ended).toMatchObject({ code: 1, signal: null })
})

test('SIGTERM sent to npm ends the command that the npm script runs', async () => {
  const folder = await createDependentPackage({
    test: `notification-mock exec --no-seed -- sh ./test.sh && echo never`
  })
  writeFileSync(join(folder, 'test.sh'), 'echo $$; sleep 1000; true')
  const npm = await startProcess('npm', ['--silent', 'test'], {
    cwd: folder,
    ...WITHOUT_TERMINAL,
    ready: /^\d+\n/
  })
  npm.child.kill('SIGTERM')
  await npm.ended
  await untilEnded(Number(npm.printed))
})

/** Runs a command with `exec`. Returns four of the environment variables that the command sees. */
async function variablesOfCommand(flags: string[], env: Record<string, string> = {}) {
  const program = `
    const { API, FIRST } = process.env
    const { NOTIFICATION_MOCK_ADMIN_TOKEN: TOKEN, NOTIFICATION_MOCK_API_KEY: KEY } = process.env
    console.log(JSON.stringify({ API, FIRST, TOKEN, KEY }))`
  const args = ['exec', ...flags, '--', process.execPath, '-e', program]
  return JSON.parse((await runCommand(args, { env })).stdout)
}

const KEYS = { FIRST: 'development-key', KEY: 'development-key' }
const URL_PATTERN = 'http://127\\.0\\.0\\.1:\\d+'

test('--env sets variables for the command, and overrides NOTIFICATION_MOCK_ENV', async () => {
  const flags = ['--env', 'API=url/v1', '--env', 'FIRST=key', '--admin-token', 'token']
  expect(await variablesOfCommand(flags, { NOTIFICATION_MOCK_ENV: 'API=key' })).toEqual({
    API: expect.stringMatching(`^${URL_PATTERN}/v1$`),
    TOKEN: 'token',
    ...KEYS
  })
})

test('NOTIFICATION_MOCK_ENV sets variables for the command', async () => {
  const env = { NOTIFICATION_MOCK_ENV: 'API=url,FIRST=key' }
  expect(await variablesOfCommand([], env)).toEqual({
    API: expect.stringMatching(`^${URL_PATTERN}$`),
    ...KEYS
  })
})

test("with --no-seed, the command doesn't inherit NOTIFICATION_MOCK_API_KEY", async () => {
  const env = { NOTIFICATION_MOCK_API_KEY: 'key-of-another-server' }
  expect(await variablesOfCommand(['--no-seed', '--env', 'FIRST=key'], env)).toEqual({})
})

describe('exec with coverage flags', () => {
  test('prints the coverage on stderr and writes it as JSON, without changing stdout', async () => {
    const cwd = createTempFolder()
    const flags = ['--coverage', '--coverage-json', 'coverage.json', '--min', '0']
    const { code, stdout, stderr } = await runCommand(['exec', ...flags, '--', 'echo', 'done'], {
      cwd
    })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' })
    expect(stderr).toMatch(/^Coverage of the API: [\d.]+ % \(\d+ of \d+\)\n/)
    expect(stderr.split('\n')).toHaveLength(13)
    expect(stderr).toMatch(/^and \d+ more: use --summary or --coverage-json to list everything$/m)
    expect(JSON.parse(readFileSync(join(cwd, 'coverage.json'), 'utf8'))).toMatchObject({
      requests: 0
    })
  })

  test.each([
    [
      'fails a successful command if the coverage is below --min',
      ['--min', '90'],
      0,
      1,
      /exec: the coverage of the API is 0 %/
    ],
    [
      "rejects a coverage file that can't be written",
      ['--coverage-json', '/gone/a'],
      0,
      125,
      /exec: can't write/
    ],
    ['keeps the exit code of a failed command', ['--min', '90'], 3, 3, /^Coverage/]
  ])('%s', async (_, flags, commandCode, code, message) => {
    const ended = await runCommand(['exec', ...flags, '--', 'sh', '-c', `exit ${commandCode}`])
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(message) })
  })
})

describe('exec checks its output files before it runs the command', () => {
  test.concurrent.each(['--report', '--summary', '--coverage-json', '--export-on-exit'])(
    "rejects a file for %s that can't be written",
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

test("adds this machine's names and addresses to the command's NO_PROXY", async () => {
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

test('prints one line for a path that is not mocked, even if it is requested twice', async () => {
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
})

const LINE = /^notification-mock exec: [^\n]+\n$/
