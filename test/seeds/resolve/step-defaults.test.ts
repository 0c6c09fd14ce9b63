import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { STEP_TYPES, type StepType } from '../../../src/domain/enums.js'
import { isTooDeep } from '../../../src/schema/validation.js'
import {
  defaultControls,
  inferPayloadSchema,
  stepVariables
} from '../../../src/seeds/resolve/step-defaults.js'
import { wireSchemas } from '../../support/wire-schemas.js'

const ajv = new Ajv({ strict: false, formats: { 'date-time': true }, schemas: [...wireSchemas] })
addFormats.default(ajv)

test.each(STEP_TYPES)(
  'each call returns new, valid default controls for the step type %s',
  (type) => {
    expect(ajv.validate('ControlsMetadataDto', defaultControls(type)), ajv.errorsText()).toBe(true)
    const { dataSchema = {} } = defaultControls(type)
    expect(
      ajv.validate('http://json-schema.org/draft-07/schema#', dataSchema),
      ajv.errorsText()
    ).toBe(true)
    Object.assign(dataSchema, { changed: true })
    expect(defaultControls(type).dataSchema ?? {}).not.toHaveProperty('changed')
  }
)

/**
 * Each row contains a step type, control values that Novu accepts for this type, and the name of a
 * control that Novu requires.
 */
test.each<[StepType, Record<string, unknown>, string]>([
  ['in_app', { subject: 'Shipped', skip: { '==': [{ var: 'payload.quiet' }, true] } }, 'subject'],
  [
    'email',
    { subject: 'Shipped', body: '<p>Hello</p>', editorType: 'html', layoutId: null },
    'subject'
  ],
  ['sms', { body: 'Order {{payload.orderId}}' }, 'body'],
  ['chat', { body: 'Order {{payload.orderId}}' }, 'body'],
  ['push', { subject: 'Shipped', body: 'Order {{payload.orderId}}' }, 'subject'],
  [
    'digest',
    { type: 'regular', amount: 5, unit: 'minutes', lookBackWindow: { amount: 2, unit: 'weeks' } },
    'amount'
  ],
  ['delay', { type: 'dynamic', dynamicKey: 'payload.sendAt' }, 'dynamicKey']
])('the step type %s accepts %j, and requires %s', (type, values, required) => {
  const accepts = (value: unknown) => ajv.validate(defaultControls(type).dataSchema ?? {}, value)
  expect(accepts(values)).toBe(true)
  expect(accepts({ ...values, [required]: undefined })).toBe(false)
  expect(accepts({ ...values, unknown: 1 })).toBe(false)
})

test("a step's variables schema accepts a subscriber, earlier steps' results and a payload", () => {
  const earlier = STEP_TYPES.map((type) => ({ stepId: `${type}-step`, type }))
  const variables = stepVariables(
    earlier,
    inferPayloadSchema(['{{payload.a.b}} {{payload.c[0].d}}'])
  )
  const values = {
    subscriber: {
      subscriberId: 'user-ada',
      firstName: 'Ada',
      lastName: 'Byron',
      email: 'ada@example.com'
    },
    steps: {
      'in_app-step': {
        seen: true,
        read: false,
        lastSeenDate: '2026-02-18T10:07:11.402Z',
        lastReadDate: null
      },
      'delay-step': { duration: 3_600_000 },
      'digest-step': {
        eventCount: 1,
        events: [{ id: 'a', time: '2026-02-18T10:07:11.402Z', payload: {} }]
      },
      'throttle-step': { throttled: false }
    },
    payload: { a: { b: 'x' }, c: [{ d: 'y' }] }
  }
  expect(ajv.validate(variables, values), ajv.errorsText()).toBe(true)
  expect(ajv.validate(variables, { ...values, context: {} })).toBe(false)
})

test("a step's variables are optional properties, one for each earlier step, in order", () => {
  const ids = ['wait', 'mail', '__proto__']
  const types = ['delay', 'email', 'custom'] as const
  const earlier = ids.map((stepId, index) => ({ stepId, type: types[index] as StepType }))
  const { steps } = stepVariables(earlier, {}).properties as Record<
    'steps',
    { properties: Record<string, unknown> }
  >
  expect(steps).toMatchObject({
    description: 'Previous Steps Results',
    required: [],
    additionalProperties: false
  })
  const nothing = { type: 'object', properties: {}, required: [], additionalProperties: false }
  expect(Object.entries(steps.properties)).toEqual([
    ['wait', { ...nothing, properties: { duration: { type: 'number' } }, required: ['duration'] }],
    ['mail', nothing],
    ['__proto__', { ...nothing, additionalProperties: true }]
  ])
})

