import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  createDependentPackage,
  createTempFolder,
  freePort,
  type ProcessResult,
  runCommand,
  spawnCommand,
  startCommand,
  startProcess
} from '../support/process.js'
import { untilSeeding, writeSeed } from './stopping.js'

interface User {
  cwd: string
  env: Record<string, string>
  run(...args: string[]): Promise<ProcessResult>
  /** Runs `start`, and returns the JSON that it prints. */
  start(
    ...args: string[]
  ): Promise<{ url: string; pid: number; logFile: string; startedAt: string; instance: string }>
}

/**
 * Creates a user with a separate working folder and temp folder. The user's commands don't see the
 * servers of other users. Stops the user's servers when the test ends.
 */
function createUser(port?: number): User {
  const cwd = createTempFolder()
  const env = { TMPDIR: createTempFolder(), ...(port && { NOTIFICATION_MOCK_PORT: `${port}` }) }
  const run: User['run'] = (...args) => runCommand(args, { cwd, env })
  onTestFinished(async () => {
    await run('stop', '--all')
  })
  return {
    cwd,
    env,
    run,
    async start(...args) {
      const { stdout, stderr } = await run('start', '--no-seed', '--port', '0', '--json', ...args)
      expect(stderr).toBe('')
      return JSON.parse(stdout)
    }
  }
}

const ok = (text: string) => ({ code: 0, signal: null, stdout: text, stderr: '' })
const failed = (message: string) => ({
  code: 1,
  signal: null,
  stdout: '',
  stderr: expect.stringContaining(message)
})
const NONE = { code: 1, stdout: 'no server is running\n' }

function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false
  )
}

test('`start`, `status` and `stop` work without arguments', async () => {
  const { run } = createUser(await freePort())
  expect(await run('status')).toMatchObject(NONE)
  expect(await run('stop')).toEqual(ok('no server is running\n'))

  const started = await run('start')
  expect(started).toMatchObject({ code: 0, stderr: '' })
  const [, url = ''] = /^notification-mock \S+ is ready at (\S+)$/m.exec(started.stdout) ?? []
  const [, pid, log = ''] = /^Process (\d+), log in (\S+)$/m.exec(started.stdout) ?? []
  expect(await isHealthy(url)).toBe(true)
  expect(started.stdout).toContain('development-key')
  expect(started.stdout).toContain(`notification-mock stop --port ${new URL(url).port}\n`)
  await fetch(`${url}/v1/messages`)
  expect(readFileSync(log, 'utf8')).toMatch(/^\{.*"statusCode":401.*\}\n$/)
  // Other users can't read the log, because it may contain private data.
  expect(statSync(log).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(log)).mode & 0o777).toBe(0o700)
  const taken =
    'the port is taken; stop the process that uses it, or choose another port with --port ' +
    `(0 picks a free one). The port is used by ${url} (process ${pid})`
  expect(await run('start')).toEqual(failed(taken))

  const line = new RegExp(`^${url}  running, process ${pid} since \\S+Z, log in ${log}\n$`)
  expect(await run('status')).toEqual(ok(expect.stringMatching(line)))
  expect(await run('stop')).toEqual(ok(`stopped ${url} (process ${pid})\n`))
  expect(await isHealthy(url)).toBe(false)
  expect(await run('status')).toMatchObject(NONE)
})

test('`start` fails with the error from the log, and leaves no server behind', async () => {
  const { run } = createUser()
  const message = "error: the server did not start: gone.yaml: can't be read: there is no such file"
  expect(await run('start', '--port', '0', '--seed', 'gone.yaml')).toEqual(failed(message))
  expect(await run('status')).toMatchObject(NONE)
})

const areHealthy = (servers: { url: string }[]) =>
  Promise.all(servers.map(({ url }) => isHealthy(url)))

test('if several servers run, `stop` needs --port, and stops only the chosen server', async () => {
  const { start, run } = createUser()
  const first = await start()
  const servers = [first, await start(), await start()]
  expect(await run('stop')).toEqual(failed('choose one with --port, or use --all'))
  expect(await run('stop', '--port', new URL(first.url).port)).toMatchObject({ code: 0 })
  expect(await areHealthy(servers)).toEqual([false, true, true])
})

