import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { STEP_TYPES, type StepType } from '../../../src/core/enums.js'
import { runToEnd } from '../../../src/core/slices.js'
import { findingPayloadUses } from '../../../src/seeds/resolve/payload-variables.js'
import { inferringPayloadSchema, stepVariables } from '../../../src/seeds/resolve/step-variables.js'

const ALL_STEPS = STEP_TYPES.map((type) => ({ stepId: `${type}-step`, type }))

describe('the variables of a step', () => {
  test('are subscriber, steps and payload, and nothing else', () => {
    const variables = variablesOf({})
    expect(variables).toMatchObject({ type: 'object', additionalProperties: false })
    expect(Object.keys(variables.properties)).toEqual(['subscriber', 'steps', 'payload'])
  })

  test('are plain JSON that compiles as a JSON Schema', () => {
    const variables = variablesOf({ earlierSteps: ALL_STEPS, controlValues: ['{{payload.a.b}} {{payload.c[0].d}}'] })
    expect(variables).toStrictEqual(JSON.parse(JSON.stringify(variables)))

    const accepts = compile(variables)
    accepts({
      subscriber: { subscriberId: 'user-ada', firstName: 'Ada', lastName: 'Byron', email: 'ada@example.com' },
      steps: {
        'in_app-step': { seen: true, read: false, lastSeenDate: '2026-02-18T10:07:11.402Z', lastReadDate: null },
        'delay-step': { duration: 3_600_000 },
        'digest-step': { eventCount: 1, events: [{ id: 'a', time: '2026-02-18T10:07:11.402Z', payload: {} }] },
        'throttle-step': { throttled: false }
      },
      payload: { a: { b: 'x' }, c: [{ d: 'y' }] }
    })
    expect(accepts.errors ?? []).toEqual([])
  })

  test('are new objects each time', () => {
    const before = variablesOf({ earlierSteps: ALL_STEPS })
    Reflect.deleteProperty(before.properties.subscriber.properties, 'email')
    Reflect.deleteProperty(before.properties.steps.properties, 'email-step')
    expect(variablesOf({}).properties.subscriber.properties).toHaveProperty('email')
    expect(resultOf('email')).toEqual({ type: 'object', properties: {}, required: [], additionalProperties: false })
  })
})

describe('the subscriber', () => {
  const { subscriber } = variablesOf({}).properties

  test('has the fields of the deployed service, four of them required', () => {
    expect(subscriber).toMatchObject({
      type: 'object',
      description: 'Schema representing the subscriber entity',
      required: ['firstName', 'lastName', 'email', 'subscriberId'],
      additionalProperties: false
    })
    expect(withoutDescriptions(subscriber.properties)).toEqual({
      firstName: { type: 'string' },
      lastName: { type: 'string' },
      email: { type: 'string' },
      phone: { type: 'string' },
      avatar: { type: 'string' },
      locale: { type: 'string' },
      timezone: { type: 'string' },
      subscriberId: { type: 'string' },
      isOnline: { type: 'boolean' },
      lastOnlineAt: { type: 'string', format: 'date-time' },
      data: { type: 'object', properties: {}, required: [], additionalProperties: true }
    })
  })

  test('has a description of its own for every field', () => {
    const descriptions = Object.values(subscriber.properties).map(({ description }) => description)
    expect(descriptions.filter((text) => typeof text === 'string' && text.length > 10)).toHaveLength(11)
    expect(new Set(descriptions).size).toBe(11)
  })
})

