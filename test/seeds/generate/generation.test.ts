import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { faker } from '@faker-js/faker/locale/en'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { CHANNELS } from '../../../src/core/enums.js'
import { StartError } from '../../../src/core/errors.js'
import { findIssues } from '../../../src/core/validation.js'
import { canonicalContext, type MessageRow, toMessageRow } from '../../../src/messages/row.js'
import { MessageResponse, SubscriberResponse } from '../../../src/messages/schemas.js'
import type { EnvironmentData } from '../../../src/seeds/environment-data.js'
import { canGenerate } from '../../../src/seeds/environment-data.js'
import { SeedError } from '../../../src/seeds/errors.js'
import type { SeedEnvironment, SeedGenerate, SeedWorkflow } from '../../../src/seeds/format.js'
import { generation } from '../../../src/seeds/generate/generation.js'
import { readSeeds } from '../../../src/seeds/read.js'
import { resolveSeeds } from '../../../src/seeds/resolve/resolve.js'

const NOW = Date.UTC(2026, 1, 18, 12, 30)
const DAY = 86_400_000

const defaultSeed = join(import.meta.dirname, '../../../seeds/default.yaml')
const files = readSeeds([defaultSeed])
const [DEVELOPMENT, PRODUCTION, NORTHLIGHT] = resolveSeeds(files, NOW) as [
  EnvironmentData,
  EnvironmentData,
  EnvironmentData
]
const ENVIRONMENTS = [DEVELOPMENT, PRODUCTION, NORTHLIGHT].map((data) => [data.name, data] as const)

type Row = MessageRow & { subscriberId: string; message: MessageResponse }

function rowsOf(data: EnvironmentData, options: SeedGenerate, now = NOW): Row[] {
  return [...generation(data, options, now).messages()].map(toMessageRow).map((row) => ({
    ...row,
    subscriberId: row.subscriberId ?? '',
    message: JSON.parse(row.document)
  }))
}

function resolveEnvironment(environment: Omit<SeedEnvironment, 'name'>): EnvironmentData {
  const seed = { environments: [{ name: 'Shop', ...environment }] }
  const [data] = resolveSeeds(readSeeds([{ name: 'shop', seed }]), NOW)
  if (!data) throw new Error('no environment')
  return data
}

function hashOf(data: EnvironmentData, options: SeedGenerate, now = NOW): string {
  const hash = createHash('sha256')
  for (const message of generation(data, options, now).messages()) {
    hash.update(Object.values(toMessageRow(message)).join('\n'))
  }
  return hash.digest('hex')
}

function shareOf<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  return items.filter(holds).length / items.length
}

function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

const MAILS: Pick<SeedWorkflow, 'steps'> = {
  steps: [{ type: 'email', controlValues: { subject: 'Hello', body: '<p>Hello</p>' } }]
}

