import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startOpenRequest } from '../support/open-request.js'
import {
  createDependentPackage,
  createTempFolder,
  type RunningProcess,
  spawnCommand,
  startCommand,
  startProcess
} from '../support/process.js'
import {
  AUTHORIZATION,
  expectCleanFile,
  KEPT,
  primaryInFile,
  SET_PRIMARY,
  untilClosing,
  untilSeeding,
  writeSeed
} from './stopping.js'

function connectTo({ url }: RunningProcess): Socket {
  const socket = connect({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    allowHalfOpen: true
  })
  onTestFinished(() => {
    socket.destroy()
  })
  return socket.on('error', () => {})
}

/**
 * Requests and streams that could keep a server from stopping. Each function opens one, and
 * resolves when the server is busy with it.
 */
const BUSY: Record<string, (server: RunningProcess) => Promise<unknown>> = {
  'a request that never ends': ({ url }) => startOpenRequest(`${url}${SET_PRIMARY}`, AUTHORIZATION),
  'a request whose headers never end': async (server) => {
    const socket = connectTo(server)
    socket.write(
      'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /v1/messages HTTP/1.1\r\nhost:'
    )
    await once(socket, 'data')
  },
  'a stream that its client does not read': async (server) => {
    const socket = connectTo(server).pause()
    socket.write(
      'GET /_mock/requests/stream HTTP/1.1\r\nhost: a\r\n' +
        'authorization: ApiKey development-key\r\n\r\n'
    )
    for (let count = 0; count < 400; count += 1) {
      await fetch(`${server.url}/v1/messages?a=${'x'.repeat(8000)}`, { headers: AUTHORIZATION })
    }
  },
  'a delayed response': async ({ url }) => {
    fetch(`${url}/v1/messages`, {
      headers: { ...AUTHORIZATION, 'x-mock-fault': 'delay=60000' }
    }).catch(() => {})
    await fetch(`${url}/health`)
  }
}

test.each(Object.entries(BUSY))(
  'despite %s, SIGTERM ends the process within seconds, and leaves a clean data file',
  async (what, makeBusy) => {
    const cwd = createTempFolder()
    const server = await startCommand(KEPT, { cwd })
    await makeBusy(server)
    const sentAt = performance.now()
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.ended
    expect(code).toBe(0)
    // The server ends its own streams and delayed responses without a warning. It warns only if it
    // closes a connection on which the client is still sending a request.
    expect(stderr.includes('"msg":"closing connections that are still busy"')).toBe(
      what.startsWith('a request')
    )
    // The process usually ends within a second. The limit is higher for busy machines.
    expect(performance.now() - sentAt).toBeLessThan(3500)
    expectCleanFile(cwd)
  }
)

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s during startup ends the process, and the next start seeds the file again',
  async (signal) => {
    const cwd = createTempFolder()
    writeSeed(cwd, 400_000)
    const args = ['--seed', 'seed.json', '--data', 'kept.db']
    const { child, ended } = await spawnCommand([...args, '--port', '0'], { cwd })
    await untilSeeding(cwd)
    const sentAt = performance.now()
    child.kill(signal)
    expect(await ended).toEqual({ code: null, signal, stdout: '', stderr: '' })
    // Seeding the whole file would take much longer than this limit.
    expect(performance.now() - sentAt).toBeLessThan(2000)

    writeSeed(cwd, 1)
    const { url } = await startCommand(args, { cwd })
    const list = await fetch(`${url}/v1/messages`, { headers: { authorization: 'ApiKey shop' } })
    expect(await list.json()).toMatchObject({ totalCount: 1 })
  }
)

test.each([
  ['SIGTERM', 'npm alone'],
  ['SIGINT', 'the whole process group (as Ctrl-C does)']
] as const)(
  'if npm runs the server, %s sent to %s lets requests finish, and leaves a clean data file',
  async (signal, to) => {
    const folder = await createDependentPackage({
      start: 'notification-mock --port 0 --data kept.db'
    })
    // Start npm in its own process group, like a shell job or a supervised service.
    const server = await startProcess('npm', ['--silent', 'start'], { cwd: folder, detached: true })
    const call = await startOpenRequest(`${server.url}${SET_PRIMARY}`, AUTHORIZATION)
    process.kill(to === 'npm alone' ? server.child.pid : -server.child.pid, signal)
    await untilClosing(server.url)
    expect(await call.finish()).toMatchObject({ status: 200 })
    await server.ended
    expectCleanFile(folder)
    expect(primaryInFile(folder)).toBe(1)
  }
)
