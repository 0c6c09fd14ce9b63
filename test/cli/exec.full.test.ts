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

/** Runs the command without a terminal, as in CI. */
const WITHOUT_TERMINAL = { detached: true } as const

async function endOf(words: string[], options: Options = {}): Promise<ProcessResult> {
  return (
    await spawnCommand(['exec', '--no-seed', '--', ...words], { ...WITHOUT_TERMINAL, ...options })
  ).ended
}

/** Resolves when the process has exited; an unreaped zombie counts as exited. */
async function untilEnded(pid: number): Promise<void> {
  const isRunning = () =>
    existsSync(`/proc/${pid}/stat`) && !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  await vi.waitFor(() => expect(isRunning()).toBe(false), { timeout: 10_000, interval: 10 })
}

/**
 * Prints its own id and its child's id after a response of the server: from then on the guard knows
 * both.
 */
const ASK = `"${process.execPath}" -e "fetch(process.env.NOTIFICATION_MOCK_URL + '/health')"`
const FAMILY = ['sh', '-c', `sleep 1000 & ${ASK} && echo $$ $!; wait; true`]

async function startFamily(
  options: Options = {}
): Promise<{ exec: RunningProcess; pids: number[] }> {
  const args = [commandIn(await buildPackage()), 'exec', '--no-seed', '--', ...FAMILY]
  const exec = await startProcess(process.execPath, args, {
    ...WITHOUT_TERMINAL,
    ready: /^\d+ \d+\n/,
    ...options
  })
  return { exec, pids: exec.printed.trim().split(' ').map(Number) }
}

test.each(['SIGTERM', 'SIGKILL', 'SIGSEGV'] as const)(
  'exits with %s when its command is killed by it',
  async (signal) => {
    const words = ['sh', '-c', `ulimit -c 0; kill -${constants.signals[signal]} $$`]
    expect(await endOf(words, { cwd: createTempFolder() })).toMatchObject({ code: null, signal })
  }
)

