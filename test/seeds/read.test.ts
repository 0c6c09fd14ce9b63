import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SeedError, type SeedIssue } from '../../src/seeds/errors.js'
import { readSeeds, type SeedValue, seedPath } from '../../src/seeds/read.js'

type Case = [what: string, text: string, issues: string[]]

/** The text within an environment; its first line is the third. */
function inShop(text: string): string {
  return `environments:\n  - name: Shop\n${text.replace(/^/gm, '    ')}`
}

/** The issues of these seeds, one a line. */
function issuesOf(...seeds: (string | SeedValue)[]): string[] {
  return thrown(seeds).message.split('\n')
}

function thrown(seeds: (string | SeedValue)[]): SeedError {
  try {
    readSeeds(seeds)
  } catch (error) {
    if (error instanceof SeedError) return error
    throw error
  }
  throw new Error('it was read')
}

function read(seed: string): unknown {
  return readSeeds([{ name: 's.yaml', seed }])[0]?.seed
}

const TEXT: Case[] = [
  ['a tab that indents', 'environments:\n\t- name: x', [':2:1: Tabs are not allowed as indentation']],
  [
    'a list that is not closed',
    'environments: [',
    [':1:16: Flow sequence in block collection must be sufficiently indented and end with a ]']
  ],
  [
    'an object that is not closed',
    'environments: [{ name: x',
    [':1:25: Flow map in block collection must be sufficiently indented and end with a }']
  ],
  ['a quote that is not closed', 'environments: [{ name: "x }]', [':1:29: Missing closing "quote']],
  [
    'a list closed by the wrong bracket',
    '{"environments": [}',
    [':1:19: Flow sequence in block collection must be sufficiently indented and end with a ]']
  ],
  [
    'a comma that is missing',
    '{"environments": [{"name": "x" "profile": "live"}]}',
    [':1:28: Block collections are not allowed within flow collections', ':1:32: Unexpected double-quoted-scalar token']
  ],
  [
    'a second colon',
    'environments:\n  - name: b: c',
    [':2:11: a second name on this line: put a value that has a colon in it in quotes']
  ],
  [
    'a field indented less than its list',
    'environments:\n  - name: x\n profile: live',
    [':3:1: All mapping items must start at the same column']
  ],
  [
    'a field indented less than its neighbours',
    'environments:\n  - name: x\n   profile: live',
    [':3:1: Sequence item without - indicator']
  ],
  ['a field without a value', 'environments: []\nextra', [':2:1: Implicit map keys need to be followed by map values']],
  [
    'a field that is given twice',
    'environments:\n  - name: Shop\n    name: again',
    [':3:5 environments[0].name: is given twice, first at :2:5']
  ],
  [
    'environments that are given twice',
    'environments: []\nenvironments: []',
    [':2:1 environments: is given twice, first at :1:1']
  ],
  ['two documents', 'environments: []\n---\nenvironments: []', [':2:1: a seed is one document: drop this second one']],
  ['nothing', '', [':1:1: is empty: a seed begins with environments, and `environments: []` is a seed of nothing']],
  [
    'only a comment',
    '# later\n',
    [':1:1: is empty: a seed begins with environments, and `environments: []` is a seed of nothing']
  ],
  [
    'a name of a field that is a list',
    inShop('messages: [{ channel: email, payload: { [a, b]: 1 } }]'),
    [
      ':3:45 environments[0].messages[0].payload: the name of a field must be text; put a value that begins with a bracket in quotes'
    ]
  ],
  [
    'Liquid without quotes',
    inShop('messages: [{ channel: email, subject: {{payload.name}} }]'),
    [
      ':3:44 environments[0].messages[0].subject: the name of a field must be text; put a value that begins with a bracket in quotes'
    ]
  ],
  [
    "a word of the deployed service in place of the contract's",
    inShop('workflows: [{ identifier: w, origin: novu-cloud }]'),
    [
      ':3:42 environments[0].workflows[0].origin: must be one of service-cloud, service-cloud-v1, external; did you mean service-cloud?'
    ]
  ],
  [
    'a name of a field that is nothing',
    inShop('messages: [{ channel: email, payload: { ? : 1 } }]'),
    [':3:47 environments[0].messages[0].payload: the name of a field must be text']
  ],
  [
    'an alias of nothing',
    inShop('messages: [*gone]'),
    [':3:16 environments[0].messages[0]: there is no anchor &gone before this']
  ],
  [
    'an alias within what it stands for',
    inShop('messages: &all [*all]'),
    [':3:21 environments[0].messages[0]: *all is inside the value that it stands for']
  ],
  [
    'a merge of a list',
    inShop('messages:\n  - <<: [1]\n    channel: email'),
    [':4:14 environments[0].messages[0]: only an object can be merged in with <<']
  ],
  [
    'a merge of an alias of a list',
    inShop('apiKeys: &keys [a]\nmessages:\n  - { <<: *keys, channel: email }'),
    [':5:15 environments[0].messages[0]: only an object can be merged in with <<']
  ],
  [
    'a tag of another program',
    inShop('messages: [{ channel: email, payload: !thing {} }]'),
    [':3:50 environments[0].messages[0].payload: the tag !thing has no meaning here: leave it out']
  ],
  [
    'a tag that makes bytes',
    inShop('messages: [{ channel: email, payload: { at: !!binary aGk= } }]'),
    [':3:58 environments[0].messages[0].payload.at: the tag !!binary has no meaning here: leave it out']
  ],
  [
    'a number with too many digits',
    inShop('messages: [{ channel: email, payload: { id: 12345678901234567890 } }]'),
    [
      ':3:49 environments[0].messages[0].payload.id: 12345678901234567890 has too many digits for a number; for a text put it in quotes'
    ]
  ],
  [
    'a number that is none',
    inShop('messages: [{ channel: email, payload: { at: .nan } }]'),
    [':3:49 environments[0].messages[0].payload.at: .nan is no number that JSON can hold; for a text put it in quotes']
  ]
]

