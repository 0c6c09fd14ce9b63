import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isoTime } from '../../../src/domain/clock.js'
import type { EnvironmentData, SeedEnvironment } from '../../../src/seeds/format.js'
import type { SeedValue } from '../../../src/seeds/read.js'
import { useMock } from '../../support/mock.js'
import { inShop, issuesOf, NOW, resolveEnvironments, resolveShop } from '../../support/resolved.js'
import { seedOf } from '../../support/shop.js'

/** Gives the seeds the names a.yaml, b.yaml and so on. */
function filesOf(...seeds: (string | object)[]): SeedValue[] {
  return seeds.map((seed, index) => ({ name: `${String.fromCharCode(97 + index)}.yaml`, seed }))
}

test('reports duplicates and broken references with line, column and path', () => {
  const shop = inShop(`workflows:
  - { name: Shipped, steps: [{ type: email, _id: 66d5a0e97c9b1a0012ab3402 }] }
  - { identifier: shipped }
  - { name: B, steps: [{ type: email, _id: 66d5a0e97c9b1a0012ab3402 }] }
subscribers: [{ subscriberId: ada }]
integrations: [{ providerId: ses, channel: email, deletedAt: 2026-01-01, deletedBy: ada }]
messages:
  - { channel: email, subscriberId: aad }
  - { channel: email, subscriberId: bob, subscriber: { subscriberId: ada } }
  - { channel: email, deliveredAt: [2026-02-18T10:00Z, soon] }`)
  expect(issuesOf(...filesOf(shop))).toEqual(
    [
      ':5:23 workflows[1].identifier: is already used by another workflow, at a.yaml:4:9',
      ':6:48 workflows[2].steps[0]._id: is already used by another step, at a.yaml:4:54',
      ':8:66 integrations[0].deletedAt: is only allowed with `deleted: true`',
      ':8:89 integrations[0].deletedBy: is only allowed with `deleted: true`',
      ':10:41 messages[0].subscriberId: is aad, but this environment has no such subscriber; ' +
        'did you mean ada?',
      ':11:41 messages[1].subscriberId: ' +
        'differs from the subscriberId of the embedded subscriber, ada',
      ':12:60 messages[2].deliveredAt[1]: ' +
        'must be an ISO 8601 time such as 2026-02-18T10:07:11.402Z, ' +
        'or a time relative to now, such as -2h or +3d'
    ].map((line) => `a.yaml${line.replace(' ', ' environments[0].')}`)
  )
})

test('reports a second primary integration with its line and path', () => {
  const shop = inShop(`integrations:
  - { identifier: one, providerId: ses, channel: email, primary: true }
  - { identifier: two, providerId: sendgrid, channel: email, primary: true }`)
  expect(issuesOf(...filesOf(shop))).toEqual([
    'a.yaml:5:75 environments[0].integrations[1].primary: must be false: channel email ' +
      'already has the primary integration one, at a.yaml:4:70'
  ])
})

test('reports API keys and ids that two environments share', () => {
  const seed = `environments:
  - { name: A, apiKeys: [k, l] }
  - { name: B, apiKeys: [m, k] }
  - { name: C }
  - { name: D, apiKeys: [c-key] }
  - { name: E, _id: 66d5a0e97c9b1a0012ab3402 }
  - { name: F, _id: 66d5a0e97c9b1a0012ab3402 }
  - { name: E, _id: 66d5a0e97c9b1a0012ab3403 }`
  expect(issuesOf(...filesOf(seed))).toEqual([
    'a.yaml:3:29 environments[1].apiKeys[1]: is the API key of environment A, at a.yaml:2:26; ' +
      'use a key that is unique',
    'a.yaml:4:5 environments[2]: has no apiKeys, and its default key c-key ' +
      'is the API key of environment D, at a.yaml:5:26; use a key that is unique',
    'a.yaml:7:21 environments[5]._id: is already used by environment E, at a.yaml:6:5',
    'a.yaml:8:21 environments[6]._id: must be 66d5a0e97c9b1a0012ab3402, ' +
      'the id that environment E already has'
  ])
})

