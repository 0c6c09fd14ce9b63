import { expect, test } from 'vitest'
import { useMock } from '../../support/mock.js'
import { SHOP, seedOf } from '../../support/shop.js'
import {
  createEnvironment,
  expectConsistentDatasets,
  rowCounts,
  stateOf
} from './environment-client.js'

const NOW = Date.parse('2026-02-18T10:00:00.000Z')

const SEED = seedOf(SHOP)

const jsonOf = (value: unknown) => JSON.stringify(value)

test('an environment without a seed is empty, and has its own key and organization', async () => {
  const mock = await useMock()
  const one = await createEnvironment(mock)
  const two = await createEnvironment(mock, { name: 'Two' })

  expect(one).toMatchObject({
    name: 'Unnamed',
    apiKey: expect.stringMatching(/^[0-9a-f]{32}$/),
    profile: 'document'
  })
  expect(two.name).toBe('Two')
  const values = [one, two].flatMap(({ environmentId, organizationId, apiKey }) => [
    environmentId,
    organizationId,
    apiKey
  ])
  expect(new Set(values).size).toBe(6)
  const { name, ...records } = await stateOf(mock, one.apiKey)
  expect(records).toEqual({ integrations: [], subscribers: [], workflows: [], messages: [] })
  expectConsistentDatasets(mock.db)
})

test('replaces a lone surrogate at the end of a name with U+FFFD', async () => {
  const mock = await useMock()
  const { environmentId } = await createEnvironment(mock, { name: 'cut \ud83d' })
  const { environments } = (await mock.get('/_mock/environments')).json
  expect(environments).toContainEqual(
    expect.objectContaining({ environmentId, name: 'cut \ufffd' })
  )
})

test("a fork has its origin's records and its seed's records, even after a reset", async () => {
  const mock = await useMock()
  const origin = await createEnvironment(mock, { seed: SEED })
  const seed = {
    environments: [{ name: 'x', messages: [{ channel: 'sms', subscriberId: 'user-1' }] }]
  }
  const fork = await createEnvironment(mock, { from: origin.environmentId, seed })
  const both = await stateOf(mock, fork.apiKey)

  expect(both.messages?.map(({ channel }) => channel)).toEqual(['email', 'sms'])
  await mock.post('/_mock/reset', { key: fork.apiKey })
  expect(await stateOf(mock, fork.apiKey)).toEqual(both)
})

test('creates an environment in the organization of another environment', async () => {
  const mock = await useMock()
  const origin = await createEnvironment(mock, { seed: SEED, profile: 'live' })
  const { organizationId } = origin
  const sister = await createEnvironment(mock, {
    from: origin.environmentId,
    organizationId,
    name: 'Sister'
  })
  expect(sister.organizationId).toBe(organizationId)

  const empty = await createEnvironment(mock, { organizationId, profile: 'live' })
  const { _id } = (await stateOf(mock, origin.apiKey)).integrations?.[0] ?? {}
  expect(
    (await mock.post(`/v1/integrations/${_id}/set-primary`, { key: empty.apiKey })).status
  ).toBe(403)
  const stranger = await createEnvironment(mock, { profile: 'live' })
  expect(
    (await mock.post(`/v1/integrations/${_id}/set-primary`, { key: stranger.apiKey })).status
  ).toBe(404)
})

test('lists all environments, oldest first, without their snapshots and keys', async () => {
  const mock = await useMock({ assumptions: { envelope: 'data' } })
  const assumptions = { credentials: 'hidden', 'total-count': 'present' } as const
  const created = await createEnvironment(mock, { name: 'Mine', assumptions })
  await createEnvironment(mock, { name: 'Live', profile: 'live' })
  await mock.call('/_mock/snapshots/kept', { method: 'PUT', key: created.apiKey })

  const list = await mock.get('/_mock/environments', { key: null })
  const names = list.json.environments.map(({ name }: { name: string }) => name)
  expect(names).toEqual([...mock.seededEnvironments.map(({ name }) => name), 'Mine', 'Live'])
  const { apiKey, unauthenticatedAfter, ...listed } = created
  // The list omits assumptions that have the value of the environment's profile.
  const differing = { envelope: 'data', credentials: 'hidden' }
  const createdAt = expect.stringMatching(/^\d{4}-.*Z$/)
  const described = { assumptions: differing, createdAt, test: {} }
  expect(list.json.environments.at(-2)).toEqual({ ...listed, ...described })
  expect(list.json.environments.at(-1).assumptions).toEqual({})
  for (const key of [apiKey, ...mock.seededEnvironments.flatMap(({ apiKeys }) => apiKeys)])
    expect(list.text).not.toContain(key)
})

