import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { CHANNELS, type Channel } from '../../../src/core/enums.js'
import { StartError } from '../../../src/core/errors.js'
import { findIssues } from '../../../src/core/validation.js'
import { canonicalContext, toMessageRow } from '../../../src/messages/row.js'
import { MessageResponse, SubscriberResponse } from '../../../src/messages/schemas.js'
import type { EnvironmentData } from '../../../src/seeds/environment-data.js'
import { SeedError } from '../../../src/seeds/errors.js'
import type { SeedEnvironment, SeedGenerate, SeedWorkflow } from '../../../src/seeds/format.js'
import { prepare } from '../../../src/seeds/generate/generation.js'
import { readSeeds } from '../../../src/seeds/read.js'
import { resolveSeeds } from '../../../src/seeds/resolve/resolve.js'

const NOW = Date.UTC(2026, 1, 18, 12, 30)
const DAY = 86_400_000

const defaultSeed = join(import.meta.dirname, '../../../seeds/default.yaml')
const ENVIRONMENTS = resolveSeeds(readSeeds([defaultSeed]), NOW)
const [DEVELOPMENT, PRODUCTION] = ENVIRONMENTS as [EnvironmentData, EnvironmentData]

const generation = (data: EnvironmentData, options: SeedGenerate, now = NOW) =>
  prepare(data, options, now, data.messages.length)

/** As JSON has them, without undefined fields. */
function messagesOf(data: EnvironmentData, options: SeedGenerate): MessageResponse[] {
  return [...generation(data, options).messages()].map((message) => JSON.parse(JSON.stringify(message)))
}

function hashOf(data: EnvironmentData, options: SeedGenerate, now = NOW): string {
  const hash = createHash('sha256')
  for (const message of generation(data, options, now).messages()) {
    hash.update(Object.values(toMessageRow(message)).join('\n'))
  }
  return hash.digest('hex')
}

function resolveEnvironment(environment: Omit<SeedEnvironment, 'name'>): EnvironmentData {
  const seed = { environments: [{ name: 'Shop', ...environment }] }
  const [data] = resolveSeeds(readSeeds([{ name: 'shop', seed }]), NOW)
  if (!data) throw new Error('no environment')
  return data
}

function shareOf<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  return items.filter(holds).length / items.length
}

function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string | undefined): Item[][] {
  const groups = new Map<string | undefined, Item[]>(items.map((item) => [keyOf(item), []]))
  for (const item of items) groups.get(keyOf(item))?.push(item)
  return [...groups.values()]
}

const MAILS: Pick<SeedWorkflow, 'steps'> = {
  steps: [{ type: 'email', controlValues: { subject: 'Hello', body: '<p>Hello</p>' } }]
}

