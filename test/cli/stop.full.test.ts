import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { givenOpenCall } from '../support/open-call.js'
import {
  commandIn,
  givenDependent,
  givenFolder,
  givenPackage,
  type Running,
  startCommand,
  startProcess
} from '../support/process.js'
import { AUTHORIZATION, expectCleanFile, KEPT, primaryInFile, SET_PRIMARY, untilClosing } from './stopping.js'

/** A server with a data file, and a request that it waits for the rest of. */
async function givenBusyServer() {
  const cwd = givenFolder()
  const server = await startCommand(KEPT, { cwd })
  await givenOpenCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
  return { cwd, ...server }
}

test('a request that never ends is cut after five seconds, and the file is closed clean', async () => {
  const { cwd, child, ended } = await givenBusyServer()
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
  const { cwd, child, ended } = await givenBusyServer()
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
    const call = await givenOpenCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
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
      const call = await givenOpenCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
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
      const call = await givenOpenCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
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
