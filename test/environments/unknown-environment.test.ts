import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'

const notFound = (name: string) =>
  `no environment has the id or name ${name}; GET /_mock/environments lists all environments`

test.each([
  ['producton', `${notFound('producton')}; did you mean Production?`],
  ['nobody', notFound('nobody')]
])('removing the unknown environment %s is rejected, with a suggestion', async (name, reason) => {
  const mock = await useMock()
  const response = await mock.call(`/_mock/environments/${name}`, { method: 'DELETE', key: null })
  expect(response.status).toBe(404)
  expect(response.headers.get('x-mock-reason')).toBe(reason)
})

test('forking an unknown environment is rejected with a suggestion', async () => {
  const mock = await useMock()
  const response = await mock.post('/_mock/environments', {
    headers: { 'content-type': 'application/json' },
    body: '{"from":"Developmnet"}',
    key: null
  })
  expect(response.status).toBe(404)
  const reason = `${notFound('Developmnet')}; did you mean Development?`
  expect(response.headers.get('x-mock-reason')).toBe(reason)
})
