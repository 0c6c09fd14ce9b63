import { describe, expect, test } from 'vitest'
import { isoTime, WALL } from '../../../src/core/clock.js'
import type { EnvironmentData } from '../../../src/seeds/environment-data.js'
import { SeedError } from '../../../src/seeds/errors.js'
import type { SeedEnvironment } from '../../../src/seeds/format.js'
import { readSeeds } from '../../../src/seeds/read.js'
import type { ExistingRecords } from '../../../src/seeds/repository.js'
import { resolveSeeds } from '../../../src/seeds/resolve/resolve.js'

type Case = [what: string, text: string, issues: string[]]

/** The text within an environment; its first line is the third. */
function inShop(text: string): string {
  return `environments:\n  - name: Shop\n${text.replace(/^/gm, '    ')}`
}

const NOW = Date.UTC(2026, 1, 18, 12)

/** The environments of seeds, one a text, named a.yaml, b.yaml and so on. */
function environmentsOf(...texts: (string | object)[]): EnvironmentData[] {
  const files = texts.map((seed, index) => ({ name: `${String.fromCharCode(97 + index)}.yaml`, seed }))
  return resolveSeeds(readSeeds(files), NOW)
}

/** The data of one environment, named Shop. */
function shopOf(seed: Omit<SeedEnvironment, 'name'>, now = NOW): EnvironmentData {
  const file = { name: 'shop.yaml', seed: { environments: [{ name: 'Shop', ...seed }] } }
  const [environment] = resolveSeeds(readSeeds([file]), now)
  if (!environment) throw new Error('no environment')
  return environment
}

function issuesOf(...texts: string[]): string[] {
  try {
    environmentsOf(...texts)
  } catch (error) {
    if (error instanceof SeedError) return error.message.split('\n')
    throw error
  }
  throw new Error('there was no issue')
}

const CONTRADICTIONS: Case[] = [
  [
    'an identifier of two workflows, once made of a name',
    inShop('workflows: [{ name: Shipped }, { identifier: shipped }]'),
    [':3:50 environments[0].workflows[1].identifier: is that of another workflow too, at :3:17']
  ],
  [
    'a stepId of two steps of a workflow',
    inShop('workflows: [{ name: A, steps: [{ type: email, stepId: x }, { type: sms, stepId: x }] }]'),
    [':3:85 environments[0].workflows[0].steps[1].stepId: is that of another step too, at :3:59']
  ],
  [
    'an _id of two steps of different workflows',
    inShop(
      'workflows:\n  - { name: A, steps: [{ type: email, _id: 66d5a0e97c9b1a0012ab3402 }] }\n  - { name: B, steps: [{ type: email, _id: 66d5a0e97c9b1a0012ab3402 }] }'
    ),
    [':5:48 environments[0].workflows[1].steps[0]._id: is that of another step too, at :4:48']
  ],
  [
    'a workflow without identifier and name',
    inShop('workflows: [{ steps: [] }]'),
    [':3:17 environments[0].workflows[0]: must have identifier or name']
  ],
  [
    'a subscriber that is not there',
    inShop('messages: [{ channel: email, subscriberId: ada }]'),
    [':3:48 environments[0].messages[0].subscriberId: is ada, but this environment has no subscribers']
  ],
  [
    'a subscriber that is misspelt',
    inShop('subscribers: [{ subscriberId: ada }]\nmessages: [{ channel: email, subscriberId: aad }]'),
    [
      ':4:48 environments[0].messages[0].subscriberId: is aad, but this environment has no such subscriber; did you mean ada?'
    ]
  ],
  [
    'an integration that says when and by whom it was deleted, and is not',
    inShop('integrations: [{ providerId: ses, channel: email, deletedAt: 2026-01-01, deletedBy: ada }]'),
    [
      ':3:66 environments[0].integrations[0].deletedAt: needs deleted: true',
      ':3:89 environments[0].integrations[0].deletedBy: needs deleted: true'
    ]
  ],
  [
    'a subscriber that is another than the one embedded',
    inShop('messages: [{ channel: email, subscriberId: bob, subscriber: { subscriberId: ada } }]'),
    [':3:48 environments[0].messages[0].subscriberId: is not that of the subscriber given here, ada']
  ],
  [
    'a time in a list',
    inShop('messages: [{ channel: email, deliveredAt: [2026-02-18T10:00Z, soon] }]'),
    [':3:67 environments[0].messages[0].deliveredAt[1]: must be a time in ISO 8601, such as 2026-02-18T10:07:11.402Z']
  ],
  [
    'an API key of two environments',
    'environments:\n  - { name: A, apiKeys: [k, l] }\n  - { name: B, apiKeys: [m, k] }',
    [':3:29 environments[1].apiKeys[1]: is that of A, at :2:26; each environment needs keys of its own']
  ],
  [
    'a default API key that another environment has',
    'environments:\n  - { name: A }\n  - { name: B, apiKeys: [a-key] }',
    [
      ':2:5 environments[0]: has no apiKeys, and its default, a-key, is that of B, at :3:26; each environment needs keys of its own'
    ]
  ],
  [
    'an _id of two environments',
    'environments:\n  - { name: A, _id: 66d5a0e97c9b1a0012ab3402 }\n  - { name: B, _id: 66d5a0e97c9b1a0012ab3402 }',
    [':3:21 environments[1]._id: is that of environment A too, at :2:5']
  ],
  [
    'two _ids of an environment',
    'environments:\n  - { name: A, _id: 66d5a0e97c9b1a0012ab3402 }\n  - { name: A, _id: 66d5a0e97c9b1a0012ab3403 }',
    [':3:21 environments[1]._id: must be 66d5a0e97c9b1a0012ab3402, which environment A has already']
  ],
  [
    'two ids of an organization',
    'environments:\n  - { name: A, organization: O, _organizationId: 66d5a0e97c9b1a0012ab3402 }\n  - { name: B, organization: O, _organizationId: 66d5a0e97c9b1a0012ab3403 }',
    [':3:50 environments[1]._organizationId: must be 66d5a0e97c9b1a0012ab3402, which organization O has at :2:50']
  ]
]

