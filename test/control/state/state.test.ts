import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EnvironmentDiff } from '../../../src/environments/schemas.js'
import {
  addFault,
  DEVELOPMENT,
  journalOf,
  reset,
  setClock,
  setRandomSeed
} from '../../support/control.js'
import { clientOf, type TestMock, useMock, useNewMock } from '../../support/mock.js'
import { createTempFolder } from '../../support/process.js'
import { SHOP, seedOf, shopJson } from '../../support/shop.js'
import {
  createEnvironment,
  expectConsistentDatasets,
  rowCounts,
  type SeededEnvironment,
  stateOf
} from '../environments/environment-client.js'

const NOW = Date.parse('2026-02-18T10:00:00.000Z')

const SEED = seedOf(SHOP)
const SMS = { channel: 'sms' }
const SMS_MESSAGE = { messages: [{ channel: 'sms' as const }] }
const FLOWS = { workflows: SHOP.workflows }

const diffOf = async (mock: TestMock, key: string, name = 'before'): Promise<EnvironmentDiff> =>
  (await mock.get(`/_mock/snapshots/${name}/diff`, { key })).json

/** Returns a seed that changes the message with this id, and adds or changes other records. */
function mergedSeed(messageId: string | undefined): string {
  const steps = [
    { stepId: 'mail', type: 'email' },
    { stepId: 'text', type: 'sms' }
  ]
  return shopJson({
    integrations: [
      { identifier: 'other', providerId: 'mailgun', channel: 'email' },
      { identifier: 'text', providerId: 'twilio', channel: 'sms', primary: true }
    ],
    subscribers: [{ subscriberId: 'user-1', firstName: 'Uno' }, { subscriberId: 'user-2' }],
    workflows: [{ identifier: 'order', name: 'Order', steps }],
    messages: [
      { _id: messageId, channel: 'email', subject: 'Changed' },
      { channel: 'sms', subscriberId: 'user-2', workflow: 'order' }
    ]
  })
}

test('merge adds new records, and replaces existing records in place', async () => {
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock, { seed: SEED })
  const before = await stateOf(mock, key)
  const body = mergedSeed(before.messages?.[0]?._id)
  expect((await mock.post('/_mock/seed', { key, body })).text).toBe('{"mode":"merge"}')
  const {
    integrations: [main = {}, other] = [],
    subscribers: [subscriber] = [],
    workflows: [workflow] = []
  } = before
  const step = { _id: workflow?.steps?.[0]?._id }
  expect(await stateOf(mock, key)).toMatchObject({
    integrations: [
      main,
      { _id: other?._id, providerId: 'mailgun' },
      { identifier: 'text', primary: true }
    ],
    subscribers: [{ _id: subscriber?._id, firstName: 'Uno' }, { subscriberId: 'user-2' }],
    workflows: [{ _id: workflow?._id, name: 'Order', steps: [step, { stepId: 'text' }] }],
    messages: [{ subject: 'Changed' }, { channel: 'sms' }]
  })
  expect((await mock.get('/v1/messages?channel=sms', { key })).json.totalCount).toBe(1)
})

test('merge rejects a second primary integration for a channel', async () => {
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock, { seed: SEED })
  const second = { identifier: 'third', providerId: 'x', channel: 'email', primary: true }
  const { json } = await mock.post('/_mock/seed', {
    key,
    body: shopJson({ integrations: [second] })
  })
  expect(Object.keys(json.errors)).toEqual(['environments[0].integrations[0].primary'])
})