const SHAPE: Case[] = [
  ['a text', 'shop', [':1:1: must be an object, not a string']],
  ['a list', '- name: x', [':1:1: must be an object, not a list']],
  ['a number', '7', [':1:1: must be an object, not 7']],
  [
    'no environments',
    'environment: []',
    [':1:1: must have environments', ':1:1 environment: is not a field here; did you mean environments?']
  ],
  ['environments: null', 'environments: null', [':1:15 environments: must be a list, not null']],
  ['environments without a value', 'environments:\n', [':1:14 environments: must be a list, not null']],
  ['environments that are an object', 'environments: {}', [':1:15 environments: must be a list, not an object']],
  ['an environment that is null', 'environments: [null]', [':1:16 environments[0]: must be an object, not null']],
  ['an environment that is a text', 'environments: [Shop]', [':1:16 environments[0]: must be an object, not a string']],
  ['an environment without a name', 'environments:\n  - profile: live', [':2:5 environments[0]: must have name']],
  [
    'an environment whose name is empty',
    'environments: [{ name: "" }]',
    [':1:24 environments[0].name: must not be empty']
  ],
  [
    'a name that is a number',
    'environments: [{ name: 7 }]',
    [':1:24 environments[0].name: must be a string, not 7: put it in quotes']
  ],
  [
    'an unknown field at the top',
    'environments: []\nextra: 1',
    [':2:1 extra: is not a field here; there are $schema, environments']
  ],
  [
    'an unknown field of an environment',
    inShop('integration: []'),
    [':3:5 environments[0].integration: is not a field here; did you mean integrations?']
  ],
  [
    'an unknown field of an integration',
    inShop('integrations: [{ providerId: ses, channel: email, activ: true }]'),
    [':3:55 environments[0].integrations[0].activ: is not a field here; did you mean active?']
  ],
  [
    'a field of the wire that is implied',
    inShop('integrations: [{ providerId: ses, channel: email, _environmentId: 66d5a0e97c9b1a0012ab3402 }]'),
    [
      ':3:55 environments[0].integrations[0]._environmentId: is not a field here; there are _id, name, identifier, providerId, channel, credentials, configurations, active, deleted, deletedAt, deletedBy, primary, conditions'
    ]
  ],
  [
    'an unknown field of credentials',
    inShop('integrations: [{ providerId: ses, channel: email, credentials: { apikey: x } }]'),
    [':3:70 environments[0].integrations[0].credentials.apikey: is not a field here; did you mean apiKey?']
  ],
  [
    'an unknown field of a subscriber',
    inShop('subscribers: [{ subscriberId: ada, mail: ada@example.com }]'),
    [':3:40 environments[0].subscribers[0].mail: is not a field here; did you mean email?']
  ],
  [
    'an unknown field of a workflow',
    inShop('workflows: [{ identifier: a, step: [] }]'),
    [':3:34 environments[0].workflows[0].step: is not a field here; did you mean steps?']
  ],
  [
    'an unknown field of a step',
    inShop('workflows: [{ identifier: a, steps: [{ type: email, origin: external }] }]'),
    [
      ':3:57 environments[0].workflows[0].steps[0].origin: is not a field here; there are controls, controlValues, variables, stepId, _id, name, slug, type, issues'
    ]
  ],
  [
    'an unknown field of a message',
    inShop('messages: [{ channel: email, subscriberID: ada }]'),
    [':3:34 environments[0].messages[0].subscriberID: is not a field here; did you mean subscriberId?']
  ],
  [
    'an unknown assumption',
    inShop('assumptions: { envelop: data }'),
    [':3:20 environments[0].assumptions.envelop: is not a field here; did you mean envelope?']
  ],
  [
    'an unknown value of an assumption',
    inShop('assumptions: { envelope: box }'),
    [':3:30 environments[0].assumptions.envelope: must be one of bare, data']
  ],
  [
    'a list that is an object',
    inShop('integrations:\n  providerId: ses'),
    [':4:7 environments[0].integrations: must be a list, not an object']
  ],
  [
    'an object that is a list',
    inShop('workflows: [{ identifier: a, payloadSchema: [] }]'),
    [':3:49 environments[0].workflows[0].payloadSchema: must be an object, not a list']
  ],
  [
    'a text that is a number',
    inShop('integrations: [{ providerId: ses, channel: email, credentials: { port: 587 } }]'),
    [':3:76 environments[0].integrations[0].credentials.port: must be a string, not a number: put it in quotes']
  ],
  [
    'a telephone number without quotes',
    inShop('subscribers: [{ subscriberId: ada, phone: +15550100 }]'),
    [':3:47 environments[0].subscribers[0].phone: must be a string or null, not 15550100: put it in quotes']
  ],
  [
    'a yes that is no boolean',
    inShop('integrations: [{ providerId: ses, channel: email, active: yes }]'),
    [':3:63 environments[0].integrations[0].active: must be true or false, not the string "yes"']
  ],
  [
    'a credential of the wrong type, which is not repeated',
    inShop('integrations: [{ providerId: ses, channel: email, credentials: { secure: s3cret } }]'),
    [':3:78 environments[0].integrations[0].credentials.secure: must be true or false, not a string']
  ],
  [
    'null where the contract has no null',
    inShop('integrations: [{ providerId: ses, channel: email, name: null }]'),
    [':3:61 environments[0].integrations[0].name: must be a string, not null']
  ],
  [
    'a channel that is none',
    inShop('integrations: [{ providerId: ses, channel: fax }]'),
    [':3:48 environments[0].integrations[0].channel: must be one of in_app, email, sms, chat, push']
  ],
  [
    'a channel that is misspelt',
    inShop('integrations: [{ providerId: ses, channel: inapp }]'),
    [
      ':3:48 environments[0].integrations[0].channel: must be one of in_app, email, sms, chat, push; did you mean in_app?'
    ]
  ],
  [
    'a channel that is null',
    inShop('integrations: [{ providerId: ses, channel: ~ }]'),
    [':3:48 environments[0].integrations[0].channel: must be one of in_app, email, sms, chat, push']
  ],
  [
    'a profile that is none',
    inShop('profile: production'),
    [':3:14 environments[0].profile: must be one of document, live']
  ],
  [
    'a status that is none',
    inShop('messages: [{ channel: email, status: lost }]'),
    [':3:42 environments[0].messages[0].status: must be one of sent, error, warning']
  ],
  [
    'a step type that is none',
    inShop('workflows: [{ identifier: a, steps: [{ type: mail }] }]'),
    [
      ':3:50 environments[0].workflows[0].steps[0].type: must be one of in_app, email, sms, chat, push, digest, trigger, delay, throttle, custom; did you mean email?'
    ]
  ],
  [
    'an integration that lacks what it needs',
    inShop('integrations: [{ name: SES }]'),
    [':3:20 environments[0].integrations[0]: must have providerId, channel']
  ],
  [
    'a subscriber without its id',
    inShop('subscribers: [{ firstName: Ada }]'),
    [':3:19 environments[0].subscribers[0]: must have subscriberId']
  ],
  [
    'a step without a type',
    inShop('workflows: [{ identifier: a, steps: [{}] }]'),
    [':3:42 environments[0].workflows[0].steps[0]: must have type']
  ],
  [
    'a message without a channel',
    inShop('messages: [{ subject: x }]'),
    [':3:16 environments[0].messages[0]: must have channel']
  ],
  [
    'an id in capitals',
    inShop('_id: 66D5A0E97C9B1A0012AB3402'),
    [':3:10 environments[0]._id: must be an id of 24 lower-case hex digits']
  ],
  [
    'an id that is a number',
    inShop('_id: 66'),
    [':3:10 environments[0]._id: must be a string, not 66: put it in quotes']
  ],
  [
    'an empty identifier',
    inShop('integrations: [{ identifier: "", providerId: ses, channel: email }]'),
    [':3:34 environments[0].integrations[0].identifier: must not be empty']
  ],
  [
    'API keys that are no list',
    inShop('apiKeys: key'),
    [':3:14 environments[0].apiKeys: must be a list, not a string']
  ],
  [
    'an API key with a space',
    inShop('apiKeys: [a b]'),
    [':3:15 environments[0].apiKeys[0]: must be an API key, of printable ASCII without spaces']
  ],
  [
    'a context key that is none',
    inShop('messages: [{ channel: email, contextKeys: [acme] }]'),
    [':3:48 environments[0].messages[0].contextKeys[0]: must be in the form type:id']
  ],
  [
    'content that is a number',
    inShop('messages: [{ channel: email, content: 7 }]'),
    [':3:43 environments[0].messages[0].content: must be a list or a string, not 7']
  ],
  [
    'a block of content that lacks something',
    inShop('messages: [{ channel: email, content: [{ type: text }] }]'),
    [':3:44 environments[0].messages[0].content[0]: must have content']
  ],
  [
    'a part of a filter',
    inShop(
      'integrations: [{ providerId: ses, channel: email, conditions: [{ isNegated: false, type: GROUP, value: XOR, children: [{ on: payload }] }] }]'
    ),
    [
      ':3:108 environments[0].integrations[0].conditions[0].value: must be one of AND, OR; did you mean OR?',
      ':3:124 environments[0].integrations[0].conditions[0].children[0]: must have field, value, operator'
    ]
  ],
  [
    'a template that is not whole',
    inShop('messages: [{ channel: email, template: { name: x } }]'),
    [
      ':3:44 environments[0].messages[0].template: must have description, active, draft, preferenceSettings, critical, tags, steps, _creatorId, triggers, _notificationGroupId, deleted, deletedAt, deletedBy'
    ]
  ]
]