describe('reports a contradiction with its line, column and path:', () => {
  test.each(CONTRADICTIONS)('%s', (_, text, issues) => {
    expect(issuesOf(text)).toEqual(issues.map((line) => line.replaceAll(/(?<=^|at ):/g, 'a.yaml:')))
  })
})

test('reports duplicates across files with the file of the first', () => {
  const shop = (body: string) => `environments: [{ name: Shop, apiKeys: [k], ${body} }]`
  expect(
    issuesOf(
      shop('integrations: [{ identifier: a, providerId: ses, channel: email, primary: true }]'),
      shop('integrations: [{ identifier: a, providerId: ses, channel: email, primary: true }]'),
      'environments: [{ name: Other, apiKeys: [k] }]'
    )
  ).toEqual([
    'b.yaml:1:73 environments[0].integrations[0].identifier: is that of another integration too, at a.yaml:1:73',
    'b.yaml:1:118 environments[0].integrations[0].primary: must be false: a is the primary email integration already, at a.yaml:1:118; a channel has at most one',
    'c.yaml:1:41 environments[0].apiKeys[0]: is that of Shop, at a.yaml:1:40; each environment needs keys of its own'
  ])
})

test('reports duplicates in a value with the path of the first', () => {
  const subscribers = [{ subscriberId: 'ada' }, { subscriberId: 'ada' }]
  expect(() => shopOf({ subscribers })).toThrow(
    'shop.yaml environments[0].subscribers[1].subscriberId: is that of another subscriber too, at shop.yaml environments[0].subscribers[0].subscriberId'
  )
})

