import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'

const notFound = (name: string) =>
  `no environment has the id or name ${name}; GET /_mock/environments lists all environments`

test.each([
  ['producton', `${notFound('producton')}; did you mean Production?`],
  ['nobody', notFound('nobody')]
])(
  'rejects the removal of the unknown environment %s and suggests a similar name',
  async (name, reason) => {
    const mock = await useMock()
    const response = await mock.call(`/_mock/environments/${name}`, { method: 'DELETE', key: null })
    expect(response.status).toBe(404)
    expect(response.headers.get('x-mock-reason')).toBe(reason)
  }
)

test('rejects a fork of an unknown environment and suggests a similar name', async () => {
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
