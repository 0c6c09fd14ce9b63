import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createTarget } from '../../src/targets/target.js'

/** A server whose answers are given by hand, in the order of the requests. */
async function givenHolding() {
  const held: ServerResponse[] = []
  const waiting: (() => void)[] = []
  const server = createServer((_, response) => {
    held.push(response)
    waiting.shift()?.()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    /** Resolves when the next request has come in. */
    asked: () => new Promise<void>((resolve) => waiting.push(resolve))
  }
}

test('an interruption ends a read at once, waits for a POST that is under way, and lets nothing more be sent', async () => {
  const { url, held, asked } = await givenHolding()
  const stop = new AbortController()
  const target = createTarget({ url, apiKey: 'a-key', signal: stop.signal })
  let came = asked()
  const read = expect(target.ask('/v1/messages')).rejects.toThrow('interrupted')
  await came
  came = asked()
  const change = target.ask('/v1/integrations/one/set-primary', { method: 'POST' })
  await came
  stop.abort()
  await read
  held[1]?.end('{"done":true}')
  expect((await change).body).toEqual({ done: true })
  await expect(target.ask('/v1/messages')).rejects.toThrow('interrupted')
  expect(held.length).toBe(2)
  came = asked()
  const last = target.ask('/v1/integrations/one/set-primary', { method: 'POST', uninterrupted: true })
  await came
  held[2]?.end('{}')
  expect((await last).status).toBe(200)
})

test('an answer is asked for again while a check rejects it, as often as was said, and no more', async () => {
  let requests = 0
  const server = createServer((_, response) => void response.end(++requests < 3 ? '<html>' : '{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const retries: string[] = []
  const target = createTarget({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'a-key',
    onRetry: (reason) => void retries.push(reason)
  })
  const check = ({ body }: { body: unknown }) => (body === undefined ? 'answers no JSON' : undefined)
  const outcome = await target.askAgain('/v1/messages', { tries: 2, check })
  expect(outcome).toMatchObject({ answer: { status: 200, text: '<html>' }, problem: 'answers no JSON', tries: 2 })
  expect(retries).toEqual(['GET /v1/messages: answers no JSON'])
  expect(await target.askAgain('/v1/messages', { tries: 2, check })).toMatchObject({ answer: { body: {} }, tries: 1 })
  expect(requests).toBe(3)
})