describe.each(ENVIRONMENTS)('of the default seed, the messages of $name', (data) => {
  const messages = messagesOf(data, { messages: 3000, randomSeed: 7, subscribers: 40 })

  test('match the schema of the contract, with its fields in its order', () => {
    const order = Object.keys(MessageResponse.properties)
    expect(messages).toHaveLength(3000)
    for (const message of messages) {
      expect(findIssues(MessageResponse, message)).toEqual([])
      const fields = Object.keys(message)
      expect(fields).toEqual(order.filter((name) => fields.includes(name)))
    }
  })

  test('have unique ids that begin with the second of their creation', () => {
    const ids = messages.map(({ _id }) => String(_id))
    expect(new Set([...ids, ...data.messages.map(({ _id }) => _id)]).size).toBe(3000 + data.messages.length)
    for (const { _id, createdAt } of messages) {
      expect(_id).toMatch(/^[0-9a-f]{24}$/)
      expect(Number.parseInt(String(_id).slice(0, 8), 16)).toBe(Math.floor(Date.parse(createdAt) / 1000))
    }
  })

  test('are between the first day and now, all their times in order', () => {
    for (const { createdAt, deliveredAt = [], lastSeenDate, lastReadDate, snoozedUntil } of messages) {
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

  test('fail only with errors and warnings of their channel, and lack only the address that a warning names', () => {
    for (const { channel, status, errorId = '', errorText = '', email, phone, subscriber } of messages) {
      if (status === 'sent') expect(errorId + errorText).toBe('')
      if (status === 'error')
        expect(errorId).toMatch(channel === 'email' ? 'mail_unexpected_error' : `unexpected_${channel}_error`)
      if (status === 'warning') expect(errorText).toBe(WARNINGS[channel])
      expect(email).toBe((channel === 'email' && subscriber?.email) || undefined)
      expect(phone).toBe((channel === 'sms' && subscriber?.phone) || undefined)
      const isSent = ['email', 'sms'].includes(channel) && status !== 'warning'
      expect(email !== undefined || phone !== undefined).toBe(isSent)
    }
  })

  test('have providers of the environment, and no unrendered variables in their texts', () => {
    for (const { channel, providerId, content, subject, title, cta } of messages) {
      const known = data.integrations.filter((each) => each.channel === channel && !each.deleted)
      expect(known.map((each) => each.providerId)).toContain(providerId)
      expect(JSON.stringify({ content, subject, title, cta })).not.toMatch(/\{\{|\{%|undefined|\[object/)
      expect(content).not.toBe('')
    }
  })
})

const WARNINGS: { [Name in Channel]?: string } = {
  email: 'Subscriber does not have an email address',
  sms: 'Subscriber does not have active phone',
  chat: 'Subscriber does not have active chat channel id'
}

/** Of every channel, and of every kind of value and text. */
const CLINIC: Omit<SeedEnvironment, 'name'> = {
  _id: '66d5a0e97c9b1a0012ab3402',
  integrations: [{ _id: '66f1c2a47c9b1a0012ad0001', providerId: 'fcm', channel: 'push', identifier: 'firebase' }],
  subscribers: [{ subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com', phone: '+15550100' }],
  workflows: [
    {
      identifier: 'appointment',
      payloadSchema: {
        type: 'object',
        properties: { day: { format: 'date' }, room: { type: 'integer', maximum: 120 }, isFirst: { type: 'boolean' } }
      },
      steps: [
        {
          type: 'in_app',
          controlValues: { body: 'Room {{payload.room}}{% if payload.isFirst %}: welcome{% endif %}' }
        },
        { type: 'email', controlValues: { subject: 'On {{payload.day}}', body: "{{payload.day | date: '%d %B %Y'}}" } }
      ]
    },
    {
      identifier: 'news',
      steps: [
        { type: 'digest' },
        { type: 'push', controlValues: { subject: '{{payload.title}}', body: '{{payload.summary}}' } },
        { type: 'sms', controlValues: { body: '{{payload.author}}: {{payload.summary}}' } },
        {
          type: 'chat',
          controlValues: { body: '{% for tag in payload.tags %}#{{tag}} {% endfor %}{{payload.link}} 📰' }
        }
      ]
    }
  ]
}

describe('the same options give the same bytes', () => {
  test('on every machine and version of Node', () => {
    expect(hashOf(resolveEnvironment(CLINIC), { messages: 5000, randomSeed: 7, subscribers: 500 })).toBe(
      '4d8940eb417ed26899f39f4f2f204279b43cb1b272ffab167d3647e983726dff'
    )
  })

  test('each time messages() is called, and other options give other bytes', () => {
    const { messages } = generation(DEVELOPMENT, { messages: 200 })
    expect([...messages()]).toEqual([...messages()])
    const given = { messages: 500, randomSeed: 7, subscribers: 3, days: 30 }
    const changes = [{}, { randomSeed: 8 }, { messages: 501 }, { subscribers: 4 }, { days: 29 }]
    const hashes = changes.map((change) => hashOf(DEVELOPMENT, { ...given, ...change }))
    hashes.push(hashOf(PRODUCTION, given), hashOf(DEVELOPMENT, given, NOW + 1))
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})

describe('many messages', () => {
  const messages = messagesOf(DEVELOPMENT, { messages: 20_000, randomSeed: 3, subscribers: 1000 })
  const ofChannel = (channel: Channel) => messages.filter((message) => message.channel === channel)
  const triggers = groupsOf(messages, ({ transactionId }) => transactionId)
  const countOf = (
    some: readonly MessageResponse[],
    field: '_subscriberId' | '_notificationId' | '_messageTemplateId'
  ) => new Set(some.map((message) => message[field])).size

  test('are of all channels, and a small share of them fails', () => {
    expect(new Set(messages.map(({ channel }) => channel))).toEqual(new Set(CHANNELS))
    const failing = shareOf(messages, ({ status }) => status !== 'sent')
    expect(failing).toBeGreaterThan(0.005)
    expect(failing).toBeLessThan(0.05)
  })

  test('of one trigger go to one subscriber and show one payload', () => {
    const several = triggers.filter(({ length }) => length > 1)
    expect(several.length).toBeGreaterThan(triggers.length / 2)
    for (const some of several) {
      expect(countOf(some, '_subscriberId') + countOf(some, '_notificationId')).toBe(2)
      expect(countOf(some, '_messageTemplateId')).toBe(some.length)
      expect(new Set(some.map(({ payload }) => JSON.stringify(payload))).size).toBe(1)
    }
  })

  test('go by the hundred to a few subscribers, by the handful to most, and to none that is deleted', () => {
    const counts = groupsOf(messages, ({ _subscriberId }) => _subscriberId).map(({ length }) => length)
    expect(Math.max(...counts)).toBeGreaterThan(600)
    expect(counts.length).toBeGreaterThan(900)
    expect(shareOf(counts, (count) => count < 20)).toBeGreaterThan(0.5)
    expect(messages.filter(({ subscriber }) => subscriber?.deleted)).toEqual([])
  })

  test('come oldest first, but for those of one trigger, and more by day than by night', () => {
    const times = messages.map(({ createdAt }) => Date.parse(createdAt))
    let newest = 0
    for (const time of times) {
      newest = Math.max(newest, time)
      expect(time).toBeGreaterThan(newest - 10_000)
    }
    const night = shareOf(times, (time) => new Date(time).getUTCHours() < 5)
    expect(shareOf(times, (time) => [8, 9, 10, 11, 12].includes(new Date(time).getUTCHours()))).toBeGreaterThan(
      4 * night
    )
  })

  test('in the Inbox are unseen, seen, read, answered and snoozed, and no others are', () => {
    const inbox = ofChannel('in_app')
    expect(shareOf(inbox, ({ seen }) => !seen)).toBeGreaterThan(0.1)
    expect(shareOf(inbox, ({ seen, read }) => seen && !read)).toBeGreaterThan(0.1)
    expect(shareOf(inbox, ({ read }) => read)).toBeGreaterThan(0.3)
    expect(inbox.some(({ cta }) => cta.action?.status === 'done')).toBe(true)
    expect(inbox.some(({ snoozedUntil }) => snoozedUntil !== undefined)).toBe(true)
    for (const { channel, seen, read, lastSeenDate, lastReadDate, deliveredAt } of messages) {
      expect({ seen, read }).toEqual({ seen: lastSeenDate !== undefined, read: lastReadDate !== undefined })
      expect(seen || !read).toBe(true)
      expect(deliveredAt !== undefined).toBe(channel === 'in_app')
    }
  })

  test('have the texts of their templates, rendered with their payload', () => {
    const shipped = messages.filter(({ templateIdentifier }) => templateIdentifier === 'order-shipped')
    const { content = '', payload = {} } = shipped.find(({ channel }) => channel === 'sms') ?? {}
    const { orderId, trackingUrl } = payload
    expect(content).toBe(`Kettle & Clay: order ${orderId} is on its way. Track it: ${trackingUrl}`)
    const inbox = shipped.find(({ channel }) => channel === 'in_app')
    expect(inbox?.content).toContain(`, order ${inbox?.payload?.orderId} has left our warehouse.`)
    expect(inbox?.cta.data?.url).toBe(`/orders/${inbox?.payload?.orderId}`)
    expect(inbox?.cta.action?.buttons?.map((button) => button.content)).toEqual(['Track parcel', 'View order'])
    const emails = ofChannel('email')
    const confirmed = emails.find(({ templateIdentifier }) => templateIdentifier === 'order-confirmed')
    expect(confirmed?.content).toHaveLength(3)
    expect(emails.find((email) => typeof email.content === 'string')?.content).toMatch(/^<!DOCTYPE.*Kettle &amp; Clay/s)
  })

  test('never come from a step with issues in its content', () => {
    expect(messages.filter(({ templateIdentifier }) => templateIdentifier === 'cart-reminder')).toEqual([])
  })

  test('are in contexts of messages of the seed, and for a subscriber always in the same', () => {
    const contextOf = ({ contextKeys = [] }: MessageResponse) => canonicalContext(contextKeys)
    const shown = new Set(DEVELOPMENT.messages.map(contextOf))
    expect(messages.filter((message) => !shown.has(contextOf(message)))).toEqual([])
    for (const toOne of groupsOf(messages, ({ _subscriberId }) => _subscriberId)) {
      expect(new Set(toOne.map(contextOf)).size).toBe(1)
    }
  })
})

describe('an environment', () => {
  test.each([{}, { subscribers: 0 }])('without subscribers gets some, with %j', (options) => {
    const data = resolveEnvironment({ workflows: [{ identifier: 'hello', ...MAILS }] })
    const { subscribers, messages } = generation(data, { messages: 500, ...options })
    expect(subscribers).toHaveLength(10)
    const known = subscribers.map(({ subscriberId }) => subscriberId)
    for (const { subscriber } of messages()) expect(known).toContain(subscriber.subscriberId)
  })

  test('without integrations gets believable providers, and without contexts some tenants', () => {
    const steps = CHANNELS.map((type) => ({ type, controlValues: { body: 'Hello' } }))
    const data = resolveEnvironment({ workflows: [{ identifier: 'hello', steps }] })
    const messages = messagesOf(data, { messages: 2000, subscribers: 50 })
    const providers = new Set(messages.map(({ channel, providerId }) => `${channel} ${providerId}`))
    expect([...providers].sort()).toEqual(['chat slack', 'email sendgrid', 'in_app novu', 'push fcm', 'sms twilio'])
    expect(shareOf(messages, ({ contextKeys }) => contextKeys === undefined)).toBeGreaterThan(0.2)
    expect(messages.some(({ contextKeys = [] }) => contextKeys.includes('tenant:acme'))).toBe(true)
  })

  test('without a step that sends messages is rejected', () => {
    const data = resolveEnvironment({ workflows: [{ identifier: 'waits', steps: [{ type: 'delay' }] }] })
    expect(() => generation(data, { messages: 1 })).toThrow(StartError)
  })

  test('that already has generated messages gets other ids', () => {
    const idsWith = (present: number) =>
      prepare(DEVELOPMENT, { messages: 1 }, NOW, present).messages().next().value?._id
    expect(idsWith(1)?.slice(8, 18)).not.toBe(idsWith(0)?.slice(8, 18))
  })

  test('gets all messages within one day when days is 1', () => {
    const [first] = messagesOf(DEVELOPMENT, { messages: 300, days: 1 })
    expect(Date.parse(first?.createdAt ?? '')).toBeGreaterThan(NOW - DAY - 3 * 60_000)
  })

  test('gets its first message at once, however many are requested', () => {
    const messages = generation(DEVELOPMENT, { messages: 10_000_000 }).messages()
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
    for (const { payload } of messagesOf(data, { messages: 300 })) {
      expect(validate(payload), JSON.stringify([payload, validate.errors])).toBe(true)
    }
  })

  test('goes by the names of its fields where their format has no rule, and is some value where none can match', () => {
    const properties = {
      website: { type: 'string', format: 'iri-reference' },
      customerName: { type: 'string', format: 'text' },
      broken: { type: 'string', pattern: 'a^' },
      many: { type: 'array', minItems: 2 ** 40, items: { type: 'boolean' } },
      none: { type: 'integer', minimum: 9, maximum: 3 }
    }
    const workflows = [{ identifier: 'named', payloadSchema: { type: 'object', properties }, ...MAILS }]
    const [message] = messagesOf(resolveEnvironment({ workflows }), { messages: 1 })
    expect(message?.payload).toEqual({
      website: expect.stringMatching(/^https:/),
      customerName: expect.stringMatching(/^\p{Lu}[\p{L}'’-]+( [\p{L}'’-]+)+$/u),
      broken: expect.any(String),
      many: expect.any(Array),
      none: expect.any(Number)
    })
  })

  test('without a schema has the fields that the templates use, with values that fit their names', () => {
    const lines = '{% for line in payload.lines %}{{line.name}} {{line.price}}{% endfor %}'
    const body = `{{payload.orderId}} {{payload.left}} {{payload.user.name}} ${lines}`
    const steps = [{ type: 'sms' as const, controlValues: { body } }]
    for (const { payload, content } of messagesOf(resolveEnvironment({ workflows: [{ identifier: 'order', steps }] }), {
      messages: 50
    })) {
      expect(payload).toEqual({
        orderId: expect.stringMatching(/^\d{5}$/),
        left: expect.any(Number),
        user: { name: expect.stringMatching(/^\p{Lu}[\p{L}'’ -]+$/u) },
        lines: expect.arrayContaining([
          // A product, not a person: adjective, material, thing.
          { name: expect.stringMatching(/^\S+ \S+ \S+$/), price: expect.stringMatching(/^€\d+\.\d\d$/) }
        ])
      })
      const { user, lines } = payload as { lines: { name: string; price: string }[]; user: { name: string } }
      expect(content).toContain(`${user.name} ${lines.map(({ name, price }) => `${name} ${price}`).join('')}`)
    }
  })
})

describe('generated subscribers', () => {
  const { subscribers } = generation(DEVELOPMENT, { messages: 0, subscribers: 400 })

  test('match the schema of the contract, are older than all messages, and differ from each other', () => {
    for (const subscriber of subscribers) {
      expect(findIssues(SubscriberResponse, subscriber)).toEqual([])
      expect(Date.parse(subscriber.createdAt)).toBeLessThanOrEqual(NOW - 30 * DAY)
    }
    expect(new Set(subscribers.flatMap(({ _id, subscriberId }) => [_id, subscriberId])).size).toBe(800)
    expect(new Set(subscribers.map(({ firstName, lastName }) => `${firstName} ${lastName}`)).size).toBeGreaterThan(250)
  })

  test('have email addresses and phone numbers that are reserved for examples and fiction', () => {
    for (const { email, phone } of subscribers) {
      if (email) expect(email).toMatch(/^[a-z.]+\.\d+@example\.com$/)
      if (phone) expect(phone).toMatch(/^(\+1\d{3}55501\d\d|\+447700900\d{3}|\+3363998\d{4})$/)
    }
  })

  test('are the first ones again when more are requested, and never replace those of the seed', () => {
    const more = generation(DEVELOPMENT, { messages: 10, subscribers: 500 }).subscribers
    expect(more.slice(0, 400)).toEqual(subscribers)
    const own = [{ subscriberId: 'user-10001' }]
    const data = resolveEnvironment({ subscribers: own, workflows: [{ identifier: 'hello', ...MAILS }] })
    const [first] = generation(data, { messages: 0, subscribers: 1 }).subscribers
    expect(first?.subscriberId).toBe(subscribers[1]?.subscriberId)
  })
})

describe('a seed', () => {
  const workflows = [{ identifier: 'hello', ...MAILS }]
  const issuesOf = (...environments: object[]) => {
    try {
      const seeds = environments.map((each) => ({ environments: [{ name: 'Shop', ...each }] }))
      resolveSeeds(readSeeds(seeds.map((seed, index) => ({ name: `${index}.yaml`, seed }))), NOW)
    } catch (error) {
      if (error instanceof SeedError) return error.message
      throw error
    }
  }

  test('keeps how many messages to generate', () => {
    const generate = { messages: 10_000, randomSeed: 7, subscribers: 5, days: 3 }
    expect(resolveEnvironment({ workflows, generate })).toMatchObject({ generate })
  })

  test.each([
    [{}, 'must have messages'],
    [{ messages: -1 }, '.messages: must be a whole number from 0 to 10000000, not -1'],
    [{ messages: 1, randomSeed: 2 ** 32 }, '.randomSeed: must be a whole number from 0 to 4294967295'],
    [{ messages: 1, days: 0 }, '.days: must be a whole number from 1 to 3650'],
    [{ messages: 1, subscribers: 100_001 }, '.subscribers: must be a whole number from 0 to 100000'],
    [{ messages: 1, seed: 7 }, 'is not a field here']
  ])('is rejected with the location when generate is %j', (generate, message) => {
    expect(issuesOf({ workflows, generate })).toContain(message)
  })

  test('is rejected when there is nothing to generate messages from, or another seed has generate for it', () => {
    expect(issuesOf({ generate: { messages: 1 } })).toBe(
      '0.yaml environments[0].generate: needs a workflow here with a step of a channel (in_app, email, sms, chat, push) to make messages of'
    )
    expect(issuesOf({ workflows, generate: { messages: 1 } }, { generate: { messages: 1 } })).toBe(
      '1.yaml environments[0].generate: is given twice for this environment, first at 0.yaml environments[0].generate'
    )
  })
})
