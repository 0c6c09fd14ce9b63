import { statSync } from 'node:fs'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { CreatedEnvironment } from '../../../src/control/environments/schemas.js'
import { openDatabase } from '../../../src/db/open.js'
import { raw } from '../../support/control.js'
import { type GivenMock, givenOwnMock } from '../../support/mock.js'
import { givenFolder, startCommand } from '../../support/process.js'
import { expectSound, givenEnvironment, plainCall, rowCounts } from '../environments/environment-client.js'

const PRIMARY = { providerId: 'ses', channel: 'email' }
const SHOP = {
  name: 'Shop',
  integrations: [
    { ...PRIMARY, identifier: 'a', primary: true },
    { ...PRIMARY, identifier: 'b' }
  ],
  workflows: [{ identifier: 'order', steps: [{ stepId: 'mail', type: 'email', controlValues: { subject: 'Hello' } }] }]
}
const seedOf = (environment: object) => ({ environments: [{ name: 'Shop', ...environment }] })
const manyMessages = (count: number, length = 1) =>
  Array.from({ length: count }, (_, index) => ({ channel: 'sms', content: `${index} ${'x'.repeat(length)}` }))

/** Longer than any pause should be, also on a machine that is busy with other things. */
const PATIENCE = 2000

/** A server, and an environment for the test alone. */
async function given(environment: object): Promise<{ mock: GivenMock; made: CreatedEnvironment; key: string }> {
  const mock = await givenOwnMock({ seed: { environments: [] } })
  const made = await givenEnvironment(mock, { seed: seedOf({ ...SHOP, ...environment }) })
  return { mock, made, key: made.apiKey }
}

const load = (mock: GivenMock, key: string, mode: string, environment: object) =>
  plainCall(mock, `/_mock/seed?mode=${mode}`, key, { method: 'POST', body: JSON.stringify(seedOf(environment)) })
const post = (mock: GivenMock, key: string, path: string) => plainCall(mock, path, key, { method: 'POST' })
const totalOf = async (mock: GivenMock, key: string) =>
  JSON.parse((await plainCall(mock, '/v1/messages?limit=1', key)).text).totalCount

/** The state, of which nothing is read before `read`. */
async function openState(mock: GivenMock, key: string) {
  const headers = { authorization: `ApiKey ${key}` }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpGet(`${mock.url}/_mock/state`, { headers }, resolve).on('error', reject)
  })
  return { response, read: () => text(response) }
}

/** Waits until nothing is left of what nothing refers to any more. */
const settled = (mock: GivenMock) => vi.waitFor(() => expectSound(mock.db), { timeout: 30_000, interval: 50 })

/** Runs the work, and returns the longest time that another request had to wait meanwhile. */
const longestWait = async (mock: GivenMock, work: () => Promise<unknown>) =>
  Math.max(...(await waitsDuring(mock, work)))

/** Runs the work, and returns how long each of other requests had to wait meanwhile, in milliseconds. */
async function waitsDuring(mock: GivenMock, work: () => Promise<unknown>): Promise<number[]> {
  let isDone = false
  const waits: number[] = []
  const working = work().finally(() => {
    isDone = true
  })
  while (!isDone) {
    const started = performance.now()
    await (await fetch(`${mock.url}/health`)).text()
    waits.push(performance.now() - started)
  }
  await working
  return waits
}

test('a state is what it was when it began, whatever is done to the environment before its end', async () => {
  const { mock, made, key } = await given({ messages: manyMessages(3000, 5000) })
  const before = (await plainCall(mock, '/_mock/state', key)).text
  expect(before.length).toBeGreaterThan(15_000_000)
  const open = await openState(mock, key)

  await post(mock, key, '/v1/integrations/b/set-primary')
  await load(mock, key, 'merge', { messages: [{ channel: 'push' }], subscribers: [{ subscriberId: 'new' }] })
  expect(await totalOf(mock, key)).toBe(3001)
  await load(mock, key, 'replace', { messages: [{ channel: 'chat' }] })
  await mock.call(`/_mock/environments/${made.environmentId}`, { method: 'DELETE', key: null })

  expect((await open.read()) === before).toBe(true)
  await settled(mock)
  expect(rowCounts(mock.db)).toMatchObject({ environments: 0, datasets: 0, messages: 0, integrations: 0 })
})