test('replace removes all previous records, settings and stored responses', async () => {
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock, { from: 'Development', profile: 'live' })
  const keyed = { key, headers: { 'idempotency-key': 'k' } }
  await mock.post('/v1/integrations/66f1c2a47c9b1a0012ad0002/set-primary', keyed)
  await setClock(mock, { mode: 'fixed', at: '2001-01-01' }, key)

  await mock.post('/_mock/seed?mode=replace', { key, body: JSON.stringify(SEED) })

  const replaced = await stateOf(mock, key)
  const fresh = await stateOf(mock, (await createEnvironment(mock, { seed: SEED })).apiKey)
  const withoutTimes = (state: SeededEnvironment) =>
    JSON.stringify(state).replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"time"')
  expect(withoutTimes({ ...replaced, name: fresh.name })).toBe(withoutTimes(fresh))
  // Use a new client, because `mock` checks responses against the old profile's OpenAPI document.
  const again = await clientOf(mock.url, key).post('/v1/integrations/other/set-primary', keyed)
  expect([again.status, again.headers.has('idempotency-replay')]).toEqual([200, false])
})

const INVALID_SEEDS: [title: string, seed: string | object, field: string, reason: string][] = [
  [
    'an unknown subscriber',
    { messages: [SMS, { ...SMS, subscriberId: 'x' }] },
    'messages[1].subscriberId',
    ' is x, but '
  ],
  [
    'an unknown subscriber in YAML',
    'messages:\n- channel: sms\n  subscriberId: x',
    'messages[0].subscriberId',
    'seed:3:17 messages[0].subscriberId: is x'
  ],
  [
    'an invalid timestamp',
    { messages: [{ ...SMS, createdAt: 'now' }] },
    'messages[0].createdAt',
    ''
  ],
  ['an invalid clock', { clock: { mode: 'fixed', at: 'noon' } }, 'clock.at', ''],
  [
    'too many messages',
    { ...FLOWS, generate: { messages: 2e6 } },
    'generate.messages',
    'put the seed in a file and start the server with --seed <file>'
  ],
  ['invalid YAML', 'environments: [', 'seed', ''],
  ['no content', '', 'seed', ''],
  [
    'no environment',
    'environments: []',
    'environments',
    'is empty, but a seed for an existing environment must contain exactly one'
  ],
  [
    'two environments',
    'environments: [{name: a}, {name: a}]',
    'environments[1]',
    'is a second environment, but a seed for an existing environment must contain exactly one'
  ]
]

test.each(INVALID_SEEDS)(
  'rejects a seed with %s and changes nothing',
  async (_title, seed, field, reason) => {
    const mock = await useMock()
    const body = typeof seed === 'string' ? seed : JSON.stringify(seed)
    await mock.call('/_mock/snapshots/kept', { method: 'PUT' })
    const before = { rows: rowCounts(mock.db), state: (await mock.get('/_mock/state')).text }
    for (const mode of ['merge', 'replace']) {
      const response = await mock.post(`/_mock/seed?mode=${mode}`, { body })
      expect(response.json).toMatchObject({ statusCode: 422, message: 'Validation Error' })
      expect(Object.keys(response.json.errors)).toEqual([field])
      expect(response.json.errors[field].messages[0]).toMatch(
        /^seed:\d+:\d+ |^seed must be an object$/
      )
      expect(response.headers.get('x-mock-reason')).toContain(reason)
    }
    expect({ rows: rowCounts(mock.db), state: (await mock.get('/_mock/state')).text }).toEqual(
      before
    )
    expectConsistentDatasets(mock.db)
  }
)

test('replace sets a new baseline, but merge does not', async () => {
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock, { seed: SEED })
  const made = await stateOf(mock, key)
  const state = () => stateOf(mock, key)

  await mock.post('/_mock/seed', {
    key,
    body: shopJson({ profile: 'live', messages: [{ channel: 'sms' }] })
  })
  expect(await state()).toMatchObject({ profile: 'live', messages: [{}, {}] })
  await reset(mock, {}, key)
  expect(await state()).toEqual(made)

  await mock.post('/_mock/seed?mode=replace', {
    key,
    body: shopJson({ assumptions: { envelope: 'data' }, messages: [{ channel: 'push' }] })
  })
  const replaced = await state()
  expect(replaced).toMatchObject({
    assumptions: { envelope: 'data' },
    messages: [{ channel: 'push' }]
  })
  await mock.post('/_mock/seed', { key, body: shopJson({ messages: [{ channel: 'sms' }] }) })
  await reset(mock, {}, key)
  expect(await state()).toEqual(replaced)
})