test("returns an environment's keys by id or name, until the environment is removed", async () => {
  const mock = await useMock()
  const created = await createEnvironment(mock, { name: 'Mine', from: 'Development' })
  const keysOf = (id: string) => mock.get(`/_mock/environments/${id}/keys`, { key: null })
  expect((await keysOf('Development')).json).toEqual({ apiKeys: ['development-key'] })
  for (const id of ['Mine', created.environmentId]) {
    const { json, headers } = await keysOf(id)
    expect([json, headers.get('cache-control')]).toEqual([
      { apiKeys: [created.apiKey] },
      'no-store'
    ])
  }
  await mock.call('/_mock/environments/Mine', { method: 'DELETE', key: null })
  expect((await keysOf('Mine')).json).toMatchObject({
    statusCode: 404,
    message: 'Environment Mine not found'
  })
  const again = await createEnvironment(mock, { name: 'Mine' })
  expect((await keysOf('Mine')).json).toEqual({ apiKeys: [again.apiKey] })
  expect(again.apiKey).not.toBe(created.apiKey)
})

test('removing an environment removes its rows, keys, snapshots and journal', async () => {
  const mock = await useMock()
  const before = rowCounts(mock.db)
  const { environmentId, apiKey: key } = await createEnvironment(mock, { from: 'Development' })
  await mock.call('/_mock/snapshots/kept', { method: 'PUT', key })
  await mock.post('/v1/integrations/mailgun-eu/set-primary', {
    key,
    headers: { 'idempotency-key': 'k' }
  })
  const { environments, journals } = mock.services
  const environment = environments.find(environmentId)
  expect(journals.of(environment).requests()).toHaveLength(1)
  expect(Object.values(rowCounts(mock.db))).not.toEqual(Object.values(before))

  const removed = await mock.call(`/_mock/environments/${environmentId}`, {
    method: 'DELETE',
    key: null
  })
  expect(removed.status).toBe(204)
  expect(rowCounts(mock.db)).toEqual(before)
  expectConsistentDatasets(mock.db)
  for (const path of ['/v1/messages', '/_mock/state', '/_mock/requests']) {
    expect((await mock.get(path, { key })).json).toMatchObject({
      statusCode: 401,
      message: 'API Key not found'
    })
  }
  expect([journals.of(environment).requests(), environments.apiKeysOf(environment)]).toEqual([
    [],
    []
  ])
})

test('removes an environment by its name only if the name is unique', async () => {
  const twins = ['a', 'b'].map((organization) => ({
    name: 'Mine',
    organization,
    apiKeys: [`${organization}-key`]
  }))
  const mock = await useMock({ seed: { environments: twins } })
  const remove = (name: string) =>
    mock.call(`/_mock/environments/${name}`, { method: 'DELETE', key: null })

  const response = await remove('Mine')
  expect([response.status, response.json.message]).toEqual([
    400,
    'There are 2 environments named Mine'
  ])
  expect(
    (await mock.post('/_mock/environments', { key: null, body: jsonOf({ from: 'Mine' }) })).status
  ).toBe(400)
  expect((await remove(mock.seededEnvironments[0]?.id ?? '')).status).toBe(204)
  expect((await remove('Mine')).status).toBe(204)
  expect((await remove('Mine')).status).toBe(404)
})

const FAULT = { effect: { status: 503 } }
const CONTRADICTION = { effect: { status: 503, abort: 'reset' } }

