import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addFault, DEVELOPMENT, send, verify } from '../support/control.js'
import { type GivenMock, givenMock } from '../support/mock.js'

/** Names that every object has by its prototype. */
const INHERITED = ['toString', 'constructor', '__proto__']

/** Every control route, with a body that it takes, into which what is hostile is put. */
const ROUTES: [method: string, path: string, body: object][] = [
  ['POST', '/_mock/faults', { effect: { status: 503, headers: { 'x-a': '1' }, body: { a: 1 } }, match: { query: {} } }],
  ['DELETE', '/_mock/faults', {}],
  ['DELETE', '/_mock/faults/fault-1', {}],
  ['POST', '/_mock/requests/verify', { query: { a: '1' }, headers: {}, inOrder: [{ path: { matches: 'a' } }] }],
  ['DELETE', '/_mock/requests', {}],
  ['POST', '/_mock/environments', { name: 'a', seed: { environments: [{ name: 'a' }] }, assumptions: {} }],
  ['DELETE', '/_mock/environments/none', {}],
  ['POST', '/_mock/seed', { environments: [{ name: 'a', messages: [{ channel: 'sms', payload: {} }] }] }],
  ['POST', '/_mock/reset', { parts: ['requests'] }],
  ['PUT', '/_mock/snapshots/a', {}],
  ['POST', '/_mock/snapshots/a/restore', { parts: ['data'] }],
  ['PUT', '/_mock/clock', { mode: 'fixed', at: '2026-02-18T10:00:00Z' }],
  ['POST', '/_mock/clock/advance', { by: 1 }],
  ['PUT', '/_mock/chance', { randomSeed: 1 }]
]

test.each(INHERITED)('a field or a parameter named %s is refused as any unknown one', async (name) => {
  const mock = await givenMock()
  const field = `{${JSON.stringify(name)}: 1}`
  for (const [method, path] of ROUTES) {
    const { status, json } = await mock.call(path, { method, body: field })
    expect([status, Object.keys(json.errors)], `${method} ${path}`).toEqual([422, expect.arrayContaining([name])])
  }
  const assumptions = await mock.call('/_mock/environments', { method: 'POST', body: `{"assumptions": ${field}}` })
  expect([assumptions.status, Object.keys(assumptions.json.errors)]).toEqual([422, [`assumptions.${name}`]])
  for (const path of ['/_mock/requests', '/_mock/requests/keyless', '/_mock/state', '/_mock/environments']) {
    const { status, json } = await mock.get(`${path}?${name}=1`)
    expect([status, Object.keys(json.errors)], path).toEqual([422, [name]])
  }
})

test.each(INHERITED)('a parameter named %s is recorded, matched and not mistaken for another', async (name) => {
  const mock = await givenMock()
  const matching = JSON.parse(`{"query": {${JSON.stringify(name)}: "1"}}`)
  await mock.get('/v1/messages')
  expect((await verify(mock, matching)).status).toBe(417)
  await addFault(mock, { match: matching, effect: { status: 503 } })
  expect((await mock.get('/v1/messages')).status).toBe(200)
  expect((await mock.get(`/v1/messages?${name}=1`)).status).toBe(503)
  expect((await verify(mock, matching)).json).toMatchObject({ requests: [3] })
})

test('what a document calls as prototypes do is kept, and given back as it came', async () => {
  const mock = await givenMock()
  const own = '{"__proto__":{"a":[{"__proto__":1}]},"constructor":{"prototype":null},"toString":"text"}'
  const seed = `{"environments":[{"name":"Odd",
    "subscribers":[{"subscriberId":"ada","data":${own}}],
    "workflows":[{"identifier":"flow","steps":[{"stepId":"step","type":"email","controlValues":${own}}]}],
    "messages":[{"channel":"email","subscriberId":"ada","workflow":"flow","payload":${own},"overrides":${own}}],
    "integrations":[{"identifier":"mail","providerId":"smtp","channel":"email","credentials":{"tlsOptions":${own}}}]}]}`
  const yaml = seed.replaceAll('"name":"Odd"', 'name: Odd')
  const texts: string[] = []
  for (const body of [seed, yaml]) {
    expect((await mock.post('/_mock/seed?mode=replace', { body })).text).toBe('{"mode":"replace"}')
    texts.push((await mock.get('/v1/messages')).text + (await mock.get('/v2/workflows/flow/steps/step')).text)
    texts.push((await mock.post('/v1/integrations/mail/set-primary')).text)
    const state = (await mock.get('/_mock/state')).text
    expect(state.split(own)).toHaveLength(7)
    const made = await mock.post('/_mock/environments', { body: `{"seed":${state}}` })
    expect((await mock.get('/_mock/state', { key: made.json.apiKey })).text.split(own)).toHaveLength(7)
  }
  expect(texts.map((text) => text.split(own).length - 1)).toEqual([4, 1, 4, 1])
})

