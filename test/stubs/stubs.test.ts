import { expect, test } from 'vitest'
import { create, journalOf } from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

const TRIGGER = { method: 'POST', path: '/v1/events/trigger', status: 201, body: { data: 1 } }
const SUBSCRIBER = { method: 'GET', path: '/v1/subscribers/{subscriberId}', body: { data: 'ada' } }

const addStub = (mock: TestMock, stub: object, key?: string) =>
  mock.post('/_mock/stubs', { body: JSON.stringify(stub), ...(key && { key }) })
const listStubs = async (mock: TestMock, key?: string) =>
  (await mock.get('/_mock/stubs', { ...(key && { key }) })).json.stubs
const trigger = (mock: TestMock, key?: string | null) =>
  mock.post(TRIGGER.path, { body: '{}', ...(key !== undefined && { key }) })

test('responds with the status, headers and body of a stub', async () => {
  const mock = await useMock()
  const added = await addStub(mock, { ...TRIGGER, headers: { 'X-Team': 'a' } })
  expect(added).toMatchObject({ status: 201, json: { id: 'stub-1', status: 201 } })
  const response = await trigger(mock)
  expect(response).toMatchObject({ status: 201, json: { data: 1 } })
  expect(response.headers.get('x-mock-stub')).toBe('stub-1')
  expect(response.headers.get('x-team')).toBe('a')
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
})

test('a stub has the status 200 and no body by default', async () => {
  const mock = await useMock()
  await addStub(mock, { method: 'DELETE', path: '/v1/topics' })
  expect(await mock.call('/v1/topics', { method: 'DELETE' })).toMatchObject({
    status: 200,
    text: ''
  })
})

test('sends a string body as plain text', async () => {
  const mock = await useMock()
  await addStub(mock, { ...SUBSCRIBER, body: 'Ada' })
  const response = await mock.get('/v1/subscribers/1')
  expect(response.text).toBe('Ada')
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
})

test.each([
  ['/v1/subscribers/a', 'stub-1'],
  ['/v1/subscribers/a%2Fb?x=1', 'stub-1'],
  ['/v1/subscribers/me', 'stub-2'],
  ['/v1/subscribers/', null],
  ['/v1/subscribers/a/b', null]
])('a request for %s gets the stub %s', async (path, id) => {
  const mock = await useMock()
  await addStub(mock, SUBSCRIBER)
  await addStub(mock, { ...SUBSCRIBER, path: '/v1/subscribers/me' })
  expect((await mock.get(path)).headers.get('x-mock-stub')).toBe(id)
})

test('a later stub for the same requests replaces the earlier one and keeps its id', async () => {
  const mock = await useMock()
  await addStub(mock, SUBSCRIBER)
  const later = await addStub(mock, { ...SUBSCRIBER, path: '/v1/subscribers/{id}', status: 404 })
  expect(later.json).toMatchObject({ id: 'stub-1', status: 404, replaced: true })
  expect(await listStubs(mock)).toHaveLength(1)
})

test.each<[string, object, string]>([
  ['status', { status: 199 }, 'status must be a whole number from 200 to 599, not 199'],
  ['path', { path: 'v1/x' }, 'path must start with /'],
  ['path', { path: '/v1/x?y=1' }, "path can't contain spaces, ?, #, * or \\"],
  [
    'path',
    { path: '/v1/{a}b' },
    'path has the invalid segment {a}b; a parameter must be a whole segment, such as {id}, ' +
      "and its name must have only letters, digits and _ and can't start with a digit"
  ],
  ['path', { path: '/{a}/{a}' }, 'path has two parameters with the same name'],
  ['path', { path: '/_mock/stubs' }, 'path belongs to the mock server itself'],
  [
    'path',
    { method: 'GET', path: '/v1/messages' },
    'path is served by the operation GET /v1/messages; ' +
      'to change the response, edit the records or add a fault'
  ],
  [
    'path',
    { path: '/v1/integrations/{id}/set-primary' },
    'path is served by the operation POST /v1/integrations/:integrationId/set-primary; ' +
      'to change the response, edit the records or add a fault'
  ],
  [
    'headers.connection',
    { headers: { connection: 'x' } },
    "headers.connection can't be sent as a header"
  ],
  ['body', { status: 204 }, "body can't be sent with status 204"],
  ['body', { body: 'x'.repeat(1024 * 1024) }, 'body must be at most 1 MiB of JSON']
])('rejects a stub with a bad %s: %o', async (field, change, message) => {
  const mock = await useMock()
  const response = await addStub(mock, { ...TRIGGER, ...change })
  expect(response.status).toBe(422)
  expect(response.json.errors[field].messages).toEqual([message])
  expect(await listStubs(mock)).toEqual([])
})

test.each([
  '/',
  '/health',
  '/openapi.json',
  '/docs',
  '/docs/install.md',
  '/llms.txt',
  '/seeds/schema.json'
])('rejects a stub for %s, which the server itself serves', async (path) => {
  const mock = await useMock()
  const { status, json } = await addStub(mock, { method: 'GET', path })
  expect(status).toBe(422)
  expect(json.errors.path.messages).toEqual(['path belongs to the mock server itself'])
  expect((await mock.get(path)).status).toBe(200)
})

