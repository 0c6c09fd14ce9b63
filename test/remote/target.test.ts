import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { Target } from '../../src/remote/target.js'
import { listen } from './listen.js'

/**
 * Starts a server that leaves each request open until the test responds to it. Also returns a
 * `Target` for this server, and the `AbortController` that interrupts the target.
 */
async function startHeldServer() {
  const held: ServerResponse[] = []
  const server = await listen((_, response) => {
    held.push(response)
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const interrupt = new AbortController()
  const target = new Target({ url: server.url, apiKey: 'a-key', signal: interrupt.signal })
  const expectRequests = (count: number) => expect.poll(() => held.length).toBe(count)
  return { held, target, interrupt, expectRequests }
}

const SET_PRIMARY = '/v1/integrations/one/set-primary'

test('an interrupt aborts a GET at once', async () => {
  const { target, interrupt, expectRequests } = await startHeldServer()
  const read = expect(target.send('/v1/messages')).rejects.toThrow('interrupted')
  await expectRequests(1)
  interrupt.abort()
  await read
})

test('an interrupt lets a POST in progress finish', async () => {
  const { held, target, interrupt, expectRequests } = await startHeldServer()
  const change = target.send(SET_PRIMARY, { method: 'POST' })
  await expectRequests(1)
  interrupt.abort()
  held[0]?.end('{"done":true}')
  expect((await change).body).toEqual({ done: true })
})

test('after an interrupt, only requests with `uninterrupted` are sent', async () => {
  const { held, target, interrupt, expectRequests } = await startHeldServer()
  interrupt.abort()
  await expect(target.send('/v1/messages')).rejects.toThrow('interrupted')
  expect(held.length).toBe(0)
  const last = target.send(SET_PRIMARY, { method: 'POST', uninterrupted: true })
  await expectRequests(1)
  held[0]?.end('{}')
  expect((await last).status).toBe(200)
})

test('a request with an unusable response is sent at most `maxAttempts` times', async () => {
  let requests = 0
  await using server = await listen((_, response) => {
    requests += 1
    response.end(requests < 3 ? '<html>' : '{}')
  })
  const retries: string[] = []
  const target = new Target({
    url: server.url,
    apiKey: 'a-key',
    onRetry: (reason) => retries.push(reason)
  })
  const findProblem = ({ body }: { body: unknown }) =>
    body === undefined ? 'returned no JSON' : undefined
  const options = { maxAttempts: 2, findProblem }
  expect(await target.sendWithRetries('/v1/messages', options)).toMatchObject({
    response: { status: 200, text: '<html>' },
    problem: 'returned no JSON',
    attempts: 2
  })
  expect(retries).toEqual(['GET /v1/messages: returned no JSON'])
  expect(await target.sendWithRetries('/v1/messages', options)).toMatchObject({
    response: { body: {} },
    attempts: 1
  })
  expect(requests).toBe(3)
})
