import { createHash } from 'node:crypto'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { CHANNELS, type Channel } from '../../../src/domain/enums.js'
import { StartError } from '../../../src/domain/errors.js'
import { canonicalContext } from '../../../src/messages/row.js'
import { MessageResponse, SubscriberResponse } from '../../../src/messages/schemas.js'
import { findIssues } from '../../../src/schema/validation.js'
import type {
  EnvironmentData,
  SeedEnvironment,
  SeedGenerate,
  SeedWorkflow
} from '../../../src/seeds/format.js'
import { prepare } from '../../../src/seeds/generate/generation.js'
import { readSeeds } from '../../../src/seeds/read.js'
import { resolveSeeds } from '../../../src/seeds/resolve/resolve.js'
import { issuesOf, NOW, resolveShop } from '../../support/resolved.js'
import { seedOf } from '../../support/shop.js'

const HALF_PAST = NOW + 30 * 60_000
const DAY = 86_400_000

// The time is the seed's `timesRelativeTo`, so the seed's timestamps aren't shifted.
const ENVIRONMENTS = resolveSeeds(readSeeds(['default']), Date.UTC(2026, 1, 18, 10, 10))
const [DEVELOPMENT, PRODUCTION] = ENVIRONMENTS as [EnvironmentData, EnvironmentData]

const generation = (data: EnvironmentData, options: SeedGenerate, now = NOW) =>
  prepare(data, options, now, data.messages.length)

/** Returns the generated messages after a round trip through JSON, which drops undefined fields. */
function messagesOf(data: EnvironmentData, options: SeedGenerate): MessageResponse[] {
  return [...generation(data, options).messages()].map((message) =>
    JSON.parse(JSON.stringify(message))
  )
}

function hashOf(data: EnvironmentData, options: SeedGenerate, now = NOW): string {
  const hash = createHash('sha256')
  for (const message of generation(data, options, now).messages()) {
    hash.update(JSON.stringify(message))
  }
  return hash.digest('hex')
}

const MAILS: Pick<SeedWorkflow, 'steps'> = {
  steps: [{ type: 'email', controlValues: { subject: 'Hello', body: '<p>Hello</p>' } }]
}

