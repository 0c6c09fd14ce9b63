import { attempt } from '../../core/errors.js'
import type { Path } from '../../core/validation.js'
import type { SeedLocation } from './builder.js'

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

/** Reports what in a schema is not JSON Schema, draft 7. Returns whether there is nothing. */
export function checkJsonSchema(schema: unknown, location: SeedLocation): boolean {
  let isValid = true
  check(schema, [])
  return isValid

  function report(path: Path, words: string): void {
    isValid = false
    location.at(...path).report(`must be ${words}, as in JSON Schema, draft 7`)
  }

  function check(node: unknown, path: Path): void {
    if (typeof node === 'boolean') return
    if (!isObject(node)) report(path, 'an object, true or false')
    for (const [keyword, value] of Object.entries(isObject(node) ? node : {})) {
      const inner = [...path, keyword]
      const [isRight, words] = (Object.hasOwn(KEYWORDS, keyword) && KEYWORDS[keyword]) || []
      if (isRight && words && !isRight(value)) report(inner, words)
      if (HOLDS_SCHEMA.includes(keyword) || (keyword === 'items' && !Array.isArray(value))) check(value, inner)
      if (HOLDS_SCHEMAS.includes(keyword) || (keyword === 'items' && Array.isArray(value))) checkAll(value, inner)
      if (!HOLDS_NAMED_SCHEMAS.includes(keyword)) continue
      if (isObject(value)) for (const [name, each] of Object.entries(value)) check(each, [...inner, name])
      else report(inner, 'an object of schemas')
    }
  }

  function checkAll(schemas: unknown, path: Path): void {
    const list = Array.isArray(schemas) ? schemas : []
    if (list.length === 0) report(path, 'a list of schemas')
    for (const [index, each] of list.entries()) check(each, [...path, index])
  }
}

/**
 * How much is looked at to compare a value with a schema, counted in fields, elements and keywords: there is no end to
 * what a hostile schema could ask for.
 */
const MAX_LOOKED_AT = 200_000

/**
 * Reports the first way in which a value does not match a schema. Patterns, formats, references and conditions are not
 * followed, and text with Liquid matches everything, as it can become anything. What is beyond some hundredths of a second
 * of work matches too.
 */
export function checkAgainstSchema(value: unknown, schema: unknown, location: SeedLocation): void {
  let left = MAX_LOOKED_AT
  const found = mismatch(value, schema, [])
  if (found) location.at(...found.path).report(found.message)

  function mismatch(value: unknown, schema: unknown, path: Path): Mismatch | undefined {
    if (!isObject(schema) || left < 0) return undefined
    left -= sizeOf(value) + Object.values(schema).reduce<number>((sum, each) => sum + sizeOf(each), 0)
    if (left < 0 || (typeof value === 'string' && /\{[{%]/.test(value))) return undefined
    return typeMismatch(value, schema, path) ?? inside(value, schema, path) ?? combined(value, schema, path)
  }

  function inside(value: unknown, schema: Schema, path: Path): Mismatch | undefined {
    const {
      properties = {},
      additionalProperties,
      items
    } = schema as { [keyword: string]: unknown } & {
      properties?: Schema
    }
    if (Array.isArray(value) && !Array.isArray(items)) {
      return firstOf(value.entries(), ([index, each]) => mismatch(each, items, [...path, index]))
    }
    if (!isObject(value)) return undefined
    return firstOf(Object.entries(value), ([name, each]) => {
      if (Object.hasOwn(properties, name)) return mismatch(each, properties[name], [...path, name])
      const isAllowed = additionalProperties !== false || schema.patternProperties !== undefined
      if (isAllowed) return mismatch(each, additionalProperties, [...path, name])
      const message = () => `is not a field by its dataSchema, which has ${names(properties)}`
      return { path: [...path, name], message }
    })
  }

  function combined(value: unknown, { allOf, anyOf, oneOf }: Schema, path: Path): Mismatch | undefined {
    if (Array.isArray(allOf)) {
      const found = firstOf(allOf, (each) => mismatch(value, each, path))
      if (found) return found
    }
    for (const variants of [anyOf, oneOf]) {
      if (!Array.isArray(variants)) continue
      const found = variants.map((each) => mismatch(value, each, path))
      if (found.every((each) => each !== undefined)) return found[0]
    }
    return undefined
  }
}

type Schema = Record<string, unknown>

interface Mismatch {
  path: Path
  /** A function, as most mismatches are those of a variant, which nobody is told of. */
  message: () => string
}

function typeMismatch(value: unknown, schema: Schema, path: Path): Mismatch | undefined {
  const { type, enum: values, const: only, required, minimum, maximum } = schema
  const types = [type ?? []].flat()
  const not = (words: () => string) => ({ path, message: () => `must be ${words()} by its dataSchema` })
  if (types.length > 0 && !types.some((each) => isOfType(value, each))) return not(() => types.join(' or '))
  const isScalar = typeof value !== 'object' || value === null
  if (Array.isArray(values) && isScalar && !values.includes(value)) return not(() => `one of ${values.join(', ')}`)
  if (only !== undefined && isScalar && only !== value) return not(() => JSON.stringify(only))
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return not(() => `at least ${minimum}`)
    if (typeof maximum === 'number' && value > maximum) return not(() => `at most ${maximum}`)
  }
  if (!isObject(value) || !Array.isArray(required)) return undefined
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  return missing.length > 0 ? { path, message: () => `must have ${missing.join(', ')} by its dataSchema` } : undefined
}

/** One for the value itself, and one for each field or element, or for each hundred characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 100
  return typeof value === 'object' && value !== null ? 1 + Object.keys(value).length : 1
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function names(properties: Schema): string {
  return Object.keys(properties).slice(0, 25).join(', ') || 'none'
}

function firstOf<Each, Found>(all: Iterable<Each>, find: (each: Each) => Found | undefined): Found | undefined {
  for (const each of all) {
    const found = find(each)
    if (found !== undefined) return found
  }
  return undefined
}