test('`stop --all` stops all servers, even if NOTIFICATION_MOCK_PORT is set', async () => {
  const { start, cwd, env } = createUser()
  const first = await start()
  const servers = [first, await start()]
  const variable = { ...env, NOTIFICATION_MOCK_PORT: new URL(first.url).port }
  expect(await runCommand(['stop', '--all'], { cwd, env: variable })).toMatchObject({ code: 0 })
  expect(await areHealthy(servers)).toEqual([false, false])
})

test("`stop` never ends a process that reuses a dead server's port or process id", async () => {
  const { start, run, env } = createUser()
  const killed = await start()
  const file = join(dirname(killed.logFile), `${new URL(killed.url).port}.json`)
  const record = readFileSync(file, 'utf8')
  process.kill(killed.pid, 'SIGKILL')
  await vi.waitFor(async () => expect(await isHealthy(killed.url)).toBe(false))
  expect(await run('status')).toMatchObject(NONE)
  expect(existsSync(file)).toBe(false)

  const other = await startCommand(['--no-seed', '--port', new URL(killed.url).port], { env })
  writeFileSync(file, record.replace(`"pid":${killed.pid}`, `"pid":${other.child.pid}`))
  expect(await run('stop')).toEqual(ok('no server is running\n'))
  expect(await isHealthy(other.url)).toBe(true)
})

test('no command uses a proxy to reach a server on this machine', async () => {
  const { start, cwd, env } = createUser()
  const { url } = await start()
  const program = "globalThis.fetch = async () => new Response('', { status: 502 })"
  const proxied = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` }
  const run = (...args: string[]) => runCommand(args, { cwd, env: { ...env, ...proxied } })
  expect(await run('healthcheck', '--port', new URL(url).port)).toEqual(ok('healthy\n'))
  expect(await run('coverage', url)).toMatchObject({ code: 0 })
  expect(await run('status')).toMatchObject({ code: 0 })
  expect(await run('stop')).toMatchObject({ code: 0, stdout: expect.stringContaining(url) })
})

test('`status` keeps the record of a process that is alive but does not respond', async () => {
  const { start, run } = createUser()
  const server = await start()
  const port = await freePort()
  const file = join(dirname(server.logFile), `${port}.json`)
  const url = `http://127.0.0.1:${port}`
  writeFileSync(file, JSON.stringify({ ...server, url, pid: process.pid }))
  expect((await run('status')).stdout).toContain(`${url}  not responding, process ${process.pid}`)
  expect(existsSync(file)).toBe(true)
  expect(await run('stop', '--port', `${port}`)).toEqual(failed(`or delete ${file} if`))
  rmSync(file)
})

test('a server started through npm keeps running after npm exits', async () => {
  const { env, run } = createUser()
  const folder = await createDependentPackage({
    mock: 'notification-mock start --no-seed --port 0 --json'
  })
  const npm = await startProcess('npm', ['--silent', 'run', 'mock'], { cwd: folder, env })
  await npm.ended
  // Wait longer than the interval at which a server checks its parent process.
  await delay(300)
  expect(await isHealthy(JSON.parse(npm.printed).url)).toBe(true)
  expect(await run('stop')).toMatchObject({ code: 0 })
})

test('a signal that interrupts `start` also ends the server being started', async () => {
  const { cwd, env, run } = createUser()
  writeSeed(cwd, 400_000)
  const args = ['start', '--seed', 'seed.json', '--port', '0', '--data', 'kept.db']
  const { child, ended } = await spawnCommand(args, { cwd, env })
  await untilSeeding(cwd)
  child.kill('SIGINT')
  expect(await ended).toEqual(failed('error: the server did not start: it was ended by SIGINT\n'))
  expect(await run('status')).toMatchObject(NONE)
})

test('`wait` can run before `start`, and exits when the server is ready', async () => {
  const port = await freePort()
  const { run } = createUser(port)
  const waiting = run('wait')
  expect(await run('start', '--no-seed')).toMatchObject({ code: 0 })
  expect(await waiting).toEqual(ok(`http://127.0.0.1:${port} is ready\n`))
  const { stdout } = await run('wait', `http://localhost:${port}/`, '--json')
  expect(JSON.parse(stdout)).toEqual({
    url: `http://localhost:${port}`,
    milliseconds: expect.any(Number)
  })
})

test('`wait` fails after its timeout, and reports why the server was not ready', async () => {
  const { run } = createUser()
  const message = 'not ready after 1 s: http://127.0.0.1:9/health: no response: '
  expect(await run('wait', 'http://127.0.0.1:9', '--timeout', '1')).toEqual(failed(message))
})
