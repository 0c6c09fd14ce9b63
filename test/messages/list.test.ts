import { describe, expect, test } from 'vitest'
import { MessageResponse } from '../../src/messages/schemas.js'
import { type TestMock, type TestResponse, useMock, useNewMock } from '../support/mock.js'

const NOW = Date.parse('2026-02-18T12:00:00.000Z')

/** Starts a server with one environment. `environment` adds fields to the environment's seed. */
function useMessages(messages: object[], environment: object = {}): Promise<TestMock> {
  return useMock({
    now: NOW,
    seed: { environments: [{ name: 'Shop', messages, ...environment }] }
  })
}

/**
 * Returns messages for a seed, without timestamps. By default, each message is one minute older
 * than the previous one.
 */
function createMessages(count: number, fields: object = {}): object[] {
  return Array.from({ length: count }, (_, index) => ({
    _id: hex(index),
    channel: 'email',
    ...fields
  }))
}

/** Returns the number as an id of 24 hexadecimal digits. */
function hex(number: number): string {
  return number.toString(16).padStart(24, '0')
}

function idsOf({ json }: TestResponse): string[] {
  return json.data.map(({ _id }: { _id: string }) => _id)
}

function reasonOf({ headers }: TestResponse): string | null {
  return headers.get('x-mock-reason')
}

test('sorts messages with equal timestamps by descending id, whatever the filters', async () => {
  const createdAt = '2026-02-18T10:00:00.000Z'
  const ids = [7, 0xf0, 3, 0x10, 9].map(hex)
  const fields = {
    channel: 'sms',
    createdAt,
    subscriber: { subscriberId: 'ada' },
    transactionId: 't'
  }
  const mock = await useMessages(ids.map((_id) => ({ _id, ...fields, contextKeys: ['tenant:a'] })))
  const expected = [0xf0, 0x10, 9, 7, 3].map(hex)

  const filters = ['', 'channel=sms', 'subscriberId=ada', 'transactionId=t', 'contextKeys=tenant:a']
  for (const filter of [...filters, 'transactionId=t&transactionId=u', filters.join('&')]) {
    const pages = [0, 1, 2].map((page) => mock.get(`/v1/messages?limit=2&page=${page}&${filter}`))
    expect((await Promise.all(pages)).flatMap(idsOf), filter).toEqual(expected)
  }
})

test('returns page 0 with ten messages by default', async () => {
  const mock = await useMessages(createMessages(25))
  const first = await mock.get('/v1/messages')
  expect(first.json).toMatchObject({ totalCount: 25, hasMore: true, page: 0, pageSize: 10 })
  expect(idsOf(first)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(hex))

  const last = await mock.get('/v1/messages?page=2')
  expect(last.json).toMatchObject({ totalCount: 25, hasMore: false, page: 2 })
  expect(idsOf(last)).toEqual([20, 21, 22, 23, 24].map(hex))
})

describe('a message', () => {
  test('omits fields without a value instead of sending null', async () => {
    const mock = await useMessages([{ channel: 'chat' }])
    const { json, text } = await mock.get('/v1/messages')
    expect(Object.keys(json.data[0]).sort()).toEqual(
      ['_id', ...(MessageResponse.required ?? [])].sort()
    )
    expect(text).not.toContain('null')
  })

  test('keeps null in fields where the API reference allows it', async () => {
    const nulls = { _templateId: null, _messageTemplateId: null, _feedId: null }
    const person = {
      firstName: null,
      locale: null,
      isOnline: null,
      lastOnlineAt: null,
      data: null,
      timezone: null
    }
    const mock = await useMessages([{ channel: 'in_app', subscriberId: 'ada', ...nulls }], {
      subscribers: [{ subscriberId: 'ada', ...person }]
    })
    const { json } = await mock.get('/v1/messages')
    expect(json.data[0]).toMatchObject({ ...nulls, subscriber: { subscriberId: 'ada', ...person } })
  })

  test('has the complete `template` from the seed, or none if the seed has none', async () => {
    const template = {
      _id: hex(1),
      name: 'Order shipped',
      description: '',
      active: true,
      draft: false,
      preferenceSettings: { email: true },
      critical: false,
      tags: ['orders'],
      steps: [{ _id: hex(2), active: true, filters: [], variants: [{ name: 'other' }] }],
      _creatorId: hex(3),
      triggers: [{ type: 'event', identifier: 'shipped', variables: [{ name: 'orderId' }] }],
      _notificationGroupId: hex(4),
      deleted: false,
      deletedAt: '',
      deletedBy: '',
      data: { team: 'logistics', nothing: null }
    }
    const mock = await useMessages(
      [
        { channel: 'email', workflow: 'shipped', template },
        { channel: 'email', workflow: 'shipped' }
      ],
      { workflows: [{ identifier: 'shipped', steps: [{ type: 'email' }] }] }
    )
    const [withTemplate, without] = (await mock.get('/v1/messages')).json.data
    const { _environmentId, _organizationId } = withTemplate
    expect(withTemplate.template).toEqual({ ...template, _environmentId, _organizationId })
    expect(without).not.toHaveProperty('template')
    expect(without.templateIdentifier).toBe('shipped')
  })

  test('is returned exactly as in the seed, even with unusual characters', async () => {
    const text = '"\\ \u0000 \u2028 é 😀 </script> ]} ,"data":[ \'; DROP TABLE messages'
    const mock = await useMessages([
      { channel: 'sms', subject: text, payload: { [text]: [text, 1e21, -0.5, true] } }
    ])
    const [message] = (await mock.get('/v1/messages')).json.data
    expect(message).toMatchObject({ subject: text, payload: { [text]: [text, 1e21, -0.5, true] } })
  })
})