const ALIASES: Case[] = [
  [
    'a value behind an alias is located at each alias',
    inShop('messages: [&m { channel: fax }, *m]'),
    [
      ':3:30 environments[0].messages[0].channel: must be one of in_app, email, sms, chat, push',
      ':3:37 environments[0].messages[1].channel: must be one of in_app, email, sms, chat, push'
    ]
  ],
  [
    'a merged field is located at the merge',
    inShop('integrations:\n  - &base { providerId: ses, channel: fax }\n  - { <<: *base, name: b }'),
    [
      ':4:43 environments[0].integrations[0].channel: must be one of in_app, email, sms, chat, push',
      ':5:15 environments[0].integrations[1].channel: must be one of in_app, email, sms, chat, push'
    ]
  ]
]

describe.each([
  ['the text', TEXT],
  ['the shape', SHAPE],
  ['an alias', ALIASES]
])('an issue in %s is reported with its line, column and path:', (_, cases) => {
  test.each(cases)('%s', (_, text, issues) => {
    expect(issuesOf({ name: '', seed: text })).toEqual(issues)
  })
})

test('reports all issues of a file at once, of every kind, in the order of the file', () => {
  const text = `environments:
  - name: Shop
    name: Shop again
    integrations:
      - { providerId: ses, chanel: email }
      - { providerId: ses, channel: fax, active: yes }
    messages:
      - { channel: email, payload: { id: 12345678901234567890 }, payload: {} }
    extra: true
`
  expect(issuesOf({ name: 's.yaml', seed: text }).map((line) => line.replace(/: .*/, ''))).toEqual([
    's.yaml:3:5 environments[0].name',
    's.yaml:5:9 environments[0].integrations[0]',
    's.yaml:5:28 environments[0].integrations[0].chanel',
    's.yaml:6:37 environments[0].integrations[1].channel',
    's.yaml:6:50 environments[0].integrations[1].active',
    's.yaml:8:42 environments[0].messages[0].payload.id',
    's.yaml:8:66 environments[0].messages[0].payload',
    's.yaml:9:5 environments[0].extra'
  ])
})