describe('several seeds', () => {
  test('of the same environment are one, and refer to each other in either order', () => {
    const environments = environmentsOf(
      'environments: [{ name: Shop, messages: [{ channel: email, subscriberId: ada, workflow: shipped }] }]',
      'environments: [{ name: Shop, subscribers: [{ subscriberId: ada }], workflows: [{ identifier: shipped }] }]'
    )
    expect(environments).toHaveLength(1)
    expect(environments[0]?.messages[0]).toMatchObject({
      templateIdentifier: 'shipped',
      subscriber: { subscriberId: 'ada' }
    })
  })

  test('may have the same ids, identifiers and primaries in different environments', () => {
    const integrations = [{ _id: '66d5a0e97c9b1a0012ab3402', providerId: 'ses', channel: 'email', primary: true }]
    const environments = ['A', 'B'].map((name) => ({ name, integrations, subscribers: [{ subscriberId: 'ada' }] }))
    expect(environmentsOf({ environments })).toHaveLength(2)
  })

  test('of the same name in two organizations are two environments', () => {
    const environments = environmentsOf({
      environments: ['One', 'Other'].map((organization) => ({ name: 'Shop', organization, apiKeys: [organization] }))
    })
    expect(new Set(environments.map(({ id }) => id)).size).toBe(2)
    expect(new Set(environments.map(({ organizationId }) => organizationId)).size).toBe(2)
  })

  test('later ones win in profile and assumptions', () => {
    const [environment] = environmentsOf(
      'environments: [{ name: Shop, profile: live, assumptions: { envelope: bare, credentials: stored } }]',
      'environments: [{ name: Shop, profile: document, assumptions: { envelope: data } }]'
    )
    expect(environment).toMatchObject({ profile: 'document', assumptions: { envelope: 'data', credentials: 'stored' } })
  })

  test('give an environment all keys that any of them names, and the default key only if none names keys', () => {
    const keys = (...texts: string[]) =>
      environmentsOf(...texts.map((text) => `environments: [{ ${text} }]`)).map(({ apiKeys }) => apiKeys)
    expect(keys('name: Shop', 'name: Shop, apiKeys: [a]', 'name: Shop, apiKeys: [a, b]')).toEqual([['a', 'b']])
    expect(keys('name: My Shop', 'name: My Shop')).toEqual([['my-shop-key']])
    expect(keys('name: Shop, apiKeys: []')).toEqual([[]])
    expect(keys('name: "!!!"')).toEqual([['environment-key']])
  })

  test('use the id that any of them gives an organization', () => {
    const environments = environmentsOf(
      'environments: [{ name: A, organization: O }]',
      'environments: [{ name: B, organization: O, _organizationId: 66d5a0e97c9b1a0012ab33f0 }, { name: C }]'
    )
    const [a, b, c] = environments.map(({ organizationId }) => organizationId)
    expect([a, b]).toEqual(Array(2).fill('66d5a0e97c9b1a0012ab33f0'))
    expect(c).not.toBe(a)
  })
})

