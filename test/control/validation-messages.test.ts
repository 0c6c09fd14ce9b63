import { expect, test } from 'vitest'
import { OPERATION_IDS } from '../../src/domain/enums.js'
import { send } from '../support/control.js'
import { useMock } from '../support/mock.js'

const FAULT: [string, string] = ['POST', '/_mock/faults']
const CLOCK: [string, string] = ['PUT', '/_mock/clock']
const CREATE: [string, string] = ['POST', '/_mock/environments']
const ONE_OF = `must be one of ${OPERATION_IDS.join(', ')}`
const PARTS = 'must be one of data, requests, faults, clock, idempotency'
const STATUS = 'must be a whole number from 400 to 599'
const TIMES = 'must be a whole number of at least 1 or "always"'
const TTL = 'must be a whole number from 1 to 2592000000 or a duration, such as 30s, 10m or 1h'

/**
 * Each row: the method and path of a request, its invalid body, and the expected message for each
 * field.
 */
const CASES: [to: [string, string], sent: unknown, messages: Record<string, string>][] = [
  [FAULT, [], { body: 'must be an object, not a list' }],
  [FAULT, {}, { body: 'must have effect' }],
  [FAULT, { effect: {} }, { effect: 'must not be empty' }],
  [
    FAULT,
    { operation: 'listMesages', effect: { status: 503 } },
    { operation: `${ONE_OF}; did you mean listMessages?` }
  ],
  [
    FAULT,
    { effect: { status: 503 }, tims: 2 },
    { tims: 'is not a known field; did you mean times?' }
  ],
  [FAULT, { effect: { status: '503' } }, { 'effect.status': `${STATUS}, not the string "503"` }],
  [FAULT, { effect: { delay: 5 }, times: 'forever' }, { times: `${TIMES}, not a string` }],
  [
    FAULT,
    { effect: { delay: 5 }, probability: 0 },
    { probability: 'must be a number above 0 and at most 1, not 0' }
  ],
  [
    FAULT,
    { effect: { lostResponse: false } },
    { 'effect.lostResponse': 'must be true, not false' }
  ],
  [
    FAULT,
    { effect: { status: 503 }, match: { query: { channel: null }, path: { match: 'x' } } },
    {
      'match.query.channel':
        'must be a string or a number or true or false or an object or a list, not null',
      'match.path': 'must have matches',
      'match.path.match': 'is not a known field; did you mean matches?'
    }
  ],
  [CLOCK, {}, { body: 'must have mode' }],
  [CLOCK, { mode: 'fixd' }, { mode: 'must be one of wall, fixed, offset; did you mean fixed?' }],
  [CLOCK, { mode: 'wall', by: 5 }, { by: 'is not a known field; allowed fields: mode' }],
  [
    ['PUT', '/_mock/snapshots/a'],
    { parts: [] },
    { parts: 'is not a known field; no fields are allowed' }
  ],
  [['POST', '/_mock/reset'], { parts: [] }, { parts: 'must have at least 1 item' }],
  [
    ['POST', '/_mock/reset'],
    { parts: ['data', 'fault'] },
    { 'parts[1]': `${PARTS}; did you mean faults?` }
  ],
  [CREATE, { ttl: 1.5 }, { ttl: `${TTL}, not 1.5` }],
  [CREATE, { name: 'x'.repeat(201) }, { name: 'must have at most 200 characters' }],
  [
    CREATE,
    { organizationId: 'mine' },
    { organizationId: 'must be an id of 24 lower-case hex digits' }
  ]
]

test('reports the rule for each invalid field, and the closest name for a typo', async () => {
  const mock = await useMock()
  for (const [[method, path], sent, messages] of CASES) {
    const { status, json } = await send(mock, method, path, sent)
    expect(status, JSON.stringify(sent)).toBe(422)
    const reported = Object.entries<{ messages: string[] }>(json.errors).map(([field, error]) => [
      field,
      error.messages
    ])
    const expected = Object.entries(messages).map(([field, text]) => [field, [`${field} ${text}`]])
    expect(reported, JSON.stringify(sent)).toEqual(expected)
  }
})

test('reports an API key that is too short with a single message', async () => {
  const mock = await useMock()
  const body = JSON.stringify({ apiKey: 'short' })
  const { json } = await mock.post('/_mock/environments', { body })
  expect(json.errors.apiKey.messages).toEqual([
    expect.stringMatching(/^apiKey must be an API key of .* at least 16 characters, or at least 8 /)
  ])
})
