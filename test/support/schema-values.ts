import type { SchemaOptions } from '@sinclair/typebox'
import fc from 'fast-check'

/** A JSON Schema, of which any keyword may be read. */
export type JsonSchema = SchemaOptions

interface Choices {
  /** Returns the schema that a reference leads to. */
  find(reference: string): JsonSchema | undefined
  /** Returns texts that fit the schema of a field of this name. */
  textOf(schema: JsonSchema, field: string): fc.Arbitrary<string>
  /** Names where a schema takes any. */
  names: fc.Arbitrary<string>
  /** Returns what a field of this name gets, in place of whatever fits. */
  ofField?(field: string, fitting: fc.Arbitrary<unknown>): fc.Arbitrary<unknown>
}

/** Some schemas hold themselves: from this depth on only what is required is there. */
const MAX_DEPTH = 3

/** Returns a function that returns whatever fits a schema, for a field of this name. */
export function valuesBy({ find, textOf, names, ofField = (_, fitting) => fitting }: Choices) {
  const byReference = new Map<string, fc.Arbitrary<unknown>>()
  return anyValueOf

  function anyValueOf(schema: JsonSchema, field = '', depth = 0): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return referred(schema.$ref, field, depth)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if ('const' in schema) return fc.constant(schema.const)
    const types = [schema.type ?? []].flat()
    const variants =
      schema.anyOf ??
      schema.oneOf ??
      (types.length > 1 ? types.map((type) => ({ ...schema, type })) : [])
    if (variants.length > 0)
      return fc.oneof(...variants.map((each: JsonSchema) => anyValueOf(each, field, depth)))
    switch (types[0]) {
      case 'object':
        return anyObjectOf(schema, depth)
      case 'array':
        if (depth > MAX_DEPTH && !schema.minItems) return fc.constant([])
        return fc.array(anyValueOf(schema.items ?? {}, field, depth), {
          minLength: schema.minItems ?? 0,
          maxLength: 3
        })
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
        .map(([name, each]) => [name, ofField(name, anyValueOf(each, name, depth))])
    )
    // Of many optional fields half seldom fit together, so half of the objects have few.
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

/** As it is read back from a text, without numbers that one would round. */
const anyJson = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value), (_name, each) => (isRounded(each) ? 0 : each)))

function isRounded(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Small ones and large ones, none that a text would round. */
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
