import { on, once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import {
  commandIn,
  type Ended,
  givenDependent,
  givenFolder,
  givenPackage,
  type Options,
  type Running,
  runCommand,
  spawnCommand,
  startProcess
} from '../support/process.js'

/** Without a terminal, as in CI, whoever runs the tests. */
const WITHOUT_TERMINAL = { detached: true } as const

function execCommand(words: string[], options: Options = {}): ReturnType<typeof spawnCommand> {
  return spawnCommand(['exec', '--no-seed', '--', ...words], { ...WITHOUT_TERMINAL, ...options })
}

async function endOf(words: string[], options: Options = {}): Promise<Ended> {
  return (await execCommand(words, options)).ended
}

/** The process has ended; a zombie that nobody has collected yet has ended too. */
async function untilEnded(pid: number): Promise<void> {
  const isRunning = () => {
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z'
    return !/\) [ZX]/.test(stat)
  }
  await vi.waitFor(() => expect(isRunning()).toBe(false), { timeout: 10_000, interval: 10 })
}

/** A command that tells its output what it and a process that it has started are, and waits. */
const FAMILY = ['sh', '-c', 'sleep 1000 & echo {\\"url\\" $$ $!; wait; true']

async function startFamily(options: Options = {}): Promise<{ exec: Running; pids: number[] }> {
  const args = [commandIn(await givenPackage()), 'exec', '--no-seed', '--', ...FAMILY]
  const exec = await startProcess(process.execPath, args, { ...WITHOUT_TERMINAL, ...options })
  return { exec, pids: (exec.printed.match(/\d+/g) ?? []).map(Number) }
}

/** Runs a program of Node against a server. */
function execNode(flags: readonly string[], program: string, options: Options = {}): Promise<Ended> {
  return runCommand(['exec', ...flags, '--', process.execPath, '-e', program], options)
}

async function ours(): Promise<string> {
  return `"${process.execPath}" "${commandIn(await givenPackage())}"`
}

test.each([0, 1, 2, 3, 64, 124, 125, 126, 127, 128, 129, 143, 254, 255])(
  'ends with %i as its command',
  async (code) => {
    expect(await endOf(['sh', '-c', `exit ${code}`])).toEqual({ code, signal: null, stdout: '', stderr: '' })
  }
)

test('dies of the signal that its command has died of', async () => {
  const stopping = ['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGCONT', 'SIGCHLD', 'SIGURG', 'SIGWINCH']
  const signals = Object.keys(constants.signals).filter((name) => !stopping.includes(name))
  expect(signals.length).toBeGreaterThan(20)
  const cwd = givenFolder()
  for (const name of signals) {
    const words = ['sh', '-c', `ulimit -c 0; kill -${constants.signals[name as NodeJS.Signals]} $$`]
    const { code, signal } = await endOf(words, { cwd })
    const number = constants.signals[(signal ?? name) as NodeJS.Signals]
    expect({ name, code, number }).toEqual({ name, code: null, number: constants.signals[name as NodeJS.Signals] })
  }
})

describe.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)('%s to exec alone', (signal) => {
  test('reaches the command and what it has started, and none of them is left', async () => {
    const { exec, pids } = await startFamily()
    expect(pids).toHaveLength(2)
    exec.child.kill(signal)
    const { code, stderr } = await exec.ended
    expect(stderr).toBe('')
    // A shell ends with 128 + the signal's number where it does not die of it.
    expect([null, 128 + constants.signals[signal]]).toContain(code)
    for (const pid of pids) await untilEnded(pid)
  })

  test('lets a command that handles it decide when and how to end', async () => {
    const program = `process.on('${signal}', () => setTimeout(() => {
      fetch(process.env.NOTIFICATION_MOCK_URL + '/health').then(({ status }) => process.exit(status - 100))
    }, 50)); setInterval(() => {}, 1000); console.log('ready')`
    const { child, ended } = await execCommand([process.execPath, '-e', program])
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await ended).toMatchObject({ code: 100, signal: null, stderr: '' })
  })

  test('during the start ends it by that signal, and no command is run', async () => {
    const cwd = givenFolder()
    const environment = { name: 'Shop', workflows: [{ identifier: 'a', steps: [{ type: 'email' }] }] }
    const seed = { environments: [{ ...environment, generate: { messages: 400_000 } }] }
    writeFileSync(join(cwd, 'seed.json'), JSON.stringify(seed))
    const args = ['exec', '--seed', 'seed.json', '--data', 'kept.db', '--', 'touch', 'run']
    const { child, ended } = await spawnCommand(args, { cwd, ...WITHOUT_TERMINAL })
    await vi.waitFor(() => expect(existsSync(join(cwd, 'kept.db-wal'))).toBe(true), { timeout: 20_000, interval: 20 })
    child.kill(signal)
    expect(await ended).toMatchObject({ code: null, signal, stderr: '' })
    expect(existsSync(join(cwd, 'run'))).toBe(false)
  })
})

