import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
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
  /** Starts a server and returns its JSON description. */
  start(
    ...args: string[]
  ): Promise<{ url: string; pid: number; logFile: string; startedAt: string; instance: string }>
}

/** Creates a user whose servers are stopped when the test ends. */
function givenUser(port?: number): User {
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
const failed = (sentence: string) => ({
  code: 1,
  signal: null,
  stdout: '',
  stderr: expect.stringContaining(sentence)
})
const NONE = { code: 1, stdout: 'no server is running\n' }

function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false
  )
}

test('start, status and stop work together without further arguments', async () => {
  const { run } = givenUser(await freePort())
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
  // The log may contain private data.
  expect(statSync(log).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(log)).mode & 0o777).toBe(0o700)
  const taken = failed(
    `the port is taken; stop the process that uses it, or choose another port with --port (0 takes a free one). It is used by ${url} (process ${pid})`
  )
  expect(await run('start')).toEqual(taken)

  const line = new RegExp(`^${url}  running, process ${pid} since \\S+Z, log in ${log}\n$`)
  expect(await run('status')).toEqual(ok(expect.stringMatching(line)))
  expect(await run('stop')).toEqual(ok(`stopped ${url} (process ${pid})\n`))
  expect(await isHealthy(url)).toBe(false)
  expect(await run('status')).toMatchObject(NONE)
})

test('start fails with the error from the log, and leaves no server behind', async () => {
  const { run } = givenUser()
  const sentence =
    "error: the server did not start: gone.yaml: can't be read: there is no such file"
  expect(await run('start', '--port', '0', '--seed', 'gone.yaml')).toEqual(failed(sentence))
  expect(await run('status')).toMatchObject(NONE)
})

test('stop requires a choice between several servers, and --all stops all of them despite a port variable', async () => {
  const { start, run, cwd, env } = givenUser()
  const [one, two, three] = [await start(), await start(), await start()]
  expect(await run('stop')).toEqual(failed('choose one with --port, or use --all'))
  expect(await run('stop', '--port', new URL(one.url).port)).toMatchObject({ code: 0 })
  expect(await Promise.all([one, two, three].map(({ url }) => isHealthy(url)))).toEqual([
    false,
    true,
    true
  ])
  const variable = { ...env, NOTIFICATION_MOCK_PORT: new URL(two.url).port }
  expect(await runCommand(['stop', '--all'], { cwd, env: variable })).toMatchObject({ code: 0 })
  expect(await Promise.all([two, three].map(({ url }) => isHealthy(url)))).toEqual([false, false])
})

test('stop ends only a started server, not another process with the same port or process id', async () => {
  const { start, run, env } = givenUser()
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

test('a server started through npm keeps running after npm exits', async () => {
  const { env, run } = givenUser()
  const folder = await createDependentPackage({
    mock: 'notification-mock start --no-seed --port 0 --json'
  })
  const npm = await startProcess('npm', ['--silent', 'run', 'mock'], { cwd: folder, env })
  await npm.ended
  // Longer than the interval between checks of the parent process.
  await delay(300)
  expect(await isHealthy(JSON.parse(npm.printed).url)).toBe(true)
  expect(await run('stop')).toMatchObject({ code: 0 })
})

test('a signal to a slow start also ends the server', async () => {
  const { cwd, env, run } = givenUser()
  writeSeed(cwd, 400_000)
  const args = ['start', '--seed', 'seed.json', '--port', '0', '--data', 'kept.db']
  const { child, ended } = await spawnCommand(args, { cwd, env })
  await untilSeeding(cwd)
  child.kill('SIGINT')
  expect(await ended).toEqual(failed('error: the server did not start: it exited with SIGINT\n'))
  expect(await run('status')).toMatchObject(NONE)
})

test('wait exits when the server is ready, even if it starts later, and reports the last failure on a timeout', async () => {
  const port = await freePort()
  const { run } = givenUser(port)
  const waiting = run('wait')
  expect(await run('start', '--no-seed')).toMatchObject({ code: 0 })
  expect(await waiting).toEqual(ok(`http://127.0.0.1:${port} is ready\n`))
  const { stdout } = await run('wait', `http://localhost:${port}/`, '--json')
  expect(JSON.parse(stdout)).toEqual({
    url: `http://localhost:${port}`,
    milliseconds: expect.any(Number)
  })
  const sentence = 'not ready after 1 s: http://127.0.0.1:9/health: no response: '
  expect(await run('wait', 'http://127.0.0.1:9', '--timeout', '1')).toEqual(failed(sentence))
})
