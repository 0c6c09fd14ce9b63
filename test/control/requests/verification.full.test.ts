import { expect, test } from 'vitest'
import { head, raw, send, until, verify } from '../../support/control.js'
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
}, 120_000)

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
}, 120_000)
