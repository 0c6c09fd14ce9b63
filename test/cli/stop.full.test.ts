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

/** What may keep a server busy when it is asked to stop, each begun so that the server knows of it. */
const BUSY: Record<string, (server: Running) => Promise<unknown>> = {
  'a request that never ends': ({ url }) => givenOpenCall(`${url}${SET_PRIMARY}`, AUTHORIZATION),
  'a request whose headers never end': async ({ url }) => {
    const socket = connectTo(url)
    socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /v1/messages HTTP/1.1\r\nhost:')
    await once(socket, 'data')
  },
  'a client that does not read its answers': async ({ url }) => {
    const socket = connectTo(url).pause()
    const request = `GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n`
    for (let count = 0; count < 500; count += 1) socket.write(request)
    await fetch(`${url}/openapi.json`)
  },
  'a stream of requests': async ({ url }) => {
    const response = await fetch(`${url}/_mock/requests/stream`, { headers: AUTHORIZATION })
    await response.body?.getReader().read()
  },
  'a stream that its client does not read': async ({ url }) => {
    const socket = connectTo(url).pause()
    socket.write(`GET /_mock/requests/stream HTTP/1.1\r\nhost: a\r\nauthorization: ApiKey development-key\r\n\r\n`)
    for (let count = 0; count < 400; count += 1) {
      await fetch(`${url}/v1/messages?a=${'x'.repeat(8000)}`, { headers: AUTHORIZATION })
    }
  },
  'a verification that waits': async ({ url }) => {
    const body = JSON.stringify({ path: '/never', within: 30_000 })
    sendAndForget(fetch(`${url}/_mock/requests/verify`, { method: 'POST', headers: AUTHORIZATION, body }))
    await fetch(`${url}/health`)
  },
  'a delayed answer': async ({ url }) => {
    const headers = { ...AUTHORIZATION, 'x-mock-fault': 'delay=60000' }
    sendAndForget(fetch(`${url}/v1/messages`, { headers }))
    await fetch(`${url}/health`)
  },
  'a tunnel that was refused': async ({ url }) => {
    const socket = connectTo(url)
    socket.write('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(socket, 'data')
    const talking = setInterval(() => socket.write('x'), 100)
    onTestFinished(() => clearInterval(talking))
  }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends a start that takes long, and the next start begins anew',
  async (signal) => {
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
    // It was never ready.
    expect(await ended).toMatchObject({ code: 0, signal: null, stdout: '' })
    // A second on a quiet machine; the start takes ten times as long.
    expect(performance.now() - asked).toBeLessThan(4000)

    environment.generate.messages = 1
    writeFileSync(seed, JSON.stringify({ environments: [environment] }))
    const { url } = await startCommand(['--seed', seed, '--data', data])
    const list = await fetch(`${url}/v1/messages`, { headers: { authorization: 'ApiKey shop' } })
    expect(await list.json()).toMatchObject({ totalCount: 1 })
  }
)

function connectTo(url: string): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  return socket.on('error', () => {})
}

function sendAndForget(call: Promise<unknown>): void {
  call.catch(() => {})
}

describe.each(Object.entries(BUSY))('%s', (_, makeBusy) => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends the process within a second, the file clean', async (signal) => {
    const cwd = givenFolder()
    const server = await startCommand(KEPT, { cwd })
    await makeBusy(server)
    const sentAt = performance.now()
    server.child.kill(signal)
    const { code } = await server.ended
    expect(code).toBe(0)
    // With room for a busy machine.
    expect(performance.now() - sentAt).toBeLessThan(3500)
    expectCleanFile(cwd)
  })
})

test('says how many connections it has cut', async () => {
  const server = await startCommand([])
  await givenOpenCall(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
  server.child.kill('SIGTERM')
  const { stderr } = await server.ended
  expect(JSON.parse(stderr)).toMatchObject({
    level: 40,
    connections: 1,
    msg: 'connections that were still busy are cut'
  })
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