const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`

test('a body nested more than 100 deep is refused by every route, with the place, and nothing of it is stored', async () => {
  const mock = await givenMock()
  for (const depth of [102, 5000, 150_000]) {
    for (const [method, path] of ROUTES.filter(([, each]) => each !== '/_mock/seed')) {
      const { status, json } = await mock.call(path, { method, body: nested(depth) })
      expect([status, json.errors], path).toEqual([
        422,
        { body: { messages: ['body is nested more than 100 deep: make it flatter (character 301)'] } }
      ])
    }
    const fault = await mock.post('/_mock/faults', { body: `{"effect": {"status": 503, "body": ${nested(depth)}}}` })
    expect([fault.status, (await mock.get('/_mock/faults')).json]).toEqual([422, { faults: [] }])
  }
  const { status } = await mock.post('/_mock/faults', { body: `{"effect": {"status": 503, "body": ${nested(98)}}}` })
  expect([status, await (await callAnyway(mock, '/v1/messages')).text()]).toEqual([201, nested(98)])
  // Brackets in a text are none.
  expect((await addFault(mock, { effect: { status: 503, body: `\\"${'['.repeat(200)}"` } })).status).toBe(201)
})

/** What a client should never send, and some do. */
const hostile = fc.oneof(
  fc.constantFrom<unknown[]>(null, true, [], {}, '', 0, -0, 1e308, -1e308, 2 ** 53, 0.1, [[]], { a: {} }, 'always'),
  fc.constantFrom(
    '\ud800',
    '\udfff\ud800',
    '\0',
    '\u{1f4e6}',
    '\u2028',
    'x'.repeat(70_000),
    '(',
    '(?=a)',
    '2026-02-30'
  ),
  fc.constantFrom(...INHERITED.map((name) => JSON.parse(`{"${name}": {"${name}": []}}`))),
  fc.jsonValue({ maxDepth: 3 })
)

const strange = fc.oneof(fc.constantFrom(...INHERITED, '', '\ud800', 'a.b', 'x'.repeat(5000)), fc.string())

/** Returns the body with the value in place of one that is in it, or as one more field of an object that is in it. */
function withHostile(
  body: unknown,
  [at, name, value]: [at: number, name: string | undefined, value: unknown]
): unknown {
  const places = JSON.stringify(body).match(/[{[,:]/g)?.length ?? 1
  let left = at % places
  return put(body)

  function put(node: unknown): unknown {
    if (left-- === 0) return name === undefined || typeof node !== 'object' ? value : { ...node, [name]: value }
    if (Array.isArray(node)) return node.map(put)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, put(each)]))
  }
}

const wrongs = fc.array(fc.tuple(fc.nat(20), fc.option(strange, { nil: undefined }), hostile), {
  minLength: 1,
  maxLength: 3
})

/** As text: also `-0`, numbers that no double can hold, and half a document. */
const textOf = (body: unknown, how: string): string => {
  const text = JSON.stringify(body)
  if (how === 'cut') return text.slice(0, -1)
  return how === 'huge' ? text.replace(/\d+/, '1e999') : text
}

test('no body makes a control route fail', async () => {
  const mock = await givenMock()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ROUTES),
      wrongs,
      fc.constantFrom('whole', 'whole', 'whole', 'huge', 'cut'),
      async ([method, path, body], each, how) => {
        const text = textOf(each.reduce<unknown>(withHostile, body), how)
        const { status } = await callAnyway(mock, path, { method, body: text })
        expect(status, `${method} ${path} ${text.slice(0, 500)}`).toBeLessThan(500)
      }
    ),
    { numRuns: 100 }
  )
  for (const path of ['/_mock/faults', '/_mock/requests', '/_mock/state', '/_mock/environments']) {
    expect((await mock.get(path)).status, path).toBe(200)
  }
})

/** Without a comparison with the document, which knows nothing of what a fault sends. */
function callAnyway({ url }: GivenMock, path: string, call: { method?: string; body?: string } = {}) {
  return fetch(url + path, { ...call, headers: { authorization: `ApiKey ${DEVELOPMENT}` } })
}

test('a rule that can not be copied is not stored', async () => {
  const mock = await givenMock()
  const [environment] = mock.services.environments.list()
  const effect = { status: 503, body: () => 1 }
  expect(() => mock.services.faults.add(environment?.key ?? 0, { effect })).toThrow('could not be cloned')
  expect((await mock.get('/_mock/faults')).json).toEqual({ faults: [] })
  expect((await send(mock, 'POST', '/_mock/faults', { effect: { status: 503 } })).json.id).toBe('fault-1')
})

test('a body of more than a million values is refused, with the place', async () => {
  const mock = await givenMock()
  const seed = `{"environments":[{"name":"a","integrations":[${'{},'.repeat(500_001)}{}]}]}`
  const { status, json } = await mock.post('/_mock/environments', { body: `{"seed":${seed}}` })
  expect([status, json.errors]).toEqual([
    422,
    {
      body: {
        messages: [
          expect.stringMatching(/^body has more than 1,000,000 values: divide it into parts \(character \d+\)$/)
        ]
      }
    }
  ])
})