describe('what is left out', () => {
  const seed: Omit<SeedEnvironment, 'name'> = {
    integrations: [
      { providerId: 'sendgrid', channel: 'email', primary: true },
      { providerId: 'sendgrid', channel: 'email' },
      { providerId: 'twilio', channel: 'sms', active: false }
    ],
    subscribers: [{ subscriberId: 'ada', email: 'ada@example.com', phone: '+15550100' }],
    workflows: [{ name: 'Order Shipped', steps: [{ type: 'in_app' }, { type: 'email' }, { type: 'email' }] }],
    messages: [
      { channel: 'email', subscriberId: 'ada', workflow: 'order-shipped' },
      { channel: 'sms', subscriberId: 'ada' },
      { channel: 'push' }
    ]
  }

  test('has the same ids on every machine and in every run', () => {
    const ids = ({ id, organizationId, integrations, subscribers, workflows, steps, messages }: EnvironmentData) => {
      return [
        organizationId,
        id,
        ...[integrations, subscribers, workflows, steps, messages].flat().map(({ _id }) => _id)
      ]
    }
    expect(ids(shopOf(seed))).toMatchInlineSnapshot(`
      [
        "662e51c3138272dcd38d02c9",
        "6772903ad57cc72d13587524",
        "66613b1504ea4c5e70f7bd8d",
        "6794599fc5ec4f0ae298fa27",
        "672fdbe0f1a42c4b7511be77",
        "66c285a5ba56695200863563",
        "68413b15a4e3201b2441e2a2",
        "664fee2caa08c60a187ae602",
        "676eb20b15bd69a001b4c512",
        "6796cfdaf52345e634faf6a4",
        "668a53f2f84d5a95f2d44d40",
        "66cf461840d2ef65f8cc849c",
        "6729e49bfec17847a8840978",
      ]
    `)
    expect(ids(shopOf(seed, NOW + 1))).toEqual(ids(shopOf(seed)))
    expect(new Set(ids(shopOf(seed))).size).toBe(ids(shopOf(seed)).length)
  })

  test('has times of the clock, messages a minute apart with the first one the newest', () => {
    const { messages, subscribers } = shopOf(seed)
    expect(messages.map(({ createdAt }) => createdAt)).toEqual([
      '2026-02-18T12:00:00.000Z',
      '2026-02-18T11:59:00.000Z',
      '2026-02-18T11:58:00.000Z'
    ])
    expect(subscribers[0]).toMatchObject({ createdAt: isoTime(NOW), updatedAt: isoTime(NOW) })
    expect(shopOf({ subscribers: [{ subscriberId: 'ada', createdAt: '2025-01-01' }] }).subscribers[0]).toMatchObject({
      createdAt: '2025-01-01T00:00:00.000Z',
      updatedAt: '2025-01-01T00:00:00.000Z'
    })
  })

  test('of integrations is an unused identifier, active, not primary, no credentials', () => {
    expect(shopOf(seed).integrations).toMatchObject([
      { identifier: 'sendgrid', name: 'sendgrid', active: true, primary: true, deleted: false, credentials: {} },
      { identifier: 'sendgrid-2', name: 'sendgrid', active: true, primary: false },
      { identifier: 'twilio', name: 'twilio', active: false }
    ])
  })

  test('of an integration is never the identifier that another one is given, even later', () => {
    const integrations = [
      { providerId: 'ses', channel: 'email' as const },
      { identifier: 'ses', providerId: 'ses', channel: 'email' as const }
    ]
    expect(shopOf({ integrations }).integrations.map(({ identifier }) => identifier)).toEqual(['ses-2', 'ses'])
    const steps = [{ type: 'email' as const }, { type: 'email' as const, stepId: 'email-step' }]
    expect(shopOf({ workflows: [{ name: 'A', steps }] }).steps.map(({ stepId }) => stepId)).toEqual([
      'email-step-2',
      'email-step'
    ])
  })

  test('of steps is a name, a step id, a slug, controls, and variables with the steps before', () => {
    const { steps, workflows } = shopOf(seed)
    expect(workflows[0]).toMatchObject({ identifier: 'order-shipped', name: 'Order Shipped', origin: 'external' })
    expect(steps.map(({ stepId, name }) => [stepId, name])).toEqual([
      ['in-app-step', 'In-App Step'],
      ['email-step', 'Email Step'],
      ['email-step-2', 'Email Step']
    ])
    for (const step of steps) {
      expect(step).toMatchObject({
        origin: 'external',
        workflowId: 'order-shipped',
        workflowDatabaseId: workflows[0]?._id,
        slug: expect.stringMatching(/^(in-app|email)-step_st_[0-9A-Za-z]{16}$/),
        controls: { dataSchema: {}, uiSchema: {} }
      })
    }
    const before = steps.map(({ variables }) =>
      Object.keys((variables as unknown as Variables).properties.steps.properties)
    )
    expect(before).toEqual([[], ['in-app-step'], ['in-app-step', 'email-step']])
  })

  test('of a message follows from its subscriber, workflow and channel', () => {
    const { messages, subscribers, workflows, steps } = shopOf(seed)
    expect(messages[0]).toMatchObject({
      _subscriberId: subscribers[0]?._id,
      subscriber: subscribers[0],
      _templateId: workflows[0]?._id,
      templateIdentifier: 'order-shipped',
      _messageTemplateId: steps[1]?._id,
      email: 'ada@example.com',
      providerId: 'sendgrid',
      transactionId: expect.stringMatching(/^txn_[0-9a-f]{24}$/),
      read: false,
      seen: false,
      status: 'sent'
    })
    expect(messages[0]).not.toHaveProperty('phone')
    expect(messages[1]).toMatchObject({ phone: '+15550100' })
    // Its only integration is switched off.
    expect(messages[1]).not.toHaveProperty('providerId')
    expect(messages[2]).not.toHaveProperty('subscriber')
    expect(messages[2]).not.toHaveProperty('templateIdentifier')
  })

  interface Variables {
    properties: { steps: { properties: object } }
  }
})

