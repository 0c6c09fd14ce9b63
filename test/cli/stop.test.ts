import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { givenHeldCall } from '../support/held-call.js'
import {
  commandIn,
  givenDependent,
  givenFolder,
  givenPackage,
  type Running,
  spawnCommand,
  startCommand,
  startProcess
} from '../support/process.js'
import { integrationRows } from '../support/rows.js'

/** The default seed's key and one of its integrations that is not primary. */
const AUTHORIZATION = { authorization: 'ApiKey development-key' }
const SET_PRIMARY = '/v1/integrations/mailgun-eu/set-primary'

const KEPT = ['--data', 'kept.db']

/** Holds for a server that was stopped as it should be: nothing is left beside the file, and the file is whole. */
function expectCleanFile(folder: string): void {
  expect(readdirSync(folder).filter((name) => name.startsWith('kept.db'))).toEqual(['kept.db'])
  const file = new Database(join(folder, 'kept.db'), { readonly: true })
  expect(file.pragma('integrity_check', { simple: true })).toBe('ok')
  file.close()
}

function primaryInFile(folder: string): unknown {
  const file = new Database(join(folder, 'kept.db'), { readonly: true })
  const [row] = integrationRows(file).filter(({ identifier }) => identifier === 'mailgun-eu')
  file.close()
  return row?.is_primary
}

/** Resolves as soon as the server takes no new connection: it has begun to close. */
async function untilClosing(url: string): Promise<void> {
  const { port, hostname } = new URL(url)
  while (await takesConnections(Number(port), hostname));
}

function takesConnections(port: number, host: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, host, () => settle(true)).on('error', () => settle(false))
    socket.once('connect', () => socket.destroy())
  })
}

describe.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s', (signal) => {
  test('ends an idle server with 0 and a clean file, whatever connections are kept open', async () => {
    const cwd = givenFolder()
    const { child, url, ended } = await startCommand(KEPT, { cwd })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const [response] = await once(get(`${url}/health`, { agent }), 'response')
    await once(response.resume(), 'end')
    const unused = connect(Number(new URL(url).port), '127.0.0.1')
    await once(unused, 'connect')
    unused.on('error', () => {})

    child.kill(signal)
    // No word of having cut a connection either: it did not wait for one.
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expectCleanFile(cwd)
  })

  test('lets a request that is being sent be answered, and what it did is kept', async () => {
    const cwd = givenFolder()
    const { child, url, ended } = await startCommand(KEPT, { cwd })
    const call = await givenHeldCall(`${url}${SET_PRIMARY}`, { ...AUTHORIZATION, 'idempotency-key': 'one' })
    child.kill(signal)
    await untilClosing(url)

    expect(await call.finish()).toMatchObject({
      status: 200,
      headers: { connection: 'close', 'idempotency-key': 'one' },
      text: expect.stringContaining('"primary":true')
    })
    expect(await ended).toMatchObject({ code: 0, signal: null })
    expectCleanFile(cwd)
    expect(primaryInFile(cwd)).toBe(1)
  })
})

test('a signal while it still starts ends it as cleanly', async () => {
  const cwd = givenFolder()
  const { child, ended } = await spawnCommand([...KEPT, '--port', '0'], { cwd })
  while (!existsSync(join(cwd, 'kept.db'))) await setImmediate()
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  expectCleanFile(cwd)
})

test('a signal in the moment in which it says that it is ready ends it as cleanly', async () => {
  const cwd = givenFolder()
  const { child, ended } = await startCommand(KEPT, { cwd })
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  expectCleanFile(cwd)
})

test('a request that never ends is cut after five seconds, and the file is closed clean', async () => {
  const cwd = givenFolder()
  const { child, url, ended } = await startCommand(KEPT, { cwd })
  await givenHeldCall(`${url}${SET_PRIMARY}`, AUTHORIZATION)
  const sentAt = performance.now()
  child.kill('SIGTERM')
  const { code, stderr } = await ended
  const took = performance.now() - sentAt
  expect(code).toBe(0)
  expect(JSON.parse(stderr)).toMatchObject({
    level: 40,
    connections: 1,
    msg: 'connections that were still busy are cut'
  })
  expect(took).toBeGreaterThan(4500)
  expect(took).toBeLessThan(8000)
  expectCleanFile(cwd)
})