describe('the reason for an empty page', () => {
  const messages = [
    ...createMessages(5, { channel: 'email', subscriberId: 'ada' }),
    ...Array(7).fill({
      channel: 'email',
      subscriberId: 'bob',
      transactionId: 't',
      contextKeys: ['tenant:a']
    })
  ].map((message, index) => ({ ...message, _id: hex(index) }))
  const subscribers = [{ subscriberId: 'ada' }, { subscriberId: 'bob' }, { subscriberId: 'zoe' }]

  test.each([
    ['channel=sms', 'no message matches channel (12 are in the environment)'],
    ['channel=sms,email', 'no message matches channel (12 are in the environment)'],
    [
      'subscriberId=eve',
      'no message matches subscriberId (12 are in the environment); ' +
        'no subscriber has this subscriberId'
    ],
    [
      'subscriberId=ADA',
      'no message matches subscriberId (12 are in the environment); ' +
        'no subscriber has this subscriberId; did you mean ada?'
    ],
    ['subscriberId=zoe', 'no message matches subscriberId (12 are in the environment)'],
    [
      'transactionId=u&transactionId=v',
      'no message matches transactionId (12 are in the environment)'
    ],
    [
      'contextKeys=tenant:b',
      'no message matches contextKeys (12 are in the environment); ' +
        'no message has tenant:b; did you mean tenant:a?'
    ],
    [
      'contextKeys=region:eu',
      'no message matches contextKeys (12 are in the environment); no message has region:eu'
    ],
    [
      'contextKeys=tenant:a&contextKeys=plan:x',
      'no message matches contextKeys (12 are in the environment); no message has plan:x'
    ],
    [
      'transactionId=elsewhere',
      'no message matches transactionId (12 are in the environment); ' +
        'environment Other of the same organization has messages that match transactionId'
    ],
    ['transactionId=foreign', 'no message matches transactionId (12 are in the environment)'],
    [
      'transactionId=t,u',
      'no message matches transactionId (12 are in the environment); ' +
        "values aren't split at commas, so repeat transactionId for each value"
    ],
    [
      'contextKeys=&transactionId=t&subscriberId=bob',
      'no message matches contextKeys (7 matched the filters before it)'
    ],
    [
      'channel=chat&subscriberId=eve&transactionId=x&contextKeys=y:z',
      'no message matches channel (12 are in the environment)'
    ],
    ['page=2', 'page 2 is past the end; the last page with limit 10 is page 1'],
    [
      'page=7&limit=1&subscriberId=bob',
      'page 7 is past the end; the last page with limit 1 is page 6'
    ]
  ])('for ?%s is: %s', async (query, reason) => {
    for (const profile of ['document', 'live']) {
      const assumptions = {
        'unknown-subscriber-filter': 'empty-page',
        'unknown-channel-filter': 'empty-page'
      }
      const _organizationId = hex(0xaa)
      const other = {
        name: 'Other',
        _organizationId,
        messages: [{ channel: 'sms', transactionId: 'elsewhere' }]
      }
      const foreign = { name: 'Foreign', messages: [{ channel: 'sms', transactionId: 'foreign' }] }
      const shop = { name: 'Shop', _organizationId, messages, subscribers, profile, assumptions }
      const mock = await useMock({ now: NOW, seed: { environments: [shop, other, foreign] } })
      const response = await mock.get(`/v1/messages?${query}`)
      expect(response.json.data).toEqual([])
      expect(reasonOf(response), profile).toBe(reason)
    }
  })

  test.each([
    [
      'empty-page',
      'no message matches subscriberId (12 are in the environment); ' +
        'no subscriber has this subscriberId'
    ],
    [
      'not-found',
      `environment Shop has no subscriber ${hex(7).toUpperCase()} ` +
        '(assumption unknown-subscriber-filter)'
    ]
  ])('reports that the subscriberId is a subscriber _id (%s)', async (value, reason) => {
    const mock = await useMessages(messages, {
      subscribers: [{ ...subscribers[0], _id: hex(7) }, { subscriberId: 'bob' }],
      assumptions: { 'unknown-subscriber-filter': value }
    })
    const response = await mock.get(`/v1/messages?subscriberId=${hex(7).toUpperCase()}`)
    expect(reasonOf(response)).toBe(
      `${reason}; this is a subscriber's _id; use the subscriberId ada instead`
    )
    // If an earlier filter matches no message, the reason doesn't mention the `_id`.
    if (value === 'empty-page') {
      const both = await mock.get(`/v1/messages?channel=chat&subscriberId=${hex(7)}`)
      expect(reasonOf(both)).toBe('no message matches channel (12 are in the environment)')
    }
  })

  test('reports that no message has exactly these contexts, even if each one exists', async () => {
    const contextKeys = ['plan:x', 'tenant:a']
    const mock = await useMessages([...messages, { _id: hex(99), channel: 'sms', contextKeys }], {
      subscribers
    })
    const response = await mock.get('/v1/messages?contextKeys=plan:x')
    expect(reasonOf(response)).toBe(
      'no message matches contextKeys (13 are in the environment); ' +
        'no message has exactly this set of contexts'
    )
  })

  test('reports that the environment has no messages, whatever the query', async () => {
    const mock = await useMessages([])
    for (const query of ['', 'channel=sms', 'page=3']) {
      expect(reasonOf(await mock.get(`/v1/messages?${query}`))).toBe(
        'environment Shop has no messages'
      )
    }
  })
})

