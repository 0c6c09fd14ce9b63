import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

/**
 * One of a closed list of words, as a compact JSON Schema `enum` with a precise type.
 *
 * `Type.Unsafe` rather than a union of literals: generated clients read an `enum` well. It is why shapes are
 * checked with Ajv and never with TypeBox's own checker, which does not know it.
 */
export function stringEnum<const Words extends readonly string[]>(
  list: Words,
  options: { description?: string; default?: Words[number] } = {}
): TUnsafe<Words[number]> {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: [...list], ...options })
}

/** An object that has these properties and no others. */
export function strictObject<Properties extends TProperties>(
  properties: Properties,
  options: { $id?: string; description?: string; examples?: unknown[]; minProperties?: number } = {}
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

/** A reference to a schema that has an `$id`, typed as that schema. */
export function ref<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema>> {
  return Type.Unsafe<Static<Schema>>(Type.Ref(`${schema.$id}#`))
}

/** An object whose contents the contract does not show: any keys, any values, never an array or null. */
export function freeObject(description: string): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description })
}

/** A value of the schema, or null: only for fields that the contract marks "or null". */
export function nullable<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type as string, 'null'] })
}

/** A map from any name to values of one schema. */
export function recordOf<Schema extends TSchema>(
  values: Schema,
  description: string
): TUnsafe<Record<string, Static<Schema>>> {
  return Type.Unsafe<Record<string, Static<Schema>>>({ type: 'object', additionalProperties: values, description })
}