test('a state keeps no idempotency keys from being deleted while it is read', async () => {
  const { mock, key } = await given({ messages: manyMessages(3000, 5000) })
  const headers = { 'idempotency-key': 'one' }
  await plainCall(mock, '/v1/integrations/b/set-primary', key, { method: 'POST', headers })
  expect(rowCounts(mock.db)).toMatchObject({ idempotency_keys: 1 })
  const open = await openState(mock, key)
  await load(mock, key, 'replace', SHOP)
  await vi.waitFor(() => expect(rowCounts(mock.db)).toMatchObject({ idempotency_keys: 0 }), { timeout: 5000 })
  expect(rowCounts(mock.db).messages).toBe(3000)
  expect((await open.read()).length).toBeGreaterThan(15_000_000)
})

test('a client that goes away in the middle of a state leaves nothing behind', async () => {
  const { mock, made, key } = await given({ messages: manyMessages(3000, 5000) })
  const open = await openState(mock, key)
  open.response.destroy()
  await mock.call(`/_mock/environments/${made.environmentId}`, { method: 'DELETE', key: null })
  await settled(mock)
  expect(rowCounts(mock.db)).toMatchObject({ datasets: 0, messages: 0 })
})

test('HEAD of a large state has its type and no body, and of a small one its length', async () => {
  const { mock, key } = await given({ messages: manyMessages(1000, 500) })
  const large = await plainCall(mock, '/_mock/state', key, { method: 'HEAD' })
  expect([large.status, large.headers.get('content-length'), large.text]).toEqual([200, null, ''])
  expect(large.headers.get('content-type')).toBe('application/json; charset=utf-8')
  await load(mock, key, 'replace', SHOP)
  const { text: state } = await plainCall(mock, '/_mock/state', key)
  const small = await plainCall(mock, '/_mock/state', key, { method: 'HEAD' })
  expect(small.headers.get('content-length')).toBe(String(state.length))
})

test('other requests are answered while 50,000 messages are generated, forked, exported and removed', {
  timeout: 300_000
}, async () => {
  const { mock, key } = await given({})
  const steps: [string, () => Promise<unknown>][] = [
    ['generate', () => load(mock, key, 'merge', { generate: { messages: 50_000, subscribers: 2000 } })],
    ['state', () => plainCall(mock, '/_mock/state', key)],
    ['snapshot', () => plainCall(mock, '/_mock/snapshots/a', key, { method: 'PUT' })],
    ['merge', () => load(mock, key, 'merge', { messages: [{ channel: 'sms' }] })],
    ['fork', () => givenEnvironment(mock, { from: 'Shop', name: 'Fork' })],
    ['replace', () => load(mock, key, 'replace', { generate: undefined, messages: manyMessages(3000) })],
    ['restore', () => post(mock, key, '/_mock/snapshots/a/restore')],
    ['remove', () => mock.call('/_mock/environments/Fork', { method: 'DELETE', key: null })],
    ['reset', () => post(mock, key, '/_mock/reset')],
    ['sweep', () => settled(mock)]
  ]
  for (const [name, work] of steps) expect(await longestWait(mock, work), name).toBeLessThan(PATIENCE)
})

test('while 100,000 messages are compared with a snapshot other requests are answered, and what is written then does not count', {
  timeout: 300_000
}, async () => {
  const { mock, made, key } = await given({ generate: { messages: 100_000, subscribers: 2000 } })
  const [first, second] = JSON.parse((await plainCall(mock, '/v1/messages?limit=2', key)).text).data
  const change = (_id: string) =>
    plainCall(mock, `/_mock/messages/${_id}`, key, { method: 'PATCH', body: '{"subject":"Changed"}' })
  await plainCall(mock, '/_mock/snapshots/a', key, { method: 'PUT' })
  expect((await change(first._id)).status).toBe(200)

  let answer = ''
  const waits = await waitsDuring(mock, async () => {
    answer = (await plainCall(mock, '/_mock/snapshots/a/differences', key)).text
  })
  expect(JSON.parse(answer).messages.changed).toEqual({ count: 1, ids: [first._id] })
  // Two at most when it is done in one go. How many more there are is the machine's matter: the faster, the fewer.
  expect(waits.length).toBeGreaterThan(4)
  expect(Math.max(...waits)).toBeLessThan(PATIENCE)

  const compared = plainCall(mock, '/_mock/snapshots/a/differences', key)
  await (await fetch(`${mock.url}/health`)).text()
  expect((await change(second._id)).status).toBe(200)
  await mock.call(`/_mock/environments/${made.environmentId}`, { method: 'DELETE', key: null })
  expect((await compared).text).toBe(answer)
  await settled(mock)
  expect(rowCounts(mock.db)).toMatchObject({ datasets: 0, messages: 0 })
})

