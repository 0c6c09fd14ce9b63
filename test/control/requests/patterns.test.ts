import { expect, test } from 'vitest'
import { addFault, verify } from '../../support/control.js'
import { givenMock } from '../../support/mock.js'

const GUARD = 10_000

/** Node's own engine takes longer than the world lasts for each. */
const CATASTROPHIC = ['(a+)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*a){20}$', '(a|aa)+$', '(?:a?){30}a{30}!!']

test('a pattern is matched in linear time, whatever it is and however long the value', async () => {
  const mock = await givenMock()
  const long = `${'a'.repeat(5000)}!`
  await mock.get(`/v1/messages?x=${long}`)
  const before = performance.now()
  for (const matches of CATASTROPHIC) {
    expect((await verify(mock, { query: { x: { matches } }, never: true })).status, matches).toBe(200)
    await addFault(mock, { match: { query: { x: { matches } } }, effect: { status: 503 } })
  }
  expect((await mock.get(`/v1/messages?x=${long}`)).status).toBe(200)
  expect((await mock.get(`/v1/messages?x=aaaa`)).status).toBe(503)
  expect(performance.now() - before).toBeLessThan(GUARD)
})

const LOOKS = 'must do without lookarounds and backreferences'
const LARGE = 'must be simpler: with its repeats written out, it has more than 200 characters'

const QUOTED = 'must do without \\Q: put a backslash before each character that is meant as such'

const REFUSED = [
  // The engine takes the first bracket for a character: then the repeats are repeats, not characters of a class.
  [`\\Q[\\E${'(?:\\w|\\W\\w){0,999}'.repeat(40)}\\d\\Q]\\E`, QUOTED],
  ['a\\\\\\Qb', QUOTED],
  ['(?=a)', LOOKS],
  ['(?<!a)b', LOOKS],
  ['(a)\\1', LOOKS],
  ['a{201}', LARGE],
  ['a{0,201}', LARGE],
  ['a{201,}', LARGE],
  ['(?:a{1000}){1000}', LARGE],
  ['(.{30}){30}(.{30}){30}', LARGE],
  ['x{1000}'.repeat(100), LARGE],
  ['x{50}'.repeat(5), LARGE],
  ['[(]a\\)(?:\\(b{60}){4}', LARGE],
  ['x'.repeat(1001), 'must have at most 1000 characters'],
  ['(', 'must be a regular expression: Invalid regular expression: /(/: Unterminated group']
] as const

test('a pattern that takes more than linear time is refused wherever it stands, and nothing is stored', async () => {
  const mock = await givenMock()
  for (const [matches, message] of REFUSED) {
    const errorsAt = (...paths: string[]) =>
      Object.fromEntries(paths.map((path) => [path, { messages: [`${path} ${message}`], value: matches }]))
    const match = { path: { matches }, query: { a: { matches } }, headers: { 'X-A': { matches } } }
    const fault = await addFault(mock, { match, effect: { status: 503 } })
    const fields = ['match.path.matches', 'match.query.a.matches', 'match.headers.X-A.matches']
    expect([fault.status, fault.json.errors], matches).toEqual([422, errorsAt(...fields)])
    const verified = await verify(mock, { inOrder: [{}, { body: { matches } }] })
    expect([verified.status, verified.json.errors], matches).toEqual([422, errorsAt('inOrder[1].body.matches')])
  }
  expect((await mock.get('/_mock/faults')).json.faults).toEqual([])
})

test('a pattern has the classes, groups and escapes of a regular expression of the language', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages?x=Order/%C3%A9-42')
  for (const matches of [
    '^Order',
    '(?<id>\\d+)$',
    '\\/',
    '\\u00e9',
    '[^]-',
    '\\w+/.-\\d{2}',
    '(?:a|é)-',
    '\\bOrder\\b',
    '[^\\\\Q]',
    ''
  ]) {
    expect((await verify(mock, { query: { x: { matches } } })).status, matches).toBe(200)
  }
  for (const matches of ['^order', '\\d{3}', '^$']) {
    expect((await verify(mock, { query: { x: { matches } } })).status, matches).toBe(417)
  }
})

const USUAL: [matches: string, value: string][] = [
  ['^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$', '6f1c2a47-9b1a-4012-8d00-0123456789ab'],
  ['^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,3})?(?:Z|[+-]\\d{2}:\\d{2})$', '2026-02-18T10:00:00.000Z'],
  ['^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$', 'ada@example.com'],
  ['^[a-f0-9]{64}$', 'c'.repeat(64)],
  ['^[a-f0-9]{128}$', 'c'.repeat(128)],
  ['^[0-9a-f]{24}$', '66f1c2a47c9b1a0012ad0001'],
  ['^(?:\\d{1,3}\\.){3}\\d{1,3}$', '192.168.100.1'],
  ['^https?://[^\\s/]+(?:/[^\\s?]*)?(?:\\?.*)?$', 'https://example.com/a/b?c=d'],
  ['"subscriberId":"[^"]+".*"channel":"(?:email|sms|push|chat|in_app)"', '{"subscriberId":"ada","channel":"sms"}'],
  ['^\\+?[1-9]\\d{7,14}$', '+4915112345678'],
  ['^v?\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?$', 'v1.2.3-beta.1'],
  ['^[\\w-]+\\.[\\w-]+\\.[\\w-]+$', 'eyJhbGciOi.eyJzdWIi.SflKxw_RJ-S'],
  ['^[A-Za-z0-9_-]{1,100}$', 'order-created-42'],
  [`^(?:${Array.from({ length: 20 }, (_, index) => `word-${index}`).join('|')})$`, 'word-17']
]

test('a pattern for what is usual in requests is taken, and matches it', async () => {
  const mock = await givenMock()
  for (const [matches, value] of USUAL) {
    await mock.get(`/v1/messages?x=${encodeURIComponent(value)}`)
    expect((await verify(mock, { query: { x: { matches } } })).status, matches).toBe(200)
  }
})

const many = <Value>(count: number, value: Value) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]))

test('what would be compared with each request too often is refused with its limit', async () => {
  const mock = await givenMock()
  const list = Array.from({ length: 101 }, String)
  const values = { query: { a: list }, headers: many(51, 'a') }
  const messages = (errors: Record<string, { messages: string[] }>) =>
    Object.values(errors).flatMap((each) => each.messages)
  const fault = await addFault(mock, { match: values, effect: { status: 503 } })
  const expected = ['query.a must have at most 100', 'headers must have at most 50 fields']
  expect([fault.status, messages(fault.json.errors).sort()]).toEqual([
    422,
    expected.map((each) => `match.${each}`).sort()
  ])
  const verified = await verify(mock, values)
  expect([verified.status, messages(verified.json.errors).sort()]).toEqual([422, [...expected].sort()])
  const ordered = await verify(mock, { inOrder: list.map(() => ({})) })
  expect([ordered.status, messages(ordered.json.errors)]).toEqual([422, ['inOrder must have at most 100']])
  const patterns = await verify(mock, { query: many(21, { matches: 'a' }) })
  expect([patterns.status, messages(patterns.json.errors)]).toEqual([
    422,
    ['query.p20.matches is one of more than 20 patterns: use fewer']
  ])
  expect((await mock.get('/_mock/faults')).json.faults).toEqual([])
  const within = { query: { a: list.slice(1) }, headers: many(50, 'a'), never: true }
  expect((await verify(mock, within)).status).toBe(200)
  expect((await verify(mock, { query: many(20, { matches: 'a' }), never: true })).status).toBe(200)
})