test('in the profile `document`, a rejection lists all invalid fields', async () => {
  const mock = await useMessages(createMessages(1))
  const response = await mock.get(
    '/v1/messages?channel=fax&contextKeys=tenant:a&contextKeys=b&page=-1&limit=1001'
  )
  expect(response.status).toBe(422)
  expect(response.json.errors).toMatchObject({
    channel: { messages: ['channel must be one of in_app, email, sms, chat, push'], value: 'fax' },
    contextKeys: {
      messages: ['contextKeys must be in the form type:id'],
      value: ['tenant:a', 'b']
    },
    page: { value: '-1' },
    limit: { value: '1001' }
  })
  for (const field of Object.keys(response.json.errors))
    expect(reasonOf(response)).toContain(`${field} must be`)
})

describe('in the profile live', () => {
  test.each([
    ...['limit=2000e1', 'limit=0x2000', 'limit=%202000', 'limit=0&limit=0'],
    ...['channel=fax&channel=chat', 'channel[a]=fax', 'contextKeys=tenant:a&contextKeys[b]=c']
  ])('%s is still rejected', async (query) => {
    const mock = await useMessages([], { profile: 'live' })
    expect((await mock.get(`/v1/messages?${query}`)).status).toBe(422)
  })

  test('a misspelled channel or a malformed context key matches nothing', async () => {
    const mock = await useMessages(createMessages(2), { profile: 'live' })
    for (const query of ['channel=Email', 'contextKeys=:a', 'contextKeys=tenant&contextKeys=a:b']) {
      expect(await mock.get(`/v1/messages?${query}`), query).toMatchObject({
        status: 200,
        json: { data: [] }
      })
    }
  })
})

test('rejects a page that is too large for one response, and suggests a lower limit', async () => {
  const mock = await useNewMock({
    seed: { environments: [{ name: 'Shop', messages: createMessages(1) }] }
  })
  // Make `document` a generated column of 2 GB of zeros. SQLite computes it only when it is read.
  mock.db.client.exec(`
    ALTER TABLE messages RENAME COLUMN document TO former;
    ALTER TABLE messages ADD COLUMN document TEXT GENERATED ALWAYS AS (zeroblob(2000000000))`)
  const response = await mock.get('/v1/messages?limit=100')
  expect([response.status, response.json.message]).toEqual([400, 'Response too large'])
  expect(reasonOf(response)).toContain('request fewer messages by lowering the limit')
})