test.each<[string, (mock: GivenMock, key: string) => Promise<unknown>]>([
  [
    'a seed of few records with long texts',
    (mock, key) => load(mock, key, 'replace', { workflows: liquidWorkflows() })
  ],
  [
    'messages that are generated from long texts',
    (mock, key) => load(mock, key, 'replace', { workflows: liquidWorkflows(), generate: { messages: 1 } })
  ],
  [
    'a merge of thousands of workflows whose names take long to make identifiers of',
    (mock, key) =>
      load(mock, key, 'merge', {
        workflows: Array.from({ length: 3000 }, (_, index) => ({ name: `workflowName aB${index}`.repeat(10) }))
      })
  ]
])('other requests are answered while this is loaded: %s', { timeout: 240_000 }, async (_, work) => {
  const { mock, key } = await given({})
  expect(
    await longestWait(mock, async () => expect((await work(mock, key)) as object).toMatchObject({ status: 200 }))
  ).toBeLessThan(PATIENCE)
})

/** Little in number, and seconds to read. */
function liquidWorkflows() {
  const body = '{{ payload.name | upcase }} {% if payload.b %}x{% endif %}'.repeat(800)
  return Array.from({ length: 80 }, (_, index) => ({
    name: `w${index}`,
    steps: [{ type: 'sms', controlValues: { body } }]
  }))
}

test('a state of several chunks as YAML is, once imported, the same state as JSON', {
  timeout: 240_000
}, async () => {
  const { mock, key } = await given({ generate: { messages: 500 } })
  const json = (await plainCall(mock, '/_mock/state', key)).text
  const yaml = (await plainCall(mock, '/_mock/state', key, { headers: { accept: 'application/yaml' } })).text
  const other = await givenEnvironment(mock, {})
  await plainCall(mock, '/_mock/seed?mode=replace', other.apiKey, { method: 'POST', body: yaml })
  const back = (await plainCall(mock, '/_mock/state', other.apiKey)).text
  expect(back.replace('"Unnamed"', '"Shop"') === json).toBe(true)
})

test.each(['merge', 'replace'])(
  'a large seed that the database refuses in the middle of a %s leaves nothing',
  async (mode) => {
    const { mock, key } = await given({ messages: manyMessages(10) })
    mock.db.client.exec(
      `CREATE TRIGGER late BEFORE INSERT ON messages WHEN NEW.document LIKE '%"2999 x"%' BEGIN SELECT raise(ABORT, 'no'); END`
    )
    const before = { rows: rowCounts(mock.db), state: (await plainCall(mock, '/_mock/state', key)).text }
    expect((await load(mock, key, mode, { messages: manyMessages(3000) })).status).toBe(500)
    await settled(mock)
    expect({ rows: rowCounts(mock.db), state: (await plainCall(mock, '/_mock/state', key)).text }).toEqual(before)
  }
)

test.each(['merge', 'replace'])('until a large %s is done, the environment is what it was', async (mode) => {
  const { mock, key } = await given({ messages: manyMessages(10) })
  const after = mode === 'merge' ? 6010 : 6000
  let isDone = false
  const loading = load(mock, key, mode, { messages: manyMessages(6000) }).finally(() => {
    isDone = true
  })
  const seen = new Set<number>()
  while (!isDone) seen.add(await totalOf(mock, key))
  expect((await loading).status).toBe(200)
  expect([...seen].filter((total) => total !== 10 && total !== after)).toEqual([])
  expect(seen.has(10)).toBe(true)
  expect(await totalOf(mock, key)).toBe(after)
  await settled(mock)
})