describe('the earlier steps', () => {
  test('are keyed by step id, in their order, none of them required', () => {
    const earlierSteps = [
      { stepId: 'wait', type: 'delay' as const },
      { stepId: 'mail', type: 'email' as const },
      { stepId: '__proto__', type: 'sms' as const }
    ]
    const { steps } = variablesOf({ earlierSteps }).properties
    expect(steps).toMatchObject({
      type: 'object',
      description: 'Previous Steps Results',
      required: [],
      additionalProperties: false
    })
    expect(Object.keys(steps.properties)).toEqual(['wait', 'mail', '__proto__'])
  })

  test('of a first step are none', () => {
    expect(variablesOf({}).properties.steps.properties).toEqual({})
  })

  test.each(['email', 'sms', 'chat', 'push'] as const)('have no result to use after %s', (type) => {
    expect(resultOf(type)).toEqual({ type: 'object', properties: {}, required: [], additionalProperties: false })
  })

  test('tell after in_app whether it was seen and read, and when', () => {
    expect(resultOf('in_app')).toEqual({
      type: 'object',
      properties: {
        seen: { type: 'boolean' },
        read: { type: 'boolean' },
        lastSeenDate: { type: 'string', format: 'date-time', nullable: true },
        lastReadDate: { type: 'string', format: 'date-time', nullable: true }
      },
      required: ['seen', 'read', 'lastSeenDate', 'lastReadDate'],
      additionalProperties: false
    })
  })

  test('tell after delay how long it took', () => {
    expect(resultOf('delay')).toEqual({
      type: 'object',
      properties: { duration: { type: 'number' } },
      required: ['duration'],
      additionalProperties: false
    })
  })

  test('tell after digest which events it gathered', () => {
    expect(resultOf('digest')).toEqual({
      type: 'object',
      properties: {
        eventCount: { type: 'number' },
        events: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, time: { type: 'string' }, payload: { type: 'object' } },
            required: ['id', 'time', 'payload'],
            additionalProperties: false
          }
        }
      },
      required: ['events'],
      additionalProperties: false
    })
  })

  test('say after throttle whether it was throttled', () => {
    expect(resultOf('throttle')).toEqual({
      type: 'object',
      properties: {
        throttled: { type: 'boolean' },
        executionCount: { type: 'number' },
        threshold: { type: 'number' },
        windowStart: { type: 'string', format: 'date-time' }
      },
      required: ['throttled'],
      additionalProperties: false
    })
  })

  test.each(['custom', 'trigger'] as const)('may have any result after %s', (type) => {
    expect(resultOf(type)).toEqual({ type: 'object', properties: {}, required: [], additionalProperties: true })
  })
})

