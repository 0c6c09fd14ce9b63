import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'

test('an unknown environment is refused with the name that was probably meant', async () => {
  const mock = await useMock()
  const no = (name: string) =>
    `there is no environment ${name}: GET /_mock/environments lists those there are`
  const headers = { 'content-type': 'application/json' }
  const forked = await mock.post('/_mock/environments', {
    headers,
    body: '{"from":"Developmnet"}',
    key: null
  })
  const removed = await mock.call('/_mock/environments/producton', { method: 'DELETE', key: null })
  const other = await mock.call('/_mock/environments/nobody', { method: 'DELETE', key: null })
  expect([forked, removed, other].map(({ status }) => status)).toEqual([404, 404, 404])
  expect([forked, removed, other].map((answer) => answer.headers.get('x-mock-reason'))).toEqual([
    `${no('Developmnet')}; did you mean Development?`,
    `${no('producton')}; did you mean Production?`,
    no('nobody')
  ])
})