test('reports duplicates across files with the location of the first occurrence', () => {
  const shop = (body: string) => `environments: [{ name: Shop, apiKeys: [k], ${body} }]`
  expect(
    issuesOf(
      ...filesOf(
        shop('integrations: [{ identifier: a, providerId: ses, channel: email, primary: true }]'),
        shop('integrations: [{ identifier: a, providerId: ses, channel: email, primary: true }]'),
        'environments: [{ name: Other, apiKeys: [k] }]'
      )
    )
  ).toEqual([
    'b.yaml:1:73 environments[0].integrations[0].identifier: ' +
      'is already used by another integration, at a.yaml:1:73',
    'b.yaml:1:118 environments[0].integrations[0].primary: must be false: channel email ' +
      'already has the primary integration a, at a.yaml:1:118',
    'c.yaml:1:41 environments[0].apiKeys[0]: is the API key of environment Shop, at a.yaml:1:40; ' +
      'use a key that is unique'
  ])
})

describe('several seeds', () => {
  const environments = (...seeds: (string | object)[]) => resolveEnvironments(...filesOf(...seeds))

  test('of the same environment are merged, and can refer to each other', () => {
    const [environment, ...others] = environments(
      inShop('messages: [{ channel: email, subscriberId: ada, workflow: shipped }]'),
      inShop('subscribers: [{ subscriberId: ada }]\nworkflows: [{ identifier: shipped }]')
    )
    expect(others).toEqual([])
    expect(environment?.messages[0]).toMatchObject({
      templateIdentifier: 'shipped',
      subscriber: { subscriberId: 'ada' }
    })
  })

  test('can use the same names, ids and primary integrations in different environments', () => {
    const integrations = [
      { _id: '66d5a0e97c9b1a0012ab3402', providerId: 'ses', channel: 'email', primary: true }
    ]
    const resolved = environments({
      environments: ['One', 'Other'].map((organization) => ({
        name: 'Shop',
        organization,
        apiKeys: [organization],
        integrations,
        subscribers: [{ subscriberId: 'ada' }]
      }))
    })
    expect(new Set(resolved.map(({ id }) => id)).size).toBe(2)
    expect(new Set(resolved.map(({ organizationId }) => organizationId)).size).toBe(2)
  })

  test('apply settings in order, and give an organization the same id in each environment', () => {
    const [shop, other, alone] = environments(
      inShop(
        'organization: O\nprofile: live\nassumptions: { envelope: bare, credentials: stored }'
      ),
      inShop('organization: O\nprofile: document\nassumptions: { envelope: data }'),
      `environments:
  - { name: B, organization: O, _organizationId: 66d5a0e97c9b1a0012ab33f0 }
  - { name: C }`
    )
    expect(shop).toMatchObject({
      profile: 'document',
      assumptions: { envelope: 'data', credentials: 'stored' }
    })
    expect([shop, other].map((environment) => environment?.organizationId)).toEqual(
      Array(2).fill('66d5a0e97c9b1a0012ab33f0')
    )
    expect(alone?.organizationId).not.toBe(shop?.organizationId)
  })

  test('combine the API keys of an environment, with a default key if none sets `apiKeys`', () => {
    const keys = (...texts: string[]) =>
      environments(...texts.map((text) => `environments: [{ ${text} }]`)).map(
        ({ apiKeys }) => apiKeys
      )
    expect(keys('name: Shop', 'name: Shop, apiKeys: [a]', 'name: Shop, apiKeys: [a, b]')).toEqual([
      ['a', 'b']
    ])
    expect(keys('name: My Shop', 'name: My Shop')).toEqual([['my-shop-key']])
    expect(keys('name: Shop, apiKeys: []')).toEqual([[]])
    expect(keys('name: "!!!"')).toEqual([['environment-key']])
  })
})

