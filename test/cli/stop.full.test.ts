import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { givenOpenCall } from '../support/open-call.js'
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
import { AUTHORIZATION, expectCleanFile, KEPT, primaryInFile, SET_PRIMARY, untilClosing } from './stopping.js'

function connectTo({ url }: Running): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  return socket.on('error', () => {})
}

/** What may keep a server busy when it is asked to stop, each begun so that the server knows of it. */
const BUSY: Record<string, (server: Running) => Promise<unknown>> = {
  'a request that never ends': ({ url }) => givenOpenCall(`${url}${SET_PRIMARY}`, AUTHORIZATION),
  'a request whose headers never end': async (server) => {
    const socket = connectTo(server)
    socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /v1/messages HTTP/1.1\r\nhost:')
    await once(socket, 'data')
  },
  'a client that does not read its answers': async (server) => {
    const socket = connectTo(server).pause()
    for (let count = 0; count < 500; count += 1) socket.write('GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await fetch(`${server.url}/openapi.json`)
  },
  'a stream that its client does not read': async (server) => {
    const socket = connectTo(server).pause()
    socket.write(`GET /_mock/requests/stream HTTP/1.1\r\nhost: a\r\nauthorization: ApiKey development-key\r\n\r\n`)
    for (let count = 0; count < 400; count += 1) {
      await fetch(`${server.url}/v1/messages?a=${'x'.repeat(8000)}`, { headers: AUTHORIZATION })
    }
  },
  'a verification that waits': async ({ url }) => {
    const body = JSON.stringify({ path: '/never', within: 30_000 })
    fetch(`${url}/_mock/requests/verify`, { method: 'POST', headers: AUTHORIZATION, body }).catch(() => {})
    await fetch(`${url}/health`)
  },
  'a delayed answer': async ({ url }) => {
    fetch(`${url}/v1/messages`, { headers: { ...AUTHORIZATION, 'x-mock-fault': 'delay=60000' } }).catch(() => {})
    await fetch(`${url}/health`)
  }
}

test.each(Object.entries(BUSY))('%s: SIGTERM ends the process within a second, the file clean', async (_, makeBusy) => {
  const cwd = givenFolder()
  const server = await startCommand(KEPT, { cwd })
  await makeBusy(server)
  const sentAt = performance.now()
  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
  // With room for a busy machine.
  expect(performance.now() - sentAt).toBeLessThan(3500)
  expectCleanFile(cwd)
})

test('says how many connections it has cut', async () => {
  const server = await startCommand([])
  await givenOpenCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
  server.child.kill('SIGTERM')
  const { stderr } = await server.ended
  const msg = 'connections that were still busy are cut'
  expect(JSON.parse(stderr)).toMatchObject({ level: 40, connections: 1, msg })
})

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends a start at once, and the next begins anew', async (signal) => {
  const folder = givenFolder()
  const seed = join(folder, 'seed.json')
  const workflows = [{ identifier: 'order', steps: [{ stepId: 'mail', type: 'email' }] }]
  const environment = { name: 'Shop', apiKeys: ['shop'], workflows, generate: { messages: 400_000 } }
  writeFileSync(seed, JSON.stringify({ environments: [environment] }))
  const data = join(folder, 'kept.db')
  const { child, ended } = await spawnCommand(['--seed', seed, '--data', data, '--port', '0'])
  await vi.waitFor(() => expect(existsSync(`${data}-wal`)).toBe(true), { timeout: 20_000, interval: 20 })
  const asked = performance.now()
  child.kill(signal)
  expect(await ended).toEqual({ code: null, signal, stdout: '', stderr: '' })
  // Seeding would take ten times as long.
  expect(performance.now() - asked).toBeLessThan(2000)

  environment.generate.messages = 1
  writeFileSync(seed, JSON.stringify({ environments: [environment] }))
  const { url } = await startCommand(['--seed', seed, '--data', data])
  const list = await fetch(`${url}/v1/messages`, { headers: { authorization: 'ApiKey shop' } })
  expect(await list.json()).toMatchObject({ totalCount: 1 })
})

describe('started through npm', () => {
  const SERVE = 'notification-mock --port 0 --data kept.db'

  test.each([
    ['npm start', ['start'], SERVE, 'SIGTERM', 'npm alone'],
    ['npm exec', ['exec', '--', ...SERVE.split(' ')], SERVE, 'SIGTERM', 'npm alone'],
    ['npm start', ['start'], SERVE, 'SIGINT', 'the whole group, as of a terminal']
  ] as const)(
    '%s: a signal finishes what is in flight and closes the file clean',
    async (_, args, start, signal, to) => {
      const folder = await givenDependent({ start, wrapped: `echo before && ${start} && echo after` })
      const env = { npm_config_update_notifier: 'false' }
      // In a process group of its own, like a job of a shell or a service of a supervisor.
      const server = await startProcess('npm', ['--silent', ...args], { cwd: folder, env, detached: true })
      const call = await givenOpenCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
      process.kill(to === 'npm alone' ? server.child.pid : -server.child.pid, signal)
      await untilClosing(server.url)
      expect(await call.finish()).toMatchObject({ status: 200 })
      await server.ended
      expectCleanFile(folder)
      expect(primaryInFile(folder)).toBe(1)
    }
  )
})

test('without npm it goes on when its parent ends', async () => {
  const ours = `"${process.execPath}" "${commandIn(await givenPackage())}"`
  const options = { cwd: givenFolder(), detached: true }
  const server = await startProcess('bash', ['-c', `${ours} --port 0 --json & wait`], options)
  server.child.kill('SIGKILL')
  await once(server.child, 'exit')
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})
