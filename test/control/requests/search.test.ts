import { expect, test } from 'vitest'
import { addFault, journalOf, MAILGUN, setPrimary } from '../../support/control.js'
import { type GivenMock, givenMock } from '../../support/mock.js'

const sequences = async (mock: GivenMock, query: string) =>
  (await journalOf(mock, `?${query}`)).map(({ sequence }) => sequence)

test('the journal is read newest first, page by page, to its beginning', async () => {
  const mock = await givenMock()
  for (const page of [0, 1, 2, 3, 4]) await mock.get(`/v1/messages?page=${page}`)
  expect(await sequences(mock, 'order=newest&limit=2')).toEqual([5, 4])
  expect(await sequences(mock, 'order=newest&limit=2&before=4')).toEqual([3, 2])
  expect(await sequences(mock, 'order=newest&limit=2&before=2')).toEqual([1])
  expect(await sequences(mock, 'before=3')).toEqual([1, 2])
  expect(await sequences(mock, 'limit=2')).toEqual([1, 2])
})

test('words are looked for in method, path, parameters, ids, body and reason, in any case, and all must be there', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages?contextKeys=tenant%3AAcme&limit=5000')
  await mock.post(setPrimary(MAILGUN), { headers: { 'idempotency-key': 'Order-7' }, body: '{"note":"by hand"}' })
  await mock.get('/v1/subscribers', { headers: { 'x-request-id': 'from-the-app' } })
  for (const [text, found] of [
    ['TENANT:acme', [1]],
    ['limit=5000', [1]],
    ['whole number', [1]],
    ['post order-7', [2]],
    ['by hand', [2]],
    ['from-the-app', [3]],
    ['v1 served', [3]],
    ['messages order-7', []],
    [' ', [1, 2, 3]]
  ] as const) {
    expect(await sequences(mock, new URLSearchParams({ text }).toString()), text).toEqual(found)
  }
})

test('a search finds nothing by a secret', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages?apiKey=hidden-value')
  expect(await sequences(mock, 'text=hidden-value')).toEqual([])
  expect(await sequences(mock, 'text=development-key')).toEqual([])
  expect(await sequences(mock, 'text=apiKey')).toEqual([1])
})

test('requests are filtered by a class of statuses, by none, and by the beginning of their path', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages')
  await mock.get('/v1/messages?limit=0')
  await mock.get('/v2/workflows/none/steps/none')
  await addFault(mock, { effect: { abort: 'reset' } })
  await mock.get('/v1/messages').catch(() => {})
  expect(await sequences(mock, 'status=4xx')).toEqual([2, 3])
  expect(await sequences(mock, 'status=422')).toEqual([2])
  expect(await sequences(mock, 'status=2xx')).toEqual([1])
  expect(await sequences(mock, 'status=none')).toEqual([4])
  expect(await sequences(mock, 'pathPrefix=/v1/&status=4xx')).toEqual([2])
  expect(await sequences(mock, 'pathPrefix=/v2/')).toEqual([3])
  const refused = await mock.get('/_mock/requests?status=9xx&order=sideways')
  expect([refused.status, Object.keys(refused.json.errors)]).toEqual([422, ['status', 'order']])
})