describe('inferPayloadSchema()', () => {
  test.each([
    [
      'values without variables',
      [{ amount: 5, unit: null, data: [true, undefined, 7] }, 'payload.name']
    ],
    [
      'variables outside the payload',
      ['{{subscriber.data.payload.x}} {{steps.digest.events[0].payload.y}} {{payloads.z}}']
    ],
    ['texts that print the whole payload', ['{{payload}} {{ payload | json }} {{payload[0]}}']],
    ['quoted text', [`{{ "payload.a" | append: 'payload.b' }}`]],
    [
      'raw text and comments',
      ['{% raw %}{{payload.a}}{% endraw %}{%- comment -%}{{payload.b}}{%- endcomment -%}']
    ],
    ['unclosed tags', ['{{payload.a', '{% if payload.b', 'payload.c }}']]
  ])('returns a schema that allows any fields for %s', (_what, controlValues) => {
    expect(inferPayloadSchema(controlValues)).toEqual(openOf({}))
  })

  test('requires a string for each payload variable, in order of first appearance', () => {
    const body = { deep: ['{{ payload.name | upcase }}', { er: '{{-payload.at-}}' }] }
    const texts = [
      { subject: 'Order {{payload.orderId}}', body },
      '{{payload.été_2}} {{payload.at}}'
    ]
    const payload = inferPayloadSchema([
      ...texts,
      '{{payload.__proto__.x}} {{payload.constructor}}'
    ])
    const names = ['orderId', 'name', 'at', 'été_2', '__proto__', 'constructor']
    expect(payload).toMatchObject({ type: 'object', required: names, additionalProperties: true })
    expect(Object.keys(payload.properties as object)).toEqual(names)
    expect(payload.properties).toMatchObject({ orderId: leaf('orderId'), été_2: leaf('été_2') })
  })

  const user = openOf({ name: openOf({ first: leaf('user.name.first') }) })
  const rows = { type: 'array', items: {} }
  const items = {
    type: 'array',
    items: openOf({ name: leaf('items[0].name'), price: leaf('items[i].price') })
  }

  test.each<[string, string, object]>([
    [
      'an object for a name that has fields',
      '{{payload.user}} {{payload.user.name.first}}',
      { user }
    ],
    [
      'an array for a name that is followed by an index',
      '{{payload.tags[0]}}',
      { tags: { type: 'array', items: leaf('tags[0]') } }
    ],
    [
      'an array of objects',
      '{{payload.items[0].name}} {{payload.items[i].price}} {{payload.items.size}}',
      { items }
    ],
    ['an array for a loop', '{% for a in payload.rows %}{{a.b}}{% endfor %}', { rows }],
    [
      'strings for variables in conditions',
      '{% if payload.a and 3 < payload.b %}{% endif %}',
      { a: leaf('a'), b: leaf('b') }
    ],
    [
      'strings for variables in ranges and filter arguments',
      '{% for i in (1..payload.a) %}{% endfor %}{{ 1 | default: 2, b: payload.b }}',
      { a: leaf('a'), b: leaf('b') }
    ],
    [
      'a string for a variable that is used as an index',
      '{{subscriber[payload.a]}}',
      { a: leaf('a') }
    ],
    [
      'strings for variables that are printed inside blocks',
      '{% if a %}{{payload.b}}{% else %}{{payload.c}}{% endif %}',
      { b: leaf('b'), c: leaf('c') }
    ],
    [
      'quoted names',
      `{{payload["a"]['b'].c}} {{payload["d e"]}}`,
      {
        a: openOf({ b: openOf({ c: leaf('a.b.c') }) }),
        'd e': { type: 'string', default: "{{payload['d e']}}" }
      }
    ],
    [
      'strings for variables in block editor text',
      '{"content":[{"text":"{{payload.a | default: \\"b\\"}}"}]}',
      { a: leaf('a') }
    ]
  ])('returns a schema with %s', (_what, text, properties) => {
    expect(inferPayloadSchema([text])).toEqual(openOf(properties as Record<string, object>))
  })

  test('with `loopItems`, returns a schema with the fields that loops use', () => {
    const text =
      '{% for a in payload.rows %}{% for b in a.cells %}{{b.name}}{% endfor %}{% endfor %}' +
      '{% for tag in payload.tags %}{{tag}}{% endfor %}'
    const cells = {
      type: 'array',
      items: openOf({ name: { type: 'string', default: '{{b.name}}' } })
    }
    const tags = { type: 'array', items: { type: 'string', default: '{{tag}}' } }
    const expected = openOf({ rows: { type: 'array', items: openOf({ cells }) }, tags })
    expect(inferPayloadSchema([text], { loopItems: true })).toEqual(expected)
  })

  test.each([
    ['nested names', `{{${'payload.a['.repeat(3000)}1${']'.repeat(3000)}}}`],
    ['nested blocks', `${'{% if payload.a %}'.repeat(2000)}${'{% endif %}'.repeat(2000)}`],
    [
      'nested lists in block editor JSON',
      `{"payload":${'['.repeat(20_000)}"{{"${']'.repeat(20_000)}}`
    ]
  ])('returns a schema of limited depth for %s, in less than a second', (_what, text) => {
    const started = process.cpuUsage()
    expect(isTooDeep(inferPayloadSchema([text]))).toBe(false)
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })
})

function leaf(path: string) {
  return { type: 'string', default: `{{payload.${path}}}` }
}

function openOf(properties: Record<string, object>) {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: true
  }
}
