import { type FastifyInstance, fastify } from 'fastify'
import { expect, test } from 'vitest'
import { registerControl } from '../../src/control/index.js'
import { testService } from '../../src/control/report/service.js'
import { assume } from '../../src/core/assumptions.js'
import { COMPILERS } from '../../src/http/validation.js'
import { addFault, journalOf } from '../support/control.js'
import { type GivenMock, givenMock } from '../support/mock.js'

interface Operation {
  route: string
  method: string
  path: string
  operationId: string
  summary: string
  takesBody: boolean
  parameters: string[]
  needs: 'environment' | 'server' | 'nothing'
}

/** All that the document of the control routes describes. */
async function operationsOf(mock: GivenMock): Promise<Operation[]> {
  const { paths } = (await mock.get('/_mock/openapi.json')).json
  return Object.entries<Record<string, Described>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, requestBody, parameters = [], security = [] }]) => ({
      route: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: path.replace('{name}', 'none').replace('{id}', 'none').replace('{sequence}', '1'),
      operationId,
      summary,
      takesBody: requestBody !== undefined,
      parameters: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
      needs: security.some((each) => 'ApiKey' in each) ? 'environment' : security.length > 0 ? 'server' : 'nothing'
    }))
  )
}

interface Described {
  operationId: string
  summary: string
  requestBody?: object
  parameters?: { in: string; name: string }[]
  security?: object[]
}

test('every control route that the server has is in the document, and nothing else is', async () => {
  const mock = await givenMock()
  const described = await operationsOf(mock)
  expect(described.map(({ route }) => route).sort()).toEqual(await servedControlRoutes(mock))
  expect(new Set(described.map(({ operationId }) => operationId)).size).toBe(described.length)
})

/** As the routers tell them. */
async function servedControlRoutes(mock: GivenMock): Promise<string[]> {
  const control = fastify({ schemaController: { compilersFactory: COMPILERS } })
  control.register(async (scope) =>
    registerControl(scope, { ...mock.services, ...NO_DOCUMENT, tests: testService(mock.services) })
  )
  await control.ready()
  const served = [mock.app, control].flatMap((app) => routesOf(app))
  return [...new Set(served)].sort()
}

const NO_DOCUMENT = { assumptions: assume('document'), document: async () => ({}) }

function routesOf(app: FastifyInstance): string[] {
  const routes: string[] = []
  const stack: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false, includeHooks: false }).split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^([│├└─\s]*)(\S+) \((.+)\)/.exec(line) ?? []
    if (part === '') continue
    const depth = indent.length / 4
    stack.length = depth - 1
    stack.push(part)
    const url = stack.join('').replace(/:(\w+)(\(\\d\+\))?/g, '{$1}')
    if (!url.startsWith('/_mock/') && url !== '/health') continue
    routes.push(
      ...methods
        .split(', ')
        .filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
        .map((method) => `${method} ${url}`)
    )
  }
  return routes
}

test('every route about one environment rejects requests without its key', async () => {
  const mock = await givenMock()
  for (const { method, path, route, needs } of await operationsOf(mock)) {
    if (needs !== 'environment') continue
    for (const key of [null, 'nobody']) {
      expect((await mock.call(path, { method, key, ...(method !== 'GET' && { body: '{}' }) })).status, route).toBe(401)
    }
  }
})

test('every route refuses query parameters that it does not have, names them, and does nothing', async () => {
  const mock = await givenMock()
  await addFault(mock, { times: 'always', effect: { status: 503 } })
  await mock.get('/v1/messages')
  for (const { method, path, route } of await operationsOf(mock)) {
    if (path === '/health') continue
    const refused = await mock.call(`${path}?nonsense=1`, { method })
    expect([refused.status, Object.keys(refused.json.errors ?? {})], route).toEqual([422, ['nonsense']])
  }
  expect((await mock.get('/_mock/faults')).json.faults).toHaveLength(1)
  expect(await journalOf(mock)).toHaveLength(1)
})

test('every route that takes a body refuses fields that it does not have, and every other any field', async () => {
  const mock = await givenMock()
  await addFault(mock, { times: 'always', effect: { status: 503 } })
  for (const { method, path, route } of await operationsOf(mock)) {
    if (method === 'GET') continue
    const refused = await mock.call(path, { method, body: '{"nonsense": 1}' })
    expect([refused.status, Object.keys(refused.json.errors ?? {})], route).toEqual([
      422,
      expect.arrayContaining(['nonsense'])
    ])
  }
  expect((await mock.get('/_mock/faults')).json.faults).toHaveLength(1)
})

