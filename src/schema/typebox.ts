import type { ObjectOptions, Static, TProperties, TSchema } from '@sinclair/typebox'
import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { Errors, type ValueError } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'

/**
 * Tests may load this module twice: from the sources and from the build. TypeBox has one registry
 * of kinds for both copies, so one copy may have to check the schemas of the other. A global symbol
 * makes that possible.
 */
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

/**
 * The number of interpreted checks before a schema is compiled. Compiling costs as much as dozens
 * of interpreted checks. During startup, no schema is checked this often, so none is compiled.
 */
const CHECKS_BEFORE_COMPILING = 30

/**
 * Returns the schema's checker. The checker compiles the schema after `CHECKS_BEFORE_COMPILING`
 * checks.
 */
export function compile(schema: TSchema): Checker {
  const existing = checkers.get(schema)
  if (existing) return existing
  const checker = createChecker(schema)
  checkers.set(schema, checker)
  return checker
}

function createChecker(schema: TSchema): Checker {
  let checkCount = 0
  let compiled: TypeCheck<TSchema> | undefined
  return {
    Check(value) {
      checkCount += 1
      if (checkCount <= CHECKS_BEFORE_COMPILING) return Value.Check(schema, value)
      compiled ??= TypeCompiler.Compile(schema)
      return compiled.Check(value)
    },
    Errors: (value) => Errors(schema, value)
  }
}

/**
 * Returns the schema of a string enum. It is an `enum` in JSON Schema and a union in TypeScript.
 */
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

/** Returns the schema of a string enum. OpenAPI documents list the schema under its `$id`. */
export const namedEnum = <const Values extends readonly string[]>(
  $id: string,
  description: string,
  values: Values
) => stringEnum(values, { $id, description })

/** Returns the schema of a timestamp. It has the format `date-time`, but accepts any string. */
export const dateTime = (description: string) =>
  Type.Unsafe<string>({ [Kind]: 'DateTime', type: 'string', format: 'date-time', description })

/** Returns the schema of an object that allows only these properties. */
export const strictObject = <Properties extends TProperties>(
  properties: Properties,
  options: ObjectOptions = {}
) => Type.Object(properties, { additionalProperties: false, ...options })

/** Returns the schema of a strict object. OpenAPI documents list the schema under its `$id`. */
export const namedObject = <Fields extends TProperties>(
  $id: string,
  description: string,
  properties: Fields
) => strictObject(properties, { $id, description })

/**
 * Returns a reference to a schema with an `$id`. `description` replaces the schema's description.
 */
export const ref = <Schema extends TSchema>(schema: Schema, description?: string) =>
  refById<Static<Schema>>(String(schema.$id), () => schema, description)

/** Returns a reference to a schema that isn't defined yet, such as the enclosing schema. */
export const refById = <Value>(id: string, target: () => TSchema, description?: string) =>
  Type.Unsafe<Value>({
    [Kind]: 'Reference',
    [Target]: target,
    $ref: `${id}#`,
    ...(description && { description })
  })

/**
 * Gives the schema its own checker, but keeps the schema inline in JSON Schema. Use it for the
 * items of long lists. Otherwise the items are interpreted, because the list is checked too rarely
 * to be compiled.
 */
export const compiledSeparately = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema>>({ ...schema, [Kind]: 'Reference', [Target]: () => schema })

/** Returns the schema to which a reference points. */
export const targetOf = (schema: TSchema): TSchema =>
  (schema as TSchema & { [Target]: () => TSchema })[Target]()

/**
 * Returns the schema of an object whose fields the API reference doesn't define. Any fields are
 * valid.
 */
export const freeObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description }))

/** Returns a schema that also accepts null, for fields marked "or null" in the API reference. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const type = [schema.type as string, 'null']
  return Type.Unsafe<Static<Schema> | null>({
    ...schema,
    [Kind]: 'Nullable',
    [Target]: () => schema,
    type
  })
}

/** Returns the schema of an object that may have any keys. All its values must match `values`. */
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

/**
 * Returns every schema with an `$id` that the roots contain or refer to. A schema comes after the
 * schemas that it refers to.
 */
export function namedSchemas(...roots: (TSchema | undefined)[]): TSchema[] {
  const named = new Set<TSchema>()
  const seen = new Set<unknown>()

  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null || seen.has(node)) return
    seen.add(node)
    if (Target in node) visit(targetOf(node as unknown as TSchema))
    for (const child of Object.values(node)) visit(child)
    if ('$id' in node) named.add(node as TSchema)
  }

  visit(roots)
  return [...named]
}
