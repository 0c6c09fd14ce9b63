import { expect, test } from 'vitest'
import { addFault, journalOf } from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

interface Operation {
  route: string
  method: string
  path: string
  needs: 'environment' | 'server' | 'nothing'
}

/** Returns every route in the OpenAPI document of the control routes. */
async function operationsOf(mock: TestMock): Promise<Operation[]> {
  const { paths } = (await mock.get('/_mock/openapi.json')).json
  return Object.entries<Record<string, { security?: object[] }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [] }]) => ({
      route: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: path.replace('{name}', 'none').replace('{id}', 'none').replace('{sequence}', '1'),
      needs: neededAccess(security)
    }))
  )
}

test('routes of an environment need its API key; the admin token is not enough', async () => {
  const mock = await useMock({ adminToken: 'let-me-in' })
  for (const { method, path, route, needs } of await operationsOf(mock)) {
    if (needs !== 'environment') continue
    for (const headers of [
      {},
      { authorization: 'ApiKey nobody' },
      { authorization: 'Bearer let-me-in' }
    ]) {
      const response = await mock.call(path, {
        method,
        key: null,
        headers,
        ...(method !== 'GET' && { body: '{}' })
      })
      expect(response.status, route).toBe(401)
    }
  }
})

test('every route rejects unknown query parameters and changes nothing', async () => {
  const mock = await useMock()
  await addFault(mock, { times: 'always', effect: { status: 503 } })
  await mock.get('/v1/messages')
  for (const { method, path, route } of await operationsOf(mock)) {
    if (path === '/health') continue
    const response = await mock.call(`${path}?nonsense=1`, { method })
    expect([response.status, Object.keys(response.json.errors ?? {})], route).toEqual([
      422,
      ['nonsense']
    ])
  }
  expect((await mock.get('/_mock/faults')).json.faults).toHaveLength(1)
  expect(await journalOf(mock)).toHaveLength(1)
})

test('every route rejects unknown fields in the body', async () => {
  const mock = await useMock()
  await addFault(mock, { times: 'always', effect: { status: 503 } })
  for (const { method, path, route } of await operationsOf(mock)) {
    if (method === 'GET') continue
    const response = await mock.call(path, { method, body: '{"nonsense": 1}' })
    expect([response.status, Object.keys(response.json.errors ?? {})], route).toEqual([
      422,
      expect.arrayContaining(['nonsense'])
    ])
  }
  expect((await mock.get('/_mock/faults')).json.faults).toHaveLength(1)
})

test('every route rejects a body that is not a JSON object', async () => {
  const mock = await useMock()
  for (const { method, path, route } of await operationsOf(mock)) {
    if (method === 'GET') continue
    // `/_mock/seed` also accepts YAML, so it treats a syntax error as an invalid seed.
    const expected = path === '/_mock/seed' ? 422 : 400
    for (const type of [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'json'
    ]) {
      const response = await mock.call(path, {
        method,
        body: '{"a": ',
        headers: { 'content-type': type }
      })
      expect(response.status, route).toBe(expected)
    }
    for (const body of ['[]', '"text"', 'null', '1']) {
      expect((await mock.call(path, { method, body })).status, `${route} ${body}`).toBe(422)
    }
  }
})

test('the test client rejects a response that violates the OpenAPI document', async () => {
  const mock = await useMock()
  mock.services.faults.list = () => [{ id: 7 } as never]
  await expect(mock.get('/_mock/faults')).rejects.toThrow('response violates the API reference')
})

function neededAccess(security: readonly object[]): 'environment' | 'server' | 'nothing' {
  if (security.some((scheme) => 'ApiKey' in scheme)) return 'environment'
  return security.length > 0 ? 'server' : 'nothing'
}
