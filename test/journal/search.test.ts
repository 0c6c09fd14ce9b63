import { expect, test } from 'vitest'
import { journalOf, MAILGUN, setPrimary } from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

const sequences = async (mock: TestMock, query: string) =>
  (await journalOf(mock, `?${query}`)).map(({ sequence }) => sequence)

test('finds requests that contain all search words, ignoring case', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages?contextKeys=tenant%3AAcme&limit=5000')
  await mock.post(setPrimary(MAILGUN), {
    headers: { 'idempotency-key': 'Order-7' },
    body: '{"note":"by hand"}'
  })
  await mock.get('/v1/subscribers', { headers: { 'x-request-id': 'from-the-app' } })
  for (const [text, expected] of [
    ['TENANT:acme', [1]],
    ['limit=5000', [1]],
    ['whole number', [1]],
    ['post order-7', [2]],
    ['by hand', [2]],
    ['from-the-app', [3]],
    ['v1 stub add', [3]],
    ['messages order-7', []],
    [' ', [1, 2, 3]]
  ] as const) {
    expect(await sequences(mock, new URLSearchParams({ text }).toString()), text).toEqual(expected)
  }
})

test('a search for a secret does not find the request that contains it', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages?apiKey=hidden-value')
  expect(await sequences(mock, 'text=hidden-value')).toEqual([])
  expect(await sequences(mock, 'text=development-key')).toEqual([])
  expect(await sequences(mock, 'text=apiKey')).toEqual([1])
})