test('a second signal, a second later, cuts what is in flight at once, and the file is closed clean', async () => {
  const cwd = givenFolder()
  const { child, url, ended } = await startCommand(KEPT, { cwd })
  await givenHeldCall(`${url}${SET_PRIMARY}`, AUTHORIZATION)
  const sentAt = performance.now()
  child.kill('SIGINT')
  // As a person would who sees that nothing happens.
  const again = setInterval(() => child.kill('SIGINT'), 300)
  const { code } = await ended
  clearInterval(again)
  expect(code).toBe(0)
  expect(performance.now() - sentAt).toBeLessThan(4500)
  expectCleanFile(cwd)
  expect(primaryInFile(cwd)).toBe(0)
})

test('a signal that comes twice at once, as from a terminal through npm, cuts nothing', async () => {
  const cwd = givenFolder()
  const { child, url, ended } = await startCommand(KEPT, { cwd })
  const calls = await Promise.all([1, 2, 3].map(() => givenHeldCall(`${url}${SET_PRIMARY}`, AUTHORIZATION)))
  child.kill('SIGINT')
  await untilClosing(url)
  child.kill('SIGINT')
  // One after the other: while the first is answered, a cut would come.
  for (const call of calls) expect(await call.finish()).toMatchObject({ status: 200 })
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
  expectCleanFile(cwd)
})

test('a fault that nobody caught closes the file clean, is logged, and ends it with 1', async () => {
  const cwd = givenFolder()
  writeFileSync(join(cwd, 'fault.mjs'), `process.once('SIGUSR2', () => { throw new Error('out of the blue') })`)
  const env = { NODE_OPTIONS: `--import=${join(cwd, 'fault.mjs')}` }
  const { child, ended } = await startCommand(KEPT, { cwd, env })
  child.kill('SIGUSR2')
  const { code, stderr } = await ended
  expect(code).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({ level: 60, err: { message: 'out of the blue' } })
  expectCleanFile(cwd)
})

describe('started through npm', () => {
  const SERVE = 'notification-mock --port 0 --data kept.db'

  /** npm in a process group of its own, like a job of a shell or a service of a supervisor. */
  async function startNpm(args: string[], start = SERVE): Promise<{ server: Running; folder: string }> {
    const folder = await givenDependent({ start, wrapped: `echo before && ${start} && echo after` })
    const env = { npm_config_update_notifier: 'false' }
    const server = await startProcess('npm', ['--silent', ...args], { cwd: folder, env, detached: true })
    return { server, folder }
  }

  test.each([
    ['npm start', ['start'], 'SIGTERM'],
    ['npm run, within other commands', ['run', 'wrapped'], 'SIGTERM'],
    ['npm exec', ['exec', '--', 'notification-mock', '--port', '0', '--data', 'kept.db'], 'SIGTERM']
  ] as const)('%s: %s to npm alone finishes what is in flight and closes the file clean', async (_, args, signal) => {
    const { server, folder } = await startNpm([...args])
    const call = await givenHeldCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
    server.child.kill(signal)
    await untilClosing(server.url)
    expect(await call.finish()).toMatchObject({ status: 200 })
    await server.ended
    expectCleanFile(folder)
    expect(primaryInFile(folder)).toBe(1)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s to the whole group, as a terminal sends it, finishes what is in flight and closes the file clean',
    async (signal) => {
      const { server, folder } = await startNpm(['start'])
      const call = await givenHeldCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
      process.kill(-server.child.pid, signal)
      await untilClosing(server.url)
      expect(await call.finish()).toMatchObject({ status: 200 })
      await server.ended
      expectCleanFile(folder)
    }
  )

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s to npm alone reaches a script that begins with exec',
    async (signal) => {
      const { server, folder } = await startNpm(['start'], `exec ${SERVE}`)
      const call = await givenHeldCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
      server.child.kill(signal)
      await untilClosing(server.url)
      expect(await call.finish()).toMatchObject({ status: 200 })
      await server.ended
      expectCleanFile(folder)
    }
  )
})

test('without npm it goes on when its parent ends', async () => {
  const cwd = givenFolder()
  const file = commandIn(await givenPackage())
  const command = `"${process.execPath}" "${file}" --port 0 --json & echo; sleep 0.1; wait`
  const server = await startProcess('bash', ['-c', command], { cwd, detached: true })
  server.child.kill('SIGKILL')
  await once(server.child, 'exit')
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})
