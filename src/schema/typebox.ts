import type { ObjectOptions, Static, TProperties, TSchema } from '@sinclair/typebox'
import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { Errors, type ValueError } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'

/** The same in each copy of this module, as all of them share TypeBox's registry: tests load it beside the build's. */
const Target = Symbol.for('notification-mock/target')

TypeRegistry.Set<TSchema>('StringEnum', (schema, value) => schema.enum.includes(value))
TypeRegistry.Set<TSchema>('Reference', (schema, value) => compile(targetOf(schema)).Check(value))
TypeRegistry.Set<TSchema>('DateTime', (_schema, value) => typeof value === 'string')
TypeRegistry.Set<TSchema>(
  'Nullable',
  (schema, value) => value === null || compile(targetOf(schema)).Check(value)
)

interface Checker {
  Check(value: unknown): boolean
  Errors(value: unknown): Iterable<ValueError>
}

const checkers = new WeakMap<TSchema, Checker>()

/** Values that are judged before a schema is compiled, which takes as long as to judge dozens: a start has fewer. */
const UNCOMPILED = 30

/** Returns what judges values by a schema, the same each time: so is that of each schema it refers to. */
export function compile(schema: TSchema): Checker {
  const known = checkers.get(schema)
  if (known) return known
  let judged = 0
  let compiled: TypeCheck<TSchema> | undefined
  const checker: Checker = {
    Check(value) {
      if (judged++ < UNCOMPILED) return Value.Check(schema, value)
      compiled ??= TypeCompiler.Compile(schema)
      return compiled.Check(value)
    },
    Errors: (value) => Errors(schema, value)
  }
  checkers.set(schema, checker)
  return checker
}

/** Returns a string that is one of a list, published as a compact JSON Schema `enum` and typed as a union. */
export const stringEnum = <const Values extends readonly string[]>(
  values: Values,
  options: { $id?: string; description?: string; default?: Values[number] } = {}
) =>
  Type.Unsafe<Values[number]>({
    [Kind]: 'StringEnum',
    type: 'string',
    enum: [...values],
    ...options
  })

/** Returns the same, which OpenAPI documents list under its id. */
export const namedEnum = <const Values extends readonly string[]>(
  $id: string,
  description: string,
  values: Values
) => stringEnum(values, { $id, description })

/** Returns a string that we send in ISO 8601 and publish as `date-time`. Its form is not checked. */
export const dateTime = (description: string) =>
  Type.Unsafe<string>({ [Kind]: 'DateTime', type: 'string', format: 'date-time', description })

/** Returns an object that has these properties and no others. */
export const strictObject = <Properties extends TProperties>(
  properties: Properties,
  options: ObjectOptions = {}
) => Type.Object(properties, { additionalProperties: false, ...options })

/** Returns a strict object that OpenAPI documents list under its id. */
export const namedObject = <Fields extends TProperties>(
  $id: string,
  description: string,
  properties: Fields
) => strictObject(properties, { $id, description })

/** Returns a reference to a schema that has an `$id`, typed as that schema. Without a description it has the schema's. */
export const ref = <Schema extends TSchema>(schema: Schema, description?: string) =>
  refById<Static<Schema>>(String(schema.$id), () => schema, description)

/** Returns a reference to a schema that is not defined yet, such as the one that the reference stands in. */
export const refById = <Value>(id: string, target: () => TSchema, description?: string) =>
  Type.Unsafe<Value>({
    [Kind]: 'Reference',
    [Target]: target,
    $ref: `${id}#`,
    ...(description && { description })
  })

/** Returns the schema as the items of long lists have it: published in its place, and compiled apart from the rest. */
export const compiledSeparately = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema>>({ ...schema, [Kind]: 'Reference', [Target]: () => schema })

/** Returns the schema that a reference leads to. */
export const targetOf = (schema: TSchema): TSchema =>
  (schema as TSchema & { [Target]: () => TSchema })[Target]()

/** Returns an object with any keys and any values, for what the contract leaves open. */
export const freeObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description }))

/** Returns a value of the schema or null, for fields that the contract marks "or null". */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const type = [schema.type as string, 'null']
  return Type.Unsafe<Static<Schema> | null>({
    ...schema,
    [Kind]: 'Nullable',
    [Target]: () => schema,
    type
  })
}

/** Returns an object with any keys, whose values all have one schema. */
export function recordOf<Schema extends TSchema>(
  values: Schema,
  description: string,
  maxProperties?: number
) {
  const options = {
    additionalProperties: values,
    description,
    ...(maxProperties && { maxProperties })
  }
  return Type.Unsafe<Record<string, Static<Schema>>>(Type.Object({}, options))
}

/** Returns the schemas with an `$id` that these consist of or refer to, each after those that it refers to. */
export function namedSchemas(...roots: (TSchema | undefined)[]): TSchema[] {
  const named = new Set<TSchema>()
  const seen = new Set<unknown>()
  visit(roots)
  return [...named]

  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null || seen.has(node)) return
    seen.add(node)
    if (Target in node) visit(targetOf(node as unknown as TSchema))
    for (const inner of Object.values(node)) visit(inner)
    if ('$id' in node) named.add(node as TSchema)
  }
}
