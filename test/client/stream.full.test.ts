import { once } from 'node:events'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type Environment } from '../../src/client/index.js'
import { until } from '../support/control.js'
import { useMock, useNewMock } from '../support/mock.js'

/** Starts a proxy to a server that can close all of its connections. */
async function givenWay(target: { port: number }) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const other = connectTo(target.port, '127.0.0.1')
    for (const each of [socket, other]) {
      sockets.add(each)
      each.on('error', () => {}).once('close', () => sockets.delete(each))
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

async function given() {
  const server = await useMock()
  const env = await connect(server.url).environment({ from: 'Development' })
  return { server, way: await givenWay(server), env }
}

const ask = ({ headers }: Environment, url: string, page: number) =>
  fetch(`${url}/v1/messages?page=${page}`, { headers })

/**
 * Resolves when the environment's stream is open: it includes all requests that finish from then
 * on.
 */
const begun = (way: { sockets: Set<Socket> }) =>
  until(() =>
    [...way.sockets].some(({ bytesRead, bytesWritten }) => bytesRead > 0 && bytesWritten > 0)
  )

test('a stream yields the requests that finish after its start, and `break` closes its connection', async () => {
  const { server, way, env } = await given()
  const streaming = connect(way.url).attach(env.apiKey)
  await ask(env, server.url, 1)
  const asked = begun(way).then(() => ask(env, server.url, 2))
  for await (const { query } of streaming.requests.stream()) {
    expect(query).toEqual({ page: '2' })
    break
  }
  await asked
  await until(() => way.sockets.size === 0)
})

test('a stream continues after its connection is lost, without missing or repeated requests', async () => {
  const { server, way, env } = await given()
  const stream = connect(way.url).attach(env.apiKey).requests.stream()
  const first = stream.next()
  await begun(way)
  // Before the stream has received anything.
  way.cut()
  for (const page of [1, 2]) await ask(env, server.url, page)
  expect((await first).value).toMatchObject({ query: { page: '1' } })
  expect((await stream.next()).value).toMatchObject({ query: { page: '2' } })
  way.cut()
  await ask(env, server.url, 3)
  expect((await stream.next()).value).toMatchObject({ query: { page: '3' } })
  await stream.return()
})

test('an abort signal ends a stream, even while it waits', async () => {
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
  const { way, env } = await given()
  const next = connect(way.url).attach(env.apiKey).requests.stream().next()
  await begun(way)
  await env.remove()
  expect(await next).toEqual({ done: true, value: undefined })
})

test('a stream throws if the key is unknown, or if the server stays unreachable', async () => {
  const { url } = await useMock()
  await expect(connect(url).attach('no-key').requests.stream().next()).rejects.toMatchObject({
    status: 401
  })

  const server = await useNewMock()
  const way = await givenWay(server)
  const env = await connect(way.url).environment()
  const next = env.requests.stream().next()
  await begun(way)
  way.close()
  await expect(next).rejects.toThrow(`no response from ${way.url}`)
})

test('a stream throws after repeated connections without data', async () => {
  const { requests } = connect('http://127.0.0.1:9', {
    fetch: async () => new Response('')
  }).attach('any-key')
  await expect(requests.stream().next()).rejects.toThrow(
    'every attempt to open the stream ended without any data'
  )
})