describe('the payload', () => {
  test('is what the workflow declares, whatever its content uses', () => {
    const payloadSchema = { type: 'object', properties: { total: { type: 'number' } } }
    expect(payloadOf(['{{payload.orderId}}'], payloadSchema)).toEqual(payloadSchema)
    expect(payloadOf(['{{payload.orderId}}'], {})).toEqual({})
  })

  test.each([
    ['no content', []],
    ['content without variables', ['payload.orderId', { amount: 5, ok: true, none: null }]],
    [
      'other variables',
      ['{{subscriber.data.payload.x}} {{steps.digest.events[0].payload.y}} {{my-payload.z}} {{payloads.z}}']
    ],
    ['the payload as a whole', ['{{payload}} {{ payload | json }} {{payload[0]}}']],
    ['quoted text', [`{{ "payload.a" | append: 'payload.b' }}`]],
    ['tags left open', ['{{payload.a', '{% if payload.b', 'payload.c }}']]
  ])('of %s is open and empty', (_what, controlValues) => {
    expect(payloadOf(controlValues)).toEqual({
      type: 'object',
      properties: {},
      required: [],
      additionalProperties: true
    })
  })

  test('has a required string for each name, in order of first appearance', () => {
    const controlValues = [
      {
        subject: 'Order {{payload.orderId}}',
        body: { deep: ['{{ payload.name | upcase }}', { er: '{{-payload.at-}}' }] }
      },
      'again {{payload.orderId}} {{payload.order-nr}} {{payload.été_2}}'
    ]
    const payload = payloadOf(controlValues)
    expect(payload).toEqual({
      type: 'object',
      properties: {
        orderId: leaf('orderId'),
        name: leaf('name'),
        at: leaf('at'),
        'order-nr': leaf('order-nr'),
        été_2: leaf('été_2')
      },
      required: ['orderId', 'name', 'at', 'order-nr', 'été_2'],
      additionalProperties: true
    })
    expect(Object.keys(payload.properties)).toEqual(payload.required)
  })

  test('has an object for a name with names below it, also when the name is used alone', () => {
    const user = openOf({ name: openOf({ first: leaf('user.name.first'), last: leaf('user.name.last') }) })
    const used = ['{{payload.user.name.first}}', '{{ payload.user.name.last | default: "x" }}', '{{payload.user}}']
    expect(payloadOf(used)).toEqual(openOf({ user }))
    expect(payloadOf(['{{payload.user}}', ...used])).toEqual(openOf({ user }))
  })

  test('has an array for a name with an index', () => {
    const strings = { type: 'array', items: leaf('tags[0]') }
    expect(payloadOf(['{{payload.tags[0]}}'])).toEqual(openOf({ tags: strings }))
    expect(payloadOf(['{{payload.tags.0}}'])).toEqual(openOf({ tags: { type: 'array', items: leaf('tags.0') } }))

    const objects = { type: 'array', items: openOf({ name: leaf('items[0].name'), price: leaf('items[i].price') }) }
    const used = '{{payload.items[0].name}} {{payload.items[i].price}} {{payload.items.1.name}} {{payload.items.size}}'
    expect(payloadOf([used])).toEqual(openOf({ items: objects }))
  })

  test('has an array of whatever for a name that is looped over', () => {
    const used = '{% for item in payload.items %}{{item.name}}{% endfor %}{%- tablerow x in payload.a.rows -%}'
    const items = { type: 'array', items: {} }
    expect(payloadOf([used])).toEqual(openOf({ items, a: openOf({ rows: items }) }))
  })

  test('knows more of the elements of a loop when an index tells', () => {
    const used = '{% for item in payload.items %}{% endfor %}{{payload.items[0].name}}'
    const items = { type: 'array', items: openOf({ name: leaf('items[0].name') }) }
    expect(payloadOf([used])).toEqual(openOf({ items }))
  })

  test('is inferred from tags and from arguments of filters', () => {
    const used =
      '{% if payload.vip and payload.level > 3 %}{% for i in (1..payload.count) %}{% endfor %}{% endif %}' +
      '{% assign x = payload.total | plus: payload.tax %}{{ "a" | append: payload.suffix }}{{ payload.a\n}}'
    const names = ['vip', 'level', 'count', 'total', 'tax', 'suffix', 'a']
    expect(payloadOf([used])).toEqual(openOf(Object.fromEntries(names.map((name) => [name, leaf(name)]))))
  })

  test('is looked for in names of names of names as deep as a schema may be nested', () => {
    const nested = `{{${'payload.a['.repeat(3000)}1${']'.repeat(3000)}}}`
    expect(runToEnd(findingPayloadUses([nested])).length).toBeLessThan(50)
  })

  test('takes names in brackets and quotes', () => {
    expect(payloadOf([`{{payload['order id']}} {{payload.user["e-mail"]}}`])).toEqual(
      openOf({
        'order id': { type: 'string', default: "{{payload['order id']}}" },
        user: openOf({ 'e-mail': { type: 'string', default: '{{payload.user["e-mail"]}}' } })
      })
    )
  })

  test('is inferred from the text of a block editor, which is JSON in a string', () => {
    const body = JSON.stringify({ type: 'doc', content: [{ text: 'Hi {{ payload.name | default: "you" }}' }] })
    expect(payloadOf([{ body }])).toEqual(openOf({ name: leaf('name') }))
  })

  test('takes a name that objects have of themselves for a name like any other', () => {
    const payload = payloadOf(['{{payload.__proto__.x}} {{payload.constructor}}'])
    expect(Object.keys(payload.properties)).toEqual(['__proto__', 'constructor'])
    expect(payload.required).toEqual(['__proto__', 'constructor'])
  })
})

interface ObjectSchema {
  properties: Record<string, Record<string, unknown>>
  required: string[]
}

interface Variables extends Record<string, unknown> {
  properties: Record<'subscriber' | 'steps' | 'payload', ObjectSchema>
}

interface Input {
  earlierSteps?: { stepId: string; type: StepType }[]
  payloadSchema?: Record<string, unknown> | undefined
  controlValues?: unknown[]
}

function variablesOf({ earlierSteps = [], payloadSchema, controlValues = [] }: Input): Variables {
  return stepVariables(earlierSteps, payloadSchema ?? runToEnd(inferringPayloadSchema(controlValues))) as Variables
}

function payloadOf(controlValues: unknown[], payloadSchema?: Record<string, unknown>): ObjectSchema {
  return variablesOf({ controlValues, payloadSchema }).properties.payload
}

function resultOf(type: StepType): unknown {
  return variablesOf({ earlierSteps: [{ stepId: 'earlier', type }] }).properties.steps.properties.earlier
}

const leaf = (path: string) => ({ type: 'string', default: `{{payload.${path}}}` })

function openOf(properties: Record<string, object>) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: true }
}

function withoutDescriptions(properties: Record<string, Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { description: _description, ...rest }]) => [name, rest])
  )
}

function compile(schema: object) {
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  return ajv.compile(schema)
}
