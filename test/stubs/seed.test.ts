import { expect, test } from 'vitest'
import { readSeeds } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'
import { useMock } from '../support/mock.js'

test("stubs in a seed respond to requests that have their environment's API key", async () => {
  const stubs = [{ method: 'GET', path: '/v1/feeds', body: { data: [] } }]
  const mock = await useMock({ seed: { environments: [{ name: 'Shop', stubs }] } })
  expect(await mock.get('/v1/feeds')).toMatchObject({ status: 200, json: { data: [] } })
})

test('reports all invalid stubs of a seed, with their locations in the seed', () => {
  const stubs = [
    { method: 'GET', path: '/v1/messages' },
    { method: 'GET', path: '/v1/feeds', headers: { upgrade: 'x' } },
    { method: 'GET', path: 'v1' }
  ]
  const seed = { environments: [{ name: 'Shop', stubs }] }
  expect(() => resolveSeeds(readSeeds([{ name: 'seed', seed }]), 0)).toThrow(
    [
      'seed environments[0].stubs[0].path: is served by the operation GET /v1/messages; ' +
        'to change the response, edit the records or add a fault',
      "seed environments[0].stubs[1].headers.upgrade: can't be sent as a header",
      'seed environments[0].stubs[2].path: must start with /'
    ].join('\n')
  )
})

test('merging a seed replaces stubs with the same method and path, and keeps others', async () => {
  const stub = (path: string, status: number) => ({ method: 'GET', path, status })
  const stubs = [stub('/v1/feeds', 200), stub('/v1/layouts', 200)]
  const mock = await useMock({ seed: { environments: [{ name: 'Shop', stubs }] } })
  await mock.post('/_mock/seed', { body: JSON.stringify({ stubs: [stub('/v1/feeds', 404)] }) })
  expect((await mock.get('/v1/feeds')).status).toBe(404)
  expect((await mock.get('/v1/layouts')).status).toBe(200)
})

test('rejects a seed that has an environment with more than 1,000 stubs', () => {
  const stubs = Array.from({ length: 1001 }, (_, n) => ({ method: 'GET', path: `/v1/x/${n}` }))
  const seed = { environments: [{ name: 'Shop', stubs }] }
  expect(() => resolveSeeds(readSeeds([{ name: 'seed', seed }]), 0)).toThrow(
    /^seed environments\[0\]\.stubs: must have at most 1000/
  )
})
