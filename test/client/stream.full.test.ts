import { once } from 'node:events'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type Environment } from '../../src/client/index.js'
import { until } from '../support/control.js'
import { useMock, useNewMock } from '../support/mock.js'

/** Starts a proxy in front of a server. `cut` closes its connections, and `close` also stops it. */
async function createProxy(target: { port: number }) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const other = connectTo(target.port, '127.0.0.1')
    for (const end of [socket, other]) {
      sockets.add(end)
      end.on('error', () => {}).once('close', () => sockets.delete(end))
    }
    socket.pipe(other).pipe(socket)
    socket.once('close', () => other.destroy())
    other.once('close', () => socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const close = () => {
    server.close()
    cut()
  }
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, cut, close }
}

async function createEnvironment() {
  const server = await useMock()
  const env = await connect(server.url).environment({ from: 'Development' })
  return { server, proxy: await createProxy(server), env }
}

const sendRequest = ({ headers }: Environment, url: string, page: number) =>
  fetch(`${url}/v1/messages?page=${page}`, { headers })

/**
 * Resolves when the stream through the proxy is open. From then on, the stream yields every request
 * that ends.
 */
const streamIsOpen = (proxy: { sockets: Set<Socket> }) =>
  until(() =>
    [...proxy.sockets].some(({ bytesRead, bytesWritten }) => bytesRead > 0 && bytesWritten > 0)
  )

test('a stream yields requests that end after it opens, and disconnects on `break`', async () => {
  const { server, proxy, env } = await createEnvironment()
  const streaming = connect(proxy.url).attach(env.apiKey)
  await sendRequest(env, server.url, 1)
  const sending = streamIsOpen(proxy).then(() => sendRequest(env, server.url, 2))
  for await (const { query } of streaming.requests.stream()) {
    expect(query).toEqual({ page: '2' })
    break
  }
  await sending
  await until(() => proxy.sockets.size === 0)
})

test('a stream continues without gaps or repetitions after its connection is lost', async () => {
  const { server, proxy, env } = await createEnvironment()
  const stream = connect(proxy.url).attach(env.apiKey).requests.stream()
  const first = stream.next()
  await streamIsOpen(proxy)
  // Close the connection before the stream has received a request.
  proxy.cut()
  for (const page of [1, 2]) await sendRequest(env, server.url, page)
  expect((await first).value).toMatchObject({ query: { page: '1' } })
  expect((await stream.next()).value).toMatchObject({ query: { page: '2' } })
  proxy.cut()
  await sendRequest(env, server.url, 3)
  expect((await stream.next()).value).toMatchObject({ query: { page: '3' } })
  await stream.return()
})

test('a stream ends when the signal aborts, even while it waits for a request', async () => {
  const { url } = await useMock()
  const env = await connect(url).environment()
  const ending = new AbortController()
  const stream = env.requests.stream({ signal: ending.signal })
  const next = stream.next()
  ending.abort()
  expect(await next).toEqual({ done: true, value: undefined })
  expect(await env.requests.stream({ signal: AbortSignal.abort() }).next()).toEqual({
    done: true,
    value: undefined
  })
})

test('a stream ends when the environment is removed', async () => {
  const { proxy, env } = await createEnvironment()
  const next = connect(proxy.url).attach(env.apiKey).requests.stream().next()
  await streamIsOpen(proxy)
  await env.remove()
  expect(await next).toEqual({ done: true, value: undefined })
})

test('a stream throws if the key is unknown, or if the server stays unreachable', async () => {
  const { url } = await useMock()
  await expect(connect(url).attach('no-key').requests.stream().next()).rejects.toMatchObject({
    status: 401
  })

  const server = await useNewMock()
  const proxy = await createProxy(server)
  const env = await connect(proxy.url).environment()
  const next = env.requests.stream().next()
  await streamIsOpen(proxy)
  proxy.close()
  await expect(next).rejects.toThrow(`no response from ${proxy.url}`)
})

test('a stream throws if several connections in a row end without any data', async () => {
  const { requests } = connect('http://127.0.0.1:9', {
    fetch: async () => new Response('')
  }).attach('any-key')
  await expect(requests.stream().next()).rejects.toThrow(
    'the server kept closing the stream without sending data'
  )
})
