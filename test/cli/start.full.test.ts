import { spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type Ended,
  givenDependent,
  givenFolder,
  runCommand,
  spawnCommand,
  startCommand,
  startProcess
} from '../support/process.js'

interface User {
  cwd: string
  env: Record<string, string>
  run(...args: string[]): Promise<Ended>
  /** Starts a server, and returns what is told of it. */
  start(...args: string[]): Promise<{ url: string; pid: number; logFile: string; pidFile?: string }>
}

/** A user whose started servers are stopped when the test ends. */
function givenUser(port?: number): User {
  const cwd = givenFolder()
  const env = { TMPDIR: givenFolder(), ...(port && { NOTIFICATION_MOCK_PORT: `${port}` }) }
  const run: User['run'] = (...args) => runCommand(args, { cwd, env })
  onTestFinished(async () => void (await run('stop', '--all')))
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
const failed = (sentence: string) => ({ code: 1, signal: null, stdout: '', stderr: expect.stringContaining(sentence) })

async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false
  )
}

/** Below the ports that the system itself gives to servers and to connections of other tests. */
async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  await once(server.close(), 'close')
  return port
}

test('start, status and stop work together without a word more', async () => {
  const { run } = givenUser(await freePort())
  expect(await run('status')).toMatchObject({ code: 1, stdout: 'no server is running\n' })
  expect(await run('stop')).toEqual(ok('no server is running\n'))

  const started = await run('start')
  expect(started).toMatchObject({ code: 0, stderr: '' })
  const [, url = ''] = /^notification-mock \S+ is ready at (\S+), profile document$/m.exec(started.stdout) ?? []
  const [, pid, log = ''] = /^Process (\d+), log in (\S+)$/m.exec(started.stdout) ?? []
  expect(await isHealthy(url)).toBe(true)
  expect(started.stdout).toContain('development-key')
  expect(started.stdout).toContain(`notification-mock stop --port ${new URL(url).port}\n`)
  // Its lines may say what others should not read.
  expect(statSync(log).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(log)).mode & 0o777).toBe(0o700)

  const line = new RegExp(`^${url}  running, process ${pid} since \\S+Z, log in ${log}\n$`)
  expect(await run('status')).toEqual(ok(expect.stringMatching(line)))
  expect(await run('stop')).toEqual(ok(`stopped ${url} (process ${pid})\n`))
  expect(await isHealthy(url)).toBe(false)
  expect(await run('status')).toMatchObject({ code: 1, stdout: 'no server is running\n' })
})

test('with --json, start, status and stop print one line of JSON', async () => {
  const { start, run } = givenUser()
  const { url, pid, logFile } = await start()
  const { stdout } = await run('status', '--json')
  expect(JSON.parse(stdout)).toEqual({
    servers: [{ url, pid, logFile, startedAt: expect.stringMatching(/^\d{4}-.*Z$/), state: 'running' }]
  })
  expect(await run('stop', '--json')).toEqual(ok(`${JSON.stringify({ stopped: [{ url, pid }] })}\n`))
})

test('the log goes to a file, to the one of --log-file behind what is there', async () => {
  const { cwd, start } = givenUser()
  writeFileSync(join(cwd, 'mock.log'), 'before\n')
  const { url, logFile } = await start('--log-file', 'mock.log')
  await fetch(`${url}/v1/messages`)
  expect(logFile).toBe(join(cwd, 'mock.log'))
  expect(readFileSync(logFile, 'utf8')).toMatch(/^before\n\{.*"statusCode":401.*\}\n$/)
  const other = await start()
  await fetch(`${other.url}/v1/messages`)
  expect(other.logFile).toMatch(new RegExp(`/${new URL(other.url).port}\\.log$`))
  expect(readFileSync(other.logFile, 'utf8')).toMatch(/^\{.*"statusCode":401.*\}\n$/)
})

test('a server has its pid file while it runs, however it ends', async () => {
  const { cwd, start, run } = givenUser()
  const pidFile = join(cwd, 'mock.pid')
  for (const end of [() => run('stop', '--pid-file', 'mock.pid'), (pid: number) => void process.kill(pid, 'SIGINT')]) {
    const { pid } = await start('--pid-file', 'mock.pid')
    expect(readFileSync(pidFile, 'utf8')).toBe(`${pid}\n`)
    expect(await run('status', '--pid-file', 'mock.pid')).toMatchObject({ code: 0 })
    await end(pid)
    await vi.waitFor(() => expect(existsSync(pidFile)).toBe(false))
  }
})