test('an issue has its location as parts, for programs', () => {
  const { issues } = thrown([{ name: 's.yaml', seed: inShop('profile: production') }])
  expect(issues).toEqual<SeedIssue[]>([
    {
      location: 's.yaml:3:14',
      file: 's.yaml',
      line: 3,
      column: 14,
      path: 'environments[0].profile',
      message: 'must be one of document, live'
    }
  ])
})

test.each([
  [
    'a field that is given twice',
    '{ "environments": [], "environments": [] }',
    ':1:23 environments: is given twice, first at :1:3'
  ],
  [
    'a number with too many digits',
    '{ "environments": [{ "name": "x", "messages": [{ "channel": "sms", "payload": { "id": 12345678901234567890 } }] }] }',
    ':1:87 environments[0].messages[0].payload.id: 12345678901234567890 has too many digits for a number; for a text put it in quotes'
  ],
  [
    'a number that is too large',
    '{ "environments": [{ "name": "x", "messages": [{ "channel": "sms", "payload": { "id": 1e999 } }] }] }',
    ':1:87 environments[0].messages[0].payload.id: 1e999 is no number that JSON can hold; for a text put it in quotes'
  ],
  [
    'an unknown field',
    '{ "environments": [{ "name": "x", "nam": 1 }] }',
    ':1:35 environments[0].nam: is not a field here; did you mean name?'
  ]
])('an issue in JSON is reported with its line, column and path: %s', (_, text, issue) => {
  expect(issuesOf({ name: '', seed: text })).toEqual([issue])
})

