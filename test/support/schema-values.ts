import type { SchemaOptions } from '@sinclair/typebox'
import fc from 'fast-check'

/** A JSON Schema with any keywords. */
export type JsonSchema = SchemaOptions

interface Choices {
  /** Returns the schema of a reference. */
  find(reference: string): JsonSchema | undefined
  /** Returns strings that match the schema of a field with this name. */
  textOf(schema: JsonSchema, field: string): fc.Arbitrary<string>
  /** Names of additional properties. */
  names: fc.Arbitrary<string>
  /** Returns the values of a field with this name. By default, those that match its schema. */
  ofField?(field: string, fitting: fc.Arbitrary<unknown>): fc.Arbitrary<unknown>
}

/** Schemas can be recursive. Below this depth, only required fields are generated. */
const MAX_DEPTH = 3

/** Returns a function that generates values of a schema for a field with this name. */
export function valuesBy({ find, textOf, names, ofField = (_, fitting) => fitting }: Choices) {
  const byReference = new Map<string, fc.Arbitrary<unknown>>()
  return anyValueOf

  function anyValueOf(schema: JsonSchema, field = '', depth = 0): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return referred(schema.$ref, field, depth)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if ('const' in schema) return fc.constant(schema.const)
    const variants = variantsOf(schema)
    if (variants.length > 0) {
      return fc.oneof(...variants.map((variant) => anyValueOf(variant, field, depth)))
    }
    switch ([schema.type].flat()[0]) {
      case 'object':
        return anyObjectOf(schema, depth)
      case 'array':
        return anyArrayOf(schema, field, depth)
      case 'integer':
      case 'number':
        return anyNumberOf(schema)
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'string':
        return textOf(schema, field)
      default:
        return anyJson
    }
  }

  function anyArrayOf(schema: JsonSchema, field: string, depth: number): fc.Arbitrary<unknown> {
    const { items = {}, minItems = 0 } = schema
    if (depth > MAX_DEPTH && minItems === 0) return fc.constant([])
    return fc.array(anyValueOf(items, field, depth), { minLength: minItems, maxLength: 3 })
  }

  function referred(reference: string, field: string, depth: number): fc.Arbitrary<unknown> {
    const schema = find(reference)
    if (!schema) throw new Error(`no schema ${reference}`)
    const key = `${reference} ${field} ${depth}`
    const values = byReference.get(key) ?? anyValueOf(schema, field, depth + 1)
    byReference.set(key, values)
    return values
  }

  function anyObjectOf(
    { properties = {}, required = [], additionalProperties }: JsonSchema,
    depth: number
  ) {
    const fields = Object.fromEntries(
      Object.entries<JsonSchema>(properties)
        .filter(([name]) => depth <= MAX_DEPTH || required.includes(name))
        .map(([name, property]) => [name, ofField(name, anyValueOf(property, name, depth))])
    )
    // Many optional fields rarely make a consistent object, so half of the objects have few.
    const optional = Object.keys(fields).filter((name) => !required.includes(name))
    const withFew = fc
      .subarray(optional, { maxLength: Math.min(2, optional.length) })
      .chain((few) => {
        const chosen = [...required, ...few]
        return fc.record(
          Object.fromEntries(Object.entries(fields).filter(([name]) => chosen.includes(name)))
        )
      })
    const own = fc.oneof(fc.record(fields, { requiredKeys: required as never[] }), withFew)
    if (!additionalProperties) return own.map((value) => ({ ...value }))
    const others =
      additionalProperties === true ? anyJson : anyValueOf(additionalProperties, '', depth)
    return fc
      .tuple(own, fc.array(fc.tuple(names, others), { maxLength: depth > MAX_DEPTH ? 0 : 3 }))
      .map(([value, more]) => Object.fromEntries([...Object.entries(value), ...more]))
  }
}

/** Returns the alternatives of a union, or one schema per type if there are several. */
function variantsOf(schema: JsonSchema): JsonSchema[] {
  const types = [schema.type ?? []].flat()
  const byType = types.length > 1 ? types.map((type) => ({ ...schema, type })) : []
  return schema.anyOf ?? schema.oneOf ?? byType
}

/** JSON values as `JSON.parse` returns them, without integers that it would round. */
const anyJson = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value), (_name, item) => (isRounded(item) ? 0 : item)))

function isRounded(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Small and large numbers that survive a conversion to JSON. */
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