test('the pid file of a server that was killed is taken over', async () => {
  const { start, run, cwd } = givenUser()
  const killed = await start('--pid-file', 'mock.pid')
  process.kill(killed.pid, 'SIGKILL')
  await vi.waitFor(async () => expect(await isHealthy(killed.url)).toBe(false))
  expect(await run('status')).toMatchObject({ code: 1, stdout: expect.stringContaining(`${killed.url}  ended, `) })
  const { pid } = await start('--pid-file', 'mock.pid')
  expect(readFileSync(join(cwd, 'mock.pid'), 'utf8')).toBe(`${pid}\n`)
  expect(readdirSync(cwd).filter((name) => name.startsWith('mock.pid'))).toEqual(['mock.pid'])
})

describe('start fails, and says', () => {
  test('that a server was started on the port before', async () => {
    const { run } = givenUser(await freePort())
    const first = await run('start', '--no-seed', '--json')
    const { url, pid } = JSON.parse(first.stdout)
    expect(await run('start', '--no-seed')).toEqual(failed(`the port is taken`))
    expect((await run('start')).stderr).toContain(`It is that of ${url} (process ${pid}), which was started before\n`)
    expect(await isHealthy(url)).toBe(true)
  })

  test('that a server was started with the pid file before', async () => {
    const { start, run } = givenUser()
    const { url, pid } = await start('--pid-file', 'mock.pid')
    const again = ['start', '--port', '0', '--no-seed', '--pid-file', 'mock.pid']
    expect(await run(...again)).toEqual(failed(`mock.pid is that of ${url} (process ${pid})\n`))
  })

  test('that a file is no pid file, which it leaves as it was', async () => {
    const { cwd, run } = givenUser()
    writeFileSync(join(cwd, 'notes'), 'mine')
    expect(await run('start', '--port', '0', '--pid-file', 'notes')).toEqual(
      failed('notes is no pid file; name another')
    )
    expect(readFileSync(join(cwd, 'notes'), 'utf8')).toBe('mine')
  })

  test('that a pid file is a folder, which it leaves where it is', async () => {
    const { cwd, run } = givenUser()
    mkdirSync(join(cwd, 'folder'))
    writeFileSync(join(cwd, 'folder', 'mine'), '')
    expect(await run('start', '--no-seed', '--port', '0', '--pid-file', 'folder')).toEqual(
      failed('folder is no pid file; name another file')
    )
    expect(readdirSync(cwd)).toEqual(['folder'])
    expect(readdirSync(join(cwd, 'folder'))).toEqual(['mine'])
  })

  test('that a pid file is that of a process of somebody else, and leaves it as it was', async () => {
    const { cwd, run } = givenUser()
    writeFileSync(join(cwd, 'other.pid'), `${process.pid}\n`)
    expect(await run('start', '--no-seed', '--port', '0', '--pid-file', 'other.pid')).toEqual(
      failed(`other.pid has the number of process ${process.pid}, which \`start\` has not started`)
    )
    expect(readFileSync(join(cwd, 'other.pid'), 'utf8')).toBe(`${process.pid}\n`)
  })

  test('what the log says of a start that can not be done', async () => {
    const { run } = givenUser()
    const sentence = "error: the server has not started: gone.yaml: can't be read: there is no such file"
    expect(await run('start', '--port', '0', '--seed', 'gone.yaml')).toEqual(failed(sentence))
    expect(await run('start', '--log-file', 'gone/a.log')).toEqual(failed("can't write gone/a.log: ENOENT"))
    expect(await run('status')).toMatchObject({ code: 1, stdout: 'no server is running\n' })
  })
})

test('of two starts at once, one gets the port, and of two one the pid file', async () => {
  const { cwd, run } = givenUser()
  // Of a process that has ended.
  writeFileSync(join(cwd, 'old.pid'), `${spawnSync('true').pid}\n`)
  const choices = [
    ['--port', `${await freePort()}`],
    ['--port', '0', '--pid-file', 'mock.pid'],
    ['--port', '0', '--pid-file', 'old.pid']
  ]
  for (const choice of choices) {
    const both = await Promise.all([1, 2].map(() => run('start', '--no-seed', ...choice)))
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1])
    expect(await run('stop')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^stopped \S+ \(process \d+\)\n$/)
    })
  }
})

test('stop of several asks for a choice, and --all stops them all', async () => {
  const { start, run } = givenUser()
  const servers = [await start(), await start()]
  expect(await run('stop')).toEqual(failed('choose one with --port or --pid-file, or give --all'))
  expect(await run('stop', '--port', new URL(servers[0]?.url ?? '').port)).toMatchObject({ code: 0 })
  expect(await Promise.all(servers.map(({ url }) => isHealthy(url)))).toEqual([false, true])
  expect(await run('stop', '--all')).toMatchObject({ code: 0 })
  expect(await isHealthy(servers[1]?.url ?? '')).toBe(false)
})