describe('JSON of many megabytes', () => {
  const message = { channel: 'email', content: 'x'.repeat(200), payload: { name: 'a "quoted" \\ name', id: 1 } }
  const messages = Array(100_000).fill(message)

  test('is read without the YAML parser, which takes minutes for so much', () => {
    const seed = { environments: [{ name: 'Shop', messages }] }
    const started = performance.now()
    expect(read(JSON.stringify(seed))).toEqual(seed)
    expect(performance.now() - started).toBeLessThan(15_000)
  })

  test.each([
    ['a number with too many digits', '12345678901234567890', 'has too many digits for a number'],
    ['a number that is too large', '1e999', 'is no number that JSON can hold'],
    ['a list that is nested too deeply', `${'['.repeat(101)}${']'.repeat(101)}`, 'is nested more than 100 deep'],
    ['a syntax error', '[1', 'must be sufficiently indented and end with a ]']
  ])('has its issues located all the same: %s', (_, payload, message) => {
    const many = JSON.stringify(messages.slice(0, 300)).slice(0, -1)
    const text = `{"environments":[{"name":"Shop","messages":${many},{"channel":"sms","payload":{"id":${payload}}}]}]}`
    expect(issuesOf({ name: '', seed: text }).join()).toMatch(/^:1:\d+/)
    expect(issuesOf({ name: '', seed: text }).join()).toContain(message)
  })
})

