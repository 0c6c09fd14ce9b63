import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSeeds, seedPath } from '../../src/seeds/read.js'
import { createTempFolder } from '../support/process.js'
import { inShop, issuesOf } from '../support/resolved.js'

function read(seed: string): unknown {
  return readSeeds([{ name: 's.yaml', seed }])[0]?.seed
}

/** What is wrong, the text, and its issues. */
const ISSUES: [what: string, text: string, issues: string[]][] = [
  [
    'a second colon',
    'environments:\n  - name: b: c',
    [':2:11: has a second name on this line: quote a value that contains a colon']
  ],
  [
    'a field that is given twice',
    'environments:\n  - name: Shop\n    name: again',
    [':3:5 environments[0].name: appears twice, first at :2:5']
  ],
  [
    'two documents',
    'environments: []\n---\nenvironments: []',
    [':2:1: is a second document, but a seed has only one: remove it']
  ],
  [
    'nothing',
    '',
    [
      ':1:1: is empty: a seed starts with `environments:`; for a seed without data write `environments: []`'
    ]
  ],
  [
    'Liquid without quotes',
    inShop('messages: [{ channel: email, subject: {{payload.name}} }]'),
    [
      ':3:44 environments[0].messages[0].subject: must be a string, because it names a field; quote a value that starts with a bracket'
    ]
  ],
  [
    'an alias within what it stands for',
    inShop('messages: &all [*all]'),
    [
      ':3:21 environments[0].messages[0]: refers to &all, but no value with this anchor ends before it'
    ]
  ],
  [
    'a number that would be null in JSON',
    inShop('messages: [{ channel: email, payload: { rate: .inf } }]'),
    [
      ':3:51 environments[0].messages[0].payload.rate: is not a number that JSON supports; quote it to make it a string'
    ]
  ],
  [
    'a merge of an alias of a list',
    inShop('apiKeys: &keys [a]\nmessages:\n  - { <<: *keys, channel: email }'),
    [":5:15 environments[0].messages[0]: is not an object, so << can't merge it"]
  ],
  [
    'a value behind an alias or a merge is located at each of these',
    inShop('messages: [&m { channel: fax }, *m, { <<: *m, subject: a }]'),
    [
      ':3:30 environments[0].messages[0].channel: must be one of in_app, email, sms, chat, push',
      ':3:37 environments[0].messages[1].channel: must be one of in_app, email, sms, chat, push',
      ':3:47 environments[0].messages[2].channel: must be one of in_app, email, sms, chat, push'
    ]
  ]
]

test.each(ISSUES)('an issue is reported with its line, column and path: %s', (_, text, issues) => {
  expect(issuesOf({ name: '', seed: text })).toEqual(issues)
})

test('mistakes of every kind are in one report: types, words, duplicates, references and times', () => {
  const text = `environments:
  - name: Shop
    integrations:
      - { providerId: ses, channel: fax, credentials: { secure: s3cret } }
    subscribers:
      - { subscriberId: ada, phone: +15550100 }
      - { subscriberId: ada }
      - { subscriberID: bob }
    workflows:
      - { identifier: welcome, steps: [{ type: mail }] }
    messages:
      - { channel: email, subscriberId: bob, workflow: welcome, createdAt: yesterday }
      - { channel: pigeon, workflow: welcom, createdAt: today }
    generate: { messages: 10 }
`
  expect(issuesOf({ name: 's', seed: text })).toEqual([
    's:4:37 environments[0].integrations[0].channel: must be one of in_app, email, sms, chat, push',
    // What may be a credential is not repeated.
    's:4:65 environments[0].integrations[0].credentials.secure: must be true or false, not a string',
    's:6:37 environments[0].subscribers[0].phone: must be a string or null, not 15550100: put it in quotes',
    's:7:25 environments[0].subscribers[1].subscriberId: is already used by another subscriber, at s:6:25',
    's:8:9 environments[0].subscribers[2]: must have subscriberId',
    's:8:11 environments[0].subscribers[2].subscriberID: is not a field here; did you mean subscriberId?',
    expect.stringMatching(
      /^s:10:48 environments\[0\]\.workflows\[0\]\.steps\[0\]\.type: must be one of /
    ),
    expect.stringMatching(
      /^s:12:76 environments\[0\]\.messages\[0\]\.createdAt: must be an ISO 8601 time /
    ),
    's:13:20 environments[0].messages[1].channel: must be one of in_app, email, sms, chat, push',
    's:13:38 environments[0].messages[1].workflow: is welcom, but this environment has no such workflow; did you mean welcome?',
    expect.stringMatching(
      /^s:13:57 environments\[0\]\.messages\[1\]\.createdAt: must be an ISO 8601 time /
    )
  ])
})