test('stop --all stops them all, whatever port a variable names', async () => {
  const { cwd, env, start } = givenUser(await freePort())
  const { url } = await start()
  expect(await runCommand(['stop', '--all'], { cwd, env })).toMatchObject({ code: 0 })
  expect(await isHealthy(url)).toBe(false)
})

test('stop never ends a process that has got the number of a server that has ended', async () => {
  const { cwd, start, run } = givenUser()
  const { pid, logFile } = await start('--pid-file', 'mock.pid')
  const file = join(dirname(logFile), `${pid}.json`)
  const record = readFileSync(file, 'utf8')
  await run('stop')
  const other = spawn('sleep', ['1000'])
  onTestFinished(() => void other.kill())
  writeFileSync(file.replace(`${pid}`, `${other.pid}`), record.replace(`"pid":${pid}`, `"pid":${other.pid}`))
  writeFileSync(join(cwd, 'mock.pid'), `${other.pid}\n`)
  expect(await run('stop', '--pid-file', 'mock.pid')).toEqual(ok('no server is running\n'))
  expect(process.kill(other.pid ?? 0, 0)).toBe(true)
})

test('a server that npm has started goes on when npm has ended', async () => {
  const { cwd, env, run } = givenUser()
  const folder = await givenDependent({ mock: 'notification-mock start --no-seed --port 0 --json' })
  const npm = await startProcess('npm', ['--silent', 'run', 'mock'], { cwd: folder, env })
  await npm.ended
  // Longer than a server looks for who has started it.
  await delay(300)
  expect(await isHealthy(JSON.parse(npm.printed).url)).toBe(true)
  expect(cwd).not.toBe(folder)
  expect(await run('stop')).toMatchObject({ code: 0 })
})

test.each(['SIGINT', 'SIGTERM'] as const)('%s to a start that takes long ends the server too', async (signal) => {
  const { cwd, env, run } = givenUser()
  const workflows = [{ identifier: 'a', steps: [{ type: 'email' }] }]
  const seed = { environments: [{ name: 'Shop', workflows, generate: { messages: 400_000 } }] }
  writeFileSync(join(cwd, 'seed.json'), JSON.stringify(seed))
  const args = ['start', '--seed', 'seed.json', '--port', '0', '--data', 'kept.db']
  const { child, ended } = await spawnCommand(args, { cwd, env })
  await vi.waitFor(() => expect(existsSync(join(cwd, 'kept.db-wal'))).toBe(true), { timeout: 20_000, interval: 20 })
  expect(await run('status')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^starting, process /) })
  child.kill(signal)
  expect(await ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'error: the server was stopped before it was ready\n'
  })
  expect(await run('status')).toMatchObject({ code: 1, stdout: 'no server is running\n' })
})

describe('wait', () => {
  test('ends when the server is ready, also if that is started later', async () => {
    const port = await freePort()
    const { run } = givenUser(port)
    const waiting = run('wait')
    expect(await run('start', '--no-seed')).toMatchObject({ code: 0 })
    expect(await waiting).toEqual(ok(`http://127.0.0.1:${port} is ready\n`))
    const { stdout } = await run('wait', `http://localhost:${port}/`, '--json')
    expect(JSON.parse(stdout)).toEqual({ url: `http://localhost:${port}`, milliseconds: expect.any(Number) })
  })

  test('a flag wins over NOTIFICATION_MOCK_URL', async () => {
    const { url } = await startCommand(['--no-seed'])
    const env = { NOTIFICATION_MOCK_URL: 'http://127.0.0.1:9' }
    const { port } = new URL(url)
    expect(await runCommand(['wait', '--port', port, '--timeout', '5'], { env })).toEqual(ok(`${url} is ready\n`))
  })

  test('fails after --timeout, with what the server did', async () => {
    const server = createServer((_, response) => response.writeHead(503).end('starting')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const sentence = `error: not ready after 1 s: ${url}/health: answers 503: starting\n`
    expect(await runCommand(['wait', url, '--timeout', '1'])).toEqual(failed(sentence))
  })
})

test('status asks any server by its url, or that of NOTIFICATION_MOCK_URL', async () => {
  const { url } = await startCommand(['--no-seed'])
  expect(await runCommand(['status', url])).toEqual(ok(`${url}  running\n`))
  expect(await runCommand(['status'], { env: { NOTIFICATION_MOCK_URL: url } })).toEqual(ok(`${url}  running\n`))
  expect(await runCommand(['status', 'http://127.0.0.1:9'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('not')
  })
  expect(await runCommand(['status', '127.0.0.1:9'])).toMatchObject({ code: 2, stderr: expect.stringContaining('URL') })
})
