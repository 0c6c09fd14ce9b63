import { describe, expect, test, vi } from 'vitest'
import { readingSeeds, readSeed, readSeeds } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'
import { rowCounts } from '../control/environments/environment-client.js'
import { givenMock } from '../support/mock.js'
import { issuesOf, linesOf, shop, shopJson } from '../support/seed-issues.js'
import { countTurns } from '../support/turns.js'

describe('is refused soon, with its place and what to do:', () => {
  test.each<[string, () => string, RegExp]>([
    [
      'a long text by thousands of aliases',
      () =>
        shop(
          `  messages:\n  - {channel: sms, content: &t ${'x'.repeat(500_000)}}\n${'  - {channel: sms, content: *t}\n'.repeat(500)}`
        ),
      /^seed:\d+:29 environments\[0\]\.messages\[\d+\]\.content: with this the aliases stand for more than .+: use fewer$/
    ],
    [
      'millions of values in YAML',
      () => '1,'.repeat(5_000_000),
      /^seed:1:\d+: has more than .+ of YAML, the most that a seed may have in a .+: write it as JSON, .+$/
    ],
    [
      'an object of more fields than there are names for',
      () => `{${Array.from({ length: 20_001 }, (_, index) => `"${index}":1`).join()}}`,
      /^seed:1:\d+: is an object of more than 20,000 fields, the most that one may have: make it a list$/
    ]
  ])('%s', async (_, text, expected) => {
    const { file, request } = await issuesOf(text())
    expect(file[0]).toMatch(expected)
    expect(request[0]).toMatch(expected)
  })

  test('a text of millions of lines', () => {
    // By the processor's time, which others on the machine take nothing of.
    const workOn = (space: string) => {
      const seed = `{"a":1${space.repeat(20_000_000)}}`
      const before = process.cpuUsage()
      expect(linesOf(() => readSeeds([{ name: 'seed', seed }]))[0]).toBe('seed:1:1: must have environments')
      return process.cpuUsage(before).user
    }
    const rounds = Array.from({ length: 5 }, () => ({ oneLine: workOn(' '), lines: workOn('\n') }))
    const shortest = (part: 'oneLine' | 'lines') => Math.min(...rounds.map((round) => round[part]))
    expect(shortest('lines') / shortest('oneLine')).toBeLessThan(2)
  })

  test('a value of millions of values', () => {
    const messages = [{ channel: 'sms', payload: { a: Array(3_000_000).fill(1) } }]
    const seed = { environments: [{ name: 'Shop', messages }] }
    const expected = ['seed: has more than 3,000,000 values: divide it into parts']
    expect(linesOf(() => readSeeds([{ name: 'seed', seed }]))).toEqual(expected)
  })

  test('a request of more JSON or YAML than it may have, where a file may have more', async () => {
    const yaml = shop(`  messages: []\n${'#'.repeat(2 * 1024 * 1024)}`)
    expect(readSeeds([{ name: 'seed', seed: yaml }])).toHaveLength(1)
    await expect(readSeed(yaml)).rejects.toThrow(
      /^seed:\d+:\d+: has more than 2 MiB characters of YAML, the most that a seed may have in a request: write it as JSON, which may have 16 MiB in a request, or /
    )
    const json = `${shopJson({})}${' '.repeat(16 * 1024 * 1024)}`
    expect(readSeeds([{ name: 'seed', seed: json }])).toHaveLength(1)
    await expect(readSeed(json)).rejects.toThrow(
      /^seed:1:\d+: has more than 16 MiB characters, the most that a seed may have in a request: load it in parts with mode=merge, or start the server with it$/
    )
  })
})

describe('the first hundred issues are told, and how many more there are:', () => {
  test.each<[string, string, string, string]>([
    [
      'thousands of messages without a channel',
      shopJson({ messages: Array(32_000).fill({ subject: 'x' }) }),
      'seed:1:45 environments[0].messages[0]: must have channel',
      'and 31900 more issues'
    ],
    [
      'thousands of fields that are none',
      shopJson(Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [`f${index}`, 1]))),
      'seed:1:33 environments[0].f0: is not a field here; there are _id,',
      'and 18900 more issues'
    ],
    [
      'a field that is given thousands of times',
      shop('  profile: live\n'.repeat(5000)),
      'seed:4:3 environments[0].profile: is given twice, first at seed:3:3',
      'and 4899 more issues'
    ]
  ])('%s', async (_, text, first, last) => {
    const { file, request } = await issuesOf(text)
    for (const lines of [file, request]) {
      expect(lines).toHaveLength(101)
      expect(lines[0]).toContain(first)
      expect(lines[100]).toBe(last)
    }
  })
})