const ALL = ['data', 'requests', 'faults', 'clock', 'idempotency']

const RESETS: { parts?: string[] }[] = [
  ...ALL.map((part) => ({ parts: [part] })),
  { parts: ['data', 'clock'] },
  {}
]

/**
 * Returns the number of changes to each part of the environment since a snapshot, or the names of
 * the changed settings. Counts all requests and faults, because snapshots don't contain them.
 */
async function changesSince(mock: TestMock, key: string, snapshot: string) {
  const { integrations, idempotencyKeys, settings } = await diffOf(mock, key, snapshot)
  const dataSettings = settings.filter((setting) => setting.startsWith('assumptions'))
  return {
    data: [integrations.changed.count, dataSettings],
    clock: settings.filter((setting) => !dataSettings.includes(setting)),
    idempotency: idempotencyKeys.added.count,
    requests: (await journalOf(mock, '', key)).length,
    faults: (await mock.get('/_mock/faults', { key })).json.faults.length
  }
}

/** Changes every part of an environment that a reset can restore. */
async function changeAllParts(mock: TestMock, key: string): Promise<void> {
  const body = shopJson({ assumptions: { 'auth-scheme-case': 'exact' } })
  await mock.post('/_mock/seed', { key, body })
  const headers = { 'idempotency-key': 'k' }
  await mock.post('/v1/integrations/other/set-primary', { key, headers })
  await addFault(mock, { effect: { status: 503 } }, key)
  await setClock(mock, { mode: 'offset', by: 5 }, key)
  setRandomSeed(mock, 5, key)
}

test.each(RESETS)('a reset with %j resets only the listed parts; {} resets all', async (body) => {
  const { parts = ALL } = body
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock, { seed: SEED })
  await mock.call('/_mock/snapshots/created', { method: 'PUT', key })
  const unchanged = await changesSince(mock, key, 'created')
  await changeAllParts(mock, key)
  const changed = await changesSince(mock, key, 'created')
  expect(changed).toEqual({
    data: [2, ['assumptions.auth-scheme-case']],
    clock: ['clock', 'randomSeed'],
    idempotency: 1,
    requests: 1,
    faults: 1
  })
  expect((await reset(mock, body, key)).json).toEqual({ parts, duration: expect.any(Number) })
  const kept = Object.entries(changed).filter(([part]) => !parts.includes(part))
  const expected = { ...unchanged, ...Object.fromEntries(kept) }
  expect(await changesSince(mock, key, 'created')).toEqual(expected)
})

test('lists snapshots, oldest first, with their size and time', async () => {
  const mock = await useMock({ now: NOW })
  const { apiKey: key } = await createEnvironment(mock, { seed: SEED })
  expect((await mock.get('/_mock/snapshots', { key })).json).toEqual({ snapshots: [] })
  const kept = await mock.call('/_mock/snapshots/b%20%2F%C3%A4', { method: 'PUT', key })
  await mock.post('/v1/integrations/other/set-primary', {
    key,
    headers: { 'idempotency-key': 'k' }
  })
  await setClock(mock, { mode: 'fixed', at: '2030-01-01' }, key)
  await mock.call('/_mock/snapshots/a', { method: 'PUT', key })

  const size = { integrations: 2, subscribers: 1, workflows: 1, messages: 1, idempotencyKeys: 0 }
  expect(kept.json).toEqual({ name: 'b /ä', createdAt: '2026-02-18T10:00:00.000Z', size })
  expect((await mock.get('/_mock/snapshots', { key })).json.snapshots).toEqual([
    kept.json,
    { name: 'a', createdAt: '2030-01-01T00:00:00.000Z', size: { ...size, idempotencyKeys: 1 } }
  ])
})

