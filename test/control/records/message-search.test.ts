import { expect, test } from 'vitest'
import { DEVELOPMENT, send } from '../../support/control.js'
import { type TestMock, useMock } from '../../support/mock.js'

const search = async (mock: TestMock, query: string) =>
  (await mock.get(`/_mock/messages?${query}`, { key: DEVELOPMENT })).json

const TEA = {
  subscriberId: 'user-grace',
  channel: 'in_app',
  transactionId: 'tea_4%20',
  contextKeys: ['shop:north'],
  title: 'A "quoted" tea',
  content: 'Grüner\nTee \\ 50 % off'
}

test.each([
  ['its _id', (id: string) => id.slice(2, 20)],
  ['its transactionId', () => 'tea_4%'],
  ['its subscriberId and its content', () => 'user-grace grüner'],
  ["the subscriber's name in lower case", () => 'okafor quoted'],
  ['a context', () => 'shop:north'],
  ['a quote and a backslash', () => '"quoted" \\']
])('the message search finds a message by %s', async (_name, textOf) => {
  const mock = await useMock()
  const { json: added } = await send(mock, 'POST', '/_mock/messages', TEA)
  const text = encodeURIComponent(textOf(added._id))
  expect(await search(mock, `text=${text}`)).toEqual({ messages: [added], hasMore: false })
})

test.each(['t_a', '%', 'tea_5', 'transactionId'])(
  'the message search treats %s as plain text, and ignores field names',
  async (word) => {
    const mock = await useMock()
    await send(mock, 'POST', '/_mock/messages', { channel: 'sms', content: 'tea-5' })
    const { messages } = await search(mock, `text=${encodeURIComponent(word)}&channel=sms`)
    expect(messages).toEqual([])
  }
)

test('the pages of a search neither skip nor repeat matches', async () => {
  const mock = await useMock()
  const all = (await search(mock, 'text=ada')).messages
  const first = await search(mock, 'text=ada&limit=5')
  const second = await search(mock, 'text=ada&limit=5&page=1')
  expect(first).toMatchObject({ hasMore: true, messages: all.slice(0, 5) })
  expect(second.messages).toEqual(all.slice(5, 10))
})

test('a search with filters finds the same messages as listMessages', async () => {
  const mock = await useMock()
  const query = 'channel=email&contextKeys=tenant:acme&limit=100'
  const listed = (await mock.get(`/v1/messages?${query}`, { key: DEVELOPMENT })).json
  expect(await search(mock, query)).toEqual({
    messages: listed.data,
    totalCount: listed.totalCount,
    hasMore: false
  })
})

test.each([
  ['text=nowhere+channel', 'none of 60 messages contains "nowhere" and "channel"'],
  ['subscriberId=user-adda&text=tea', /no message matches subscriberId.*did you mean user-ada/]
])('a search without matches returns the reason: %s', async (query, reason) => {
  const mock = await useMock()
  const { messages, ...rest } = await search(mock, query)
  expect(messages).toEqual([])
  expect(rest.reason).toMatch(reason)
})

test('a message is found by its _id, and an unknown _id gets a 404', async () => {
  const mock = await useMock()
  const [message] = (await search(mock, 'limit=1')).messages
  const found = await mock.get(`/_mock/messages/${message._id.toUpperCase()}`, { key: DEVELOPMENT })
  expect(found.json).toEqual(message)
  const unknown = await mock.get('/_mock/messages/0123', { key: DEVELOPMENT })
  expect(unknown.status).toBe(404)
})