test('what a command leaves behind is ended with it, also if it does not want to', async () => {
  const script = `trap '' TERM; sleep 1000 & echo $!; trap - TERM; sleep 1000 & echo $!; exit 3`
  const { code, stdout } = await endOf(['sh', '-c', script])
  expect(code).toBe(3)
  const pids = stdout.trim().split('\n').map(Number)
  expect(pids).toHaveLength(2)
  for (const pid of pids) await untilEnded(pid)
})

test('ends nothing that it has not started, though it is in the same group or session', async () => {
  const script = `sleep 1000 & other=$!; ${await ours()} exec --no-seed -- bash -c 'echo {\\"url\\" $$; sleep 1000' | cat & sleep 1000 &
    wait %2; kill -0 $other && kill -0 $! && echo both are running; kill $other $!`
  const { printed, ended } = await startProcess('bash', ['-c', script], WITHOUT_TERMINAL)
  const command = Number(/\d+/.exec(printed)?.[0])
  const parent = Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${command}/status`, 'utf8'))?.[1])
  process.kill(parent, 'SIGTERM')
  expect(await ended).toMatchObject({ stdout: expect.stringContaining('both are running\n') })
})

test('leaves no file behind, however it ends', async () => {
  const cwd = givenFolder()
  const folder = givenFolder()
  const env = { TMPDIR: folder, HOME: folder }
  for (const words of [['true'], ['false'], ['gone'], ['sh', '-c', 'kill -9 $$']]) await endOf(words, { cwd, env })
  const { exec } = await startFamily({ cwd, env })
  exec.child.kill('SIGTERM')
  await exec.ended
  expect([...readdirSync(cwd), ...readdirSync(folder)]).toEqual([])
})

test('says that the server has failed, asks the command to end, and ends with 125', async () => {
  const cwd = givenFolder()
  writeFileSync(join(cwd, 'fault.mjs'), `process.once('SIGWINCH', () => { throw new Error('out of the blue') })`)
  const env = { NODE_OPTIONS: `--import=${join(cwd, 'fault.mjs')}` }
  const { exec, pids } = await startFamily({ env })
  exec.child.kill('SIGWINCH')
  const { code, stderr } = await exec.ended
  expect(code).toBe(125)
  expect(stderr).toMatch(/^notification-mock exec: the server has failed, .*: Error: out of the blue\n/)
  expect(stderr).toMatch(/^(notification-mock exec: .*\n)+$/)
  for (const pid of pids) await untilEnded(pid)
})

test('SIGHUP does not end what was started with nohup; SIGTERM does', async () => {
  const cwd = givenFolder()
  const script = `nohup ${await ours()} exec --no-seed -- ${FAMILY.slice(0, 2).join(' ')} '${FAMILY[2]}' & echo "exec $!"; wait $!`
  const shell = await startProcess('bash', ['-c', script], { cwd, ...WITHOUT_TERMINAL })
  const [pid = 0, ...pids] = (shell.printed.match(/\d+/g) ?? []).map(Number)
  process.kill(pid, 'SIGHUP')
  // Longer than it takes to pass one on.
  await delay(300)
  for (const each of [pid, ...pids]) expect(process.kill(each, 0)).toBe(true)
  process.kill(pid, 'SIGTERM')
  await shell.ended
  for (const each of [pid, ...pids]) await untilEnded(each)
})

test('at a terminal the command reads what is typed, and a Ctrl-C reaches it once', async () => {
  const file = join(givenFolder(), 'program.mjs')
  writeFileSync(
    file,
    `import { openSync } from 'node:fs'
    import { ReadStream } from 'node:tty'
    let interrupts = 0
    process.on('SIGINT', () => {
      interrupts += 1
      // Longer than it takes to pass one on.
      setTimeout(() => process.exit(interrupts), 300)
    })
    new ReadStream(openSync('/dev/tty', 'r+')).on('data', (line) => console.log('has read ' + line))
    console.log('{"url"')`
  )
  // In place of the shell: one that waits, as dash does, is ended by Ctrl-C itself.
  const command = `exec ${await ours()} exec --no-seed -- "${process.execPath}" "${file}"`
  const { child, ended } = await startProcess('script', ['-qec', command, '/dev/null'])
  child.stdin.write('hello\n')
  let seen = ''
  for await (const [text] of on(child.stdout, 'data')) {
    seen += text
    if (seen.includes('has read hello')) break
  }
  child.stdin.write('\x03')
  expect(await ended).toMatchObject({ code: 1, signal: null })
})

test('at a terminal SIGTERM reaches what the command has started too', async () => {
  // It does not end just because the terminal is closed.
  const script = 'trap "" HUP; sleep 1000 & trap - HUP; echo {\\"url\\" $$ $!; wait; true'
  const terminal = await startProcess('script', [
    '-qec',
    `exec ${await ours()} exec --no-seed -- sh -c '${script}'`,
    '/dev/null'
  ])
  const pids = (terminal.printed.match(/\d+/g) ?? []).map(Number)
  expect(pids).toHaveLength(2)
  const [, exec] = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pids[0]}/status`, 'utf8')) ?? []
  process.kill(Number(exec), 'SIGTERM')
  await terminal.ended
  for (const pid of pids) await untilEnded(pid)
})

