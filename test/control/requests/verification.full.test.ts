import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { DEVELOPMENT, head, raw, send, setPrimary, until, verify } from '../../support/control.js'
import { givenMock } from '../../support/mock.js'

const GUARD = 10_000

test('nine thousand who wait for the same request are all answered by it, and none is reset', async () => {
  const mock = await givenMock()
  const body = JSON.stringify({ query: { subscriberId: 'ada' }, within: 600_000 })
  const ask = () => raw(mock, head('POST /_mock/requests/verify', `content-length: ${body.length}`) + body)
  const clients = Array.from({ length: 9000 }, ask)
  const failed: unknown[] = []
  for (const { closed } of clients) closed.then((error) => error && failed.push(error))
  const connections = () => new Promise<number>((resolve) => mock.app.server.getConnections((_error, n) => resolve(n)))
  await until(async () => (await connections()) >= 9000)
  await mock.get('/v1/messages?subscriberId=other')
  expect(clients.filter(({ text }) => text() !== '')).toEqual([])
  const before = performance.now()
  await mock.get('/v1/messages?subscriberId=ada')
  await until(() => clients.every(({ text }) => text().startsWith('HTTP/1.1 200 OK')))
  expect(performance.now() - before).toBeLessThan(GUARD)
  expect(failed).toEqual([])
})

test('a verification that fails looks at a bounded part of what came with other keys', async () => {
  const mock = await givenMock()
  const headers = { 'x-words': Array.from({ length: 40 }, (_, index) => `word-${index}`).join(' ') }
  for (let n = 0; n < 20; n++) {
    const { apiKey } = (await send(mock, 'POST', '/_mock/environments', {})).json
    const request = (index: number) =>
      fetch(`${mock.url}/v1/messages?limit=${index + 1}`, {
        headers: { ...headers, authorization: `ApiKey ${apiKey}` }
      })
    await Promise.all(Array.from({ length: 200 }, async (_, index) => (await request(index)).arrayBuffer()))
  }
  const byOperation = await verify(mock, { operation: 'setIntegrationAsPrimary' })
  expect([byOperation.status, byOperation.json.ctx.elsewhere]).toEqual([417, []])
  const byQuery = await verify(mock, { query: { limit: '9999' } })
  expect([byQuery.status, byQuery.json.ctx.elsewhere]).toEqual([
    417,
    ['not all requests of other environments were looked at']
  ])
  const found = await verify(mock, { query: { limit: '200' } })
  expect(found.json.ctx.elsewhere).toContain(
    'such a request came with the key of an environment of another organization'
  )
})

test('requests are answered at once while two thousand wait for different ones', async () => {
  const mock = await givenMock()
  for (let n = 0; n < 1000; n++) await (await fetch(`${mock.url}/v1/messages?limit=1`, AUTHORIZED)).arrayBuffer()
  const ask = (index: number) => {
    const body = JSON.stringify({ query: { limit: '1' }, atLeast: 5000 + index, within: 600_000 })
    return raw(mock, head('POST /_mock/requests/verify', `content-length: ${body.length}`) + body)
  }
  const clients = Array.from({ length: 20_000 }, (_, index) => ask(index))
  const { listeners } = mock.services.journals.of(mock.services.environments.find('Development'))
  await until(() => listeners.size >= 2000)
  await fetch(`${mock.url}/health`)
  const before = performance.now()
  for (let n = 0; n < 20; n++) await (await fetch(`${mock.url}/v1/messages?limit=1`, AUTHORIZED)).arrayBuffer()
  expect(performance.now() - before).toBeLessThan(GUARD)
  expect(clients.filter(({ text }) => text() !== '')).toEqual([])
})

test('others get their turn while large bodies are searched for a pattern', async () => {
  const mock = await givenMock()
  for (let n = 0; n < 30; n++) {
    // Letters in no order, others each time, so that the search remembers little of what it has seen.
    const letters = createHash('shake128', { outputLength: 1000 }).update(`${n}`).digest()
    const body = Array.from(letters, (byte) => (byte < 128 ? 'a' : 'b')).join('')
    await (await fetch(mock.url + setPrimary('none'), { ...AUTHORIZED, method: 'POST', body })).arrayBuffer()
  }
  // As the first look describes the requests.
  await verify(mock, { query: { a: 'described' } })

  const startedAt = performance.now()
  let longestTurn = 0
  let last = startedAt
  let isOver = false
  const turn = () => {
    const now = performance.now()
    longestTurn = Math.max(longestTurn, now - last)
    last = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const { status } = await verify(mock, { body: { matches: '(a|b)*a(a|b){40}[yz]' } })
  isOver = true
  expect(status).toBe(417)
  // In one go it is nearly all of the time.
  expect(longestTurn).toBeLessThan((last - startedAt) / 3)
})

const AUTHORIZED = { headers: { authorization: `ApiKey ${DEVELOPMENT}` } }