test('a removed snapshot is no longer listed and cannot be restored', async () => {
  const mock = await useMock()
  const kept = await mock.call('/_mock/snapshots/b', { method: 'PUT' })
  await mock.call('/_mock/snapshots/a', { method: 'PUT' })
  expect((await mock.call('/_mock/snapshots/a', { method: 'DELETE' })).status).toBe(204)
  expect((await mock.call('/_mock/snapshots/a', { method: 'DELETE' })).status).toBe(404)
  expect((await mock.post('/_mock/snapshots/a/restore')).json.message).toBe('Snapshot a not found')
  expect((await mock.get('/_mock/snapshots')).json.snapshots).toEqual([kept.json])
})

test('a restore keeps the journal and the faults by default', async () => {
  const mock = await useMock()
  await mock.call('/_mock/snapshots/s', { method: 'PUT' })
  await mock.get('/v1/messages')
  await mock.post('/_mock/faults', { body: '{"effect":{"status":503}}' })
  const left = async () => [
    (await mock.get('/_mock/requests')).json.requests.length,
    (await mock.get('/_mock/faults')).json.faults.length
  ]
  await mock.post('/_mock/snapshots/s/restore')
  expect(await left()).toEqual([1, 1])
  await mock.post('/_mock/snapshots/s/restore', { body: '{"parts":["requests","faults"]}' })
  expect(await left()).toEqual([0, 0])
})

test.each([
  { body: {}, restored: 'keeps the new baseline' },
  { body: { baseline: true }, restored: 'also restores the old baseline' }
])('after a seed has set a new baseline, a restore with $body $restored', async ({ body }) => {
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock, { seed: SEED })
  const made = await stateOf(mock, key)
  await mock.call('/_mock/snapshots/s', { method: 'PUT', key })
  await mock.post('/_mock/seed?mode=replace', { key, body: shopJson(SMS_MESSAGE) })
  const replaced = await stateOf(mock, key)
  const restored = await mock.post('/_mock/snapshots/s/restore', {
    key,
    body: JSON.stringify(body)
  })
  expect(restored.json.parts).toEqual(['data', 'clock', 'idempotency'])
  expect(await stateOf(mock, key)).toEqual(made)
  await reset(mock, {}, key)
  expect(await stateOf(mock, key)).toEqual(body.baseline ? made : replaced)
})

test('removing a snapshot with its own baseline leaves no rows behind', async () => {
  // Use an environment from the server's seed. If a request had created the environment, the report
  // would keep the rows of its first baseline.
  const mock = await useNewMock()
  const key = DEVELOPMENT
  await mock.post('/_mock/seed?mode=replace', { key, body: shopJson(SMS_MESSAGE) })
  const before = rowCounts(mock.db)
  await mock.call('/_mock/snapshots/s', { method: 'PUT', key })
  await mock.post('/_mock/seed?mode=replace', { key, body: shopJson(SMS_MESSAGE) })
  await mock.call('/_mock/snapshots/s', { method: 'DELETE', key })
  expect(rowCounts(mock.db)).toEqual(before)
  expectConsistentDatasets(mock.db)
})

const some = (...ids: string[]) => ({ count: ids.length, ids })
const NONE = { added: some(), removed: some(), changed: some() }
const UNCHANGED: EnvironmentDiff = {
  ...{ integrations: NONE, subscribers: NONE, workflows: NONE, messages: NONE },
  ...{ idempotencyKeys: NONE, settings: [] }
}

/** Creates a fork of an environment, and takes a snapshot of the fork with the name `before`. */
async function createSnapshottedFork(mock: TestMock) {
  const { environmentId: from } = await createEnvironment(mock, { seed: SEED })
  // Use a fork, because its stored records contain the environment id of the original. A diff must
  // not report this id as a change.
  const { apiKey: key } = await createEnvironment(mock, { from })
  await mock.call('/_mock/snapshots/before', { method: 'PUT', key })
  return key
}

