import { describe, expect, test } from 'vitest'
import { LineCounter, parse, stringify } from 'yaml'
import { runToEnd } from '../../src/core/slices.js'
import { readSeed, readSeeds } from '../../src/seeds/read.js'
import { parseYaml } from '../../src/seeds/yaml-parse.js'
import { startServer } from '../../src/server.js'
import { issuesOf, linesOf, shop, shopJson } from '../support/seed-issues.js'
import { countTurns } from '../support/turns.js'

function mergesOfMerges(): string {
  const lines = Array.from({ length: 30 }, (_, index) => `a${index + 1}: &a${index + 1} {<<: [*a${index}, *a${index}]}`)
  return ['a0: &a0 {x: 1}', ...lines].join('\n')
}

const ONE_TAG = /^seed:\d+:\d+: a value has at most one tag and one anchor$/

test.each<[string, string, string]>([
  ['brackets that close nothing', '}'.repeat(200_000), '1:1: Unexpected flow-map-end token in YAML document: "}"'],
  [
    'the same after a seed',
    `environments: []\n${']'.repeat(200_000)}`,
    '2:1: Unexpected flow-seq-end token in YAML stream: "]"'
  ],
  ['texts after a text', '"'.repeat(200_000), '1:3: Unexpected double-quoted-scalar at node end'],
  ['the same with spaces', `a: ${"'' ".repeat(100_000)}`, '1:7: Unexpected single-quoted-scalar at node end'],
  ['texts without commas', `a: [${'""'.repeat(50_000)}]`, '1:7: Missing , or : between flow sequence items'],
  ['escapes that are none', `"${'\\q'.repeat(100_000)}"`, '1:2: Invalid escape sequence \\q'],
  ['the same in many items', '- "\\q"\n'.repeat(50_000), '1:4: Invalid escape sequence \\q']
])('after a thousand errors no more are looked for: %s', async (_, text, first) => {
  const { errors } = runToEnd(parseYaml(text, new LineCounter()))
  expect(errors.length).toBeLessThan(2000)
  const { file, request } = await issuesOf(text)
  expect([file[0], request[0]]).toEqual([`seed:${first}`, `seed:${first}`])
})

describe('is refused soon, with its place and what to do:', () => {
  test.each<[string, () => string, RegExp]>([
    [
      'merges of merges',
      mergesOfMerges,
      /^seed:2\d:\d+ a2\d: with this the aliases stand for more than .+: use fewer$/
    ],
    [
      'aliases in aliases, thousands deep',
      () =>
        Array.from({ length: 300 }, (_, index) => `a${index}: &a${index} [${index && `*a${index - 1}`}]`).join('\n'),
      /^seed:100:\d+ a99\[0\]: is nested more than 100 deep: make it flatter$/
    ],
    ['thousands of tags of one value', () => `a: ${'!x '.repeat(30_000)}`, ONE_TAG],
    ['thousands of anchors of one value', () => `a: ${'&x #\n '.repeat(30_000)}`, ONE_TAG],
    [
      'millions of lists in lists',
      () => '['.repeat(3_000_000),
      /^seed:1:101: is nested more than 100 deep: make it flatter$/
    ],
    [
      'half a million objects in objects',
      () => '{"a": '.repeat(500_000),
      /^seed:1:601: is nested more than 100 deep: make it flatter$/
    ],
    [
      'thousands of objects in objects, in YAML',
      () => '{a: '.repeat(90_000),
      /^seed:1:401: is nested more than 100 deep: make it flatter$/
    ],
    [
      'a million lists in lists, in a block',
      () => '- '.repeat(1_000_000),
      /^seed:1:\d+: is nested more than 100 deep: make it flatter$/
    ]
  ])('%s', async (_, text, expected) => {
    const { file, request } = await issuesOf(text())
    expect(file[0]).toMatch(expected)
    expect(request[0]).toMatch(expected)
  })

  test.each([
    ['integrations', { providerId: 'ses', channel: 'email', credentials: { secretKey: 'x'.repeat(2 ** 20) } }],
    ['subscribers', { subscriberId: 'ada', data: { a: Array(20).fill('x'.repeat(60_000)) } }],
    ['workflows', { name: 'w', steps: Array(2).fill({ type: 'sms', controlValues: { body: 'x'.repeat(2 ** 19) } }) }],
    ['messages', { channel: 'sms', content: '\u0001'.repeat(2 ** 18) }]
  ])('one of the %s of more than a megabyte', async (kind, record) => {
    const { file, request } = await issuesOf(shopJson({ [kind]: [record] }))
    const message = `environments[0].${kind}[0]: is more than 1 MiB of JSON, the most that one record may be: shorten it`
    expect(file).toEqual([expect.stringContaining(message)])
    expect(request).toEqual(file)
  })

  test('nothing of a record of just a megabyte', async () => {
    const record = { channel: 'sms', content: '', payload: { a: [[], {}, null, 1.5, 'é"\n'] } }
    const rest = 2 ** 20 - JSON.stringify(record).length
    const seed = (content: string) => shopJson({ messages: [{ ...record, content }] })
    expect(readSeeds([{ name: 'seed', seed: seed('x'.repeat(rest)) }])).toHaveLength(1)
    expect((await issuesOf(seed('x'.repeat(rest + 10)))).file).toHaveLength(1)
  })

  test.each([101, 5000])('a value that is nested %d deep', (depth) => {
    const payload = JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    const seed = { environments: [{ name: 'Shop', messages: [{ channel: 'sms', payload: { payload } }] }] }
    const expected = ['seed: is nested more than 100 deep: make it flatter']
    expect(linesOf(() => readSeeds([{ name: 'seed', seed }]))).toEqual(expected)
  })
})