test.each([
  ['a list of subscribers that is none', 'subscribers: { ada: {} }'],
  [
    'a workflow whose identifier is none',
    'workflows: [{ identifier: 7, name: Welcome }]\nsubscribers: [{ subscriberId: ada }]'
  ],
  ['an environment whose keys are none', 'apiKeys: other-key'],
  [
    'a record of more than a megabyte',
    `subscribers: [{ subscriberId: ada, data: { a: ${'x'.repeat(2 ** 20)} } }]`
  ]
])('what refers to a value that has an issue has none for that: %s', (_, text) => {
  const messages = 'messages: [{ channel: email, subscriberId: ada, workflow: welcome }]'
  const other = '\n  - { name: Other, apiKeys: [shop-key] }'
  const rest = text.startsWith('apiKeys') ? other : ''
  const own = text.startsWith('subscribers') ? 'workflows: [{ identifier: welcome }]\n' : ''
  const body = rest ? text : `${text}\n${own}${messages}`
  expect(issuesOf({ name: 's', seed: inShop(body) + rest })).toHaveLength(1)
})

test.each([
  ['YAML', 'name: Shop\nmessages: []', 'environments:\n  -\n    name: Shop\n    messages: []'],
  [
    'JSON',
    '{"name": "Shop", "messages": []}',
    '{ "environments": [{"name": "Shop", "messages": []}] }'
  ]
])(
  'a file that has the content of one environment is told how to wrap it: %s',
  (_, seed, wrapped) => {
    const issue =
      'must have environments, but has the content of one environment: start the file with ' +
      '`environments:` and `  -`, and indent the content by 4 spaces; in JSON, wrap it in ' +
      '`{ "environments": [{ … }] }`; an environment must have a name'
    expect(issuesOf({ name: 's', seed })).toEqual([`s:1:1: ${issue}`])
    expect(read(wrapped)).toEqual({ environments: [{ name: 'Shop', messages: [] }] })
  }
)

test.each([
  [
    'at the end of the text',
    'environments: [\n  { name: Shop }\n\n',
    '2:17: Flow sequence in block collection must be sufficiently indented and end with a ]'
  ],
  [
    'before another field',
    'environments:\n  - name: Shop\n    apiKeys: [a, b\n    profile: live\n',
    '3:19: Flow sequence in block collection must be sufficiently indented and end with a ]'
  ],
  ['around another one', '{"environments": [{"name": "x"}]', '1:33: Flow map must end with a }'],
  [
    'of a text',
    'environments:\n  - name: "Shop\n    messages: []\n\n',
    '3:17: Missing closing "quote'
  ]
])(
  'a bracket or quote that is not closed is located where its content ends: %s',
  (_, text, issue) => {
    expect(issuesOf({ name: 's', seed: text })).toEqual([`s:${issue}`])
  }
)

