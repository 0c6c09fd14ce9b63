import type { Path } from '../core/validation.js'
import { isObject, type Report } from './json-schema.js'

/**
 * How much is looked at to compare a value with a schema, counted in fields, elements and keywords: there is no end to
 * what a hostile schema could ask for.
 */
const MAX_LOOKED_AT = 200_000

/** What is looked at between two pauses: some milliseconds. */
const BETWEEN_PAUSES = 1000

type Schema = Record<string, unknown>

interface Mismatch {
  path: Path
  /** What the value must be or have. A function, as most mismatches are those of a variant, which nobody is told of. */
  must: () => string
  /** The sentence, if it is another. */
  words?: () => string
}

type Found = (mismatch: Mismatch) => void

/**
 * Reports each way in which the value at a path does not match a schema, in steps. Patterns, formats, references and
 * conditions are not followed, and text with Liquid matches everything, as it can become anything. What is beyond some
 * tenths of a second of work matches too.
 */
export function* comparing(value: unknown, schema: unknown, base: Path, report: Report): Generator<void, void> {
  let left = MAX_LOOKED_AT
  let pause = left
  /** What it takes to look at the keywords of a schema, as one may stand for each element of a list. */
  const costs = new Map<Schema, number>()
  yield* compare(value, schema, base, ({ path, must, words = () => `must ${must()} by its dataSchema` }) =>
    report(path, words)
  )

  function costOf(schema: Schema): number {
    const cost = costs.get(schema) ?? Object.values(schema).reduce<number>((sum, each) => sum + sizeOf(each), 0)
    costs.set(schema, cost)
    return cost
  }

  function* compare(value: unknown, schema: unknown, path: Path, found: Found): Generator<void, void> {
    if (schema === false) found({ path, must: () => 'be left out' })
    if (!isObject(schema) || left < 0) return
    left -= sizeOf(value) + costOf(schema)
    if (left < pause) {
      pause = left - BETWEEN_PAUSES
      yield
    }
    if (left < 0 || (typeof value === 'string' && /\{[{%]/.test(value))) return
    const types = [schema.type ?? []].flat()
    if (types.length > 0 && !types.some((each) => isOfType(value, each))) {
      found({ path, must: () => `be ${types.join(' or ')}` })
      return
    }
    for (const must of isObject(value) || Array.isArray(value) ? partsOf(value, schema) : scalarOf(value, schema)) {
      found({ path, must })
    }
    yield* compareParts(value, schema, path, found)
    yield* compareVariants(value, schema, path, found)
  }

  function* compareParts(value: unknown, schema: Schema, path: Path, found: Found): Generator<void, void> {
    const { items, additionalProperties, patternProperties } = schema
    if (Array.isArray(value)) {
      if (Array.isArray(items)) return
      for (const [index, each] of value.entries()) yield* compare(each, items, [...path, index], found)
    } else if (isObject(value)) {
      const properties = isObject(schema.properties) ? schema.properties : {}
      for (const [name, each] of Object.entries(value)) {
        const isKnown = Object.hasOwn(properties, name)
        if (!isKnown && additionalProperties === false) {
          const words = () => `is not a field by its dataSchema, which has ${first(Object.keys(properties)) || 'none'}`
          if (patternProperties === undefined) found({ path: [...path, name], must: () => 'be left out', words })
          continue
        }
        yield* compare(each, isKnown ? properties[name] : additionalProperties, [...path, name], found)
      }
    }
  }

  function* compareVariants(value: unknown, schema: Schema, path: Path, found: Found): Generator<void, void> {
    for (const each of listIn(schema.allOf)) yield* compare(value, each, path, found)
    for (const variants of [listIn(schema.anyOf), listIn(schema.oneOf)]) {
      const mismatches: Mismatch[] = []
      for (const variant of variants) {
        let first: Mismatch | undefined
        yield* compare(value, variant, path, (mismatch) => {
          first ??= mismatch
        })
        if (first) mismatches.push(first)
      }
      const [one] = mismatches
      if (one === undefined || mismatches.length < variants.length) continue
      // What is wrong with the value itself is told of all variants; what is wrong within it, of the first.
      const isItself = mismatches.every((each) => each.path.length === path.length)
      if (isItself) found({ path, must: () => alternatives(mismatches) })
      else found(one)
    }
  }
}

function alternatives(mismatches: readonly Mismatch[]): string {
  const [one, ...others] = new Set(mismatches.slice(0, 25).map(({ must }) => must()))
  return [one, ...others.map((each) => each.replace(/^be /, ''))].join(' or ')
}

/** Yields what a text, a number, a flag or null must be that it is not. */
function* scalarOf(value: unknown, schema: Schema): Generator<() => string> {
  const { enum: values, const: only } = schema
  if (Array.isArray(values) && !values.includes(value)) yield () => `be one of ${first(values)}`
  if (only !== undefined && only !== value) yield () => `be ${JSON.stringify(only)}`
  if (typeof value === 'number') {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
    if (isNumber(minimum) && value < minimum) yield () => `be at least ${minimum}`
    if (isNumber(maximum) && value > maximum) yield () => `be at most ${maximum}`
    if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) yield () => `be more than ${exclusiveMinimum}`
    if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) yield () => `be less than ${exclusiveMaximum}`
    if (isNumber(multipleOf) && !isMultiple(value, multipleOf)) yield () => `be a multiple of ${multipleOf}`
  }
  if (typeof value === 'string') {
    const { minLength, maxLength } = schema
    if (isNumber(minLength) && lengthOf(value) < minLength)
      yield () => `have at least ${counted(minLength, 'character')}`
    if (isNumber(maxLength) && lengthOf(value) > maxLength)
      yield () => `have at most ${counted(maxLength, 'character')}`
  }
}

/** Yields what a list or an object must have that it has not. */
function* partsOf(value: object, schema: Schema): Generator<() => string> {
  const isList = Array.isArray(value)
  const { required, uniqueItems } = schema
  const [min, max] = isList ? [schema.minItems, schema.maxItems] : [schema.minProperties, schema.maxProperties]
  const count = isList ? value.length : Object.keys(value).length
  const part = isList ? 'element' : 'field'
  if (isNumber(min) && count < min) yield () => `have at least ${counted(min, part)}`
  if (isNumber(max) && count > max) yield () => `have at most ${counted(max, part)}`
  if (isList) {
    // To compare objects could take long.
    const scalars = uniqueItems === true ? value.filter((each) => typeof each !== 'object') : []
    if (new Set(scalars).size < scalars.length) yield () => 'have no element twice'
    return
  }
  const missing = listIn(required).filter((name) => !Object.hasOwn(value, String(name)))
  if (missing.length > 0) yield () => `have ${first(missing)}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  return Math.abs(quotient - Math.round(quotient)) < 1e-9
}

/** In code points, as JSON Schema counts. */
function lengthOf(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
}

/** One for the value itself, and one for each field or element, or for each hundred characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 100
  if (Array.isArray(value)) return 1 + value.length
  return isObject(value) ? 1 + Object.keys(value).length : 1
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The first of the names or values, as there may be thousands. */
function first(all: readonly unknown[]): string {
  return all.slice(0, 25).join(', ')
}
