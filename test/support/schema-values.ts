import type { SchemaOptions } from '@sinclair/typebox'
import fc from 'fast-check'
import { anyCharacter } from './any-character.js'

/** A JSON Schema with any keywords. */
export type JsonSchema = SchemaOptions

interface Choices {
  /** Returns the schema that a `$ref` points to. */
  find(reference: string): JsonSchema | undefined
  /** Generates strings that match the schema. `field` is the name of the string's field. */
  textOf(schema: JsonSchema, field: string): fc.Arbitrary<string>
  /** Generates names of additional properties. */
  names: fc.Arbitrary<string>
  /**
   * Returns a generator of the field's values. The default returns `matching`, which generates
   * values that match the field's schema.
   */
  ofField?(field: string, matching: fc.Arbitrary<unknown>): fc.Arbitrary<unknown>
}

/**
 * Values inside more nested `$ref`s than this contain only what their schema requires. Without this
 * limit, generating values of a recursive schema would never end.
 */
const MAX_DEPTH = 3

/** Returns a function that takes a schema and a field name, and returns a generator of values. */
export function valuesBy(choices: Choices) {
  const generator = new ValueGenerator(choices)
  return (schema: JsonSchema, field = '') => generator.anyValueOf(schema, field, 0)
}

class ValueGenerator {
  readonly #choices: Choices
  readonly #byReference = new Map<string, fc.Arbitrary<unknown>>()

  constructor(choices: Choices) {
    this.#choices = choices
  }

  anyValueOf(schema: JsonSchema, field: string, depth: number): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return this.#anyValueAt(schema.$ref, field, depth)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if ('const' in schema) return fc.constant(schema.const)
    const variants = variantsOf(schema)
    if (variants.length > 0) {
      return fc.oneof(...variants.map((variant) => this.anyValueOf(variant, field, depth)))
    }
    switch ([schema.type].flat()[0]) {
      case 'object':
        return this.#anyObjectOf(schema, depth)
      case 'array':
        return this.#anyArrayOf(schema, field, depth)
      case 'integer':
      case 'number':
        return anyNumberOf(schema)
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'string':
        return this.#choices.textOf(schema, field)
      default:
        return anyJson
    }
  }

  #anyArrayOf(schema: JsonSchema, field: string, depth: number): fc.Arbitrary<unknown> {
    const { items = {}, minItems = 0 } = schema
    if (depth > MAX_DEPTH && minItems === 0) return fc.constant([])
    return fc.array(this.anyValueOf(items, field, depth), { minLength: minItems, maxLength: 3 })
  }

  #anyValueAt(reference: string, field: string, depth: number): fc.Arbitrary<unknown> {
    const schema = this.#choices.find(reference)
    if (!schema) throw new Error(`no schema ${reference}`)
    const key = `${reference} ${field} ${depth}`
    const values = this.#byReference.get(key) ?? this.anyValueOf(schema, field, depth + 1)
    this.#byReference.set(key, values)
    return values
  }

  #anyObjectOf(schema: JsonSchema, depth: number) {
    const { additionalProperties } = schema
    const declared = this.#anyDeclaredFields(schema, depth)
    if (!additionalProperties) return declared.map((value) => ({ ...value }))
    const others =
      additionalProperties === true ? anyJson : this.anyValueOf(additionalProperties, '', depth)
    const entry = fc.tuple(this.#choices.names, others)
    return fc
      .tuple(declared, fc.array(entry, { maxLength: depth > MAX_DEPTH ? 0 : 3 }))
      .map(([value, more]) => Object.fromEntries([...Object.entries(value), ...more]))
  }

  #anyDeclaredFields({ properties = {}, required = [] }: JsonSchema, depth: number) {
    const { ofField = (_, matching) => matching } = this.#choices
    const fields = Object.fromEntries(
      Object.entries<JsonSchema>(properties)
        .filter(([name]) => depth <= MAX_DEPTH || required.includes(name))
        .map(([name, property]) => [name, ofField(name, this.anyValueOf(property, name, depth))])
    )
    // If an object has many optional fields, they often contradict each other. So half of the
    // objects have at most two optional fields.
    const optional = Object.keys(fields).filter((name) => !required.includes(name))
    const withFew = fc
      .subarray(optional, { maxLength: Math.min(2, optional.length) })
      .chain((few) => {
        const chosen = [...required, ...few]
        return fc.record(
          Object.fromEntries(Object.entries(fields).filter(([name]) => chosen.includes(name)))
        )
      })
    return fc.oneof(fc.record(fields, { requiredKeys: required as never[] }), withFew)
  }
}

/** Returns the alternatives of a union, or one schema per type if the schema has several types. */
function variantsOf(schema: JsonSchema): JsonSchema[] {
  const types = [schema.type ?? []].flat()
  const byType = types.length > 1 ? types.map((type) => ({ ...schema, type })) : []
  return schema.anyOf ?? schema.oneOf ?? byType
}

/** Generates any JSON value. Integers that `JSON.parse` would round become 0. */
const anyJson = fc
  .jsonValue({ stringUnit: anyCharacter, maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value), (_name, item) => (isRounded(item) ? 0 : item)))

function isRounded(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Generates small and large numbers that `JSON.stringify` and `JSON.parse` preserve. */
function anyNumberOf({
  type,
  minimum,
  exclusiveMinimum,
  maximum = 1e6
}: JsonSchema): fc.Arbitrary<number> {
  const min = minimum ?? exclusiveMinimum ?? -1e6
  const max = Math.min(maximum, 1e9)
  if (type === 'integer') {
    return fc.oneof(fc.integer({ min, max: Math.min(max, min + 5) }), fc.integer({ min, max }))
  }
  return fc
    .double({ min, max, noNaN: true, minExcluded: exclusiveMinimum !== undefined })
    .map((value) => value + 0)
    .filter((value) => !isRounded(value))
}
