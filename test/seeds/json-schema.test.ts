import { describe, expect, test } from 'vitest'
import { SeedError } from '../../src/seeds/errors.js'
import { readSeeds } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'

const NOW = Date.parse('2026-02-18T10:00:00Z')
const STEP = 'environments[0].workflows[0].steps[0]'

/** The issues of a seed with this step, without the name of the seed. */
function issuesOf(step: object, workflow: object = {}): string[] {
  const workflows = [{ identifier: 'welcome', steps: [{ type: 'custom', ...step }], ...workflow }]
  try {
    resolveSeeds(readSeeds([{ name: 'seed', seed: { environments: [{ name: 'Shop', workflows }] } }]), NOW)
    return []
  } catch (error) {
    if (error instanceof SeedError) return error.message.split('\n').map((line) => line.replace('seed ', ''))
    throw error
  }
}

describe('a schema that is none is an issue with its path:', () => {
  test.each<[string, object, string]>([
    [
      'a type that is none',
      { type: 'text' },
      'type: must be one of string, number, integer, boolean, object, array, null'
    ],
    [
      'required of draft 3',
      { properties: { a: { required: true } } },
      'properties.a.required: must be a list of names'
    ],
    ['properties in a list', { properties: ['a'] }, 'properties: must be an object of schemas'],
    ['a property that is a word', { properties: { a: 'string' } }, 'properties.a: must be an object, true or false'],
    ['an empty anyOf', { anyOf: [] }, 'anyOf: must be a list of schemas'],
    ['an item of a list', { items: [{ minLength: -1 }] }, 'items[0].minLength: must be a whole number from 0'],
    ['an exclusive bound of draft 4', { exclusiveMinimum: true }, 'exclusiveMinimum: must be a number'],
    ['a pattern that is none', { not: { pattern: '(' } }, 'not.pattern: must be a regular expression'],
    [
      'a property named like a part of every object',
      { properties: { toString: 7 } },
      'properties.toString: must be an object'
    ]
  ])('%s', (_, schema, message) => {
    expect(issuesOf({ variables: schema })[0]).toContain(`${STEP}.variables.${message}`)
    expect(issuesOf({ controls: { dataSchema: schema } })[0]).toContain(`${STEP}.controls.dataSchema.${message}`)
    expect(issuesOf({}, { payloadSchema: schema })[0]).toContain(`workflows[0].payloadSchema.${message}`)
  })

  test('one with every kind of keyword is a schema', () => {
    const schema = {
      type: ['object', 'null'],
      properties: { type: { enum: ['a'] }, b: true, c: { items: { $ref: '#/definitions/d' } } },
      additionalProperties: { anyOf: [{ type: 'string', pattern: '^a', minLength: 1 }, false] },
      definitions: { d: { const: { type: 'no schema' }, default: { type: 7 }, 'x-own': 1 } },
      required: ['type']
    }
    expect(issuesOf({ variables: schema, controls: { dataSchema: schema } })).toEqual([])
  })
})