test('a SIGTERM to npm, whose script it is, ends the command', async () => {
  const folder = await givenDependent({ test: `notification-mock exec --no-seed -- sh ./test.sh && echo never` })
  writeFileSync(join(folder, 'test.sh'), 'echo {\\"url\\" $$; sleep 1000; true')
  const npm = await startProcess('npm', ['--silent', 'test'], { cwd: folder, ...WITHOUT_TERMINAL })
  const pid = Number(/\d+/.exec(npm.printed)?.[0])
  npm.child.kill('SIGTERM')
  await npm.ended
  await untilEnded(pid)
})

test('sets the variables that --env or its variable names', async () => {
  const cwd = givenFolder()
  const seed = '{ environments: [{ name: Shop, apiKeys: [shop-key] }, { name: The other, apiKeys: [other-key] }] }'
  writeFileSync(join(cwd, 'shop.yaml'), seed)
  const program = `const { API, FIRST, SECOND, NOTIFICATION_MOCK_ADMIN_TOKEN: TOKEN } = process.env
    console.log(JSON.stringify({ API, FIRST, SECOND, TOKEN }))`
  const run = async (flags: string[], env: Record<string, string>) => {
    const { stdout } = await execNode(['--seed', 'shop.yaml', ...flags], program, { cwd, env })
    return JSON.parse(stdout)
  }
  const flags = ['--env', 'API=url/v1', '--env', 'FIRST=key', '--env', 'SECOND=key:The other', '--admin-token', 'token']
  const url = 'http://127\\.0\\.0\\.1:\\d+'
  const [byFlags, byVariable] = await Promise.all([
    run(flags, { NOTIFICATION_MOCK_ENV: 'API=key' }),
    run([], { NOTIFICATION_MOCK_ENV: 'API=url,SECOND=key:The other' })
  ])
  expect(byFlags).toEqual({
    API: expect.stringMatching(`^${url}/v1$`),
    FIRST: 'shop-key',
    SECOND: 'other-key',
    TOKEN: 'token'
  })
  expect(byVariable).toEqual({ API: expect.stringMatching(`^${url}$`), SECOND: 'other-key' })
})