describe('the default', () => {
  const seed: Omit<SeedEnvironment, 'name'> = {
    integrations: [
      { providerId: 'sendgrid', channel: 'email', primary: true },
      { providerId: 'sendgrid', channel: 'email' },
      { providerId: 'twilio', channel: 'sms', active: false }
    ],
    subscribers: [{ subscriberId: 'ada', email: 'ada@example.com', phone: '+15550100' }],
    workflows: [
      { name: 'Order Shipped', steps: [{ type: 'in_app' }, { type: 'email' }, { type: 'email' }] }
    ],
    messages: [
      { channel: 'email', subscriberId: 'ada', workflow: 'order-shipped' },
      { channel: 'sms', subscriberId: 'ada' },
      { channel: 'push' }
    ]
  }

  test('ids are the same on every machine and in every run', () => {
    const ids = ({
      id,
      organizationId,
      integrations,
      subscribers,
      workflows,
      steps,
      messages
    }: EnvironmentData) => {
      const records = [integrations, subscribers, workflows, steps, messages].flat()
      return [organizationId, id, ...records.map(({ _id }) => _id)]
    }
    expect(ids(resolveShop(seed)).slice(0, 2)).toEqual([
      '662e51c3138272dcd38d02c9',
      '6772903ad57cc72d13587524'
    ])
    expect(
      createHash('sha256')
        .update(ids(resolveShop(seed)).join())
        .digest('hex')
    ).toMatchInlineSnapshot(`"2acb026484790030b13ec72a43b258069fc13883d71208b4c6cfd0ebef899d50"`)
    expect(ids(resolveShop(seed, NOW + 1))).toEqual(ids(resolveShop(seed)))
    expect(new Set(ids(resolveShop(seed))).size).toBe(ids(resolveShop(seed)).length)
  })

  test('timestamps are the current time, minus one minute for each previous message', () => {
    const { messages, subscribers } = resolveShop(seed)
    const minutesAgo = (minutes: number) => isoTime(NOW - minutes * 60_000)
    expect(messages.map(({ createdAt }) => createdAt)).toEqual([0, 1, 2].map(minutesAgo))
    expect(subscribers[0]).toMatchObject({ createdAt: isoTime(NOW), updatedAt: isoTime(NOW) })
    const createdAt = '2025-01-01T00:00:00.000Z'
    const [subscriber] = resolveShop({
      subscribers: [{ subscriberId: 'ada', createdAt: '2025-01-01' }]
    }).subscribers
    expect(subscriber).toMatchObject({ createdAt, updatedAt: createdAt })
  })

  test('values make an integration active but not primary, with a unique identifier', () => {
    expect(resolveShop(seed).integrations).toMatchObject([
      {
        identifier: 'sendgrid',
        name: 'sendgrid',
        active: true,
        primary: true,
        deleted: false,
        credentials: {}
      },
      { identifier: 'sendgrid-2', name: 'sendgrid', active: true, primary: false },
      { identifier: 'twilio', name: 'twilio', active: false }
    ])
    const integration = { providerId: 'ses', channel: 'email' as const }
    const { integrations, steps } = resolveShop({
      integrations: [integration, { ...integration, identifier: 'ses' }],
      workflows: [
        { name: 'A', steps: [{ type: 'email' }, { type: 'email', stepId: 'email-step' }] }
      ]
    })
    expect(integrations.map(({ identifier }) => identifier)).toEqual(['ses-2', 'ses'])
    expect(steps.map(({ stepId }) => stepId)).toEqual(['email-step-2', 'email-step'])
  })

  test('values of a step include a name, a step id and a slug', () => {
    const { steps, workflows } = resolveShop(seed)
    expect(workflows[0]).toMatchObject({
      identifier: 'order-shipped',
      name: 'Order Shipped',
      origin: 'external'
    })
    expect(steps.map(({ stepId, name }) => [stepId, name])).toEqual([
      ['in-app-step', 'In-App Step'],
      ['email-step', 'Email Step'],
      ['email-step-2', 'Email Step']
    ])
    expect(steps[0]).toMatchObject({
      origin: 'external',
      workflowId: 'order-shipped',
      workflowDatabaseId: workflows[0]?._id,
      slug: expect.stringMatching(/^in-app-step_st_[0-9A-Za-z]{16}$/)
    })
  })

  test('values of a message are derived from its subscriber, workflow and channel', () => {
    const { messages, subscribers, workflows, steps } = resolveShop(seed)
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
    // The only SMS integration is inactive, so the SMS message gets no provider.
    expect(messages[1]).not.toHaveProperty('providerId')
    expect(messages[2]).not.toHaveProperty('subscriber')
    expect(messages[2]).not.toHaveProperty('templateIdentifier')
  })
})

test('keeps the values of a seed, in the field order of the API reference', () => {
  const fields = {
    subject: 'Hi',
    channel: 'email' as const,
    _id: '66d5a0e97c9b1a0012ab3402',
    email: 'x@example.com'
  }
  const { messages } = resolveShop({ messages: [{ ...fields, payload: { z: 1, a: [null] } }] })
  expect(messages[0]).toMatchObject(fields)
  expect(JSON.stringify(messages[0]?.payload)).toBe('{"z":1,"a":[null]}')
  const names = Object.keys(messages[0] ?? {})
  expect(names.indexOf('_id')).toBe(0)
  expect(names.indexOf('subject')).toBeLessThan(names.indexOf('channel'))
  expect(Object.values(messages[0] ?? {})).not.toContain(undefined)
})

