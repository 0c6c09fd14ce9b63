import { attempt } from '../core/errors.js'
import type { Path } from '../core/validation.js'

/** Takes what is wrong at a path. The words are a function, as it may take long to find them, and not all are shown. */
export type Report = (path: Path, message: () => string) => void

/** Schemas, or what else is looked at, between two pauses: some milliseconds. */
const SCHEMAS = 1000

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isNumber: Check = (value) => typeof value === 'number'
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0
const isFlag: Check = (value) => typeof value === 'boolean'
const isListOf = (check: Check) => (value: unknown) => Array.isArray(value) && value.every(check)
const isType: Check = (value) => TYPES.includes(value as string)
const isPattern: Check = (value) => isText(value) && attempt(() => new RegExp(String(value))) !== undefined

/** The keywords of JSON Schema, draft 7, that hold no schemas: what each must be. */
const KEYWORDS: Record<string, [check: Check, words: string]> = {
  type: [(value) => isType(value) || isListOf(isType)(value), `one of ${TYPES.join(', ')}, or a list of these`],
  required: [isListOf(isText), 'a list of names'],
  enum: [Array.isArray, 'a list of values'],
  examples: [Array.isArray, 'a list of values'],
  pattern: [isPattern, 'a regular expression'],
  uniqueItems: [isFlag, 'true or false'],
  multipleOf: [(value) => isNumber(value) && Number(value) > 0, 'a number above 0'],
  ...entries(['$id', '$ref', '$schema', '$comment', 'title', 'description', 'format'], isText, 'a string'),
  ...entries(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], isNumber, 'a number'),
  ...entries(
    ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
    isCount,
    'a whole number from 0'
  )
}

const HOLDS_SCHEMA = [
  'additionalProperties',
  'additionalItems',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else'
]
const HOLDS_NAMED_SCHEMAS = ['properties', 'patternProperties', 'definitions', '$defs']
const HOLDS_SCHEMAS = ['allOf', 'anyOf', 'oneOf']

function entries(names: string[], check: Check, words: string): Record<string, [Check, string]> {
  return Object.fromEntries(names.map((name) => [name, [check, words]]))
}

/** Reports what in a schema at a path is not JSON Schema, draft 7, in steps. Returns whether there is nothing. */
export function* checkingJsonSchema(schema: unknown, base: Path, report: Report): Generator<void, boolean> {
  let isValid = true
  let count = 0
  yield* check(schema, base)
  return isValid

  function refuse(path: Path, words: string): void {
    isValid = false
    report(path, () => `must be ${words}, as in JSON Schema, draft 7`)
  }

  function* check(node: unknown, path: Path): Generator<void, void> {
    if (++count % SCHEMAS === 0) yield
    if (typeof node === 'boolean') return
    if (!isObject(node)) refuse(path, 'an object, true or false')
    for (const [keyword, value] of Object.entries(isObject(node) ? node : {})) {
      const inner = [...path, keyword]
      const [isRight, words] = (Object.hasOwn(KEYWORDS, keyword) && KEYWORDS[keyword]) || []
      if (isRight && words && !isRight(value)) refuse(inner, words)
      if (HOLDS_SCHEMA.includes(keyword) || (keyword === 'items' && !Array.isArray(value))) yield* check(value, inner)
      if (HOLDS_SCHEMAS.includes(keyword) || (keyword === 'items' && Array.isArray(value)))
        yield* checkAll(value, inner)
      if (!HOLDS_NAMED_SCHEMAS.includes(keyword)) continue
      if (isObject(value)) for (const [name, each] of Object.entries(value)) yield* check(each, [...inner, name])
      else refuse(inner, 'an object of schemas')
    }
  }

  function* checkAll(schemas: unknown, path: Path): Generator<void, void> {
    const list = Array.isArray(schemas) ? schemas : []
    if (list.length === 0) refuse(path, 'a list of schemas')
    for (const [index, each] of list.entries()) yield* check(each, [...path, index])
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