describe('a seed may be', () => {
  const environments = [{ name: 'Shop' }]

  test.each([
    ['YAML', 'environments:\n  - name: Shop\n'],
    ['YAML with a byte order mark', '\uFEFFenvironments:\n  - name: Shop\n'],
    ['JSON', JSON.stringify({ environments })],
    [
      'JSON that names its schema for an editor',
      JSON.stringify({ $schema: './schema.json', environments })
    ]
  ])('%s', (_, text) => {
    expect(read(text)).toMatchObject({ environments })
  })

  test('a value, whose issues have a path and no line', () => {
    const [file] = readSeeds([{ name: 'seed', seed: { environments } }])
    expect(file?.seed).toEqual({ environments })
    expect(issuesOf({ name: 'seed', seed: { environments: [{ nam: 'x' }] } })).toEqual([
      'seed environments[0]: must have name',
      'seed environments[0].nam: is not a field here; did you mean name?'
    ])
  })

  test('a value, which is copied, and is no circle', () => {
    const seed = Object.freeze({ environments: [{ name: 'Shop' }] })
    const [file] = readSeeds([{ name: 'seed', seed }])
    const [environment] = seed.environments
    if (environment) environment.name = 'Other'
    expect(file?.seed).toEqual({ environments })
    const circle: { environments: unknown[] } = { environments: [] }
    circle.environments.push(circle)
    expect(issuesOf({ name: 'seed', seed: circle })).toEqual([
      'seed: is nested more than 100 deep: make it flatter'
    ])
  })
})

describe('in YAML', () => {
  const payloadOf = (payload: string) => {
    const seed = read(inShop(`messages: [{ channel: email, payload: ${payload} }]`)) as {
      environments: [{ messages: [{ payload: unknown }] }]
    }
    return seed.environments[0].messages[0].payload
  }

  test.each([
    [
      'words that look like a boolean are text',
      '{ a: yes, b: off, on: n }',
      { a: 'yes', b: 'off', on: 'n' }
    ],
    [
      'times are text',
      '{ at: 2026-02-18T10:00:00Z, day: 2026-02-18 }',
      { at: '2026-02-18T10:00:00Z', day: '2026-02-18' }
    ],
    [
      'names that are numbers are text',
      '{ 2026: x, 1.5: y, true: z }',
      { 2026: 'x', 1.5: 'y', true: 'z' }
    ]
  ])('%s', (_, yaml, value) => {
    expect(payloadOf(yaml)).toEqual(value)
  })

  test('__proto__ is a name like any other, and reaches nothing else', () => {
    expect(JSON.stringify(payloadOf('{ __proto__: { polluted: true } }'))).toBe(
      '{"__proto__":{"polluted":true}}'
    )
    expect(({} as { polluted?: true }).polluted).toBeUndefined()
  })
})

describe('a file', () => {
  function givenFile(name: string, content: string | Buffer): string {
    const file = join(createTempFolder(), name)
    writeFileSync(file, content)
    return file
  }

  test('may be one of several: the issues of all of them are reported', () => {
    const [one, other] = [givenFile('one.yaml', 'environments: 7'), givenFile('other.json', '{')]
    expect(issuesOf(one, '/gone.yaml', other).map((line) => line.replace(/: .*/, ''))).toEqual([
      `${one}:1:15 environments`,
      '/gone.yaml',
      `${other}:1:2`
    ])
  })

  test("that can't be read is an issue", () => {
    const folder = join(givenFile('shop.yaml', ''), '..')
    expect(issuesOf(folder)).toEqual([
      `${folder}: can't be read: it is a folder; use the path of a file`
    ])
    expect(issuesOf('gone.yaml')[0]).toMatch(
      /^gone\.yaml: can't be read: there is no such file and no built-in seed with this name; /
    )
    expect(issuesOf('defualt')[0]).toMatch(/; did you mean default\?$/)
  })

  test('in another encoding than UTF-8 is refused', () => {
    const utf16 = Buffer.from('\uFEFFenvironments: []', 'utf16le')
    const latin1 = Buffer.from('environments: [{ name: Caf\u00e9 }]', 'latin1')
    for (const bytes of [utf16, latin1]) {
      expect(issuesOf(givenFile('shop.yaml', bytes))[0]).toMatch(/: can't be read: .*encod.* utf-8/)
    }
  })

  test('by a bare name is a seed of the package, unless there is a file of that name', () => {
    expect(seedPath('default')).toMatch(/seeds\/default\.yaml$/)
    expect(seedPath('shop.yaml')).toBe('shop.yaml')
    expect(seedPath('test')).toBe('test')
    expect(readSeeds(['default'])[0]?.seed.environments.length).toBeGreaterThan(1)
  })
})