test('ignores `content` and `placeholder` if they are null, as in responses from Novu', () => {
  const { messages, steps } = resolveEnvironments({
    name: 'copied',
    seed: inShop(`messages: [{ channel: sms, content: null }]
workflows:
  - name: Shipped
    steps:
      - type: in_app
        controls:
          uiSchema: { properties: { avatar: { component: IN_APP_AVATAR, placeholder: null } } }`)
  })[0] as EnvironmentData
  expect(messages[0]).not.toHaveProperty('content')
  expect(steps[0]?.controls.uiSchema).toEqual({
    properties: { avatar: { component: 'IN_APP_AVATAR' } }
  })
})

describe('if a seed is merged into an environment', () => {
  const [MAIL, TEXT] = ['66d5a0e97c9b1a0012ab3402', '66d5a0e97c9b1a0012ab3403'] as const
  const [SES, BOB] = ['66d5a0e97c9b1a0012ab3404', '66d5a0e97c9b1a0012ab3405'] as const
  const EXISTING = seedOf({
    integrations: [
      { _id: SES, identifier: 'ses', providerId: 'ses', channel: 'email', primary: true },
      { identifier: 'twilio', providerId: 'twilio', channel: 'sms' }
    ],
    subscribers: [
      { subscriberId: 'ada', email: 'ada@example.com' },
      { subscriberId: 'bob', _id: BOB }
    ],
    workflows: [
      { identifier: 'welcome', steps: [{ type: 'email', stepId: 'mail', _id: MAIL }] },
      { identifier: 'shipped', steps: [{ type: 'sms', _id: TEXT }] }
    ],
    messages: [{ channel: 'email' }]
  })

  async function merged(fields: string): Promise<SeedEnvironment> {
    const [mock, { status, text }] = await merge(fields)
    expect(status, text).toBe(200)
    return (await mock.get('/_mock/state')).json.environments[0]
  }

  async function merge(fields: string) {
    const mock = await useMock({ now: NOW, seed: EXISTING })
    const body = `environments: [{ name: Shop, ${fields} }]`
    return [mock, await mock.post('/_mock/seed', { body })] as const
  }

  test('messages can refer to existing records, and are older than existing messages', async () => {
    const { messages = [], workflows } = await merged(
      'messages: [{ channel: email, subscriberId: ada, workflow: welcome }]'
    )
    expect(messages).toContainEqual(
      expect.objectContaining({
        subscriber: expect.objectContaining({ subscriberId: 'ada' }),
        _templateId: workflows?.[0]?._id,
        _messageTemplateId: MAIL,
        email: 'ada@example.com',
        providerId: 'ses',
        createdAt: isoTime(NOW - 60_000)
      })
    )
    expect(new Set(messages.map(({ _id }) => _id)).size).toBe(2)
  })

  test('a default identifier is unique, but can be that of a replaced integration', async () => {
    const identifiersAfter = async (integration: string) =>
      (await merged(`integrations: [${integration}]`)).integrations?.map(
        ({ identifier }) => identifier
      )
    expect(await identifiersAfter('{ providerId: ses, channel: chat }')).toEqual([
      'ses',
      'twilio',
      'ses-2'
    ])
    const replacing = `{ _id: ${SES}, providerId: ses, channel: email, primary: true }`
    expect(await identifiersAfter(replacing)).toEqual(['ses', 'twilio'])
  })

  test.each([
    [
      'a second primary',
      'integrations: [{ providerId: sendgrid, channel: email, primary: true }]',
      'integrations[0].primary: seed:1:94 must be false: channel email ' +
        'already has the primary integration ses, in this environment'
    ],
    [
      'the _id of a step of another workflow',
      `workflows: [{ identifier: welcome, steps: [{ type: sms, _id: ${TEXT} }] }]`,
      'workflows[0].steps[0]._id: seed:1:91 is already used by another step of this environment'
    ],
    [
      'a missing subscriber',
      'messages: [{ channel: sms, subscriberId: bop }]',
      'messages[0].subscriberId: seed:1:71 is bop, but this environment has no such subscriber; ' +
        'did you mean bob?'
    ],
    [
      'a reference to a subscriber that the seed replaces',
      `subscribers: [{ subscriberId: eve, _id: ${BOB} }], ` +
        'messages: [{ channel: sms, subscriberId: bob }]',
      'messages[0].subscriberId: seed:1:140 is bob, but this environment has no such subscriber; '
    ]
  ])('a conflict with an existing record is reported: %s', async (_, fields, issue) => {
    const [, { status, json }] = await merge(fields)
    const issues = Object.entries<{ messages: string[] }>(json.errors).map(
      ([path, of]) => `${path}: ${of.messages}`
    )
    expect([status, issues]).toEqual([422, [expect.stringContaining(`environments[0].${issue}`)]])
  })
})
