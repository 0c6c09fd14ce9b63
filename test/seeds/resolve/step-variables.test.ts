import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { isTooDeep } from '../../../src/core/depth.js'
import { STEP_TYPES, type StepType } from '../../../src/core/enums.js'
import { inferPayloadSchema, stepVariables } from '../../../src/seeds/resolve/step-variables.js'

const NOTHING = { type: 'object', properties: {}, required: [], additionalProperties: false }

describe('the variables of a step', () => {
  test('compile as a JSON Schema that accepts a subscriber, results of all earlier steps and a payload', () => {
    const variables = variablesOf(
      STEP_TYPES.map((type) => ({ stepId: `${type}-step`, type })),
      ['{{payload.a.b}} {{payload.c[0].d}}']
    )
    const ajv = new Ajv({ strict: false })
    addFormats.default(ajv)
    const given = {
      subscriber: { subscriberId: 'user-ada', firstName: 'Ada', lastName: 'Byron', email: 'ada@example.com' },
      steps: {
        'in_app-step': { seen: true, read: false, lastSeenDate: '2026-02-18T10:07:11.402Z', lastReadDate: null },
        'delay-step': { duration: 3_600_000 },
        'digest-step': { eventCount: 1, events: [{ id: 'a', time: '2026-02-18T10:07:11.402Z', payload: {} }] },
        'throttle-step': { throttled: false }
      },
      payload: { a: { b: 'x' }, c: [{ d: 'y' }] }
    }
    expect(ajv.validate(variables, given), ajv.errorsText()).toBe(true)
    expect(ajv.validate(variables, { ...given, context: {} })).toBe(false)
  })

  test('are keyed by step id for the earlier steps, in their order, none of them required', () => {
    const ids = ['wait', 'mail', '__proto__']
    const { steps } = variablesOf(ids.map((stepId) => ({ stepId, type: 'delay' }))).properties
    expect(steps).toMatchObject({ description: 'Previous Steps Results', required: [], additionalProperties: false })
    expect(Object.keys(steps.properties)).toEqual(ids)
  })

  test.each<[StepType, object]>([
    ['email', NOTHING],
    ['delay', { ...NOTHING, properties: { duration: { type: 'number' } }, required: ['duration'] }],
    ['custom', { ...NOTHING, additionalProperties: true }]
  ])('after %s are its result', (type, result) => {
    expect(variablesOf([{ stepId: 'earlier', type }]).properties.steps.properties.earlier).toEqual(result)
  })
})