describe('what is given', () => {
  test('is stored as it is, in the order of the contract and without fields that are not there', () => {
    const given = { subject: 'Hi', channel: 'email' as const, _id: '66d5a0e97c9b1a0012ab3402', email: 'x@example.com' }
    const { messages } = shopOf({ messages: [{ ...given, payload: { z: 1, a: [null] } }] })
    expect(messages[0]).toMatchObject(given)
    expect(JSON.stringify(messages[0]?.payload)).toBe('{"z":1,"a":[null]}')
    const fields = Object.keys(messages[0] ?? {})
    expect(fields.indexOf('_id')).toBe(0)
    expect(fields.indexOf('subject')).toBeLessThan(fields.indexOf('channel'))
    expect(Object.values(messages[0] ?? {})).not.toContain(undefined)
  })

  test.each([
    ['2026-02-18', '2026-02-18T00:00:00.000Z'],
    ['2026-02-18T10:07:11.402+01:00', '2026-02-18T09:07:11.402Z']
  ])('as the time %s is that moment everywhere', (createdAt, expected) => {
    expect(shopOf({ messages: [{ channel: 'email', createdAt }] }).messages[0]?.createdAt).toBe(expected)
  })

  test('as a subscriber within a message is embedded, and not added to the environment', () => {
    const { messages, subscribers } = shopOf({
      messages: [{ channel: 'email', subscriber: { subscriberId: 'ada', email: 'a@b.c' } }]
    })
    expect(messages[0]).toMatchObject({ subscriber: { subscriberId: 'ada' }, email: 'a@b.c' })
    expect(subscribers).toEqual([])
  })

  test('may be a deleted primary beside another one', () => {
    const primary = { providerId: 'ses', channel: 'email' as const, primary: true }
    expect(shopOf({ integrations: [primary, { ...primary, deleted: true }] }).integrations).toHaveLength(2)
  })

  test('is not modified: the same seed gives the same data again', () => {
    const files = readSeeds(['default'])
    const before = JSON.stringify(files.map(({ seed }) => seed))
    expect(resolveSeeds(files, NOW)).toEqual(resolveSeeds(files, NOW))
    expect(JSON.stringify(files.map(({ seed }) => seed))).toBe(before)
  })
})