describe.each(ENVIRONMENTS)('the generated messages of $name', (data) => {
  const messages = messagesOf(data, { messages: 1000, randomSeed: 7, subscribers: 40 })

  test('have unique ids, and match the schema, including the order of its fields', () => {
    const order = Object.keys(MessageResponse.properties)
    expect(new Set([...messages, ...data.messages].map(({ _id }) => _id)).size).toBe(
      1000 + data.messages.length
    )
    for (const message of messages) {
      expect(findIssues(MessageResponse, message)).toEqual([])
      const fields = Object.keys(message)
      expect(fields).toEqual(order.filter((name) => fields.includes(name)))
    }
  })

  test('are at most 30 days old, and were created, delivered, seen and read in this order', () => {
    for (const { createdAt, deliveredAt = [], lastSeenDate, lastReadDate } of messages) {
      const times = [createdAt, deliveredAt[0], lastSeenDate, lastReadDate].filter(
        (time) => time !== undefined
      )
      expect(times).toEqual([...times].sort())
      const moments = [...times, ...deliveredAt].map((time) => Date.parse(time))
      expect(Math.min(...moments)).toBeGreaterThanOrEqual(NOW - 30 * DAY - 3 * 60_000)
      expect(Math.max(...moments)).toBeLessThanOrEqual(NOW)
    }
  })

  test('have an error unless `status` is `sent`, and an address if the subscriber has one', () => {
    for (const {
      channel,
      status,
      errorId = '',
      errorText = '',
      email,
      phone,
      subscriber
    } of messages) {
      expect(errorId + errorText !== '').toBe(status !== 'sent')
      expect(email).toBe((channel === 'email' && subscriber?.email) || undefined)
      expect(phone).toBe((channel === 'sms' && subscriber?.phone) || undefined)
      const isSent = ['email', 'sms'].includes(channel) && status !== 'warning'
      expect(email !== undefined || phone !== undefined).toBe(isSent)
    }
  })

  test("have providers from the environment's integrations, and fully rendered texts", () => {
    for (const { channel, providerId, content, subject, title, cta } of messages) {
      const integrations = data.integrations.filter(
        (integration) => integration.channel === channel && !integration.deleted
      )
      expect(integrations.map((integration) => integration.providerId)).toContain(providerId)
      expect(JSON.stringify({ content, subject, title, cta })).not.toMatch(
        /\{\{|\{%|undefined|\[object/
      )
      expect(content).not.toBe('')
    }
  })
})

describe('the same options generate the same bytes', () => {
  test('on every machine and version of Node', () => {
    expect(
      hashOf(DEVELOPMENT, { messages: 5000, randomSeed: 7, subscribers: 500 }, HALF_PAST)
    ).toMatchInlineSnapshot(`"e39bc6ec56736d2eb7125c273ade76161471c61b4d774dcba5b81e775fff819d"`)
  })

  test('on each call', () => {
    const { messages } = generation(DEVELOPMENT, { messages: 200 })
    expect([...messages()]).toEqual([...messages()])
  })
})

test('a different option, environment or time generates different bytes', () => {
  const options = { messages: 500, randomSeed: 7, subscribers: 3, days: 30 }
  const changes = [{}, { randomSeed: 8 }, { messages: 501 }, { subscribers: 4 }, { days: 29 }]
  const hashes = changes.map((change) => hashOf(DEVELOPMENT, { ...options, ...change }))
  hashes.push(hashOf(PRODUCTION, options), hashOf(DEVELOPMENT, options, NOW + 1))
  expect(new Set(hashes).size).toBe(hashes.length)
})

describe('many messages', () => {
  const messages = messagesOf(DEVELOPMENT, { messages: 5000, randomSeed: 3, subscribers: 1000 })
  const ofChannel = (channel: Channel) => messages.filter((message) => message.channel === channel)

  test('include all channels, failures, and every state of an inbox message', () => {
    expect(new Set(messages.map(({ channel }) => channel))).toEqual(new Set(CHANNELS))
    expect(new Set(messages.map(({ status }) => status)).size).toBe(3)
    const inbox = ofChannel('in_app')
    expect(new Set(inbox.map(({ seen, read }) => `${seen} ${read}`))).toEqual(
      new Set(['false false', 'true false', 'true true'])
    )
    expect(inbox.some(({ cta }) => cta.action?.status === 'done')).toBe(true)
  })

  test('have the texts of their templates, rendered with their payload', () => {
    const shipped = messages.filter(
      ({ templateIdentifier }) => templateIdentifier === 'order-shipped'
    )
    const { content = '', payload = {} } = shipped.find(({ channel }) => channel === 'sms') ?? {}
    const { orderId, trackingUrl } = payload
    expect(content).toBe(`Kettle & Clay: order ${orderId} is on its way. Track it: ${trackingUrl}`)
    const inbox = shipped.find(({ channel }) => channel === 'in_app')
    expect(inbox?.content).toContain(`, order ${inbox?.payload?.orderId} has left our warehouse.`)
    expect(inbox?.cta.data?.url).toBe(`/orders/${inbox?.payload?.orderId}`)
    expect(inbox?.cta.action?.buttons?.map((button) => button.content)).toEqual([
      'Track parcel',
      'View order'
    ])
  })

  test('have only contexts that also occur in the seed', () => {
    const contextOf = ({ contextKeys = [] }: MessageResponse) => canonicalContext(contextKeys)
    const contexts = new Set(DEVELOPMENT.messages.map(contextOf))
    expect(messages.filter((message) => !contexts.has(contextOf(message)))).toEqual([])
  })
})

describe('an environment', () => {
  test.each([{}, { subscribers: 0 }])(
    'gets one generated subscriber per 50 messages if it has no subscribers (options: %j)',
    (options) => {
      const data = resolveShop({ workflows: [{ identifier: 'hello', ...MAILS }] })
      const { subscribers, messages } = generation(data, { messages: 500, ...options })
      expect(subscribers).toHaveLength(10)
      const known = subscribers.map(({ subscriberId }) => subscriberId)
      for (const { subscriber } of messages()) expect(known).toContain(subscriber.subscriberId)
    }
  )

  test('gets default providers and tenants if it has no integrations and no contexts', () => {
    const steps = CHANNELS.map((type) => ({ type, controlValues: { body: 'Hello' } }))
    const data = resolveShop({ workflows: [{ identifier: 'hello', steps }] })
    const messages = messagesOf(data, { messages: 2000, subscribers: 50 })
    const providers = new Set(messages.map(({ channel, providerId }) => `${channel} ${providerId}`))
    expect([...providers].sort()).toEqual([
      'chat slack',
      'email sendgrid',
      'in_app novu',
      'push fcm',
      'sms twilio'
    ])
    expect(messages.some(({ contextKeys = [] }) => contextKeys.includes('tenant:acme'))).toBe(true)
  })

  test('is rejected if none of its steps sends messages', () => {
    expect(() => generation(resolveShop({}), { messages: 1 })).toThrow(StartError)
  })

  test('gets generated messages with new ids if it already has messages', () => {
    const idWith = (messageCount: number) =>
      prepare(DEVELOPMENT, { messages: 1 }, NOW, messageCount).messages().next().value?._id
    expect(idWith(1)?.slice(8, 18)).not.toBe(idWith(0)?.slice(8, 18))
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
      rows: { type: 'array', minItems: 5, maxItems: 8, items: { type: 'integer' } },
      author: {
        type: 'object',
        properties: { name: { type: 'string' }, age: { type: 'integer' } },
        required: ['name']
      }
    },
    additionalProperties: false
  }

  test('matches the schema of its workflow', () => {
    const fields = Object.keys(payloadSchema.properties)
    const data = resolveShop({
      workflows: [
        { identifier: 'ticket', payloadSchema: { ...payloadSchema, required: fields }, ...MAILS }
      ]
    })
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true })
    addFormats.default(ajv)
    const validate = ajv.compile(data.workflows[0]?.payloadSchema ?? {})
    for (const { payload } of messagesOf(data, { messages: 300 })) {
      expect(validate(payload), JSON.stringify([payload, validate.errors])).toBe(true)
    }
  })

  test('has the fields that templates use, with suitable values, if there is no schema', () => {
    const lines = '{% for line in payload.lines %}{{line.name}} {{line.price}}{% endfor %}'
    const body = `{{payload.orderId}} {{payload.left}} {{payload.user.name}} ${lines}`
    const steps = [{ type: 'sms' as const, controlValues: { body } }]
    const data = resolveShop({ workflows: [{ identifier: 'order', steps }] })
    for (const { payload, content } of messagesOf(data, { messages: 50 })) {
      expect(payload).toEqual({
        orderId: expect.stringMatching(/^\d{5}$/),
        left: expect.any(Number),
        user: { name: expect.stringMatching(/^\p{Lu}[\p{L}'’ -]+$/u) },
        lines: expect.arrayContaining([
          // A product's name has three words: adjective, material and noun.
          {
            name: expect.stringMatching(/^\S+ \S+ \S+$/),
            price: expect.stringMatching(/^€\d+\.\d\d$/)
          }
        ])
      })
      const { user, lines } = payload as {
        lines: { name: string; price: string }[]
        user: { name: string }
      }
      expect(content).toContain(
        `${user.name} ${lines.map(({ name, price }) => `${name} ${price}`).join('')}`
      )
    }
  })
})

describe('generated subscribers', () => {
  const { subscribers } = generation(DEVELOPMENT, { messages: 0, subscribers: 400 })

  test('match the schema, are older than all messages, and differ from each other', () => {
    for (const subscriber of subscribers) {
      expect(findIssues(SubscriberResponse, subscriber)).toEqual([])
      expect(Date.parse(subscriber.createdAt)).toBeLessThanOrEqual(NOW - 30 * DAY)
      // The email addresses and phone numbers are from ranges that are reserved for examples.
      expect(subscriber.email ?? 'a.1@example.com').toMatch(/^[a-z.]+\.\d+@example\.com$/)
      expect(subscriber.phone ?? '+12025550100').toMatch(
        /^(\+1\d{3}55501\d\d|\+447700900\d{3}|\+3363998\d{4})$/
      )
    }
    expect(new Set(subscribers.flatMap(({ _id, subscriberId }) => [_id, subscriberId])).size).toBe(
      800
    )
    expect(
      new Set(subscribers.map(({ firstName, lastName }) => `${firstName} ${lastName}`)).size
    ).toBeGreaterThan(250)
  })

  test('stay the same if more subscribers are generated', () => {
    const more = generation(DEVELOPMENT, { messages: 10, subscribers: 500 }).subscribers
    expect(more.slice(0, 400)).toEqual(subscribers)
  })

  test('never have the id of an existing subscriber', () => {
    const data = resolveShop({
      subscribers: [{ subscriberId: 'user-10001' }],
      workflows: [{ identifier: 'hello', ...MAILS }]
    })
    const [first] = generation(data, { messages: 0, subscribers: 1 }).subscribers
    expect(first?.subscriberId).toBe(subscribers[1]?.subscriberId)
  })
})

/**
 * Puts each environment into its own seed: 0.yaml, 1.yaml and so on. Returns the issues of all
 * seeds as text.
 */
const issueOf = (...environments: Partial<SeedEnvironment>[]) =>
  issuesOf(
    ...environments.map((environment, index) => ({
      name: `${index}.yaml`,
      seed: seedOf(environment)
    }))
  ).join()

test('rejects `generate` if no step sends messages', () => {
  expect(issueOf({ generate: { messages: 1 } })).toBe(
    '0.yaml environments[0].generate: needs a workflow in this environment ' +
      'with one of these steps: in_app, email, sms, chat, push'
  )
})

test('rejects a second `generate` for the same environment', () => {
  const workflows: SeedWorkflow[] = [{ identifier: 'hello', ...MAILS }]
  expect(issueOf({ workflows, generate: { messages: 1 } }, { generate: { messages: 1 } })).toBe(
    '1.yaml environments[0].generate: appears twice for this environment, ' +
      'first at 0.yaml environments[0].generate'
  )
})