test('an environment has at most 1,000 stubs', async () => {
  const stubs = Array.from({ length: 1000 }, (_, n) => ({ method: 'GET', path: `/v1/x/${n}` }))
  const mock = await useMock({ seed: { environments: [{ name: 'Full', stubs }] } })
  const response = await addStub(mock, TRIGGER)
  expect(response).toMatchObject({
    status: 400,
    json: { message: 'An environment can have at most 1000 stubs' }
  })
  expect((await addStub(mock, { ...stubs[0], status: 404 })).status).toBe(201)
})

test('removes one stub or all of them', async () => {
  const mock = await useMock()
  await addStub(mock, TRIGGER)
  await addStub(mock, SUBSCRIBER)
  expect((await mock.call('/_mock/stubs/stub-1', { method: 'DELETE' })).status).toBe(204)
  expect((await mock.call('/_mock/stubs/stub-1', { method: 'DELETE' })).status).toBe(404)
  expect((await trigger(mock)).status).toBe(404)
  expect((await mock.call('/_mock/stubs', { method: 'DELETE' })).status).toBe(204)
  expect(await listStubs(mock)).toEqual([])
})

test('delays the response by the delay of the stub', async () => {
  const mock = await useMock()
  await addStub(mock, { ...TRIGGER, delay: 150 })
  const start = performance.now()
  await trigger(mock)
  expect(performance.now() - start).toBeGreaterThan(140)
})

test('a stub only serves requests with the API key of its environment', async () => {
  const mock = await useMock()
  const { apiKey } = (await create(mock, { name: 'Other' })).json
  await addStub(mock, TRIGGER)
  expect((await trigger(mock)).status).toBe(201)
  expect((await trigger(mock, apiKey)).status).toBe(404)
  expect((await trigger(mock, null)).status).toBe(401)
})

test('a fork starts with copies of all stubs, and can remove only its own copies', async () => {
  const mock = await useMock()
  await addStub(mock, TRIGGER)
  const { apiKey } = (await create(mock, { from: 'Development' })).json
  await mock.call('/_mock/stubs', { method: 'DELETE', key: apiKey })
  expect((await trigger(mock, apiKey)).status).toBe(404)
  expect((await trigger(mock)).status).toBe(201)
})

test('a snapshot contains the stubs, and a reset restores the stubs of the baseline', async () => {
  const mock = await useMock()
  await addStub(mock, TRIGGER)
  await mock.call('/_mock/snapshots/stubbed', { method: 'PUT' })
  await mock.post('/_mock/reset')
  expect(await listStubs(mock)).toEqual([])
  await mock.post('/_mock/snapshots/stubbed/restore')
  expect((await trigger(mock)).status).toBe(201)
  expect((await mock.get('/_mock/diff')).json.settings).toEqual(['stubs.POST /v1/events/trigger'])
})

test('an export contains the stubs, so an environment created from it has them', async () => {
  const mock = await useMock()
  await addStub(mock, { ...SUBSCRIBER, delay: 1, headers: { 'x-a': 'b' } })
  const seed = (await mock.get('/_mock/state')).json
  expect(seed.environments[0].stubs).toEqual([
    { ...SUBSCRIBER, status: 200, delay: 1, headers: { 'x-a': 'b' } }
  ])
  const { apiKey } = (await create(mock, { seed })).json
  expect((await mock.get('/v1/subscribers/1', { key: apiKey })).json).toEqual({ data: 'ada' })
})

test('records a stubbed request, but does not count it as unmocked or as coverage', async () => {
  const mock = await useMock()
  await addStub(mock, TRIGGER)
  await mock.post(TRIGGER.path, { body: '{"name":"welcome"}' })
  const [request] = await journalOf(mock)
  expect(request).toMatchObject({ status: 201, body: '{"name":"welcome"}' })
  expect(request?.flags).toEqual({ stubbed: 'stub-1' })
  const coverage = (await mock.get('/_mock/coverage')).json
  expect(coverage).toMatchObject({ covered: 0, requests: 0, unmocked: { requests: 0 } })
})

test('verifies a stubbed request by its method, path and body', async () => {
  const mock = await useMock()
  await addStub(mock, TRIGGER)
  await mock.post(TRIGGER.path, { body: '{"name":"welcome"}' })
  const pattern = { method: 'POST', path: TRIGGER.path, body: { matches: 'welcome' }, count: 1 }
  const body = JSON.stringify(pattern)
  expect((await mock.post('/_mock/requests/verify', { body })).status).toBe(200)
})

test('a stub for GET responds to HEAD, without a body', async () => {
  const mock = await useMock()
  await addStub(mock, SUBSCRIBER)
  const response = await mock.call('/v1/subscribers/1', { method: 'HEAD' })
  expect(response).toMatchObject({ status: 200, text: '' })
  expect(response.headers.get('x-mock-stub')).toBe('stub-1')
})

test('rejects a merge that would exceed 1,000 stubs, and keeps the existing stubs', async () => {
  const stubsFrom = (start: number) =>
    Array.from({ length: 600 }, (_, n) => ({ method: 'GET', path: `/v1/x/${start + n}` }))
  const mock = await useMock({ seed: { environments: [{ name: 'Full', stubs: stubsFrom(0) }] } })
  const body = JSON.stringify({ stubs: stubsFrom(600) })
  expect((await mock.post('/_mock/seed', { body })).status).toBe(400)
  expect(await listStubs(mock)).toHaveLength(600)
})