describe('merged into an environment', () => {
  const present = shopOf({
    integrations: [
      { identifier: 'ses', providerId: 'ses', channel: 'email', primary: true },
      { identifier: 'twilio', providerId: 'twilio', channel: 'sms' }
    ],
    subscribers: [{ subscriberId: 'ada', email: 'ada@example.com' }, { subscriberId: 'bob' }],
    workflows: [
      { identifier: 'welcome', steps: [{ type: 'email', stepId: 'mail', _id: '66d5a0e97c9b1a0012ab3402' }] },
      { identifier: 'shipped', steps: [{ type: 'sms', _id: '66d5a0e97c9b1a0012ab3403' }] }
    ],
    messages: [{ channel: 'email' }]
  })
  const target = { id: present.id, organizationId: present.organizationId, name: 'Shop', clock: WALL }

  function merged(seed: string): EnvironmentData {
    const files = readSeeds([{ name: 's', seed: `environments: [{ name: Shop, ${seed} }]` }])
    const [data] = resolveSeeds(files, NOW, { target, existing: existingOf(present) })
    return data as EnvironmentData
  }

  test('a seed gives its own records alone, with the ids of those that they replace', () => {
    const data = merged(
      'subscribers: [{ subscriberId: ada, firstName: Ada }, { subscriberId: eve }], workflows: [{ identifier: welcome, steps: [{ type: sms, stepId: mail }, { type: push }] }]'
    )
    expect(data.subscribers.map(({ subscriberId }) => subscriberId)).toEqual(['ada', 'eve'])
    expect(data.subscribers[0]?._id).toBe(present.subscribers[0]?._id)
    expect(data.workflows.map(({ _id }) => _id)).toEqual([present.workflows[0]?._id])
    expect(data.steps.map(({ _id }) => _id)).toEqual(['66d5a0e97c9b1a0012ab3402', expect.stringMatching(/^6/)])
  })

  test('messages refer to what is there, and are numbered after those', () => {
    const [message] = merged('messages: [{ channel: email, subscriberId: ada, workflow: welcome }]').messages
    expect(message).toMatchObject({
      subscriber: present.subscribers[0],
      _templateId: present.workflows[0]?._id,
      _messageTemplateId: '66d5a0e97c9b1a0012ab3402',
      providerId: 'ses',
      createdAt: isoTime(NOW - 60_000)
    })
    expect(message?._id).not.toBe(present.messages[0]?._id)
  })

  test('a default identifier is none that is there, unless that record is replaced by its _id', () => {
    expect(merged('integrations: [{ providerId: ses, channel: chat }]').integrations[0]?.identifier).toBe('ses-2')
    const _id = present.integrations[0]?._id
    const { integrations } = merged(`integrations: [{ _id: ${_id}, providerId: ses, channel: email, primary: true }]`)
    expect(integrations).toMatchObject([{ _id, identifier: 'ses' }])
  })

  test.each([
    [
      'a second primary',
      'integrations: [{ providerId: sendgrid, channel: email, primary: true }]',
      'integrations[0].primary: must be false: ses is the primary email integration already, at the environment itself; a channel has at most one'
    ],
    [
      'the _id of a step of another workflow',
      'workflows: [{ identifier: welcome, steps: [{ type: sms, _id: 66d5a0e97c9b1a0012ab3403 }] }]',
      'workflows[0].steps[0]._id: is that of another step too, at the environment itself'
    ],
    [
      'a subscriber that is not there',
      'messages: [{ channel: sms, subscriberId: bop }]',
      'messages[0].subscriberId: is bop, but this environment has no such subscriber; did you mean bob?'
    ],
    [
      'a subscriber that another one replaces',
      `subscribers: [{ subscriberId: eve, _id: ${present.subscribers[1]?._id} }], messages: [{ channel: sms, subscriberId: bob }]`,
      'messages[0].subscriberId: is bob, but this environment has no such subscriber; '
    ]
  ])('it contradicts what is there: %s', (_, seed, issue) => {
    expect(() => merged(seed)).toThrow(`environments[0].${issue}`)
  })

  test('messages can be generated of the workflows that are there', () => {
    expect(merged('generate: { messages: 5 }').generate).toEqual({ messages: 5 })
  })
})

function existingOf(data: EnvironmentData): ExistingRecords {
  const primaryFirst = data.integrations.toSorted((one, other) => Number(other.primary) - Number(one.primary))
  return {
    find(kind, by, value) {
      const records: { [field: string]: unknown }[] =
        by === 'active' ? primaryFirst.filter(({ active }) => active) : data[kind]
      const field = by === 'active' || by === 'primary' ? 'channel' : by
      const found = records.find((each) => each[field] === value && (by !== 'primary' || each.primary))
      return found as EnvironmentData[typeof kind][number] | undefined
    },
    stepsOf: (id) => data.steps.filter(({ workflowDatabaseId }) => id === undefined || workflowDatabaseId === id),
    messageCount: () => data.messages.length,
    names: (kind) => data[kind].map((each) => String('subscriberId' in each ? each.subscriberId : each.identifier))
  }
}