describe.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s sent to exec only', (signal) => {
  test('ends the command and all of its child processes', async () => {
    const { exec, pids } = await startFamily()
    exec.child.kill(signal)
    const { code, stderr } = await exec.ended
    expect(stderr).toBe('')
    // A shell that the signal does not kill exits with 128 + the signal's number.
    expect([null, 128 + constants.signals[signal]]).toContain(code)
    for (const pid of pids) await untilEnded(pid)
  })

  test('lets a command that handles the signal choose its exit code, and keeps the server running until then', async () => {
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

test('SIGKILL to exec ends the command and all of its child processes', async () => {
  const { exec, pids } = await startFamily()
  exec.child.kill('SIGKILL')
  for (const pid of pids) await untilEnded(pid)
})

test('ends the remaining child processes of a command, even if they ignore SIGTERM, and leaves no files', async () => {
  const [cwd, folder] = [createTempFolder(), createTempFolder()]
  const script = `trap '' TERM; sleep 1000 & echo $!; trap - TERM; sleep 1000 & echo $!; exit 3`
  const { code, stdout } = await endOf(['sh', '-c', script], {
    cwd,
    env: { TMPDIR: folder, HOME: folder }
  })
  expect(code).toBe(3)
  const pids = stdout.trim().split('\n').map(Number)
  expect(pids).toHaveLength(2)
  for (const pid of pids) await untilEnded(pid)
  expect([...readdirSync(cwd), ...readdirSync(folder)]).toEqual([])
})

test('reports that the server failed, ends the command, and exits with 125', async () => {
  const fault = join(createTempFolder(), 'fault.mjs')
  writeFileSync(fault, `process.once('SIGWINCH', () => { throw new Error('out of the blue') })`)
  const { exec, pids } = await startFamily({ env: { NODE_OPTIONS: `--import=${fault}` } })
  exec.child.kill('SIGWINCH')
  const { code, stderr } = await exec.ended
  expect(code).toBe(125)
  expect(stderr).toMatch(/^notification-mock exec: the server failed, .*: Error: out of the blue\n/)
  expect(stderr).toMatch(/^(notification-mock exec: .*\n)+$/)
  for (const pid of pids) await untilEnded(pid)
})

test('at a terminal, the command reads the typed input, and receives Ctrl-C once', async () => {
  const file = join(createTempFolder(), 'program.mjs')
  // It exits 300 ms after the first signal, so that it counts any duplicates.
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
  // `exec` replaces the shell: Ctrl-C would end a waiting shell, such as dash.
  const command = `exec ${ours} exec --no-seed -- "${process.execPath}" "${file}"`
  const { child, ended } = await startProcess('script', ['-qec', command, '/dev/null'], {
    ready: /listening/
  })
  child.stdin.write('hello\n')
  for await (const [text] of on(child.stdout, 'data')) if (text.includes('has read hello')) break
  child.stdin.write('\x03')
  expect(await ended).toMatchObject({ code: 1, signal: null })
})

test('SIGTERM to npm ends the command of its script', async () => {
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

test('sets the variables named by --env or NOTIFICATION_MOCK_ENV, and no key if there is no environment', async () => {
  const program = `const { API, FIRST, NOTIFICATION_MOCK_ADMIN_TOKEN: TOKEN, NOTIFICATION_MOCK_API_KEY: KEY } = process.env
    console.log(JSON.stringify({ API, FIRST, TOKEN, KEY }))`
  const run = async (flags: string[], env: Record<string, string> = {}) =>
    JSON.parse(
      (await runCommand(['exec', ...flags, '--', process.execPath, '-e', program], { env })).stdout
    )
  const [byFlags, byVariable, empty] = await Promise.all([
    run(['--env', 'API=url/v1', '--env', 'FIRST=key', '--admin-token', 'token'], {
      NOTIFICATION_MOCK_ENV: 'API=key'
    }),
    run([], { NOTIFICATION_MOCK_ENV: 'API=url,FIRST=key' }),
    run(['--no-seed', '--env', 'FIRST=key'], {
      NOTIFICATION_MOCK_API_KEY: 'that of another server'
    })
  ])
  const keys = { FIRST: 'development-key', KEY: 'development-key' }
  const url = 'http://127\\.0\\.0\\.1:\\d+'
  expect(byFlags).toEqual({ API: expect.stringMatching(`^${url}/v1$`), TOKEN: 'token', ...keys })
  expect(byVariable).toEqual({ API: expect.stringMatching(`^${url}$`), ...keys })
  expect(empty).toEqual({})
})

describe('the coverage', () => {
  test('is printed on stderr and written as JSON, while stdout has only the output of the command', async () => {
    const cwd = createTempFolder()
    const flags = ['--coverage', '--coverage-json', 'coverage.json', '--min', '0']
    const { code, stdout, stderr } = await runCommand(['exec', ...flags, '--', 'echo', 'done'], {
      cwd
    })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' })
    expect(stderr).toMatch(/^Coverage of the API: [\d.]+ % \(\d+ of \d+\)\n/)
    expect(stderr.split('\n')).toHaveLength(13)
    expect(stderr).toMatch(/^and \d+ more: use --summary or --coverage-json for all of them$/m)
    expect(JSON.parse(readFileSync(join(cwd, 'coverage.json'), 'utf8'))).toMatchObject({
      requests: 0
    })
  })

  test.each([
    [
      'below --min fails a successful command',
      ['--min', '90'],
      0,
      1,
      /exec: the coverage of the API is 0 %/
    ],
    [
      "that can't be written fails a successful command",
      ['--coverage-json', '/gone/a'],
      0,
      125,
      /exec: can't write/
    ],
    [
      'keeps the exit code of a failed command',
      ['--min', '90', '--coverage-json', '/gone/a'],
      3,
      3,
      /^Coverage/
    ]
  ])('%s', async (_, flags, done, code, sentence) => {
    const ended = await runCommand(['exec', ...flags, '--', 'sh', '-c', `exit ${done}`])
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(sentence) })
  })
})