test('seeds for one environment are loaded in the order in which they came', async () => {
  const { mock, key } = await given({})
  // On one connection, where they come one after the other.
  const bytes = [
    ['merge', 3000],
    ['replace', 2000],
    ['merge', 1500],
    ['merge', 5]
  ].map(([mode, count]) => {
    const body = JSON.stringify(seedOf({ messages: manyMessages(Number(count)) }))
    return `POST /_mock/seed?mode=${mode} HTTP/1.1\r\nhost: mock\r\nauthorization: ApiKey ${key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  })
  const connection = raw(mock, bytes.join(''))
  await vi.waitFor(() => expect(connection.text().match(/HTTP\/1.1 \d+/g)).toHaveLength(4), { timeout: 30_000 })
  expect(connection.text().match(/HTTP\/1.1 \d+/g)).toEqual(Array(4).fill('HTTP/1.1 200'))
  expect(await totalOf(mock, key)).toBe(3505)
  await settled(mock)
})

test('what is done to an environment during a large merge is not lost', async () => {
  const { mock, key } = await given({})
  const loading = load(mock, key, 'merge', { messages: manyMessages(5000) })
  for (let turn = 0; turn < 3; turn++) {
    expect((await post(mock, key, '/v1/integrations/b/set-primary')).status).toBe(200)
    await plainCall(mock, '/_mock/clock', key, { method: 'PUT', body: '{"mode":"offset","by":5}' })
    await delay(20)
  }
  expect((await loading).status).toBe(200)
  const [state] = JSON.parse((await plainCall(mock, '/_mock/state', key)).text).environments
  expect(state.integrations.find(({ primary }: { primary: boolean }) => primary).identifier).toBe('b')
  expect([state.clock, state.messages.length]).toEqual([{ mode: 'offset', by: 5 }, 5000])
  await settled(mock)
})

test('an environment that is removed while a seed is loaded into it, or a client that goes away, leaves nothing', async () => {
  const { mock, made, key } = await given({})
  const gone = new AbortController()
  const headers = { authorization: `ApiKey ${key}` }
  const body = JSON.stringify(seedOf({ generate: { messages: 100_000 } }))
  const aborted = fetch(`${mock.url}/_mock/seed`, { method: 'POST', headers, body, signal: gone.signal }).catch(String)
  await vi.waitFor(() => expect(rowCounts(mock.db).messages).toBeGreaterThan(100), { timeout: 20_000, interval: 5 })
  gone.abort()
  await aborted
  await settled(mock)
  expect(rowCounts(mock.db)).toMatchObject({ messages: 0, environments: 2 })

  const loading = load(mock, key, 'merge', { messages: manyMessages(8000) })
  await vi.waitFor(() => expect(rowCounts(mock.db).messages).toBeGreaterThan(100), { timeout: 20_000, interval: 5 })
  await mock.call(`/_mock/environments/${made.environmentId}`, { method: 'DELETE', key: null })
  expect((await loading).status).toBe(401)
  await settled(mock)
  expect(rowCounts(mock.db)).toMatchObject({ messages: 0, datasets: 0, environments: 0 })
})

test('a server that is killed while it loads a large seed has, once started again, what it had before', async () => {
  const data = `${givenFolder()}/mock.db`
  const args = ['--data', data, '--no-seed']
  const first = await startCommand(args)
  const made = await fetch(`${first.url}/_mock/environments`, {
    method: 'POST',
    body: JSON.stringify({ seed: seedOf(SHOP) })
  })
  const { apiKey: key } = (await made.json()) as CreatedEnvironment
  const before = (await plainCall(first, '/_mock/state', key)).text
  const body = JSON.stringify(seedOf({ generate: { messages: 100_000 } }))
  const loading = plainCall(first, '/_mock/seed', key, { method: 'POST', body }).catch(String)
  // By then some of it is in the file.
  await vi.waitFor(() => expect(statSync(`${data}-wal`).size).toBeGreaterThan(5_000_000), { timeout: 20_000 })
  first.child.kill('SIGKILL')
  await Promise.all([first.ended, loading])

  const second = await startCommand(args)
  expect((await plainCall(second, '/_mock/state', key)).text).toBe(before)
  second.child.kill('SIGTERM')
  expect((await second.ended).code).toBe(0)
})

test('what a process that was killed has left half done is deleted by the next start', async () => {
  const data = `${givenFolder()}/mock.db`
  const { db, close } = openDatabase(data)
  db.client.exec(`INSERT INTO datasets (key) VALUES (77), (78);
    INSERT INTO subscribers (dataset, id, subscriber_id, document) VALUES (78, 'a', 'a', '{}');
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO messages (dataset, id, created_at, channel, transaction_id, context, document)
    SELECT 77, i, i, 'sms', i, '[]', '{}' FROM n`)
  close()
  const mock = await givenOwnMock({ data, seed: seedOf(SHOP) })
  await settled(mock)
  expect(rowCounts(mock.db)).toMatchObject({ messages: 0, subscribers: 0, environments: 2 })
  onTestFinished(() => expectSound(mock.db))
})