describe.each(ENVIRONMENTS)('of the default seed, the messages of %s', (_name, data) => {
  const rows = rowsOf(data, { messages: 3000, randomSeed: 7, subscribers: 40 })

  test('are as many as requested', () => {
    expect(rows).toHaveLength(3000)
  })

  test('match the schema of the contract, with its fields in its order', () => {
    const order = Object.keys(MessageResponse.properties)
    for (const { message } of rows) {
      expect(findIssues(MessageResponse, message)).toEqual([])
      const fields = Object.keys(message)
      expect(fields).toEqual(order.filter((name) => fields.includes(name)))
    }
  })

  test('have columns that agree with their documents', () => {
    for (const { message, ...row } of rows) {
      expect(row).toEqual({
        id: message._id,
        createdAt: Date.parse(message.createdAt),
        channel: message.channel,
        subscriberId: message.subscriber?.subscriberId,
        transactionId: message.transactionId,
        context: canonicalContext(message.contextKeys ?? []),
        document: JSON.stringify(message)
      })
    }
  })

  test('have unique ids that begin with the second of their creation', () => {
    const taken = data.messages.flatMap(({ _id, _notificationId }) => [_id, _notificationId])
    const ids = rows.flatMap(({ id, message }) => [id, message._notificationId])
    expect(ids.filter((id) => !/^[0-9a-f]{24}$/.test(id))).toEqual([])
    const secondOf = (id: string) => Number.parseInt(id.slice(0, 8), 16)
    expect(rows.filter(({ id, createdAt }) => secondOf(id) !== Math.floor(createdAt / 1000))).toEqual([])
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
    expect(ids.filter((id) => taken.includes(id))).toEqual([])
    expect(shareOf(rows, ({ id, message }) => id === message._notificationId)).toBe(0)
  })

  test('are between the first day and now, all their times in order', () => {
    for (const { message } of rows) {
      const { createdAt, deliveredAt = [], lastSeenDate, lastReadDate, snoozedUntil } = message
      const times = [createdAt, ...deliveredAt.slice(0, 1), lastSeenDate, lastReadDate].filter(
        (each) => each !== undefined
      )
      expect(times).toEqual([...times].sort())
      const moments = [...times, ...deliveredAt].map((time) => Date.parse(time))
      expect(Math.min(...moments)).toBeGreaterThanOrEqual(NOW - 30 * DAY - 3 * 60_000)
      expect(Math.max(...moments)).toBeLessThanOrEqual(NOW)
      if (snoozedUntil) expect(Date.parse(snoozedUntil)).toBeGreaterThan(NOW)
    }
  })

  test('fail only with errors and warnings of their channel', () => {
    for (const { message } of rows) {
      const { channel, status, errorId, errorText } = message
      if (status === 'sent') expect({ errorId, errorText }).toEqual({ errorId: undefined, errorText: undefined })
      else expect(FAILURES[status]).toContain(`${channel} ${errorId} ${status === 'warning' ? errorText : ''}`.trim())
    }
  })

  test('have the address they were sent to, and none when that is the warning', () => {
    for (const { message } of rows) {
      if (message.channel === 'email') expect(message.email).toBe(message.subscriber?.email ?? undefined)
      if (message.channel === 'sms') expect(message.phone).toBe(message.subscriber?.phone ?? undefined)
      if (/email address|active phone/.test(message.errorText ?? '')) {
        expect(message.email ?? message.phone).toBeUndefined()
      } else if (['email', 'sms'].includes(message.channel) && message.status !== 'warning') {
        expect(message.email ?? message.phone).toBeDefined()
      }
    }
  })

  test('have providers of integrations of the environment', () => {
    for (const { channel, message } of rows) {
      const known = data.integrations.filter((each) => each.channel === channel && !each.deleted)
      expect(known.map(({ providerId }) => providerId)).toContain(message.providerId)
    }
  })

  test('have no unrendered variables in their texts', () => {
    for (const { message } of rows) {
      const { content, subject, title, cta } = message
      expect(JSON.stringify({ content, subject, title, cta })).not.toMatch(/\{\{|\{%|undefined|\[object/)
      expect(content).not.toBe('')
    }
  })
})

const FAILURES: Record<'error' | 'warning', string[]> = {
  error: [
    'email mail_unexpected_error',
    'sms unexpected_sms_error',
    'chat unexpected_chat_error',
    'push unexpected_push_error'
  ],
  warning: [
    'email mail_unexpected_error Subscriber does not have an email address',
    'sms no_subscriber_phone Subscriber does not have active phone',
    'chat no_subscriber_chat_channel_id Subscriber does not have active chat channel id'
  ]
}

/** Of every channel, and of every kind of value and text. */
const CLINIC: Omit<SeedEnvironment, 'name'> = {
  _id: '66d5a0e97c9b1a0012ab3402',
  integrations: [
    { _id: '66f1c2a47c9b1a0012ad0001', providerId: 'fcm', channel: 'push', identifier: 'firebase' },
    { _id: '66f1c2a47c9b1a0012ad0002', providerId: 'slack', channel: 'chat', identifier: 'slack' },
    { _id: '66f1c2a47c9b1a0012ad0003', providerId: 'telnyx', channel: 'sms', active: false }
  ],
  subscribers: [{ subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com', phone: '+15550100' }],
  workflows: [
    {
      identifier: 'appointment',
      payloadSchema: {
        type: 'object',
        properties: {
          doctor: { type: 'string' },
          at: { type: 'string', format: 'date-time' },
          day: { type: 'string', format: 'date' },
          fee: { type: 'number' },
          room: { type: 'integer', minimum: 100, maximum: 120 },
          ticket: { type: 'string', pattern: '^[A-Z]{2}\\d{3}$' },
          isFirst: { type: 'boolean' },
          key: { type: 'string', format: 'uuid' }
        }
      },
      steps: [
        {
          type: 'in_app',
          controlValues: {
            subject: 'Your appointment',
            body: '{{payload.doctor | upcase}}, room {{payload.room}}{% if payload.isFirst %}: welcome{% endif %}',
            primaryAction: { label: 'Confirm', redirect: { url: '/appointments/{{payload.ticket}}' } },
            secondaryAction: { label: 'Cancel' }
          }
        },
        {
          type: 'email',
          controlValues: { subject: 'On {{payload.day}}', body: "<p>{{payload.day | date: '%d %B %Y'}}</p>" }
        },
        { type: 'sms', controlValues: { body: '{{payload.ticket}} at {{payload.at}}, {{payload.fee}} EUR' } }
      ]
    },
    {
      identifier: 'news',
      steps: [
        { type: 'digest' },
        { type: 'push', controlValues: { subject: '{{payload.title}}', body: '{{payload.summary}}' } },
        {
          type: 'chat',
          controlValues: { body: '{% for tag in payload.tags %}#{{tag}} {% endfor %}{{payload.link}} 📰' }
        },
        { type: 'email', controlValues: { subject: 'News', body: '{{payload.author}}: {{payload.summary}}' } }
      ]
    }
  ]
}

describe('the same options give the same bytes', () => {
  test('on every machine and version of Node', () => {
    expect(hashOf(resolveEnvironment(CLINIC), { messages: 5000, randomSeed: 7, subscribers: 500 })).toBe(
      'c4031a0e5a2f655273ec8cdca393ae7990bd710575f15537f79e938ebb767493'
    )
  })

  test('each time messages() is called', () => {
    const { messages } = generation(DEVELOPMENT, { messages: 200 }, NOW)
    expect([...messages()]).toEqual([...messages()])
  })

  test('and other options give other bytes', () => {
    const given = { messages: 500, randomSeed: 7, subscribers: 3, days: 30 }
    const changes = [{}, { randomSeed: 8 }, { messages: 501 }, { subscribers: 4 }, { days: 29 }]
    const hashes = changes.map((change) => hashOf(DEVELOPMENT, { ...given, ...change }))
    hashes.push(hashOf(PRODUCTION, given), hashOf(DEVELOPMENT, given, NOW + 1))
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  test('the default random seed is 1, and the default time 30 days', () => {
    const spelledOut = { messages: 100, randomSeed: 1, days: 30 }
    expect(hashOf(DEVELOPMENT, { messages: 100 })).toBe(hashOf(DEVELOPMENT, spelledOut))
  })
})

describe('many messages', () => {
  const rows = rowsOf(DEVELOPMENT, { messages: 20_000, randomSeed: 3, subscribers: 1000 })
  const ofChannel = (channel: string) => rows.filter((row) => row.channel === channel)
  const transactions = [...groupsOf(rows, ({ transactionId }) => transactionId).values()]

  test('are of all channels, most of them in-app and email', () => {
    const shares = CHANNELS.map((channel) => [
      channel,
      Math.round(100 * shareOf(rows, (row) => row.channel === channel))
    ])
    expect(Object.fromEntries(shares)).toEqual({
      in_app: expect.closeTo(42, -1),
      email: expect.closeTo(30, -1),
      push: expect.closeTo(14, -1),
      sms: expect.closeTo(9, -1),
      chat: expect.closeTo(5, -1)
    })
  })

  test('have a small share of failures', () => {
    const failing = shareOf(rows, ({ message }) => message.status !== 'sent')
    expect(failing).toBeGreaterThan(0.005)
    expect(failing).toBeLessThan(0.05)
  })

  test('mostly belong to triggers of several messages, seconds apart, to one subscriber', () => {
    const several = transactions.filter((messages) => messages.length > 1)
    expect(several.length).toBeGreaterThan(transactions.length / 2)
    const ordinary = several.filter((messages) => new Set(messages.map(({ subscriberId }) => subscriberId)).size === 1)
    expect(ordinary.length).toBeGreaterThan(several.length * 0.9)
    for (const messages of ordinary) {
      expect(new Set(messages.map(({ message }) => message._notificationId)).size).toBe(1)
      expect(new Set(messages.map(({ message }) => message.templateIdentifier)).size).toBe(1)
      expect(new Set(messages.map(({ message }) => message._messageTemplateId)).size).toBe(messages.length)
      expect(new Set(messages.map(({ message }) => JSON.stringify(message.payload))).size).toBe(1)
      expect((messages.at(-1)?.createdAt ?? 0) - (messages[0]?.createdAt ?? 0)).toBeLessThan(10_000)
    }
  })

  test('include broadcasts, with a notification per subscriber', () => {
    const many = transactions.filter((messages) => new Set(messages.map(({ subscriberId }) => subscriberId)).size > 20)
    expect(many.length).toBeGreaterThan(2)
    for (const messages of many) {
      for (const personal of ['orderId', 'code']) expect(messages[0]?.message.payload).not.toHaveProperty(personal)
      for (const toOne of groupsOf(messages, ({ subscriberId }) => subscriberId).values()) {
        expect(new Set(toOne.map(({ message }) => message._notificationId)).size).toBe(1)
      }
      const notifications = new Set(messages.map(({ message }) => message._notificationId))
      expect(notifications.size).toBe(new Set(messages.map(({ subscriberId }) => subscriberId)).size)
    }
  })

  test('go by the hundred to a few subscribers, and by the handful to most', () => {
    const counts = [...groupsOf(rows, ({ subscriberId }) => subscriberId).values()]
      .map(({ length }) => length)
      .sort((one, other) => other - one)
    expect(counts[0]).toBeGreaterThan(600)
    expect(counts.length).toBeGreaterThan(900)
    expect(counts[Math.floor(counts.length / 2)]).toBeLessThan(20)
  })

  test('never go to a deleted subscriber', () => {
    expect(rows.filter(({ message }) => message.subscriber?.deleted)).toEqual([])
  })

  test('are more by day than by night', () => {
    const hourOf = ({ createdAt }: Row) => new Date(createdAt).getUTCHours()
    const night = shareOf(rows, (row) => hourOf(row) < 5)
    const morning = shareOf(rows, (row) => hourOf(row) >= 8 && hourOf(row) < 13)
    expect(morning).toBeGreaterThan(4 * night)
    expect(night).toBeGreaterThan(0)
  })

  test('come oldest first, but for the messages of one trigger', () => {
    let newest = 0
    const late = rows.filter(({ createdAt }) => {
      newest = Math.max(newest, createdAt)
      return createdAt <= newest - 10_000
    })
    expect(late).toEqual([])
  })

  test('in the Inbox are unseen, seen, read, answered and snoozed', () => {
    const inbox = ofChannel('in_app').map(({ message }) => message)
    expect(shareOf(inbox, ({ seen }) => !seen)).toBeGreaterThan(0.1)
    expect(shareOf(inbox, ({ seen, read }) => seen && !read)).toBeGreaterThan(0.1)
    expect(shareOf(inbox, ({ read }) => read)).toBeGreaterThan(0.3)
    expect(inbox.some(({ cta }) => cta.action?.status === 'done' && cta.action.result?.type === 'secondary')).toBe(true)
    expect(inbox.some(({ snoozedUntil }) => snoozedUntil !== undefined)).toBe(true)
    expect(inbox.some(({ deliveredAt }) => deliveredAt?.length === 2)).toBe(true)
    for (const { seen, read, lastSeenDate, lastReadDate, deliveredAt } of inbox) {
      expect(lastSeenDate !== undefined).toBe(seen)
      expect(lastReadDate !== undefined).toBe(read)
      expect(seen || !read).toBe(true)
      expect(deliveredAt).toBeDefined()
    }
  })

  test('of other channels are neither seen nor read', () => {
    const others = rows.filter(({ channel }) => channel !== 'in_app')
    const wrong = others.filter(
      ({ message: { seen, read, ...rest } }) => seen !== false || read !== false || 'deliveredAt' in rest
    )
    expect(others.length).toBeGreaterThan(0)
    expect(wrong).toEqual([])
  })

  test('have the fields of their channel and no others', () => {
    const fields: Record<string, [has: string[], hasNot: string[]]> = {
      in_app: [
        ['content', 'providerId', 'cta'],
        ['email', 'phone', 'title', 'deviceTokens']
      ],
      email: [
        ['content', 'subject', 'providerId'],
        ['phone', 'title']
      ],
      sms: [
        ['content', 'providerId'],
        ['subject', 'email', 'title', 'deviceTokens']
      ],
      chat: [
        ['content', 'providerId'],
        ['subject', 'email', 'title', 'deviceTokens']
      ],
      push: [
        ['content', 'title', 'deviceTokens', 'providerId'],
        ['email', 'phone', 'subject']
      ]
    }
    for (const [channel, [has, hasNot]] of Object.entries(fields)) {
      const messages = ofChannel(channel).map(({ message }) => message)
      const wrong = messages.filter(
        (message) => !has.every((field) => field in message) || hasNot.some((field) => field in message)
      )
      expect(messages.length).toBeGreaterThan(0)
      expect(wrong, channel).toEqual([])
    }
    expect(ofChannel('push').filter(({ message }) => !message.deviceTokens?.length)).toEqual([])
  })

  test('have the texts of their templates, rendered with their payload', () => {
    const shipped = rows.filter(({ message }) => message.templateIdentifier === 'order-shipped')
    for (const { channel, message } of shipped) {
      const { orderId, dueOn, trackingUrl } = message.payload as Record<string, string>
      if (channel === 'sms') {
        expect(message.content).toBe(`Kettle & Clay: order ${orderId} is on its way. Track it: ${trackingUrl}`)
      }
      if (channel === 'push') expect(message.content).toBe(`Order ${orderId} arrives on ${dueOn}.`)
      if (channel === 'in_app') {
        const name = message.subscriber?.firstName ?? ''
        expect(message.content).toBe(`${name}, order ${orderId} has left our warehouse. Due ${dueOn}.`)
        expect(message.cta.data?.url).toBe(`/orders/${orderId}`)
        expect(message.cta.action?.buttons?.map(({ content }) => content)).toEqual(['Track parcel', 'View order'])
      }
    }
    const orders = new Set(shipped.map(({ message }) => message.payload?.orderId))
    const triggers = new Set(shipped.map(({ transactionId }) => transactionId))
    expect(orders.size).toBeGreaterThan(0.95 * triggers.size)
  })

  test('of email are a whole HTML document, or the blocks of the editor', () => {
    for (const { message } of ofChannel('email')) {
      if (message.templateIdentifier === 'order-confirmed') {
        expect(message.content).toEqual([
          { type: 'text', content: 'Thank you!', styles: { textAlign: 'left' } },
          {
            type: 'text',
            content: expect.stringContaining(String(message.payload?.orderId)),
            styles: { textAlign: 'left' }
          },
          {
            type: 'button',
            content: 'View your order',
            url: 'https://kettle.example/orders',
            styles: { textAlign: 'left' }
          }
        ])
      } else {
        expect(message.content).toMatch(/^<!DOCTYPE html>.*Kettle &amp; Clay.*<\/html>$/s)
      }
    }
  })

  test('never come from a step with issues in its content', () => {
    expect(rows.filter(({ message }) => message.templateIdentifier === 'cart-reminder')).toEqual([])
  })

  test('are in contexts of messages of the seed, and for a subscriber always in the same', () => {
    const shown = new Set(DEVELOPMENT.messages.map(({ contextKeys }) => canonicalContext(contextKeys ?? [])))
    expect(rows.filter(({ context }) => !shown.has(context))).toEqual([])
    expect(new Set(rows.map(({ context }) => context)).size).toBeGreaterThan(3)
    for (const [subscriberId, ofOne] of groupsOf(rows, (row) => row.subscriberId)) {
      expect(new Set(ofOne.map(({ context }) => context)).size).toBe(1)
      const own = DEVELOPMENT.messages.filter(({ subscriber }) => subscriber?.subscriberId === subscriberId)
      if (own.length > 0) {
        expect(own.map(({ contextKeys }) => canonicalContext(contextKeys ?? []))).toContain(ofOne[0]?.context)
      }
    }
  })
})

describe('an environment', () => {
  test.each([{}, { subscribers: 0 }])('without subscribers gets some, with %j', (options) => {
    const data = resolveEnvironment({ workflows: [{ identifier: 'hello', ...MAILS }] })
    const { subscribers, messages } = generation(data, { messages: 500, ...options }, NOW)
    expect(subscribers).toHaveLength(10)
    const known = subscribers.map(({ subscriberId }) => subscriberId)
    for (const { subscriber } of messages()) expect(known).toContain(subscriber.subscriberId)
  })

  test('without integrations gets believable providers, and without contexts some tenants', () => {
    const steps = CHANNELS.map((type) => ({ type, controlValues: { body: 'Hello' } }))
    const rows = rowsOf(resolveEnvironment({ workflows: [{ identifier: 'hello', steps }] }), {
      messages: 2000,
      subscribers: 50
    })
    const providers = groupsOf(rows, ({ message }) => `${message.channel} ${message.providerId}`)
    expect([...providers.keys()].sort()).toEqual([
      'chat slack',
      'email sendgrid',
      'in_app novu',
      'push fcm',
      'sms twilio'
    ])
    expect(shareOf(rows, ({ context }) => context === '[]')).toBeGreaterThan(0.2)
    expect(rows.some(({ context }) => context.includes('tenant:'))).toBe(true)
  })

  test('without a step that sends messages is rejected', () => {
    const data = resolveEnvironment({ workflows: [{ identifier: 'waits', steps: [{ type: 'delay' }] }] })
    expect(canGenerate(data)).toBe(false)
    expect(canGenerate(DEVELOPMENT)).toBe(true)
    expect(() => generation(data, { messages: 1 }, NOW)).toThrow(StartError)
  })

  test('that already has generated messages gets other ids', () => {
    const options = { messages: 1 }
    const data = resolveEnvironment({
      workflows: [{ identifier: 'hello', ...MAILS }],
      subscribers: [{ subscriberId: 'ada' }]
    })
    const [first] = rowsOf(data, options) as [Row]
    const [second] = rowsOf({ ...data, messages: [{ ...first.message, _id: first.id }] }, options) as [Row]
    expect(second.id.slice(8, 18)).not.toBe(first.id.slice(8, 18))
    expect(second.createdAt).toBe(first.createdAt)
  })

  test.each([0, 1, 7])('gets %i messages when so few are requested', (messages) => {
    expect(rowsOf(DEVELOPMENT, { messages })).toHaveLength(messages)
  })

  test('gets all messages within one day when days is 1', () => {
    const rows = rowsOf(DEVELOPMENT, { messages: 300, days: 1 })
    expect(Math.min(...rows.map(({ createdAt }) => createdAt))).toBeGreaterThan(NOW - DAY - 3 * 60_000)
  })

  test('gets its first message at once, however many are requested', () => {
    const messages = generation(DEVELOPMENT, { messages: 10_000_000 }, NOW).messages()
    expect(messages.next().done).toBe(false)
    messages.return()
  })
})

describe('a payload', () => {
  const payloadSchema = {
    type: 'object',
    properties: {
      day: { type: 'string', format: 'date' },
      moment: { type: 'string', format: 'date-time' },
      contact: { type: 'string', format: 'email' },
      site: { type: 'string', format: 'uri' },
      key: { type: 'string', format: 'uuid' },
      kind: { enum: ['bug', 'wish'] },
      fixed: { const: 4 },
      score: { type: 'integer', minimum: 400, maximum: 405 },
      ratio: { type: 'number', minimum: 0, maximum: 1 },
      urgent: { type: 'boolean' },
      nickname: { type: ['string', 'null'] },
      tags: { type: 'array', items: { type: 'string' } },
      author: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } }, required: ['name'] }
    },
    additionalProperties: false
  }

  test('matches the schema of its workflow', () => {
    const fields = Object.keys(payloadSchema.properties)
    const data = resolveEnvironment({
      workflows: [{ identifier: 'ticket', payloadSchema: { ...payloadSchema, required: fields }, ...MAILS }]
    })
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true })
    addFormats.default(ajv)
    const validate = ajv.compile(data.workflows[0]?.payloadSchema ?? {})
    for (const { message } of rowsOf(data, { messages: 300 })) {
      expect(validate(message.payload), JSON.stringify([message.payload, validate.errors])).toBe(true)
    }
  })

  test('goes by the names of its fields where their format has no rule', () => {
    const properties = {
      website: { type: 'string', format: 'iri-reference' },
      customerName: { type: 'string', format: 'text' }
    }
    const workflows = [{ identifier: 'named', payloadSchema: { type: 'object', properties }, ...MAILS }]
    const [row] = rowsOf(resolveEnvironment({ workflows }), { messages: 1 })
    expect(row?.message.payload).toEqual({
      website: expect.stringMatching(/^https:/),
      customerName: expect.stringMatching(/^\p{Lu}[\p{L}'’-]+( [\p{L}'’-]+)+$/u)
    })
  })

  test('is generated even when no value can match its schema', () => {
    const properties = {
      broken: { type: 'string', pattern: 'a^' },
      many: { type: 'array', minItems: 2 ** 40, items: { type: 'boolean' } },
      none: { type: 'integer', minimum: 9, maximum: 3 }
    }
    const workflows = [{ identifier: 'odd', payloadSchema: { type: 'object', properties }, ...MAILS }]
    const [row] = rowsOf(resolveEnvironment({ workflows }), { messages: 1 })
    expect(row?.message.payload).toEqual({
      broken: expect.any(String),
      many: expect.any(Array),
      none: expect.any(Number)
    })
  })

  test('without a schema has the fields that the templates use, with values that fit their names', () => {
    const body =
      '{{payload.orderId}} {{payload.left}} {{payload.user.name}} {% for line in payload.lines %}{{line.name}} {{line.price}}{% endfor %}'
    const data = resolveEnvironment({
      workflows: [{ identifier: 'order', steps: [{ type: 'sms', controlValues: { body } }] }]
    })
    const names = new Set<string>()
    for (const { message } of rowsOf(data, { messages: 50 })) {
      const payload = message.payload as { lines: { name: string; price: string }[]; user: { name: string } }
      expect(payload).toEqual({
        orderId: expect.stringMatching(/^\d{5}$/),
        left: expect.any(Number),
        user: { name: expect.stringMatching(/^\p{Lu}[\p{L}'’ -]+$/u) },
        lines: expect.arrayContaining([{ name: expect.any(String), price: expect.stringMatching(/^€\d+\.\d\d$/) }])
      })
      expect(message.content).toContain(payload.lines.map(({ name, price }) => `${name} ${price}`).join(''))
      expect(message.content).toContain(payload.user.name)
      for (const { name } of payload.lines) names.add(name)
    }
    const products = new RegExp(`^(${faker.definitions.commerce.product_name.adjective.join('|')}) `)
    for (const name of names) expect(name, 'a product, not a person').toMatch(products)
  })
})

describe('generated subscribers', () => {
  const { subscribers } = generation(DEVELOPMENT, { messages: 0, subscribers: 400 }, NOW)

  test('match the schema of the contract, are older than all messages, and differ from each other', () => {
    for (const subscriber of subscribers) {
      expect(findIssues(SubscriberResponse, subscriber)).toEqual([])
      expect(Date.parse(subscriber.createdAt)).toBeLessThanOrEqual(NOW - 30 * DAY)
    }
    for (const field of ['_id', 'subscriberId'] as const) {
      expect(new Set(subscribers.map((each) => each[field])).size).toBe(400)
    }
    const emails = subscribers.flatMap(({ email }) => email ?? [])
    expect(new Set(emails).size).toBe(emails.length)
    expect(new Set(subscribers.map(({ firstName, lastName }) => `${firstName} ${lastName}`)).size).toBeGreaterThan(250)
  })

  test('have email addresses and phone numbers that are reserved for examples and fiction', () => {
    for (const { email, phone } of subscribers) {
      if (email) expect(email).toMatch(/^[a-z.]+\.\d+@example\.(com|net|org)$/)
      if (phone) expect(phone).toMatch(/^(\+1\d{3}55501\d\d|\+447700900\d{3}|\+3363998\d{4})$/)
    }
  })

  test('are the first ones again when more are requested', () => {
    const more = generation(DEVELOPMENT, { messages: 10, subscribers: 500 }, NOW).subscribers
    expect(more.slice(0, 400)).toEqual(subscribers)
  })

  test('never replace subscribers of the seed', () => {
    const [first, second] = subscribers
    const environment = {
      subscribers: [{ subscriberId: 'user-10001' }],
      workflows: [{ identifier: 'hello', ...MAILS }]
    }
    const made = generation(resolveEnvironment(environment), { messages: 0, subscribers: 1 }, NOW).subscribers
    expect(first?.subscriberId).toBe('user-10001')
    expect(made.map(({ subscriberId }) => subscriberId)).toEqual([second?.subscriberId])
  })
})

describe('a seed', () => {
  const outcomeOf = (...seeds: object[]) => {
    try {
      return resolveSeeds(readSeeds(seeds.map((seed, index) => ({ name: `${index}.yaml`, seed }))), NOW)
    } catch (error) {
      if (error instanceof SeedError) return error.message.split('\n')
      throw error
    }
  }
  const workflows = [{ identifier: 'hello', ...MAILS }]

  test('keeps how many messages to generate', () => {
    const generate = { messages: 10_000, randomSeed: 7, subscribers: 5, days: 3 }
    expect(outcomeOf({ environments: [{ name: 'Shop', workflows, generate }] })).toMatchObject([{ generate }])
  })

  test.each([
    [{}, 'must have messages'],
    [{ messages: -1 }, '.messages: must be a whole number from 0 to 10000000, not -1'],
    [{ messages: 1.5 }, '.messages: must be'],
    [{ messages: 10_000_001 }, '.messages: must be a whole number from 0 to 10000000, not 10000001'],
    [{ messages: 1, randomSeed: 2 ** 32 }, '.randomSeed: must be a whole number from 0 to 4294967295'],
    [{ messages: 1, days: 0 }, '.days: must be a whole number from 1 to 3650'],
    [{ messages: 1, subscribers: 100_001 }, '.subscribers: must be a whole number from 0 to 100000'],
    [{ messages: 1, seed: 7 }, 'is not a field here']
  ])('is rejected with the location when generate is %j', (generate, message) => {
    expect(outcomeOf({ environments: [{ name: 'Shop', workflows, generate }] })).toEqual([
      expect.stringContaining(message)
    ])
  })

  test('is rejected when there is nothing to generate messages from', () => {
    expect(outcomeOf({ environments: [{ name: 'Shop', generate: { messages: 1 } }] })).toEqual([
      '0.yaml environments[0].generate: needs a workflow here with a step of a channel (in_app, email, sms, chat, push) to make messages of'
    ])
  })

  test('is rejected when another seed has generate for the environment', () => {
    const seed = { environments: [{ name: 'Shop', generate: { messages: 1 } }] }
    expect(outcomeOf({ environments: [{ name: 'Shop', workflows, generate: { messages: 1 } }] }, seed)).toEqual([
      '1.yaml environments[0].generate: is given twice for this environment, first at 0.yaml environments[0].generate'
    ])
  })
})
