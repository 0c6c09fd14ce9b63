import { expect, test, vi } from 'vitest'
import type { CreatedEnvironment } from '../../../src/control/environments/routes.js'
import { givenMock } from '../../support/mock.js'
import { SHOP, seedOf } from '../../support/shop.js'
import { expectSound, givenEnvironment, rowCounts, stateOf } from './environment-client.js'

const NOW = Date.parse('2026-02-18T10:00:00.000Z')

const SEED = seedOf(SHOP)

const jsonOf = (value: unknown) => JSON.stringify(value)

test('an environment that is created without a seed is empty, and has its own key and organization', async () => {
  const mock = await givenMock()
  const one = await givenEnvironment(mock)
  const two = await givenEnvironment(mock, { name: 'Two' })

  expect(one).toEqual({
    environmentId: expect.stringMatching(/^[0-9a-f]{24}$/),
    organizationId: expect.stringMatching(/^[0-9a-f]{24}$/),
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
  expect((await mock.get('/v1/messages', { key: one.apiKey })).json).toMatchObject({ data: [], totalCount: 0 })
  expectSound(mock.db)
})

test('an environment that is made of a seed has what the seed says, and gives the same ids each time', async () => {
  const mock = await givenMock({ now: NOW })
  const one = await givenEnvironment(mock, { seed: SEED })
  const two = await givenEnvironment(mock, { seed: SEED, name: 'Other' })

  expect([one.name, two.name]).toEqual(['Shop', 'Other'])
  const state = await stateOf(mock, one.apiKey)
  expect(state.integrations?.map(({ identifier, primary }) => [identifier, primary])).toEqual([
    ['main', true],
    ['other', false]
  ])
  expect(state.messages).toHaveLength(1)
  expect({ ...(await stateOf(mock, two.apiKey)), name: 'Shop' }).toEqual(state)
})

test('profile and assumptions are those that are given, else those of the seed, else those of the origin', async () => {
  const mock = await givenMock()
  const seed = { environments: [{ name: 'A', profile: 'live', assumptions: { envelope: 'bare' } }] }
  const seeded = await givenEnvironment(mock, { seed })
  const over = await givenEnvironment(mock, { seed, profile: 'document', assumptions: { envelope: 'data' } })
  const forked = await givenEnvironment(mock, { from: seeded.environmentId, assumptions: { credentials: 'stored' } })
  const forkedOver = await givenEnvironment(mock, { from: seeded.environmentId, profile: 'document' })

  const told = async ({ apiKey }: CreatedEnvironment) => {
    const { profile, assumptions } = await stateOf(mock, apiKey)
    return { profile, assumptions }
  }
  expect(await told(seeded)).toEqual({ profile: 'live', assumptions: { envelope: 'bare' } })
  expect(await told(over)).toEqual({ profile: 'document', assumptions: { envelope: 'data' } })
  expect(await told(forked)).toEqual({ profile: 'live', assumptions: { envelope: 'bare', credentials: 'stored' } })
  expect(await told(forkedOver)).toEqual({ profile: 'document', assumptions: { envelope: 'bare' } })
})

test('a fork with a seed has the records of both, and is reset to them', async () => {
  const mock = await givenMock()
  const origin = await givenEnvironment(mock, { seed: SEED })
  const seed = { environments: [{ name: 'x', messages: [{ channel: 'sms', subscriberId: 'user-1' }] }] }
  const fork = await givenEnvironment(mock, { from: origin.environmentId, seed })
  const both = await stateOf(mock, fork.apiKey)

  expect(both.messages?.map(({ channel }) => channel)).toEqual(['email', 'sms'])
  await mock.post('/_mock/reset', { key: fork.apiKey })
  expect(await stateOf(mock, fork.apiKey)).toEqual(both)
})

test('an environment is in the organization that is named, and shares it', async () => {
  const mock = await givenMock()
  const origin = await givenEnvironment(mock, { seed: SEED, profile: 'live' })
  const { organizationId } = origin
  const sister = await givenEnvironment(mock, { from: origin.environmentId, organizationId, name: 'Sister' })
  expect(sister.organizationId).toBe(organizationId)

  const empty = await givenEnvironment(mock, { organizationId, profile: 'live' })
  const { _id } = (await stateOf(mock, origin.apiKey)).integrations?.[0] ?? {}
  expect((await mock.post(`/v1/integrations/${_id}/set-primary`, { key: empty.apiKey })).status).toBe(403)
  const stranger = await givenEnvironment(mock, { profile: 'live' })
  expect((await mock.post(`/v1/integrations/${_id}/set-primary`, { key: stranger.apiKey })).status).toBe(404)
})

test('the list tells all environments in the order of their making, snapshots and keys apart', async () => {
  const mock = await givenMock()
  const made = await givenEnvironment(mock, { name: 'Mine' })
  await mock.call('/_mock/snapshots/kept', { method: 'PUT', key: made.apiKey })

  const list = await mock.get('/_mock/environments', { key: null })
  const names = list.json.environments.map(({ name }: { name: string }) => name)
  expect(names).toEqual([...mock.seededEnvironments.map(({ name }) => name), 'Mine'])
  expect(list.json.environments.at(-1)).toEqual({
    environmentId: made.environmentId,
    organizationId: made.organizationId,
    name: 'Mine',
    profile: 'document',
    assumptions: {},
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/)
  })
  for (const key of [made.apiKey, ...mock.seededEnvironments.flatMap(({ apiKeys }) => apiKeys)])
    expect(list.text).not.toContain(key)
})

test('the list tells the assumptions that differ from the profile, whoever set them', async () => {
  const mock = await givenMock({ assumptions: { envelope: 'data' } })
  await givenEnvironment(mock, { name: 'Mine', assumptions: { credentials: 'hidden', 'total-count': 'present' } })
  await givenEnvironment(mock, { name: 'Live', profile: 'live' })
  const { environments } = (await mock.get('/_mock/environments', { key: null })).json
  expect(environments.slice(-2)).toMatchObject([
    { name: 'Mine', assumptions: { envelope: 'data', credentials: 'hidden' } },
    { name: 'Live', assumptions: {} }
  ])
  expect(Object.keys(environments.at(-2).assumptions)).toHaveLength(2)
})

test('the keys of an environment are those of its seed, or the one that it was created with, also by its name', async () => {
  const mock = await givenMock()
  const made = await givenEnvironment(mock, { name: 'Mine', from: 'Development' })
  const keysOf = async (id: string) => (await mock.get(`/_mock/environments/${id}/keys`, { key: null })).json
  expect(await keysOf('Development')).toEqual({ apiKeys: ['development-key'] })
  expect(await keysOf('Mine')).toEqual({ apiKeys: [made.apiKey] })
  expect(await keysOf(made.environmentId)).toEqual({ apiKeys: [made.apiKey] })
})

test('the keys of a removed environment are forgotten, and no cache keeps any', async () => {
  const mock = await givenMock()
  const made = await givenEnvironment(mock, { name: 'Mine' })
  const path = '/_mock/environments/Mine/keys'
  expect((await mock.get(path, { key: null })).headers.get('cache-control')).toBe('no-store')
  await mock.call('/_mock/environments/Mine', { method: 'DELETE', key: null })
  expect((await mock.get(path, { key: null })).json).toMatchObject({
    statusCode: 404,
    message: 'Environment Mine not found'
  })
  const again = await givenEnvironment(mock, { name: 'Mine' })
  expect((await mock.get(path, { key: null })).json).toEqual({ apiKeys: [again.apiKey] })
  expect(again.apiKey).not.toBe(made.apiKey)
})

test('a removed environment leaves nothing: no row in any table, no key, no snapshot, no journal, no fault', async () => {
  const mock = await givenMock()
  const before = rowCounts(mock.db)
  const made = await givenEnvironment(mock, { from: 'Development' })
  const key = made.apiKey
  await mock.call('/_mock/snapshots/kept', { method: 'PUT', key })
  await mock.post('/v1/integrations/mailgun-eu/set-primary', { key, headers: { 'idempotency-key': 'k' } })
  await mock.post('/_mock/faults', { key, body: jsonOf({ times: 'always', effect: { status: 503 } }) })
  const { environments, faults, journals } = mock.services
  const handle = environments.find(made.environmentId)
  expect(journals.of(handle).requests()).toHaveLength(1)
  expect(Object.values(rowCounts(mock.db))).not.toEqual(Object.values(before))

  expect((await mock.call(`/_mock/environments/${made.environmentId}`, { method: 'DELETE', key: null })).status).toBe(
    204
  )

  expect(rowCounts(mock.db)).toEqual(before)
  expectSound(mock.db)
  for (const path of ['/v1/messages', '/_mock/state', '/_mock/requests', '/_mock/snapshots', '/_mock/faults']) {
    expect((await mock.get(path, { key })).json).toMatchObject({ statusCode: 401, message: 'API Key not found' })
  }
  expect(faults.list(handle?.key ?? 0).length > 0).toBe(false)
  expect(journals.of(handle).requests()).toEqual([])
  expect(environments.apiKeysOf(handle)).toEqual([])
  expect(environments.list().map(({ id }) => id)).not.toContain(made.environmentId)
})

test('removing takes the name of one, and refuses a name of several and a name of none', async () => {
  const twins = ['a', 'b'].map((organization) => ({ name: 'Mine', organization, apiKeys: [`${organization}-key`] }))
  const mock = await givenMock({ seed: { environments: twins } })
  const remove = (name: string) => mock.call(`/_mock/environments/${name}`, { method: 'DELETE', key: null })

  const refused = await remove('Mine')
  expect([refused.status, refused.json.message]).toEqual([400, 'There are 2 environments named Mine'])
  expect((await mock.post('/_mock/environments', { key: null, body: jsonOf({ from: 'Mine' }) })).status).toBe(400)
  expect((await remove(mock.seededEnvironments[0]?.id ?? '')).status).toBe(204)
  expect((await remove('Mine')).status).toBe(204)
  expect((await remove('Mine')).status).toBe(404)
})

const FAULT = { effect: { status: 503 } }
const CONTRADICTION = { effect: { status: 503, abort: 'reset' } }
const LOOKAHEAD = { path: { matches: '(?=a)' } }
const PATTERN = 'faults[0].match.path.matches'
const TO_NOBODY = { channel: 'sms', subscriberId: 'who' }

/** What is refused, the status, and the field that the answer names. */
const INVALID: [title: string, wanted: object, status: number, field?: string][] = [
  ['what is no object', [], 422, 'body'],
  ['an unknown field', { nmae: 'x' }, 422, 'nmae'],
  ['an empty name', { name: '' }, 422, 'name'],
  ['an organization that is no id', { organizationId: 'mine' }, 422, 'organizationId'],
  ['an unknown profile', { profile: 'real' }, 422, 'profile'],
  ['an unknown assumption', { assumptions: { envelop: 'bare' } }, 422, 'assumptions.envelop'],
  ['a position that the assumption has not', { assumptions: { envelope: 'x' } }, 422, 'assumptions.envelope'],
  ['an origin that there is not', { from: 'Nowhere' }, 404],
  ['a snapshot that there is not', { from: 'Development', snapshot: 'none' }, 404],
  ['a snapshot of nothing', { snapshot: 'none' }, 422, 'snapshot'],
  ['the baseline by its name inside', { from: 'Development', snapshot: '' }, 404],
  ['a scenario that there is not', { scenario: 'failurs' }, 422, 'scenario'],
  ['a path in place of a scenario', { scenario: '../seeds/default' }, 422, 'scenario'],
  ['a scenario with a seed', { scenario: 'failures', seed: SEED }, 422, 'scenario'],
  ['a scenario in a fork', { scenario: 'failures', from: 'Development' }, 422, 'scenario'],
  ['a clock that shows no time', { clock: 'yesterday' }, 422, 'clock'],
  ['a fixed clock that shows no time', { clock: { mode: 'fixed', at: 'noon' } }, 422, 'clock.at'],
  ['a clock of no mode', { clock: { mode: 'fixd' } }, 422, 'clock.mode'],
  ['a fault without an effect', { faults: [{ times: 1 }] }, 422, 'faults[0]'],
  ['a last fault that contradicts itself', { faults: [FAULT, CONTRADICTION] }, 422, 'faults[1].effect'],
  ['a fault with an impossible pattern', { faults: [{ match: LOOKAHEAD, ...FAULT }] }, 422, PATTERN],
  ['a key with a space', { apiKey: 'my key' }, 422, 'apiKey'],
  ['a ttl of half a millisecond', { ttl: 1.5 }, 422, 'ttl'],
  ['a ttl in words', { ttl: '10 minutes' }, 422, 'ttl'],
  ['a ttl of nothing', { ttl: '0s' }, 422, 'ttl'],
  ['a ttl of months', { ttl: '31d' }, 422, 'ttl'],
  ['a name that is taken', { name: 'Development' }, 409],
  ['a name that is an id of another', { name: '66d5a0e97c9b1a0012ab3402' }, 409],
  ['a name that is taken, for a fork', { from: 'Development', name: 'Production' }, 409],
  ['a key that is taken', { apiKey: 'production-key' }, 409],
  [
    'a mistake in the content of an environment',
    { seed: { messages: [{ channel: 'x' }] } },
    422,
    'messages[0].channel'
  ],
  ['a misspelt list in the content of an environment', { seed: { mesages: [] } }, 422, 'mesages'],
  ['a seed of two environments', { seed: seedOf({ name: 'a' }, { name: 'b' }) }, 422, 'environments[1]'],
  ['a seed of none', { seed: { environments: [] } }, 422, 'environments'],
  ['a broken reference in a seed', { seed: { messages: [TO_NOBODY] } }, 422, 'messages[0].subscriberId'],
  [
    'a clash of a seed with the origin',
    { from: 'Development', seed: { integrations: [{ providerId: 'x', channel: 'email', primary: true }] } },
    422,
    'integrations[0].primary'
  ]
]

test.each(INVALID)(
  '%s is rejected with the error body, and nothing is created',
  async (_title, wanted, status, field) => {
    const mock = await givenMock()
    const before = rowCounts(mock.db)
    const refused = await mock.post('/_mock/environments', { key: null, body: jsonOf(wanted) })

    expect(refused.json).toMatchObject({ statusCode: status, path: '/_mock/environments', ctx: {} })
    expect(Object.keys(refused.json.errors ?? {})).toEqual(field === undefined ? [] : [field])
    expect(rowCounts(mock.db)).toEqual(before)
    expectSound(mock.db)
    const next = await givenEnvironment(mock)
    expect((await mock.get('/v1/messages', { key: next.apiKey })).status).toBe(200)
  }
)

test.each(['/v1/messages', '/v2/workflows/order/steps/mail'])(
  '%s that waits when its environment is removed is refused as if it had come later',
  async (path) => {
    const mock = await givenMock()
    const { apiKey, environmentId } = await givenEnvironment(mock, { seed: SEED })
    await mock.get('/openapi.json', { key: apiKey })
    const journal = mock.services.journals.of(mock.services.environments.find(environmentId))
    const waiting = mock.get(path, { key: apiKey, headers: { 'x-mock-fault': 'delay=1500' } })
    await vi.waitUntil(() => journal.requests().length === 1)

    await mock.call(`/_mock/environments/${environmentId}`, { method: 'DELETE', key: null })

    expect((await waiting).json).toMatchObject({ statusCode: 401, message: 'API Key not found' })
  }
)

test('a scenario makes what the packaged seed has first, with its ids', async () => {
  const seeded = await givenMock({ seeds: ['failures'], now: NOW })
  const mock = await givenMock({ now: NOW })
  const one = await givenEnvironment(mock, { scenario: 'failures' })
  const two = await givenEnvironment(mock, { scenario: 'failures', profile: 'live' })

  const { name, ...expected } = await stateOf(seeded, 'development-key')
  expect(await stateOf(mock, one.apiKey)).toEqual({ ...expected, name: `${name} 2` })
  expect(await stateOf(mock, two.apiKey)).toEqual({ ...expected, name: `${name} 3`, profile: 'live' })
})

test('the content of an environment alone is a seed, when it is created and when it is loaded', async () => {
  const mock = await givenMock({ now: NOW })
  const [content = SHOP] = SEED.environments
  const whole = await givenEnvironment(mock, { seed: SEED, name: 'Whole' })
  const { name: _, ...unnamed } = content
  const alone = await givenEnvironment(mock, { seed: content })
  const created = await givenEnvironment(mock, { seed: unnamed, name: 'Alone' })
  const loaded = await givenEnvironment(mock)
  const yaml = 'subscribers: [{ subscriberId: user-2 }]\nmessages:\n  - { channel: sms, subscriberId: user-2 }\n'
  await mock.post('/_mock/seed?mode=replace', { key: loaded.apiKey, body: jsonOf(content) })

  const { name: __, ...expected } = await stateOf(mock, whole.apiKey)
  expect([alone.name, loaded.name]).toEqual(['Shop', 'Unnamed'])
  expect(await stateOf(mock, alone.apiKey)).toMatchObject(expected)
  expect(await stateOf(mock, loaded.apiKey)).toMatchObject(expected)
  expect((await stateOf(mock, created.apiKey)).messages).toHaveLength(1)
  expect((await mock.post('/_mock/seed', { key: loaded.apiKey, body: yaml })).status).toBe(200)
  expect((await stateOf(mock, loaded.apiKey)).messages?.map(({ channel }) => channel)).toEqual(['email', 'sms'])
})

test('an empty object is the content of an empty environment, and nothing to add to another one', async () => {
  const mock = await givenMock({ now: NOW })
  const made = await givenEnvironment(mock, { seed: {} })
  expect(await stateOf(mock, made.apiKey)).toMatchObject({ name: 'Unnamed', integrations: [], messages: [] })
  const { apiKey: key } = await givenEnvironment(mock, { from: 'Development' })
  const before = await stateOf(mock, key)
  expect((await mock.post('/_mock/seed', { key, body: '{}' })).status).toBe(200)
  expect(await stateOf(mock, key)).toEqual(before)
})

test('an issue in the content of an environment alone is located as it was sent', async () => {
  const mock = await givenMock()
  const body = 'messages:\n  - channel: sms\n    subscriberId: nobody\n'
  const { json } = await mock.post('/_mock/seed', { body })
  expect(Object.keys(json.errors)).toEqual(['messages[0].subscriberId'])
  expect(json.errors['messages[0].subscriberId'].messages).toEqual([
    expect.stringMatching(/^seed:3:19 is nobody, but this environment has no such subscriber; /)
  ])
})

test('the clock that is asked for sets the times that the seed leaves out, and is what a reset goes back to', async () => {
  const mock = await givenMock()
  const at = '2026-02-18T10:00:00.000Z'
  const seed = { clock: { mode: 'fixed', at: '2001-01-01T00:00:00.000Z' }, messages: [{ channel: 'sms' }] }
  const { apiKey: key } = await givenEnvironment(mock, { seed, clock: '2026-02-18T11:00:00+01:00' })
  const fork = await givenEnvironment(mock, { from: 'Development', clock: { mode: 'offset', by: 5 } })

  expect((await stateOf(mock, key)).messages?.[0]?.createdAt).toBe(at)
  await mock.call('/_mock/clock', { method: 'PUT', key, body: '{"mode":"wall"}' })
  await mock.post('/_mock/reset', { key })
  expect((await mock.get('/_mock/clock', { key })).json).toEqual({ setting: { mode: 'fixed', at }, now: at })
  expect((await mock.get('/_mock/clock', { key: fork.apiKey })).json.setting).toEqual({ mode: 'offset', by: 5 })
})

test('faults that are asked for meet the first requests', async () => {
  const mock = await givenMock()
  const faults = [{ effect: { status: 503 } }, { effect: { status: 429 } }] as const
  const { apiKey: key } = await givenEnvironment(mock, { from: 'Development', faults: [...faults] })
  const statuses = []
  for (let request = 0; request < 3; request++) statuses.push((await mock.get('/v1/messages', { key })).status)
  expect(statuses).toEqual([503, 429, 200])
  expect((await mock.get('/_mock/faults', { key })).json.faults).toMatchObject([{ id: 'fault-1' }, { id: 'fault-2' }])
})

test('an environment has the key that is asked for, which is free again once it is removed', async () => {
  const mock = await givenMock()
  const apiKey = 'key-of-my-choice'
  const made = await givenEnvironment(mock, { from: 'Development', apiKey })
  expect(made.apiKey).toBe(apiKey)
  expect((await mock.get('/v1/messages', { key: apiKey })).json.totalCount).toBe(60)
  const second = await mock.post('/_mock/environments', { key: null, body: jsonOf({ apiKey }) })
  expect([second.status, second.text.includes(apiKey), second.headers.get('retry-after')]).toEqual([409, false, null])
  await mock.call(`/_mock/environments/${made.environmentId}`, { method: 'DELETE', key: null })
  expect((await givenEnvironment(mock, { apiKey })).apiKey).toBe(apiKey)
})

test('a key that is an ordinary word is refused with words, none is repeated, and no key that is taken hides words of other journals', async () => {
  const mock = await givenMock()
  for (const apiKey of ['email', 'messages', 'notification', 'key-one', 'a'.repeat(15)]) {
    const refused = await mock.post('/_mock/environments', { key: null, body: jsonOf({ apiKey }) })
    expect([apiKey, refused.status]).toEqual([apiKey, 422])
    const words =
      apiKey === 'key-one'
        ? 'apiKey must have at least 8 characters'
        : 'apiKey must be an API key, of printable ASCII without spaces: at least 16 characters, or at least 8 with a digit or hyphen in it'
    expect(refused.json.errors.apiKey.messages).toContain(words)
  }
  const spaced = await mock.post('/_mock/environments', { key: null, body: jsonOf({ apiKey: 'se cret' }) })
  expect(spaced.text + spaced.headers.get('x-mock-reason')).not.toContain('se cret')
  for (const apiKey of ['my-own-k', 'mykey123', 'a'.repeat(16)]) await givenEnvironment(mock, { apiKey })
  await mock.get('/v1/messages?channel=email')
  const [request] = (await mock.get('/_mock/requests')).json.requests
  expect(request).toMatchObject({ path: '/v1/messages', query: { channel: 'email' } })
})

test('without a name an environment gets one that is free', async () => {
  const mock = await givenMock()
  const names = []
  const bad = jsonOf({ seed: { messages: [{ channel: 'sms', subscriberId: 'nobody' }] } })
  for (const wanted of [{}, {}, { from: 'Development' }, { from: 'Development' }, { seed: SEED }, { seed: SEED }]) {
    names.push((await givenEnvironment(mock, wanted)).name)
    // What can not be created takes none.
    expect((await mock.post('/_mock/environments', { key: null, body: bad })).status).toBe(422)
  }
  expect(names).toEqual(['Unnamed', 'Unnamed 2', 'Development fork', 'Development fork 2', 'Shop', 'Shop 2'])
  await mock.call('/_mock/environments/Shop%202', { method: 'DELETE', key: null })
  expect((await givenEnvironment(mock, { seed: SEED })).name).toBe('Shop 2')
})

test('of many that ask for the same name or key at once one gets it', async () => {
  const mock = await givenMock()
  const wanted = { name: 'Mine', apiKey: 'mine-key', seed: SEED }
  const ask = () => mock.post('/_mock/environments', { key: null, body: jsonOf(wanted) })
  const answers = await Promise.all([ask(), ask(), ask()])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
})
