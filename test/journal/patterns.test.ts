import { expect, test } from 'vitest'
import { addFault, verify } from '../support/control.js'
import { useMock } from '../support/mock.js'

const MAX_DURATION = 10_000

test('expressions that backtrack exponentially in Node are matched in linear time', async () => {
  const mock = await useMock()
  const long = `${'a'.repeat(5000)}!`
  await mock.get(`/v1/messages?x=${long}`)
  const before = performance.now()
  for (const matches of [
    '(a+)+$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(.*a){20}$',
    '(?:a?){30}a{30}!!'
  ]) {
    expect((await verify(mock, { query: { x: { matches } }, never: true })).status, matches).toBe(
      200
    )
    await addFault(mock, { match: { query: { x: { matches } } }, effect: { status: 503 } })
  }
  expect((await mock.get(`/v1/messages?x=${long}`)).status).toBe(200)
  expect((await mock.get(`/v1/messages?x=aaaa`)).status).toBe(503)
  expect(performance.now() - before).toBeLessThan(MAX_DURATION)
})

const UNSUPPORTED =
  "can't use lookarounds or backreferences, and can't repeat anything more than 1,000 times"
const REJECTED = [
  ['(?=a)', UNSUPPORTED],
  ['(?<!a)b', UNSUPPORTED],
  ['(a)\\1', UNSUPPORTED],
  ['a{1001}', UNSUPPORTED],
  ['(?:a{100}){1000}', UNSUPPORTED],
  ['x'.repeat(201), 'must have at most 200 characters'],
  ['(', 'must be a regular expression: Invalid regular expression: /(/: Unterminated group']
] as const

test('rejects an unsupported expression in a verification or a new fault rule', async () => {
  const mock = await useMock()
  for (const [matches, message] of REJECTED) {
    const errorsAt = (...paths: string[]) =>
      Object.fromEntries(
        paths.map((path) => [path, { messages: [`${path} ${message}`], value: matches }])
      )
    const match = { path: { matches }, query: { a: { matches } }, headers: { 'X-A': { matches } } }
    const fault = await addFault(mock, { match, effect: { status: 503 } })
    const fields = ['match.path.matches', 'match.query.a.matches', 'match.headers.X-A.matches']
    expect([fault.status, fault.json.errors], matches).toEqual([422, errorsAt(...fields)])
    const verified = await verify(mock, { inOrder: [{}, { body: { matches } }] })
    expect([verified.status, verified.json.errors], matches).toEqual([
      422,
      errorsAt('inOrder[1].body.matches')
    ])
  }
  expect((await mock.get('/_mock/faults')).json.faults).toEqual([])
})

test('names the exceeded limit if a verification has too many patterns or values', async () => {
  const mock = await useMock()
  const fields = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]))
  for (const [verification, field, message] of [
    [
      { query: fields(21, { matches: 'a' }) },
      'query.p20.matches',
      'exceeds the limit of 20 regular expressions in one verification'
    ],
    [{ query: { a: Array(101).fill('a') } }, 'query.a', 'must have at most 100 items'],
    [{ headers: fields(51, 'a') }, 'headers', 'must have at most 50 fields']
  ] as const) {
    const { errors } = (await verify(mock, verification)).json
    expect(errors[field]?.messages).toEqual([`${field} ${message}`])
  }
})