describe("control values that do not match the step's own dataSchema are an issue:", () => {
  const dataSchema = {
    type: 'object',
    properties: {
      size: { type: 'integer', minimum: 1 },
      kind: { enum: ['a', 'b'] },
      list: { type: 'array', items: { type: 'string' } },
      either: { anyOf: [{ type: 'string' }, { type: 'null' }] }
    },
    required: ['size'],
    additionalProperties: false
  }

  test.each<[string, object, string]>([
    ['a type', { size: 'large' }, '.size: must be integer by its dataSchema'],
    ['a bound', { size: 0 }, '.size: must be at least 1 by its dataSchema'],
    ['a word', { size: 1, kind: 'c' }, '.kind: must be one of a, b by its dataSchema'],
    ['an item', { size: 1, list: ['x', 7] }, '.list[1]: must be string by its dataSchema'],
    ['no variant', { size: 1, either: 7 }, '.either: must be string or null by its dataSchema'],
    ['a missing field', {}, ': must have size by its dataSchema'],
    [
      'an unknown field',
      { size: 1, sise: 2 },
      '.sise: is not a field by its dataSchema, which has size, kind, list, either'
    ]
  ])('%s', (_, controlValues, issue) => {
    expect(issuesOf({ controls: { dataSchema }, controlValues })).toEqual([`${STEP}.controlValues${issue}`])
  })

  test.each<[string, object, unknown, string]>([
    ['a false schema', { properties: { a: false } }, 1, 'be left out'],
    ['minLength', { properties: { a: { minLength: 3 } } }, '👍a', 'have at least 3 characters'],
    ['maxLength', { properties: { a: { maxLength: 2 } } }, 'abc', 'have at most 2 characters'],
    ['minItems', { properties: { a: { minItems: 2 } } }, [1], 'have at least 2 elements'],
    ['maxItems', { properties: { a: { maxItems: 1 } } }, [1, 2], 'have at most 1 element'],
    ['uniqueItems', { properties: { a: { uniqueItems: true } } }, ['b', 'c', 'b'], 'have no element twice'],
    ['minProperties', { properties: { a: { minProperties: 1 } } }, {}, 'have at least 1 field'],
    ['maxProperties', { properties: { a: { maxProperties: 1 } } }, { b: 1, c: 2 }, 'have at most 1 field'],
    ['exclusiveMinimum', { properties: { a: { exclusiveMinimum: 1 } } }, 1, 'be more than 1'],
    ['exclusiveMaximum', { properties: { a: { exclusiveMaximum: 1 } } }, 1, 'be less than 1'],
    ['multipleOf', { properties: { a: { multipleOf: 0.1 } } }, 0.25, 'be a multiple of 0.1'],
    ['const', { properties: { a: { const: 'b' } } }, 'c', 'be "b"']
  ])('%s', (_, dataSchema, a, must) => {
    const issue = `${STEP}.controlValues.a: must ${must} by its dataSchema`
    expect(issuesOf({ controls: { dataSchema }, controlValues: { a } })).toEqual([issue])
  })

  test.each<[string, object, unknown]>([
    ['minLength', { minLength: 2 }, '👍a'],
    ['maxLength', { maxLength: 2 }, '👍a'],
    ['uniqueItems', { uniqueItems: true }, ['b', 'c', 1, '1']],
    ['multipleOf', { multipleOf: 0.1 }, 0.3],
    ['exclusiveMinimum', { exclusiveMinimum: 1 }, 1.1],
    ['keywords of other types', { minLength: 9, minItems: 9, minimum: 9, minProperties: 9 }, true]
  ])('not where %s is met', (_, a, value) => {
    const controls = { dataSchema: { properties: { a } } }
    expect(issuesOf({ controls, controlValues: { a: value } })).toEqual([])
  })

  test('each of several', () => {
    const controlValues = { kind: 'c', list: ['x', 7, 8], sise: 2 }
    expect(issuesOf({ controls: { dataSchema }, controlValues })).toEqual([
      `${STEP}.controlValues: must have size by its dataSchema`,
      `${STEP}.controlValues.kind: must be one of a, b by its dataSchema`,
      `${STEP}.controlValues.list[1]: must be string by its dataSchema`,
      `${STEP}.controlValues.list[2]: must be string by its dataSchema`,
      `${STEP}.controlValues.sise: is not a field by its dataSchema, which has size, kind, list, either`
    ])
  })

  test('text with Liquid matches everything, as it can become anything', () => {
    expect(issuesOf({ controls: { dataSchema }, controlValues: { size: '{{payload.size}}' } })).toEqual([])
  })

  test.each<[string, object, object]>([
    [
      'thousands of schemas for thousands of fields',
      { allOf: Array(2000).fill({}) },
      Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, 1]))
    ],
    [
      'thousands of names that each of thousands of elements must have',
      { properties: { a: { items: { required: Array(20_000).fill('a') } } } },
      { a: Array(5000).fill({ a: 1 }) }
    ],
    [
      'a long list of words that is no match for any of thousands',
      {
        properties: { a: { items: { anyOf: [{ enum: Array(5000).fill('x'.repeat(100)) }, { type: 'number' }] } } }
      },
      { a: Array(5000).fill(1) }
    ]
  ])('are no longer compared when that takes long: %s', (_, dataSchema, controlValues) => {
    const started = performance.now()
    expect(issuesOf({ controls: { dataSchema }, controlValues })).toEqual([])
    expect(performance.now() - started).toBeLessThan(1000)
  })

  test('those of a step that has issues need not match', () => {
    const issues = { controls: { size: [{ issueType: 'MISSING_VALUE', message: 'is missing' }] } }
    expect(issuesOf({ controls: { dataSchema }, controlValues: {}, issues })).toEqual([])
  })
})

test('an errorId or errorText needs a status that says that something went wrong', () => {
  const messages = [
    { channel: 'sms', errorId: 'no_phone' },
    { channel: 'sms', status: 'sent', errorText: 'No phone' },
    { channel: 'sms', status: 'error', errorId: 'no_phone', errorText: 'No phone' },
    { channel: 'sms', status: 'warning', errorId: 'no_phone' }
  ]
  const files = readSeeds([{ name: 'seed', seed: { environments: [{ name: 'Shop', messages }] } }])
  expect(() => resolveSeeds(files, NOW)).toThrow(
    [
      'seed environments[0].messages[0].errorId: needs status: error or warning, as it says what went wrong',
      'seed environments[0].messages[1].errorText: needs status: error or warning, as it says what went wrong'
    ].join('\n')
  )
})
