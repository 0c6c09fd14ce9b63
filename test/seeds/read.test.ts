import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSeeds, seedPath } from '../../src/seeds/read.js'
import { createTempFolder } from '../support/process.js'
import { inShop, issuesOf } from '../support/resolved.js'

function read(seed: string): unknown {
  return readSeeds([{ name: 's.yaml', seed }])[0]?.seed
}

const COMMENT =
  'is a comment, which JSON does not have: remove it, or start it with `#`, as in YAML'
const LONE_SURROGATE =
  'contains a lone surrogate, which is half of a character such as an emoji: ' +
  'write the whole character, or remove the half'

/** Invalid seeds, and the issues that are reported for them. */
const ISSUES: [title: string, text: string, issues: string[]][] = [
  [
    'a second colon',
    'environments:\n  - name: b: c',
    [':2:11: has a second field name on this line: quote a value that contains a colon']
  ],
  [
    'a repeated field',
    'environments:\n  - name: Shop\n    name: again',
    [':3:5 environments[0].name: appears twice, first at :2:5']
  ],
  [
    'two documents',
    'environments: []\n---\nenvironments: []',
    [':2:1: is a second document, but a seed has only one: remove it']
  ],
  [
    'an empty text',
    '',
    [
      ':1:1: is empty: a seed starts with `environments:`; ' +
        'for a seed without data write `environments: []`'
    ]
  ],
  [
    'Liquid without quotes',
    inShop('messages: [{ channel: email, subject: {{payload.name}} }]'),
    [
      ':3:44 environments[0].messages[0].subject: has a field name that is not a string; ' +
        'quote a value that starts with { or ['
    ]
  ],
  [
    'an alias inside its own anchor',
    inShop('messages: &all [*all]'),
    [':3:21 environments[0].messages[0]: refers to &all, but no earlier value has this anchor']
  ],
  [
    'a comment at the start of JSON',
    '{ // The shop\n  "environments": []\n}',
    [`:1:3: ${COMMENT}`]
  ],
  [
    'a comment in JSON, after a string that contains slashes',
    '{\n  "environments": [\n    { "name": "https:// \\" //" /* The shop */ }\n  ]\n}',
    [`:3:32: ${COMMENT}`]
  ],
  [
    'a comment in JSON, after a number',
    '{\n  "environments": [], "x-number": 5 // five\n}',
    [`:2:37: ${COMMENT}`]
  ],
  [
    'times that are numbers',
    inShop('messages: [{ channel: email, createdAt: 1760000000, deliveredAt: [1760000000123] }]'),
    [
      ':3:45 environments[0].messages[0].createdAt: must be a string, not 1760000000: ' +
        'write it as an ISO 8601 time, such as "2025-10-09T08:53:20.000Z"',
      ':3:71 environments[0].messages[0].deliveredAt[0]: must be a string, not 1760000000123: ' +
        'write it as an ISO 8601 time, such as "2025-10-09T08:53:20.123Z"'
    ]
  ],
  [
    'a lone surrogate',
    inShop('organization: "a\\ud83d"\nmessages: [{ channel: email, payload: { "\\udc00": 1 } }]'),
    [
      `:3:19 environments[0].organization: ${LONE_SURROGATE}`,
      `:4:55 environments[0].messages[0].payload["\\udc00"]: ${LONE_SURROGATE}`
    ]
  ],
  [
    'a number that JSON does not support',
    inShop('messages: [{ channel: email, payload: { rate: .inf } }]'),
    [
      ':3:51 environments[0].messages[0].payload.rate: is not a number that JSON supports; ' +
        'quote it to make it a string'
    ]
  ],
  [
    'a merge of a list through an alias',
    inShop('apiKeys: &keys [a]\nmessages:\n  - { <<: *keys, channel: email }'),
    [":5:15 environments[0].messages[0]: is not an object, so << can't merge it"]
  ],
  [
    'an invalid value that is repeated by an alias and a merge',
    inShop('messages: [&m { channel: fax }, *m, { <<: *m, subject: a }]'),
    [
      ':3:30 environments[0].messages[0].channel: must be one of in_app, email, sms, chat, push',
      ':3:37 environments[0].messages[1].channel: must be one of in_app, email, sms, chat, push',
      ':3:47 environments[0].messages[2].channel: must be one of in_app, email, sms, chat, push'
    ]
  ]
]

test.each(ISSUES)('reports the line, column and path of an issue: %s', (_, text, issues) => {
  expect(issuesOf({ name: '', seed: text })).toEqual(issues)
})