describe('the payload', () => {
  test.each([
    ['no templates', []],
    ['values that are no variables', [{ amount: 5, unit: null, data: [true, undefined, 7] }, 'payload.name']],
    ['other variables', ['{{subscriber.data.payload.x}} {{steps.digest.events[0].payload.y}} {{payloads.z}}']],
    ['the payload as a whole', ['{{payload}} {{ payload | json }} {{payload[0]}}']],
    ['quoted text', [`{{ "payload.a" | append: 'payload.b' }}`]],
    ['raw text and comments', ['{% raw %}{{payload.a}}{% endraw %}{%- comment -%}{{payload.b}}{%- endcomment -%}']],
    ['tags left open', ['{{payload.a', '{% if payload.b', 'payload.c }}']]
  ])('of %s is open and empty', (_what, controlValues) => {
    expect(inferPayloadSchema(controlValues)).toEqual(openOf({}))
  })

  test('has a required string for each name, in order of first appearance', () => {
    const body = { deep: ['{{ payload.name | upcase }}', { er: '{{-payload.at-}}' }] }
    const payload = inferPayloadSchema([
      { subject: 'Order {{payload.orderId}}', body },
      '{{payload.été_2}} {{payload.at}}'
    ])
    const names = ['orderId', 'name', 'at', 'été_2']
    expect(payload).toEqual(openOf(Object.fromEntries(names.map((name) => [name, leaf(name)]))))
    expect(Object.keys(payload.properties as object)).toEqual(names)
  })

  const user = openOf({ name: openOf({ first: leaf('user.name.first') }) })
  const rows = { type: 'array', items: {} }
  const items = { type: 'array', items: openOf({ name: leaf('items[0].name'), price: leaf('items[i].price') }) }

  test.each<[string, string, object]>([
    ['an object for a name with names below it', '{{payload.user}} {{payload.user.name.first}}', { user }],
    ['an array for a name with an index', '{{payload.tags[0]}}', { tags: { type: 'array', items: leaf('tags[0]') } }],
    ['an array of objects', '{{payload.items[0].name}} {{payload.items[i].price}} {{payload.items.size}}', { items }],
    ['an array for a loop', '{% for a in payload.rows %}{{a.b}}{% endfor %}', { rows }],
    [
      'more of the elements of a loop when an index tells',
      '{% for item in payload.items %}{% endfor %}{{payload.items[0].name}}{{payload.items[i].price}}',
      { items }
    ],
    ['what conditions take', '{% if payload.a and 3 < payload.b %}{% endif %}', { a: leaf('a'), b: leaf('b') }],
    [
      'what ranges and filters take',
      '{% for i in (1..payload.a) %}{% endfor %}{{ 1 | default: 2, b: payload.b }}',
      { a: leaf('a'), b: leaf('b') }
    ],
    ['what indexes take', '{{subscriber[payload.a]}}', { a: leaf('a') }],
    ['what blocks hold', '{% if a %}{{payload.b}}{% else %}{{payload.c}}{% endif %}', { b: leaf('b'), c: leaf('c') }],
    [
      'names in quotes',
      "{{payload['order id']}}",
      { 'order id': { type: 'string', default: "{{payload['order id']}}" } }
    ],
    [
      'names in quotes that need none as if they had none',
      `{{payload["a"]['b'].c}} {{payload["d e"]}}`,
      {
        a: openOf({ b: openOf({ c: leaf('a.b.c') }) }),
        'd e': { type: 'string', default: "{{payload['d e']}}" }
      }
    ],
    ['the text of a block editor', '{"content":[{"text":"{{payload.a | default: \\"b\\"}}"}]}', { a: leaf('a') }]
  ])('has %s', (_what, text, properties) => {
    expect(inferPayloadSchema([text])).toEqual(openOf(properties as Record<string, object>))
  })

  test('has what loops use of the elements when asked', () => {
    const text =
      '{% for a in payload.rows %}{% for b in a.cells %}{{b.name}}{% endfor %}{% endfor %}{% for tag in payload.tags %}{{tag}}{% endfor %}'
    const cells = { type: 'array', items: openOf({ name: { type: 'string', default: '{{b.name}}' } }) }
    const tags = { type: 'array', items: { type: 'string', default: '{{tag}}' } }
    const expected = openOf({ rows: { type: 'array', items: openOf({ cells }) }, tags })
    expect(inferPayloadSchema([text], { loopItems: true })).toEqual(expected)
  })

  test('takes a name that objects have of themselves for a name like any other', () => {
    const { properties } = inferPayloadSchema(['{{payload.__proto__.x}} {{payload.constructor}}'])
    expect(Object.keys(properties as object)).toEqual(['__proto__', 'constructor'])
  })

  test.each([
    ['names of names of names', `{{${'payload.a['.repeat(3000)}1${']'.repeat(3000)}}}`],
    ['blocks in blocks', `${'{% if payload.a %}'.repeat(2000)}${'{% endif %}'.repeat(2000)}`],
    ['lists in the JSON of a block editor', `{"payload":${'['.repeat(20_000)}"{{"${']'.repeat(20_000)}}`]
  ])('is nested no deeper than JSON may be for %s, without a hang', (_what, text) => {
    const started = process.cpuUsage()
    expect(isTooDeep(inferPayloadSchema([text]))).toBe(false)
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })
})

interface ObjectSchema {
  properties: Record<string, Record<string, unknown>>
  required: string[]
}

interface Variables extends Record<string, unknown> {
  properties: Record<'subscriber' | 'steps' | 'payload', ObjectSchema>
}

function variablesOf(earlierSteps: { stepId: string; type: StepType }[] = [], controlValues: unknown[] = []) {
  return stepVariables(earlierSteps, inferPayloadSchema(controlValues)) as Variables
}

function leaf(path: string) {
  return { type: 'string', default: `{{payload.${path}}}` }
}

function openOf(properties: Record<string, object>) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: true }
}