/** Invalid bodies, each with the expected status and the reported field. */
const INVALID: [title: string, body: object, status: number, field?: string][] = [
  ['an empty name', { name: '' }, 422, 'name'],
  ['an unknown profile', { profile: 'real' }, 422, 'profile'],
  ['an unknown assumption', { assumptions: { envelop: 'bare' } }, 422, 'assumptions.envelop'],
  [
    'an unknown value of an assumption',
    { assumptions: { envelope: 'x' } },
    422,
    'assumptions.envelope'
  ],
  ['an unknown origin', { from: 'Nowhere' }, 404],
  ['an unknown snapshot', { from: 'Development', snapshot: 'none' }, 404],
  ['a snapshot without an origin', { snapshot: 'none' }, 422, 'snapshot'],
  ["the baseline's internal snapshot name", { from: 'Development', snapshot: '' }, 404],
  ['an unknown scenario', { scenario: 'failurs' }, 422, 'scenario'],
  ['a path instead of a scenario', { scenario: '../seeds/default' }, 422, 'scenario'],
  ['a scenario with a seed', { scenario: 'failures', seed: SEED }, 422, 'scenario'],
  ['a scenario for a fork', { scenario: 'failures', from: 'Development' }, 422, 'scenario'],
  ['a clock with an invalid time', { clock: 'yesterday' }, 422, 'clock'],
  [
    'a contradictory fault after a valid one',
    { faults: [FAULT, CONTRADICTION] },
    422,
    'faults[1].effect'
  ],
  ['a key with a space', { apiKey: 'my key' }, 422, 'apiKey'],
  ['a ttl with a spelled-out unit', { ttl: '10 minutes' }, 422, 'ttl'],
  ['a ttl above the maximum', { ttl: '31d' }, 422, 'ttl'],
  ['a taken name', { name: 'Development' }, 409],
  ['a name that is the id of another environment', { name: '66d5a0e97c9b1a0012ab3402' }, 409],
  ['a taken name for a fork', { from: 'Development', name: 'Production' }, 409],
  ['a taken key', { apiKey: 'production-key' }, 409],
  ['a misspelled list name in a seed', { seed: { mesages: [] } }, 422, 'mesages'],
  [
    'a seed with two environments',
    { seed: seedOf({ name: 'a' }, { name: 'b' }) },
    422,
    'environments[1]'
  ],
  [
    'a seed that conflicts with the origin',
    {
      from: 'Development',
      seed: { integrations: [{ providerId: 'x', channel: 'email', primary: true }] }
    },
    422,
    'integrations[0].primary'
  ]
]

test.each(INVALID)('rejects %s and creates nothing', async (_title, body, status, field) => {
  const mock = await useMock()
  const before = rowCounts(mock.db)
  const response = await mock.post('/_mock/environments', { key: null, body: jsonOf(body) })

  expect(response.json).toMatchObject({ statusCode: status, path: '/_mock/environments', ctx: {} })
  expect(Object.keys(response.json.errors ?? {})).toEqual(field === undefined ? [] : [field])
  expect(rowCounts(mock.db)).toEqual(before)
  expectConsistentDatasets(mock.db)
  const next = await createEnvironment(mock)
  expect((await mock.get('/v1/messages', { key: next.apiKey })).status).toBe(200)
})

test('accepts a seed that is one environment instead of a list of environments', async () => {
  const mock = await useMock({ now: NOW })
  const whole = await createEnvironment(mock, { seed: SEED, name: 'Whole' })
  const alone = await createEnvironment(mock, { seed: SHOP })
  const empty = await createEnvironment(mock, { seed: {}, name: 'Empty' })
  const { name: _, ...expected } = await stateOf(mock, whole.apiKey)
  expect(expected).toMatchObject({
    integrations: [{ identifier: 'main', primary: true }, {}],
    messages: [{}]
  })
  expect(await stateOf(mock, alone.apiKey)).toEqual({ ...expected, name: 'Shop' })
  expect(await stateOf(mock, empty.apiKey)).toMatchObject({ integrations: [], messages: [] })

  const load = (body: string, mode = 'merge') =>
    mock.post(`/_mock/seed?mode=${mode}`, { key: empty.apiKey, body })
  await load(jsonOf(SHOP), 'replace')
  expect(await stateOf(mock, empty.apiKey)).toEqual({ ...expected, name: 'Empty' })
  expect((await load('{}')).status).toBe(200)
  expect(await stateOf(mock, empty.apiKey)).toEqual({ ...expected, name: 'Empty' })
  await load(
    'subscribers: [{ subscriberId: user-2 }]\nmessages:\n  - { channel: sms, subscriberId: ' +
      'user-2 }\n'
  )
  expect((await stateOf(mock, empty.apiKey)).messages?.map(({ channel }) => channel)).toEqual([
    'email',
    'sms'
  ])
})

