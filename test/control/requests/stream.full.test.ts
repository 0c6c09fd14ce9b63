import { expect, test } from 'vitest'
import { DEVELOPMENT, head, raw, setPrimary, until } from '../../support/control.js'
import { type GivenMock, givenMock } from '../../support/mock.js'

/** Large enough that a few hundred are more than a socket takes unread. */
const BODY = 'word '.repeat(13_000)

async function post(mock: GivenMock, count: number): Promise<void> {
  const headers = { authorization: `ApiKey ${DEVELOPMENT}` }
  for (let n = 0; n < count; n++) {
    await (await fetch(mock.url + setPrimary('none'), { method: 'POST', headers, body: BODY })).arrayBuffer()
  }
}

/** Of the requests: the first block has an id too, that of what came before. */
const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)\nevent: /gm)].map(([, id]) => Number(id))
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('a stream that resumes over more than 16 MiB delivers each request, and goes on', async () => {
  const mock = await givenMock()
  await post(mock, 300)
  const { text } = raw(mock, head('GET /_mock/requests/stream', 'last-event-id: 0'))
  await until(() => idsIn(text()).length === 300)
  await post(mock, 1)
  await until(() => idsIn(text()).length === 301)
  expect(idsIn(text())).toEqual(range(1, 301))
  expect(text()).not.toContain('no longer in the journal')
})

test('a client that does not read costs no memory, and is told what it has missed', async () => {
  const mock = await givenMock({ journal: 20 })
  const { socket, text } = raw(mock, head('GET /_mock/requests/stream'))
  await until(() => text().includes('as they are answered'))
  socket.pause()
  await post(mock, 400)
  socket.resume()
  await until(() => idsIn(text()).includes(400))
  const ids = idsIn(text())
  // The journal's, and what the two sockets hold.
  expect(ids.length).toBeLessThan(250)
  expect(ids.slice(-20)).toEqual(range(381, 400))
  const missed = [...text().matchAll(/^: (\d+) requests before this one are no longer in the journal$/gm)]
  expect(ids.length + missed.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(400)
})

test('a stream that resumes over 60,000 requests delivers them in seconds, each once and in order', async () => {
  const mock = await givenMock({ journal: 60_000 })
  const journal = mock.services.journals.of(mock.services.environments.find('Development'))
  for (let n = 0; n < 60_000; n++)
    journal.open(`GET\n/v1/messages?limit=${n}\nx-a\n${'a '.repeat(100)}`, undefined).end(200)
  const before = performance.now()
  const { text } = raw(mock, head('GET /_mock/requests/stream', 'last-event-id: 0'))
  await until(() => text().endsWith('\r\n') && text().includes('id: 60000\n'))
  expect(performance.now() - before).toBeLessThan(25_000)
  expect(idsIn(text())).toEqual(range(1, 60_000))
})
