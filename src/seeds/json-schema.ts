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

/**
 * How much is looked at to compare a value with a schema, counted in fields, elements and keywords: there is no end to
 * what a hostile schema could ask for.
 */
const MAX_LOOKED_AT = 200_000

/**
 * Reports the first way in which the value at a path does not match a schema, in steps. Patterns, formats, references and
 * conditions are not followed, and text with Liquid matches everything, as it can become anything. What is beyond some
 * tenths of a second of work matches too.
 */
export function* comparing(value: unknown, schema: unknown, base: Path, report: Report): Generator<void, void> {
  let left = MAX_LOOKED_AT
  let pause = left
  /** What it takes to look at the keywords of a schema, as one may stand for each element of a list. */
  const costs = new Map<Schema, number>()
  const found = yield* mismatch(value, schema, base)
  if (found) report(found.path, found.message)

  function costOf(schema: Schema): number {
    const cost = costs.get(schema) ?? Object.values(schema).reduce<number>((sum, each) => sum + sizeOf(each), 0)
    costs.set(schema, cost)
    return cost
  }

  function* mismatch(value: unknown, schema: unknown, path: Path): Generator<void, Mismatch | undefined> {
    if (!isObject(schema) || left < 0) return undefined
    left -= sizeOf(value) + costOf(schema)
    if (left < pause) {
      pause = left - SCHEMAS
      yield
    }
    if (left < 0 || (typeof value === 'string' && /\{[{%]/.test(value))) return undefined
    const found = typeMismatch(value, schema, path)
    return found ?? (yield* inside(value, schema, path)) ?? (yield* combined(value, schema, path))
  }

  function* inside(value: unknown, schema: Schema, path: Path): Generator<void, Mismatch | undefined> {
    if (typeof value !== 'object' || value === null) return undefined
    const { additionalProperties, items } = schema
    const properties = isObject(schema.properties) ? schema.properties : {}
    if (Array.isArray(value)) {
      if (Array.isArray(items)) return undefined
      for (const [index, each] of value.entries()) {
        const found = yield* mismatch(each, items, [...path, index])
        if (found) return found
      }
      return undefined
    }
    for (const [name, each] of Object.entries(value)) {
      const isKnown = Object.hasOwn(properties, name)
      if (!isKnown && additionalProperties === false && schema.patternProperties === undefined) {
        const message = () => `is not a field by its dataSchema, which has ${first(Object.keys(properties)) || 'none'}`
        return { path: [...path, name], message }
      }
      const found = yield* mismatch(each, isKnown ? properties[name] : additionalProperties, [...path, name])
      if (found) return found
    }
    return undefined
  }

  function* combined(
    value: unknown,
    { allOf, anyOf, oneOf }: Schema,
    path: Path
  ): Generator<void, Mismatch | undefined> {
    for (const each of Array.isArray(allOf) ? allOf : []) {
      const found = yield* mismatch(value, each, path)
      if (found) return found
    }
    for (const variants of [anyOf, oneOf]) {
      const found: (Mismatch | undefined)[] = []
      for (const each of Array.isArray(variants) ? variants : []) found.push(yield* mismatch(value, each, path))
      if (found.length > 0 && found.every((each) => each !== undefined)) return found[0]
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
  if (Array.isArray(values) && isScalar && !values.includes(value)) return not(() => `one of ${first(values)}`)
  if (only !== undefined && isScalar && only !== value) return not(() => JSON.stringify(only))
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return not(() => `at least ${minimum}`)
    if (typeof maximum === 'number' && value > maximum) return not(() => `at most ${maximum}`)
  }
  if (!isObject(value) || !Array.isArray(required)) return undefined
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  return missing.length > 0 ? { path, message: () => `must have ${first(missing)} by its dataSchema` } : undefined
}

/** One for the value itself, and one for each field or element, or for each hundred characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 100
  if (Array.isArray(value)) return 1 + value.length
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

/** The first of the names or values, as there may be thousands. */
function first(all: readonly unknown[]): string {
  return all.slice(0, 25).join(', ')
}