test('no step of reading a list of 99,000 values in brackets takes long beside all others', () => {
  const text = shop(`  messages: [{channel: sms, payload: {a: [${Array(99_000).fill('ab').join(', ')}]}}]`)
  // The shortest of several runs, as any step may be interrupted.
  const shortest: number[] = []
  for (let run = 0; run < 3; run++) {
    const steps = readingSeeds([{ name: 'seed', seed: text }])
    for (let index = 0, isDone = false; !isDone; index++) {
      const started = performance.now()
      isDone = steps.next().done === true
      shortest[index] = Math.min(shortest[index] ?? Number.POSITIVE_INFINITY, performance.now() - started)
    }
  }
  const total = shortest.reduce((sum, each) => sum + each, 0)
  expect(Math.max(...shortest) / total).toBeLessThan(0.08)
})

test('JSON of 20,000 messages is read in turns with other work', async () => {
  const message = { channel: 'email', content: 'x'.repeat(500), payload: { a: [1, 2, 3], b: { c: 'd' } } }
  const text = shopJson({ messages: Array(20_000).fill(message) })
  const turns = countTurns()
  const { seed } = await readSeed(text)
  expect(turns()).toBeGreaterThan(3)
  expect(seed.environments[0]?.messages).toHaveLength(20_000)
})

test('what references add to a seed has a limit, with the place and what to do', () => {
  const subscribers = [{ subscriberId: 'ada', data: { text: 'x'.repeat(1_000_000) } }]
  const messages = Array(600).fill({ channel: 'sms', subscriberId: 'ada' })
  const files = readSeeds([{ name: 'seed', seed: shopJson({ subscribers, messages }) }])
  expect(() => resolveSeeds(files, 0)).toThrow(
    /^seed:1:\d+ environments\[0\]\.messages\[536\]: is too much: up to here defaults and references add more than 512 MiB, the most in a file: /
  )
})

test('thousands of references that lead nowhere, and names that are taken, are told soon', () => {
  const subscribers = Array.from({ length: 20_000 }, (_, index) => ({ subscriberId: `user-${index}` }))
  const messages = Array.from({ length: 20_000 }, (_, index) => ({ channel: 'sms', subscriberId: `usr-${index}` }))
  const integrations = Array(20_000).fill({ providerId: 'ses', channel: 'email' })
  const files = readSeeds([{ name: 'seed', seed: shopJson({ subscribers, messages, integrations }) }])
  const started = performance.now()
  expect(() => resolveSeeds(files, 0)).toThrow(
    /is usr-0, but this environment has no such subscriber; did you mean user-0\?.*and 19900 more issues$/s
  )
  expect(performance.now() - started).toBeLessThan(20_000)
})

const sms = (body: string) => ({ identifier: 'w', steps: [{ type: 'sms', controlValues: { body } }] })

test.each<[string, object]>([
  ['long texts', { workflows: [sms('y'.repeat(900_000))] }],
  [
    'long payloads',
    { workflows: [{ ...sms('a'), payloadSchema: { properties: { a: { enum: ['x'.repeat(900_000)] } } } }] }
  ],
  [
    'a subscriber with much data',
    { workflows: [sms('a')], subscribers: [{ subscriberId: 'ada', data: { text: 'x'.repeat(900_000) } }] }
  ]
])('what a request has generated is limited: %s', async (_, environment) => {
  const mock = await givenMock()
  const seed = { ...environment, generate: { messages: 100_000, subscribers: 0 } }
  const before = rowCounts(mock.db)
  const refused = await mock.post('/_mock/environments', { key: null, body: JSON.stringify({ seed }) })
  expect([refused.status, refused.json.errors.generate.messages]).toEqual([
    422,
    [
      expect.stringMatching(
        /^generate is too much: the messages take more than 256 MiB, the most in a request: make fewer/
      )
    ]
  ])
  await vi.waitFor(() => expect(rowCounts(mock.db)).toEqual(before), { timeout: 20_000 })
})

test('lists in lists of a payload do not multiply without end', async () => {
  let schema: object = { type: 'string' }
  for (let depth = 0; depth < 40; depth++) schema = { type: 'array', items: schema }
  const mock = await givenMock()
  const workflows = [{ ...sms('a'), payloadSchema: { properties: { a: schema } } }]
  const body = JSON.stringify({ seed: { workflows, generate: { messages: 3 } } })
  const { status, json } = await mock.post('/_mock/environments', { key: null, body })
  expect(status).toBe(201)
  const { data } = (await mock.get('/v1/messages', { key: json.apiKey })).json
  expect(JSON.stringify(data[0].payload).length).toBeLessThan(100_000)
})