/** Changes records of every kind. Returns the ids of the added and the removed message. */
async function changeRecords(mock: TestMock, key: string) {
  const post = (path: string, body?: object, headers = {}) =>
    mock.post(path, { key, headers, ...(body && { body: JSON.stringify(body) }) })
  const removed: string = (await mock.get('/v1/messages', { key })).json.data[0]._id
  await post('/v1/integrations/other/set-primary', undefined, { 'idempotency-key': 'once' })
  await post('/_mock/integrations', { identifier: 'third', providerId: 'twilio', channel: 'sms' })
  const added: string = (await post('/_mock/messages', { channel: 'sms' })).json._id
  await mock.call(`/_mock/messages/${removed}`, { method: 'DELETE', key })
  const steps = [{ stepId: 'mail', type: 'email', controlValues: { subject: 'Other' } }]
  await post('/_mock/seed', {
    subscribers: [{ subscriberId: 'zoe' }],
    workflows: [{ identifier: 'order', steps }]
  })
  return { added, removed }
}

const PRIMARY_FIELDS = [
  { id: 'main', field: 'primary', before: 'true', after: 'false' },
  { id: 'other', field: 'primary', before: 'false', after: 'true' },
  { id: 'other', field: 'conditions', after: '[]' }
]
const SUBJECT_FIELD = {
  id: 'order',
  field: 'steps.mail.controlValues.subject',
  step: 'Email Step',
  before: '"Hi"',
  after: '"Other"'
}

test('the diff of a snapshot lists added, removed and changed records', async () => {
  const mock = await useMock()
  const key = await createSnapshottedFork(mock)
  expect(await diffOf(mock, key)).toEqual(UNCHANGED)
  const { added, removed } = await changeRecords(mock, key)
  const primaries = { ...some('main', 'other'), fields: PRIMARY_FIELDS }
  const subject = { ...some('order'), fields: [SUBJECT_FIELD] }
  expect(await diffOf(mock, key)).toEqual({
    integrations: {
      ...{ ...NONE, added: some('third'), changed: primaries },
      labels: { main: 'ses', other: 'sendgrid', third: 'twilio' }
    },
    subscribers: { ...NONE, added: some('zoe') },
    workflows: { ...NONE, changed: subject },
    messages: {
      ...{ ...NONE, added: some(added), removed: some(removed) },
      labels: { [added]: 'sms', [removed]: 'email: Hello' }
    },
    idempotencyKeys: { ...NONE, added: some('once') },
    settings: []
  })
  expectConsistentDatasets(mock.db)
})

test('after a restore, the diff from a newer snapshot lists the changes in reverse', async () => {
  const mock = await useMock()
  const key = await createSnapshottedFork(mock)
  const { added, removed } = await changeRecords(mock, key)
  await mock.call('/_mock/snapshots/after', { method: 'PUT', key })
  await mock.post('/_mock/snapshots/before/restore', { key })
  expect(await diffOf(mock, key)).toEqual(UNCHANGED)
  expect(await diffOf(mock, key, 'after')).toMatchObject({
    integrations: { added: some(), removed: some('third'), changed: some('main', 'other') },
    messages: { added: some(removed), removed: some(added) },
    idempotencyKeys: { removed: some('once') }
  })
  expectConsistentDatasets(mock.db)
})

test('the diff hides secrets and cuts off long values', async () => {
  const mock = await useMock()
  await mock.call('/_mock/snapshots/before', { method: 'PUT' })
  const patch = { credentials: { apiKey: 'SG.another', senderName: 'x' }, name: 'n'.repeat(900) }
  await mock.call('/_mock/integrations/sendgrid-main', {
    method: 'PATCH',
    body: JSON.stringify(patch)
  })
  const diff = await diffOf(mock, 'development-key')
  expect(diff.integrations.changed.fields).toEqual([
    { id: 'sendgrid-main', field: 'name', before: '"SendGrid"', after: `"${'n'.repeat(199)}…` },
    { id: 'sendgrid-main', field: 'credentials.apiKey', before: '***', after: '***' },
    { id: 'sendgrid-main', field: 'credentials.from', before: '***' },
    { id: 'sendgrid-main', field: 'credentials.senderName', before: '***', after: '***' },
    { id: 'sendgrid-main', field: 'credentials.ipPoolName', before: '***' }
  ])
  expect(JSON.stringify(diff)).not.toContain('SG.')
})