test('gives no key where there is none, also if it has one of another server itself', async () => {
  const program = 'console.log(process.env.NOTIFICATION_MOCK_API_KEY)'
  const env = { NOTIFICATION_MOCK_API_KEY: 'other-key' }
  expect(await execNode(['--no-seed'], program, { env })).toMatchObject({ code: 0, stdout: 'undefined\n' })
})

describe('what is not the fault of the command has an exit code of its own, and lines that say so', () => {
  test.concurrent.each<[string, string[], number, string]>([
    ['no command', [], 2, "missing required argument 'command'"],
    ['a variable without a name', ['--env', '=url', '--', 'true'], 2, 'It must be a name, =, and url,'],
    ['a variable of what is not known', ['--env', 'A=urls', '--', 'true'], 2, 'It must be a name, =, and url,'],
    [
      'a key of no environment',
      ['--env', 'A=key:X', '--', 'true'],
      125,
      'no environment X to pass on the key of; there'
    ],
    [
      'a key of nothing',
      ['--no-seed', '--env', 'A=key', '--', 'true'],
      125,
      'as there is no environment; give a --seed'
    ],
    ['a command that can not be executed', ['--', '/'], 126, "can't run /: it is not executable"]
  ])('%s', async (_, args, code, sentence) => {
    const ended = await runCommand(['exec', ...args])
    expect(ended).toEqual({ code, signal: null, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect(ended.stderr).toMatch(/^notification-mock exec: /)
    expect(ended.stderr).toContain(sentence)
  })
})

describe('--coverage', () => {
  const ASK = `fetch(process.env.NOTIFICATION_MOCK_URL + '/v1/messages?limit=1', {
    headers: { authorization: 'ApiKey ' + process.env.NOTIFICATION_MOCK_API_KEY }
  }).then(({ status }) => console.log(status))`

  test('prints the table on stderr, writes JSON, appends Markdown, and leaves stdout to the command', async () => {
    const cwd = givenFolder()
    writeFileSync(join(cwd, 'summary.md'), '# Before\n')
    const flags = ['--coverage', '--coverage-json', 'coverage.json', '--coverage-markdown', 'summary.md', '--min', '1']
    const { code, stdout, stderr } = await execNode(flags, ASK, { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '200\n' })
    expect(stderr).toMatch(/^Coverage of the contract: [\d.]+ % \(\d+ of \d+\)\n/)
    expect(JSON.parse(readFileSync(join(cwd, 'coverage.json'), 'utf8'))).toMatchObject({ requests: 1 })
    expect(readFileSync(join(cwd, 'summary.md'), 'utf8')).toMatch(/^# Before\n## Coverage of the contract/)
  })

  test.each([
    ['fails a command that was done below --min', ['--min', '90'], 'exit 0', 1],
    ['leaves a failure of the command as it is', ['--min', '90'], 'exit 3', 3],
    ['fails a command that was done where a report can not be written', ['--coverage-json', '/gone/a'], 'exit 0', 125],
    ['leaves a failure as it is also then', ['--coverage-json', '/gone/a'], 'exit 3', 3]
  ])('%s', async (_, flags, script, code) => {
    const ended = await runCommand(['exec', ...flags, '--', 'sh', '-c', script])
    expect(ended.code).toBe(code)
    const what =
      flags[0] === '--min' ? /exec: the coverage of the contract is 0 %, below/ : /exec: can't write the coverage/
    expect(/exec: /.test(ended.stderr)).toBe(code !== 3 || flags[0] !== '--min')
    if (code !== 3) expect(ended.stderr).toMatch(what)
  })
})

test('ends with the exit code of the command also when closing the server hangs', async () => {
  const file = join(givenFolder(), 'hanging.cjs')
  writeFileSync(file, "require('node:http').Server.prototype.close = function () { return this }")
  const { code, stderr } = await runCommand(['exec', '--', 'sh', '-c', 'exit 7'], {
    env: { NODE_OPTIONS: `--require=${file}` }
  })
  expect({ code, stderr }).toEqual({ code: 7, stderr: '' })
})
