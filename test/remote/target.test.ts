import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createTarget } from '../../src/remote/target.js'
import { listen } from './listen.js'

test('an interruption ends a read at once, waits for a POST that is under way, and lets nothing more be sent', async () => {
  // Its answers are given by hand, in the order of the requests.
  const held: ServerResponse[] = []
  await using server = await listen((_, response) => void held.push(response))
  const asked = (count: number) => expect.poll(() => held.length).toBe(count)
  const stop = new AbortController()
  const target = createTarget({ url: server.url, apiKey: 'a-key', signal: stop.signal })
  const read = expect(target.ask('/v1/messages')).rejects.toThrow('interrupted')
  await asked(1)
  const change = target.ask('/v1/integrations/one/set-primary', { method: 'POST' })
  await asked(2)
  stop.abort()
  await read
  held[1]?.end('{"done":true}')
  expect((await change).body).toEqual({ done: true })
  await expect(target.ask('/v1/messages')).rejects.toThrow('interrupted')
  expect(held.length).toBe(2)
  const last = target.ask('/v1/integrations/one/set-primary', {
    method: 'POST',
    uninterrupted: true
  })
  await asked(3)
  held[2]?.end('{}')
  expect((await last).status).toBe(200)
})

test('an answer is asked for again while a check rejects it, as often as was said, and no more', async () => {
  let requests = 0
  await using server = await listen(
    (_, response) => void response.end(++requests < 3 ? '<html>' : '{}')
  )
  const retries: string[] = []
  const target = createTarget({
    url: server.url,
    apiKey: 'a-key',
    onRetry: (reason) => void retries.push(reason)
  })
  const check = ({ body }: { body: unknown }) =>
    body === undefined ? 'answers no JSON' : undefined
  const outcome = await target.askAgain('/v1/messages', { tries: 2, check })
  expect(outcome).toMatchObject({
    answer: { status: 200, text: '<html>' },
    problem: 'answers no JSON',
    tries: 2
  })
  expect(retries).toEqual(['GET /v1/messages: answers no JSON'])
  expect(await target.askAgain('/v1/messages', { tries: 2, check })).toMatchObject({
    answer: { body: {} },
    tries: 1
  })
  expect(requests).toBe(3)
})