describe('a seed may be', () => {
  const environments = [{ name: 'Shop' }]

  test.each([
    ['YAML', 'environments:\n  - name: Shop\n'],
    ['YAML in flow style', '{ environments: [{ name: Shop }] }'],
    ['YAML with Windows line ends', 'environments:\r\n  - name: Shop\r\n'],
    ['YAML with a byte order mark', '\uFEFFenvironments:\n  - name: Shop\n'],
    ['YAML with a document start and end', '%YAML 1.2\n---\nenvironments:\n  - name: Shop\n...\n'],
    ['JSON', JSON.stringify({ environments })],
    ['JSON over several lines', JSON.stringify({ environments }, null, '\t')]
  ])('%s', (_, text) => {
    expect(read(text)).toEqual({ environments })
  })

  test('JSON that names its schema for an editor', () => {
    expect(read('{ "$schema": "./schema.json", "environments": [] }')).toMatchObject({ environments: [] })
  })

  test('a value, whose issues have a path and no line', () => {
    const [file] = readSeeds([{ name: 'seed', seed: { environments } }])
    expect(file?.seed).toEqual({ environments })
    expect(issuesOf({ name: 'seed', seed: { environments: [{ nam: 'x' }] } })).toEqual([
      'seed environments[0]: must have name',
      'seed environments[0].nam: is not a field here; did you mean name?'
    ])
  })

  test('a value, which is copied', () => {
    const seed = Object.freeze({ environments: [{ name: 'Shop' }] })
    const [file] = readSeeds([{ name: 'seed', seed }])
    const [environment] = seed.environments
    if (environment) environment.name = 'Other'
    expect(file?.seed).toEqual({ environments })
  })

  test("no value that JSON can't hold", () => {
    const circle: { environments: unknown[] } = { environments: [] }
    circle.environments.push(circle)
    expect(issuesOf({ name: 'seed', seed: circle })).toEqual([
      "seed: can't be read as JSON: Converting circular structure to JSON"
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
    ['words that look like a boolean are text', '{ a: yes, b: off, on: n }', { a: 'yes', b: 'off', on: 'n' }],
    [
      'times are text',
      '{ at: 2026-02-18T10:00:00Z, day: 2026-02-18 }',
      { at: '2026-02-18T10:00:00Z', day: '2026-02-18' }
    ],
    ['names that are numbers are text', '{ 2026: x, 1.5: y, true: z }', { 2026: 'x', 1.5: 'y', true: 'z' }],
    [
      'numbers are exact',
      '{ a: 9007199254740991, b: 0.1, c: 0x10, d: -0.0 }',
      { a: 9007199254740991, b: 0.1, c: 16, d: -0 }
    ],
    ['<< in quotes is a name', '{ "<<": { a: 1 } }', { '<<': { a: 1 } }],
    [
      'a field may be named like a part of every object',
      '{ constructor: x, toString: y }',
      { constructor: 'x', toString: 'y' }
    ]
  ])('%s', (_, yaml, value) => {
    expect(payloadOf(yaml)).toEqual(value)
  })

  test('__proto__ is a name like any other, and reaches nothing else', () => {
    expect(JSON.stringify(payloadOf('{ __proto__: { polluted: true } }'))).toBe('{"__proto__":{"polluted":true}}')
    expect(({} as { polluted?: true }).polluted).toBeUndefined()
  })

  test('an anchor may be used and merged hundreds of times', () => {
    const text = `environments:
  - name: Shop
    messages:
      - &first { channel: email, payload: &payload { id: 1 } }
${'      - { <<: *first, payload: *payload, subject: again }\n'.repeat(500)}`
    const { environments } = read(text) as { environments: [{ messages: unknown[] }] }
    expect(environments[0].messages).toHaveLength(501)
    expect(environments[0].messages[500]).toEqual({ channel: 'email', payload: { id: 1 }, subject: 'again' })
  })
})

describe('refuses at once what would take all memory or time:', () => {
  test.each([
    [
      'aliases of aliases',
      bomb(),
      /^:8:\d+ h\[\d+\]: with this the aliases stand for more than 64 MiB of JSON, the most .+: use fewer$/
    ],
    ['lists in lists', '['.repeat(20_000), /^:1:\d+: is nested more than 100 deep: make it flatter$/],
    [
      'objects in objects',
      `${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)}`,
      /^:1:\d+: is nested more than 100 deep: make it flatter$/
    ],
    ['lists in a block', `${'- '.repeat(20_000)}x`, /^:1:\d+: is nested more than 100 deep: make it flatter$/],
    ['what is no YAML at all', '\u0001\u0002:]}'.repeat(2000), /^:1:\d+: /]
  ])('%s', (_, text, expected) => {
    const lines = issuesOf({ name: '', seed: text })
    expect(lines[0]).toMatch(expected)
    expect(lines.length).toBeLessThanOrEqual(20)
  })

  function bomb(): string {
    const names = 'abcdefghij'.split('')
    return names
      .map((name, index) => `${name}: &${name} [${index === 0 ? 'x' : Array(10).fill(`*${names[index - 1]}`)}]`)
      .join('\n')
  }

  test('reads values nested 100 deep', () => {
    expect(issuesOf({ name: '', seed: `{ a: ${'['.repeat(98)}${']'.repeat(98)} }` })[0]).toContain(
      'must have environments'
    )
  })
})

describe('a file', () => {
  function givenFile(name: string, content: string | Buffer): string {
    const folder = mkdtempSync(join(tmpdir(), 'notification-mock-seeds-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, name)
    writeFileSync(file, content)
    return file
  }

  test('is named in its issues as it was given', () => {
    const file = givenFile('shop.yaml', 'environments: 7')
    expect(issuesOf(file)).toEqual([`${file}:1:15 environments: must be a list, not 7`])
  })

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
    mkdirSync(join(folder, 'folder'))
    expect(issuesOf(join(folder, 'folder'))).toEqual([
      `${folder}/folder: can't be read: it is a folder; name a file in it`
    ])
    expect(issuesOf(join(folder, 'shop.yaml/x'))).toEqual([
      `${folder}/shop.yaml/x: can't be read: a part of its path is not a folder`
    ])
    expect(issuesOf('gone.yaml')[0]).toMatch(
      /^gone\.yaml: can't be read: there is no such file, nor a seed of this name; /
    )
    expect(issuesOf('defualt')[0]).toMatch(/; did you mean default\?$/)
  })

  test('in another encoding than UTF-8 is refused', () => {
    const utf16 = Buffer.from('\uFEFFenvironments: []', 'utf16le')
    const latin1 = Buffer.from('environments: [{ name: Caf\u00e9 }]', 'latin1')
    for (const bytes of [utf16, latin1]) {
      const file = givenFile('shop.yaml', bytes)
      expect(issuesOf(file)).toEqual([`${file}: can't be read: it is not UTF-8; save it as UTF-8`])
    }
  })

  test('by a bare name is a seed of the package, unless there is a file of that name', () => {
    expect(seedPath('default')).toMatch(/seeds\/default\.yaml$/)
    expect(seedPath('shop.yaml')).toBe('shop.yaml')
    expect(seedPath('test')).toBe('test')
    expect(readSeeds(['default'])[0]?.seed.environments.length).toBeGreaterThan(1)
  })
})