test('environments, keys, snapshots and baselines survive a restart with a data file', async () => {
  const data = join(createTempFolder(), 'data.db')
  const first = await useMock({ data, now: NOW })
  const { apiKey: key } = await createEnvironment(first, { seed: SEED })
  const made = await stateOf(first, key)
  await first.post('/v1/integrations/other/set-primary', {
    key,
    headers: { 'idempotency-key': 'k' }
  })
  await setClock(first, { mode: 'fixed', at: '2026-02-18T20:00Z' }, key)
  await first.call('/_mock/snapshots/s', { method: 'PUT', key })
  const kept = await stateOf(first, key)
  await first.post('/_mock/seed', { key, body: shopJson({ messages: [{ channel: 'sms' }] }) })
  const last = await stateOf(first, key)
  const snapshots = (await first.get('/_mock/snapshots', { key })).text
  const rows = rowCounts(first.db)
  await first.app.close()

  const second = await useMock({ data, now: NOW })
  expect(second.seeded).toBe(false)
  expect(rowCounts(second.db)).toEqual(rows)
  expect(await stateOf(second, key)).toEqual(last)
  expect((await second.get('/_mock/snapshots', { key })).text).toBe(snapshots)
  await second.post('/_mock/snapshots/s/restore', { key })
  expect(await stateOf(second, key)).toEqual(kept)
  const replay = await second.post('/v1/integrations/other/set-primary', {
    key,
    headers: { 'idempotency-key': 'k' }
  })
  expect(replay.headers.get('idempotency-replay')).toBe('true')
  await second.post('/_mock/reset', { key })
  expect(await stateOf(second, key)).toEqual(made)
  expectConsistentDatasets(second.db)
})

test('a built-in seed gives the same data at startup, on creation and on replace', async () => {
  const { name: _, ...expected } = await stateOf(
    await useMock({ now: NOW, seeds: ['failures'] }),
    'development-key'
  )
  const mock = await useMock({ now: NOW })
  const created = await createEnvironment(mock, { scenario: 'failures' })
  const { apiKey: key, name } = await createEnvironment(mock, { from: 'Development' })
  await mock.post('/_mock/seed?mode=replace&scenario=failures', { key })
  expect(await stateOf(mock, created.apiKey)).toEqual({ ...expected, name: created.name })
  expect(await stateOf(mock, key)).toEqual({ ...expected, name })
  await mock.post('/_mock/seed?mode=merge', {
    key,
    body: shopJson({ subscribers: [{ subscriberId: 'zoe' }] })
  })
  await mock.post('/_mock/reset', { key })
  expect(await stateOf(mock, key)).toEqual({ ...expected, name })
})

test.each([
  [
    'an unknown scenario',
    'scenario=failure',
    '',
    'scenario',
    /, failures, .*; did you mean failures\?$/
  ],
  [
    'a scenario and a seed',
    'scenario=failures',
    '{}',
    'scenario',
    /can't be combined with a seed in the body/
  ],
  [
    'an empty scenario without a seed',
    'scenario=',
    '',
    'seed',
    /is empty: a seed starts with `environments:`/
  ]
])('rejects %s and loads nothing', async (_title, query, body, field, message) => {
  const mock = await useMock()
  const before = (await mock.get('/_mock/state')).text
  const response = await mock.post(`/_mock/seed?mode=replace&${query}`, { body })
  expect([response.status, response.json.errors[field].messages]).toEqual([
    422,
    [expect.stringMatching(message)]
  ])
  expect((await mock.get('/_mock/state')).text).toBe(before)
})