test('a requested clock sets default timestamps, and a reset restores the clock', async () => {
  const mock = await useMock()
  const at = '2026-02-18T10:00:00.000Z'
  const seed = {
    clock: { mode: 'fixed', at: '2001-01-01T00:00:00.000Z' },
    messages: [{ channel: 'sms' }]
  }
  const { apiKey: key } = await createEnvironment(mock, {
    seed,
    clock: '2026-02-18T11:00:00+01:00'
  })
  const fork = await createEnvironment(mock, {
    from: 'Development',
    clock: { mode: 'offset', by: 5 }
  })

  expect((await stateOf(mock, key)).messages?.[0]?.createdAt).toBe(at)
  await mock.call('/_mock/clock', { method: 'PUT', key, body: '{"mode":"wall"}' })
  await mock.post('/_mock/reset', { key })
  expect((await mock.get('/_mock/clock', { key })).json).toEqual({
    setting: { mode: 'fixed', at },
    now: at
  })
  expect((await mock.get('/_mock/clock', { key: fork.apiKey })).json.setting).toEqual({
    mode: 'offset',
    by: 5
  })
})

test('rejects an API key that is too short, and does not repeat the key in the error', async () => {
  const mock = await useMock()
  for (const apiKey of ['notification', 'abcdefghijklmno', 'se cret', 'key-one']) {
    const response = await mock.post('/_mock/environments', { key: null, body: jsonOf({ apiKey }) })
    expect([apiKey, response.status, Object.keys(response.json.errors)]).toEqual([
      apiKey,
      422,
      ['apiKey']
    ])
    expect(response.text + response.headers.get('x-mock-reason')).not.toContain(apiKey)
  }
})

test('the journal does not redact a query value that is only part of an API key', async () => {
  const mock = await useMock()
  for (const apiKey of ['my-email', 'mykey123', 'abcdefghijklmnop'])
    await createEnvironment(mock, { apiKey })
  await mock.get('/v1/messages?channel=email')
  expect((await mock.get('/_mock/requests')).json.requests).toMatchObject([
    { query: { channel: 'email' } }
  ])
})

test('an environment without a name gets an unused name', async () => {
  const mock = await useMock()
  const names = []
  const bad = jsonOf({ seed: { messages: [{ channel: 'sms', subscriberId: 'nobody' }] } })
  for (const body of [
    {},
    {},
    { from: 'Development' },
    { from: 'Development' },
    { seed: SEED },
    { seed: SEED }
  ]) {
    names.push((await createEnvironment(mock, body)).name)
    // A rejected request doesn't use up a generated name.
    expect((await mock.post('/_mock/environments', { key: null, body: bad })).status).toBe(422)
  }
  expect(names).toEqual([
    'Unnamed',
    'Unnamed 2',
    'Development fork',
    'Development fork 2',
    'Shop',
    'Shop 2'
  ])
  await mock.call('/_mock/environments/Shop%202', { method: 'DELETE', key: null })
  expect((await createEnvironment(mock, { seed: SEED })).name).toBe('Shop 2')
})

test('the API key of a removed environment can be used again', async () => {
  const { call } = await useMock()
  const create = () =>
    call('/_mock/environments', { method: 'POST', body: JSON.stringify({ apiKey: 'used-twice' }) })
  const { json } = await create()
  expect((await create()).status).toBe(409)

  await call(`/_mock/environments/${json.environmentId}`, { method: 'DELETE' })
  expect(await create()).toMatchObject({ status: 201, json: { apiKey: 'used-twice' } })
})
