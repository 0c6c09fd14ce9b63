import { describe, expect, test } from 'vitest'
import { readSeed, readSeeds } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'
import { inShop, NOW, resolveEnvironments, seedErrorOf } from '../support/resolved.js'
import { shopJson } from '../support/shop.js'

const MIB = 2 ** 20
const TOO_DEEP = /^seed:1:\d+: is nested more than 100 levels deep: flatten it$/
const BOMB = new RegExp(
  '^seed:\\d+:\\d+ \\w+(\\[\\d+\\])?: makes the aliases expand to more than \\d+ MiB of JSON, ' +
    'the limit .+: use fewer aliases$'
)

/** Resolves the text with the limits for seeds in requests. Returns one line for each issue. */
const requestIssues = (text: string) =>
  seedErrorOf(() => resolveSeeds([readSeed(text)], NOW)).message.split('\n')

describe('a bad seed is rejected quickly, in little memory, with a location and a fix:', () => {
  test.each<[string, string, RegExp]>([
    ['closing brackets', '}'.repeat(MIB / 4), /^seed:1:1: Unexpected flow-map-end token/],
    ['invalid escapes', `"${'\\q'.repeat(MIB / 8)}"`, /^seed:1:2: Invalid escape sequence \\q$/],
    [
      'many tags on one value',
      `a: ${'!x '.repeat(MIB / 16)}`,
      /^seed:1:7: A node can have at most one tag$/
    ],
    ['nested lists', '['.repeat(MIB / 4), TOO_DEEP],
    ['nested lists in block style', '- '.repeat(MIB / 4), TOO_DEEP],
    ['nested merges', chain((name) => `{<<: [${name}, ${name}]}`), BOMB],
    ['nested aliases', chain((name) => `[${Array(10).fill(name).join()}]`), BOMB]
  ])('%s', (_, text, expected) => {
    const before = process.memoryUsage().rss
    const started = process.cpuUsage()
    expect(requestIssues(text)[0]).toMatch(expected)
    expect(process.cpuUsage(started).user).toBeLessThan(10_000_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB)
  })

  test('a value that is nested deeply enough to overflow the call stack', () => {
    const payload = JSON.parse('['.repeat(5000) + ']'.repeat(5000))
    const seed = {
      environments: [
        { name: 'Shop', messages: [{ channel: 'sms' as const, payload: { payload } }] }
      ]
    }
    for (const read of [() => resolveEnvironments({ name: 'seed', seed }), () => readSeed(seed)]) {
      expect(seedErrorOf(read).message).toBe(
        'seed: is nested more than 100 levels deep: flatten it'
      )
    }
  })

  test.each([
    [
      'integrations',
      { providerId: 'ses', channel: 'email', credentials: { secretKey: 'x'.repeat(MIB) } }
    ],
    [
      'workflows',
      {
        name: 'w',
        steps: Array(2).fill({ type: 'sms', controlValues: { body: 'x'.repeat(MIB / 2) } })
      }
    ],
    ['messages', { channel: 'sms', content: '\u0001'.repeat(MIB / 4) }]
  ])('a record in %s that is larger than 1 MiB', (kind, record) => {
    const message =
      `environments[0].${kind}[0]: is larger than 1 MiB of JSON, ` +
      'which is the limit for one record; shorten the record'
    expect(requestIssues(shopJson({ [kind]: [record] }))).toEqual([
      expect.stringContaining(message)
    ])
  })

  test('a large subscriber that many messages embed', () => {
    const subscribers = [{ subscriberId: 'ada', data: { text: 'x'.repeat(MIB - 1000) } }]
    const messages = Array(100).fill({ channel: 'sms', subscriberId: 'ada' })
    expect(requestIssues(shopJson({ subscribers, messages }))).toEqual([
      expect.stringMatching(
        /messages\[\d+\]: makes the seed too large: .+ 64 MiB of JSON, the limit in a request; /
      )
    ])
  })
})

test('accepts an anchor that is used 20,000 times, and thousands of quoted field names', () => {
  const names = Array.from({ length: 5000 }, (_, index) => `"k${index}": "v"`).join(', ')
  const first = `{ channel: sms, payload: { ${names} } }`
  const others = '\n  - *m\n  - { <<: *m, subject: a }'.repeat(10_000)
  const text = inShop(`messages:\n  - ${first}\n  - &m { channel: sms }${others}`)
  const messages = readSeed(text).seed.environments[0]?.messages ?? []
  expect(messages).toHaveLength(20_002)
  expect(messages[20_001]).toEqual({ channel: 'sms', subject: 'a' })
  expect(Object.keys(messages[0]?.payload ?? {})).toHaveLength(5000)
})

test('the size limit for YAML is lower in a request than in a file', () => {
  const yaml = inShop(`messages: []\n${'#'.repeat(2 * MIB)}`)
  expect(readSeeds([{ name: 'seed', seed: yaml }])).toHaveLength(1)
  expect(requestIssues(yaml)).toEqual([
    'seed: is larger than 2 MiB, the limit for YAML in a request: write it as JSON, ' +
      'which can be up to 8 MiB, or start the server with this seed as a file, or load it in ' +
      'parts with mode=merge'
  ])
})

test('the size limit for JSON is lower in a request than in a file', () => {
  const json = `${shopJson({})}${' '.repeat(8 * MIB)}`
  expect(readSeeds([{ name: 'seed', seed: json }])).toHaveLength(1)
  expect(requestIssues(json)[0]).toMatch(
    /^seed: is larger than 8 MiB, the limit for JSON in a request: start the server/
  )
})

test('a request can generate at most 10,000 messages and 10,000 subscribers', () => {
  const workflows = [{ name: 'w', steps: [{ type: 'sms' }] }]
  const generate = { messages: 10_001, subscribers: 10_001 }
  expect(requestIssues(shopJson({ workflows, generate }))).toEqual(
    ['messages', 'subscribers'].map((field) =>
      expect.stringContaining(
        `generate.${field}: must be at most 10000 in a request; ` +
          'to generate more, put the seed in a file and start the server with --seed <file>'
      )
    )
  )
})

test('reports issues without line numbers if the JSON is too long to be read as YAML', () => {
  const messages = [{ channel: 'sms', content: 'x'.repeat(MIB - 1000) }, {}]
  const issues = requestIssues(shopJson({ messages: [...messages, ...messages, ...messages] }))
  expect(issues).toHaveLength(3)
  expect(issues[0]).toBe('seed environments[0].messages[1]: must have channel')
})

test('lists the first 100 issues and counts the remaining issues', () => {
  const files = ['one', 'two'].map((name) => ({
    name,
    seed: shopJson({ messages: Array(150).fill({}) })
  }))
  expect(seedErrorOf(() => resolveEnvironments(...files))).toMatchObject({
    more: 102,
    issues: { length: 100 }
  })
})

test('shortens a very long name in an issue', () => {
  expect(requestIssues(shopJson({ ['x'.repeat(1_000_000)]: 1 })).join().length).toBeLessThan(10_000)
})

/** Returns YAML with 30 anchors, each of which refers to the previous anchor. */
function chain(make: (alias: string) => string): string {
  const lines = Array.from(
    { length: 30 },
    (_, index) => `a${index + 1}: &a${index + 1} ${make(`*a${index}`)}`
  )
  return ['a0: &a0 {x: 1}', ...lines].join('\n')
}