test('every route refuses a body that is not JSON, or no object, whatever it says it is', async () => {
  const mock = await givenMock()
  for (const { method, path, route } of await operationsOf(mock)) {
    if (method === 'GET') continue
    // Takes YAML too, where a mistake is told with its place.
    const expected = path === '/_mock/seed' ? 422 : 400
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'json']) {
      const refused = await mock.call(path, { method, body: '{"a": ', headers: { 'content-type': type } })
      expect(refused.status, route).toBe(expected)
    }
    for (const body of ['[]', '"text"', 'null', '1']) {
      expect((await mock.call(path, { method, body })).status, `${route} ${body}`).toBe(422)
    }
  }
})

test('every route answers as the document says', async () => {
  const mock = await givenMock()
  // Each answer is checked by `call`; here only that each route is once called well.
  const called = new Set<string>()
  const call = async (method: string, template: string, body?: unknown, path = template) => {
    const answer = await mock.call(path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    called.add(`${method} ${template}`)
    return answer
  }
  for (const path of [
    '/health',
    '/_mock/assumptions',
    '/_mock/scenarios',
    '/_mock/openapi.json',
    '/_mock/state',
    '/_mock/clock',
    '/_mock/chance'
  ]) {
    await call('GET', path)
  }
  const { environmentId } = (await call('POST', '/_mock/environments', { name: 'Mine' })).json
  await call('GET', '/_mock/environments')
  await call('GET', '/_mock/environments/{id}/keys', undefined, `/_mock/environments/${environmentId}/keys`)
  await call('DELETE', '/_mock/environments/{id}', undefined, `/_mock/environments/${environmentId}`)
  await call('POST', '/_mock/seed', { environments: [{ name: 'Development' }] })
  for (const [path, record] of [
    ['messages', { channel: 'sms' }],
    ['integrations', { channel: 'sms', providerId: 'twilio' }]
  ] as const) {
    const { _id } = (await call('POST', `/_mock/${path}`, record)).json
    await call('PATCH', `/_mock/${path}/{id}`, { providerId: 'other' }, `/_mock/${path}/${_id}`)
    await call('DELETE', `/_mock/${path}/{id}`, undefined, `/_mock/${path}/${_id}`)
  }
  await call('GET', '/_mock/integrations')
  await call('GET', '/_mock/workflows')
  await call('PUT', '/_mock/snapshots/{name}', undefined, '/_mock/snapshots/a')
  await call('GET', '/_mock/snapshots')
  await call('GET', '/_mock/snapshots/{name}/differences', undefined, '/_mock/snapshots/a/differences')
  await call('POST', '/_mock/snapshots/{name}/restore', {}, '/_mock/snapshots/a/restore')
  await call('DELETE', '/_mock/snapshots/{name}', undefined, '/_mock/snapshots/a')
  await call('PUT', '/_mock/clock', { mode: 'offset', by: 5 })
  await call('POST', '/_mock/clock/advance', { by: 5 })
  await call('PUT', '/_mock/chance', { randomSeed: 1 })
  const { id } = (await call('POST', '/_mock/faults', { effect: { status: 503, body: [1] } })).json
  await mock.get('/v1/messages', { key: 'nobody' })
  await call('PUT', '/_mock/latency', { preset: 'none' })
  await call('GET', '/_mock/latency')
  await call('GET', '/_mock/faults')
  await call('DELETE', '/_mock/faults/{id}', undefined, `/_mock/faults/${id}`)
  await call('DELETE', '/_mock/faults')
  await mock.get('/v1/messages?a=1&a=2')
  await call('GET', '/_mock/requests')
  await call('GET', '/_mock/requests/changes')
  await call('GET', '/_mock/requests/keyless')
  await call('GET', '/_mock/requests/{sequence}', undefined, '/_mock/requests/1')
  await call('GET', '/_mock/requests/keyless/{sequence}', undefined, '/_mock/requests/keyless/1')
  await call('GET', '/_mock/differences')
  await call('PUT', '/_mock/test', { title: 'a test', outcome: 'failed' })
  await call('GET', '/_mock/report')
  await call('POST', '/_mock/requests/verify', { operation: 'listMessages' })
  await call('DELETE', '/_mock/requests')
  for (const path of ['/_mock/coverage', '/_mock/coverage/server']) {
    await call('GET', path)
    await call('DELETE', path)
  }
  await call('POST', '/_mock/reset', {})
  const described = (await operationsOf(mock)).map(({ route }) => route)
  expect([...called, 'GET /_mock/requests/stream'].sort()).toEqual(described.sort())
})

test('a control answer that is not as the document says fails the run', async () => {
  const mock = await givenMock()
  mock.services.faults.list = () => [{ id: 7 } as never]
  await expect(mock.get('/_mock/faults')).rejects.toThrow('answer against the contract')
})