const SEED_WITH_ISSUES = `environments:
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

test('reports all issues of a seed at once', () => {
  expect(issuesOf({ name: 's', seed: SEED_WITH_ISSUES })).toEqual([
    's:4:37 environments[0].integrations[0].channel: must be one of in_app, email, sms, chat, push',
    // The message omits the value, because it can be a credential.
    's:4:65 environments[0].integrations[0].credentials.secure: ' +
      'must be true or false, not a string',
    's:6:37 environments[0].subscribers[0].phone: ' +
      'must be a string or null, not 15550100: put it in quotes',
    's:7:25 environments[0].subscribers[1].subscriberId: ' +
      'is already used by another subscriber, at s:6:25',
    's:8:9 environments[0].subscribers[2]: must have subscriberId',
    's:8:11 environments[0].subscribers[2].subscriberID: ' +
      'is not a known field; did you mean subscriberId?',
    expect.stringMatching(
      /^s:10:48 environments\[0\]\.workflows\[0\]\.steps\[0\]\.type: must be one of /
    ),
    expect.stringMatching(
      /^s:12:76 environments\[0\]\.messages\[0\]\.createdAt: must be an ISO 8601 time /
    ),
    's:13:20 environments[0].messages[1].channel: must be one of in_app, email, sms, chat, push',
    's:13:38 environments[0].messages[1].workflow: ' +
      'is welcom, but this environment has no such workflow; did you mean welcome?',
    expect.stringMatching(
      /^s:13:57 environments\[0\]\.messages\[1\]\.createdAt: must be an ISO 8601 time /
    )
  ])
})

test.each([
  ['subscribers in an object instead of a list', 'subscribers: { ada: {} }'],
  [
    'a workflow with an invalid identifier',
    'workflows: [{ identifier: 7, name: Welcome }]\nsubscribers: [{ subscriberId: ada }]'
  ],
  ['an environment with invalid keys', 'apiKeys: other-key'],
  [
    'a record that is too large',
    `subscribers: [{ subscriberId: ada, data: { a: ${'x'.repeat(2 ** 20)} } }]`
  ]
])('reports an issue, but not the further issues that it causes: %s', (_, text) => {
  const messages = 'messages: [{ channel: email, subscriberId: ada, workflow: welcome }]'
  const other = '\n  - { name: Other, apiKeys: [shop-key] }'
  const otherEnvironment = text.startsWith('apiKeys') ? other : ''
  const workflows = text.startsWith('subscribers') ? 'workflows: [{ identifier: welcome }]\n' : ''
  const shop = otherEnvironment ? text : `${text}\n${workflows}${messages}`
  expect(issuesOf({ name: 's', seed: inShop(shop) + otherEnvironment })).toHaveLength(1)
})

test.each([
  ['YAML', 'name: Shop\nmessages: []', 'environments:\n  -\n    name: Shop\n    messages: []'],
  [
    'JSON',
    '{"name": "Shop", "messages": []}',
    '{ "environments": [{"name": "Shop", "messages": []}] }'
  ]
])('explains how to wrap the fields of one environment: %s', (_, seed, wrapped) => {
  const issue =
    'must have environments, but has the fields of one environment: start the file with ' +
    '`environments:` and `  -`, and indent the content by 4 spaces; in JSON, wrap it in ' +
    '`{ "environments": [{ … }] }`; an environment must have a name'
  expect(issuesOf({ name: 's', seed })).toEqual([`s:1:1: ${issue}`])
  expect(read(wrapped)).toEqual({ environments: [{ name: 'Shop', messages: [] }] })
})

test.each([
  [
    'a bracket, then the end of the text',
    'environments: [\n  { name: Shop }\n\n',
    '2:17: Flow sequence in block collection must be sufficiently indented and end with a ]'
  ],
  [
    'a bracket, then another field',
    'environments:\n  - name: Shop\n    apiKeys: [a, b\n    profile: live\n',
    '3:19: Flow sequence in block collection must be sufficiently indented and end with a ]'
  ],
  [
    'a bracket around another bracket',
    '{"environments": [{"name": "x"}]',
    '1:33: Flow map must end with a }'
  ],
  [
    'a quote',
    'environments:\n  - name: "Shop\n    messages: []\n\n',
    '3:17: Missing closing "quote'
  ]
])('reports an unclosed bracket or quote where its content ends: %s', (_, text, issue) => {
  expect(issuesOf({ name: 's', seed: text })).toEqual([`s:${issue}`])
})

describe('accepted forms of a seed', () => {
  const environments = [{ name: 'Shop' }]

  test.each([
    ['YAML', 'environments:\n  - name: Shop\n'],
    ['YAML with a byte order mark', '\uFEFFenvironments:\n  - name: Shop\n'],
    [
      'a top-level field that only defines an anchor',
      'x-shop: &x\n  name: Shop\nenvironments: [*x]'
    ],
    ['JSON', JSON.stringify({ environments })],
    [
      'JSON that names its schema for an editor',
      JSON.stringify({ $schema: './schema.json', environments })
    ],
    [
      'a YAML string that contains slashes',
      `{ "environments": [{ name: Shop }], "x-note": 'see // there' }`
    ]
  ])('accepts %s', (_, text) => {
    expect(read(text)).toMatchObject({ environments })
  })

  test('accepts an object, and locates its issues by path', () => {
    const [file] = readSeeds([{ name: 'seed', seed: { environments } }])
    expect(file?.seed).toEqual({ environments })
    expect(issuesOf({ name: 'seed', seed: { environments: [{ nam: 'x' }] } })).toEqual([
      'seed environments[0]: must have name',
      'seed environments[0].nam: is not a known field; did you mean name?'
    ])
  })

  test('accepts an object, and copies it', () => {
    const seed = Object.freeze({ environments: [{ name: 'Shop' }] })
    const [file] = readSeeds([{ name: 'seed', seed }])
    const [environment] = seed.environments
    if (environment) environment.name = 'Other'
    expect(file?.seed).toEqual({ environments })
  })
})

test('rejects an object that contains itself', () => {
  const cycle: { environments: unknown[] } = { environments: [] }
  cycle.environments.push(cycle)
  expect(issuesOf({ name: 'seed', seed: cycle })).toEqual([
    'seed: is nested more than 100 levels deep: flatten it'
  ])
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
      'reads unquoted words such as yes and off as strings',
      '{ a: yes, b: off, on: n }',
      { a: 'yes', b: 'off', on: 'n' }
    ],
    [
      'reads times as strings',
      '{ at: 2026-02-18T10:00:00Z, day: 2026-02-18 }',
      { at: '2026-02-18T10:00:00Z', day: '2026-02-18' }
    ],
    [
      'reads field names such as 2026 and true as strings',
      '{ 2026: x, 1.5: y, true: z }',
      { 2026: 'x', 1.5: 'y', true: 'z' }
    ]
  ])('%s', (_, yaml, value) => {
    expect(payloadOf(yaml)).toEqual(value)
  })

  test('reads __proto__ as a normal name without polluting prototypes', () => {
    expect(JSON.stringify(payloadOf('{ __proto__: { polluted: true } }'))).toBe(
      '{"__proto__":{"polluted":true}}'
    )
    expect(({} as { polluted?: true }).polluted).toBeUndefined()
  })
})

describe('files', () => {
  function createFile(name: string, content: string | Buffer): string {
    const file = join(createTempFolder(), name)
    writeFileSync(file, content)
    return file
  }

  test('a file with issues does not hide the issues of other files', () => {
    const [one, other] = [createFile('one.yaml', 'environments: 7'), createFile('other.json', '{')]
    expect(issuesOf(one, '/gone.yaml', other).map((line) => line.replace(/: .*/, ''))).toEqual([
      `${one}:1:15 environments`,
      '/gone.yaml',
      `${other}:1:2`
    ])
  })

  test("a file that can't be read is reported with the reason", () => {
    const folder = join(createFile('shop.yaml', ''), '..')
    expect(issuesOf(folder)).toEqual([
      `${folder}: can't be read: it is a folder; use the path of a file`
    ])
    expect(issuesOf('gone.yaml')[0]).toMatch(
      /^gone\.yaml: can't be read: there is no such file and no built-in seed with this name; /
    )
    expect(issuesOf('defualt')[0]).toMatch(/; did you mean default\?$/)
  })

  test('a file that is not encoded as UTF-8 is rejected', () => {
    const utf16 = Buffer.from('\uFEFFenvironments: []', 'utf16le')
    const latin1 = Buffer.from('environments: [{ name: Caf\u00e9 }]', 'latin1')
    for (const bytes of [utf16, latin1]) {
      expect(issuesOf(createFile('shop.yaml', bytes))[0]).toMatch(
        /: can't be read: .*encod.* utf-8/
      )
    }
  })

  test('a name is read as a path, unless it is the name of a built-in seed', () => {
    expect(seedPath('default')).toMatch(/seeds\/default\.yaml$/)
    expect(seedPath('shop.yaml')).toBe('shop.yaml')
    expect(seedPath('test')).toBe('test')
    expect(readSeeds(['default'])[0]?.seed.environments.length).toBeGreaterThan(1)
  })
})