describe('the first hundred issues are told, and how many more there are:', () => {
  test('of a program too', () => {
    const text = shopJson({ messages: Array(150).fill({}) })
    try {
      readSeeds([
        { name: 'one', seed: text },
        { name: 'two', seed: text }
      ])
    } catch (error) {
      expect(error).toMatchObject({ more: 200, issues: { length: 100 } })
    }
    expect.assertions(1)
  })

  test('a name of a million characters is shortened', async () => {
    const { file } = await issuesOf(shopJson({ ['x'.repeat(1_000_000)]: 1 }))
    expect(file.join().length).toBeLessThan(10_000)
  })
})

describe('a large seed', () => {
  const messages = Array.from({ length: 400 }, (_, index) => ({
    channel: 'email',
    subject: `${index}`,
    content: 'x'.repeat(400),
    payload: { index, 'a "name"': [1, { b: null }], deep: ['\\', '[', '}'] }
  }))
  const seed = { environments: [{ name: 'Shop', messages }, { name: 'Other' }] }

  test.each([
    ['JSON', JSON.stringify(seed)],
    ['JSON over several lines', JSON.stringify(seed, null, 2)],
    ['YAML', stringify(seed)],
    ['YAML in flow style', stringify(seed, { collectionStyle: 'flow' })],
    [
      'YAML with JSON in its lines',
      shop(`  messages:\n${messages.map((each) => `  - ${JSON.stringify(each)}\n`).join('')}- name: Other`)
    ]
  ])('is read in turns with other work: %s', async (what, text) => {
    const turns = countTurns()
    const file = await readSeed(text)
    const count = turns()
    expect(file.seed).toEqual(seed)
    // JSON of this size is read within one.
    if (what.startsWith('YAML')) expect(count).toBeGreaterThan(1)
    expect(readSeeds([{ name: 'seed', seed: text }])[0]?.seed).toEqual(seed)
  })

  test('of a server that starts is read in turns with other work', async () => {
    const turns = countTurns()
    await expect(startServer({ seed: `${stringify(seed)}  - {}` })).rejects.toThrow('environments[2]: must have name')
    expect(turns()).toBeGreaterThan(3)
  })

  test('is read no further when nobody wants it any more', async () => {
    const check = () => {
      throw new Error('gone')
    }
    await expect(readSeed(stringify(seed), check)).rejects.toThrow('gone')
  })

  test('has its lines and columns counted, however many or long they are', () => {
    const text = `{"environments":[${'\n'.repeat(2 ** 17)}{}${' '.repeat(2 ** 17)},{},${'\n'.repeat(3)} {}]}`
    expect(linesOf(() => readSeeds([{ name: 'seed', seed: text }]))).toEqual([
      'seed:131073:1 environments[0]: must have name',
      'seed:131073:131076 environments[1]: must have name',
      'seed:131076:2 environments[2]: must have name'
    ])
  })

  test('may have tags and anchors wherever a value begins', () => {
    const text =
      'environments: &a !!seq\n- &o !!map\n  &k !!str name: &n !!str Shop\n- &p !!map {&l !!str name: &m !!str Other}'
    const [file] = readSeeds([{ name: 'seed', seed: text }])
    expect(file?.seed).toEqual({ environments: [{ name: 'Shop' }, { name: 'Other' }] })
  })

  test('of aliases, merges and wide objects has the value that the parser of the package gives it', () => {
    const wide = Array.from(
      { length: 600 },
      (_, index) => `        f${index}: ${index % 7 ? `{ a: ${index} }` : `&f${index} { b: ${index} }`}\n`
    )
    const lists = Array.from({ length: 600 }, (_, index) =>
      index % 9 ? `{ <<: *f${Math.floor(index / 7) * 7}, x: ${index} }` : `*f${Math.floor(index / 7) * 7}`
    )
    const forms = [
      '1',
      'a ',
      '"q" ',
      'a: 1',
      '? x : y',
      '[1 , [] ]',
      '&s s',
      '!!str 5',
      '7 # end\n         ',
      '{ a: [b ] } '
    ]
    const brackets = Array.from({ length: 2000 }, (_, index) => forms[index % forms.length])
    const text = shop(
      `  messages:\n    - channel: sms\n      payload:\n${wide.join('')}        list: [${lists.join(', ')}]\n        forms: [${brackets.join(',')}]\n        block:\n${lists.map((each) => `          - ${each}\n`).join('')}`
    )
    const [file] = readSeeds([{ name: 'seed', seed: text }])
    expect(file?.seed).toEqual(parse(text, { merge: true, maxAliasCount: -1 }))
  })

  test.each([
    ['a comma too many between', (text: string) => text.replaceAll(',{"channel"', ',,{"channel"')],
    ['a bracket that does not fit', (text: string) => text.replace(/\]\}\]\}$/, '}}]}')],
    ['what follows its end', (text: string) => `${text} {}`]
  ])('that is no JSON because of %s has an issue with its place', async (_, broken) => {
    const text = broken(shopJson({ messages }))
    const { request } = await issuesOf(text)
    expect(request[0]).toMatch(/^seed:1:\d+: /)
  })

  test('keeps fields that are named like a part of every object', () => {
    const payload = `{"a":"${'x'.repeat(100_000)}","__proto__":{"b":["${'y'.repeat(100_000)}"]},"constructor":1,"toString":2}`
    const [file] = readSeeds([
      {
        name: 'seed',
        seed: shopJson({ messages: [{ channel: 'sms', payload: 0 }] }).replace(
          '"payload":0',
          () => `"payload":${payload}`
        )
      }
    ])
    expect(JSON.stringify(file?.seed.environments[0]?.messages?.[0]?.payload)).toBe(payload)
  })

  test('has a field that is given twice in JSON located, however far its end is', async () => {
    const text = shopJson({ messages }).replace('"subject":"350"', '"subject":"350","subject":"again"')
    const { file, request } = await issuesOf(text)
    expect(file).toEqual([
      expect.stringMatching(/^seed:1:\d+ environments\[0\]\.messages\[350\]\.subject: is given twice, /)
    ])
    expect(request).toEqual(file)
  })
  test.each([
    ['a field that is given twice', '"subject":"350","subject":"again"', 16, 'the field subject is given twice'],
    ['a number with too many digits', '"n":12345678901234567890', 4, 'the number has too many digits'],
    ['a value that is missing', '"n":,"subject":"350"', 4, 'there is no value, or a malformed one'],
    ['a wrong escape', '"n":"\\x"', 4, 'there is no value, or a malformed one'],
    ['a colon that is missing', '"subject" "350"', 10, 'there is no colon'],
    ['a comma that is missing', '"n":1 "subject":"350"', 6, 'there is no comma or }']
  ])('that is too large for YAML is told exactly where it is no JSON: %s', async (_, broken, ahead, message) => {
    const text = shopJson({ messages: [...messages, { content: 'é'.repeat(2_000_000) }] })
    const column = text.indexOf('"subject":"350"') + ahead + 1
    await expect(readSeed(text.replace('"subject":"350"', broken))).rejects.toThrow(
      `seed:1:${column}: is no JSON here: ${message}; and it has more than 2 MiB`
    )
  })
})
