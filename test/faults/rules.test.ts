import { expect, test } from 'vitest'
import {
  addFault,
  create,
  journalOf,
  MAILGUN,
  setPrimary,
  setRandomSeed
} from '../support/control.js'
import { type TestMock, useMock } from '../support/mock.js'

const UNAVAILABLE = { status: 503 }

/** Sends list requests one after the other, and returns their statuses. */
async function lists(mock: TestMock, count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < count; n++) statuses.push((await mock.get('/v1/messages?limit=1')).status)
  return statuses
}

const ruleOf = async (mock: TestMock) => (await mock.get('/_mock/faults')).json.faults[0]

test('a rule applies once by default, and counts matching requests and hits', async () => {
  const mock = await useMock()
  const added = await addFault(mock, { effect: UNAVAILABLE })
  expect(added).toMatchObject({ status: 201, json: { id: 'fault-1', times: 1, seen: 0, hits: 0 } })
  expect(await lists(mock, 3)).toEqual([503, 200, 200])
  expect(await ruleOf(mock)).toEqual({ ...added.json, seen: 3, hits: 1 })
  expect((await journalOf(mock)).map(({ flags }) => flags.faulted)).toEqual([
    'fault-1',
    undefined,
    undefined
  ])
})

test.each<[string, object, string]>([
  ['times', { times: 2 }, 'xx....'],
  ['times "always"', { times: 'always' }, 'xxxxxx'],
  ['after', { after: 2 }, '..x...'],
  ['every', { every: 2, times: 'always' }, '.x.x.x'],
  ['after, every and times', { after: 1, every: 2, times: 2 }, '..x.x.']
])('a rule with %s applies to exactly the expected requests', async (_name, when, expected) => {
  const mock = await useMock()
  await addFault(mock, { ...when, effect: UNAVAILABLE })
  expect((await lists(mock, 6)).map((status) => (status === 503 ? 'x' : '.')).join('')).toBe(
    expected
  )
})

test('a rule with a probability selects the same requests for the same random seed', async () => {
  const mock = await useMock()
  const run = async () => {
    await mock.call('/_mock/faults', { method: 'DELETE' })
    await addFault(mock, { probability: 0.25, times: 'always', effect: UNAVAILABLE })
    return lists(mock, 60)
  }
  setRandomSeed(mock, 7)
  const first = await run()
  setRandomSeed(mock, 7)
  expect(await run()).toEqual(first)
  setRandomSeed(mock, 8)
  expect(await run()).not.toEqual(first)
  const hits = first.filter((status) => status === 503).length
  expect(hits).toBeGreaterThan(6)
  expect(hits).toBeLessThan(24)
})

test('a rule applies only to requests that match its operation and its conditions', async () => {
  const mock = await useMock()
  const add = (rule: object) => addFault(mock, { times: 'always', ...rule })
  await add({ operation: 'setIntegrationAsPrimary', effect: { status: 500 } })
  await add({ match: { query: { channel: 'email', limit: 1 } }, effect: { status: 502 } })
  await add({ match: { headers: { 'X-Run': { matches: '^7$' } } }, effect: { status: 504 } })
  await add({ match: { path: { matches: '^/v2/' } }, effect: { status: 418 } })
  expect((await mock.post(setPrimary(MAILGUN))).status).toBe(500)
  const list = async (query: string, headers = {}) =>
    (await mock.get(`/v1/messages?${query}`, { headers })).status
  expect(await list('channel=email&limit=1')).toBe(502)
  expect([await list('channel=sms&limit=1'), await list('channel=email&limit=11')]).toEqual([
    200, 200
  ])
  expect([await list('', { 'x-run': '7' }), await list('', { 'x-run': '77' })]).toEqual([504, 200])
  expect((await mock.get('/v2/workflows/order-shipped/steps/email-step')).status).toBe(418)
  const { faults } = (await mock.get('/_mock/faults')).json
  expect(faults.map(({ hits }: { hits: number }) => hits)).toEqual([1, 1, 1, 1])
})

