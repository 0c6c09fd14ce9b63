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

const LOOKS = 'must do without lookarounds and backreferences, and repeat nothing more than 1000 times'

const REFUSED = [
  ['(?=a)', LOOKS],
  ['(?<!a)b', LOOKS],
  ['(a)\\1', LOOKS],
  ['a{1001}', LOOKS],
  ['(?:a{1000}){1000}', LOOKS],
  ['(.{30}){30}(.{30}){30}', 'must be simpler: it repeats too much'],
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
    ''
  ]) {
    expect((await verify(mock, { query: { x: { matches } } })).status, matches).toBe(200)
  }
  for (const matches of ['^order', '\\d{3}', '^$']) {
    expect((await verify(mock, { query: { x: { matches } } })).status, matches).toBe(417)
  }
})
