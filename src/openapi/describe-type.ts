import type { TSchema } from '@sinclair/typebox'

/** Functions that format the parts of a type's description, for example as Markdown or HTML. */
export interface TypeFormat {
  /** Formats a value or a field name. */
  code(text: string): string
  /** Formats the name of a type that is described elsewhere on the page. */
  link(typeName: string): string
}

/** Describes the type of a value in words, such as "array of string". */
export function describeType(schema: TSchema, format: TypeFormat): string {
  if (schema.$ref) return format.link(typeNameOf(schema))
  if (schema.const !== undefined) return format.code(String(schema.const))
  if (schema.anyOf) {
    const alternatives = (schema.anyOf as TSchema[]).map((each) => describeType(each, format))
    return alternatives.join(' or ')
  }
  if (schema.type === 'array') return `array of ${describeType(schema.items ?? {}, format)}`
  if (schema.enum) return describeValues(schema.enum, format)
  if (schema.type === 'object') return describeObject(schema, format)
  return [schema.type ?? 'any value'].flat().join(' or ')
}

/** Lists the values of an enum. */
export function describeValues(values: readonly unknown[], { code }: TypeFormat): string {
  return values.map((value) => code(String(value))).join(', ')
}

/** Returns a parameter's default and limits, such as "default 10" and "at most 1000". */
export function describeLimits(schema: TSchema): string[] {
  const { default: defaultValue, minimum, maximum = Number.MAX_SAFE_INTEGER } = schema
  const limits: string[] = []
  if (defaultValue !== undefined) limits.push(`default ${defaultValue}`)
  if (minimum !== undefined) limits.push(`at least ${minimum}`)
  if (maximum < Number.MAX_SAFE_INTEGER) limits.push(`at most ${maximum}`)
  return limits
}

/** Returns the name of the type that a schema refers to, or '' if it refers to none. */
export const typeNameOf = (schema: TSchema) => String(schema.$ref ?? '').replace(/^.*\//, '')

function describeObject({ properties, additionalProperties }: TSchema, format: TypeFormat): string {
  const isMap = Object.keys(additionalProperties ?? {}).length > 0
  if (isMap) return `map of string to ${describeType(additionalProperties, format)}`
  const names = Object.keys(properties ?? {})
  if (names.length === 0) return 'object'
  return `object with ${names.map((name) => format.code(name)).join(', ')}`
}