test('an environment has at most 1,000 rules', async () => {
  const mock = await useMock()
  const faults = Array(1000).fill({ effect: UNAVAILABLE })
  const { apiKey } = (await create(mock, { faults })).json
  const one = JSON.stringify({ effect: UNAVAILABLE })
  const add = () => mock.post('/_mock/faults', { key: apiKey, body: one })
  expect(await add()).toMatchObject({
    status: 400,
    json: { message: 'There are 1000 fault rules already' }
  })
  expect((await mock.call('/_mock/faults/fault-1', { method: 'DELETE', key: apiKey })).status).toBe(
    204
  )
  expect(await add()).toMatchObject({ status: 201, json: { id: 'fault-1001' } })
})

test('injects no faults into control or unauthenticated requests', async () => {
  const mock = await useMock()
  await addFault(mock, { times: 'always', effect: UNAVAILABLE })
  const headers = { 'x-mock-fault': 'status=503' }
  expect((await mock.get('/_mock/requests', { headers })).status).toBe(200)
  expect((await mock.get('/v1/messages', { key: 'nobody', headers })).status).toBe(401)
  expect((await mock.get('/v1/nothing', { key: null, headers })).status).toBe(401)
  expect(await ruleOf(mock)).toMatchObject({ seen: 0 })
})

test('rejects an invalid rule and names the invalid field', async () => {
  const mock = await useMock()
  for (const [fault, fields] of INVALID_RULES) {
    const response = await addFault(mock, fault)
    expect(response.status, JSON.stringify(fault)).toBe(422)
    expect(Object.keys(response.json.errors), JSON.stringify(fault)).toEqual(fields)
  }
  expect((await mock.get('/_mock/faults')).json).toEqual({ faults: [] })
  expect(await lists(mock, 1)).toEqual([200])
})

/**
 * Invalid rules, each with the fields that its error lists. The messages are checked in
 * test/control/validation-messages.test.ts.
 */
const INVALID_RULES: [object, string[]][] = [
  [{ effect: { status: 399 } }, ['effect.status']],
  [{ effect: { status: 600 } }, ['effect.status']],
  [{ effect: { ...UNAVAILABLE, header: {} } }, ['effect.header']],
  [{ effect: UNAVAILABLE, match: { body: 'x' } }, ['match.body']],
  [{ effect: { delay: 0 } }, ['effect.delay']],
  [{ effect: { status: 503, abort: 'reset' } }, ['effect']],
  [{ effect: { status: 503, lostResponse: true } }, ['effect']],
  [{ effect: { abort: 'truncate', lostResponse: true } }, ['effect']],
  [{ effect: { delay: 5, headers: { a: 'b' } } }, ['effect']],
  [{ effect: { lostResponse: true, body: null } }, ['effect']],
  [{ effect: { status: 503, headers: { 'a b': 'c' } } }, ['effect.headers.a b']],
  [{ effect: { status: 503, headers: { a: 'b\nc' } } }, ['effect.headers.a']],
  [
    { effect: { status: 503, headers: { 'Content-Length': '1' } } },
    ['effect.headers.Content-Length']
  ]
]

test("the error shows an invalid header's value, unless the value may be a secret", async () => {
  const mock = await useMock()
  const headers = {
    authorization: 'Bearer s3cret\n',
    'x-api-key': 's3cret\n',
    'x-place': 'a\n',
    connection: 'close'
  }
  const { status, json } = await addFault(mock, { effect: { status: 503, headers } })
  const errorFor = (name: string) => ({
    messages: [`effect.headers.${name} can't be sent as a header`]
  })
  expect([status, json.errors]).toEqual([
    422,
    {
      'effect.headers.authorization': errorFor('authorization'),
      'effect.headers.x-api-key': errorFor('x-api-key'),
      'effect.headers.x-place': { ...errorFor('x-place'), value: 'a\n' },
      'effect.headers.connection': { ...errorFor('connection'), value: 'close' }
    }
  ])
})
