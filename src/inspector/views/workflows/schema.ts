/** A JSON Schema that someone else has written: nothing of it is sure. */
export type JsonSchema = Record<string, unknown>

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function propertiesOf({ properties }: JsonSchema): Record<string, JsonSchema> {
  if (!isObject(properties)) return {}
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, isObject(schema) ? schema : {}]))
}

export function requiredOf({ required }: JsonSchema): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

/** Returns the schemas of which a value meets one; the schema itself if it names no others. */
export function alternativesOf(schema: JsonSchema): [JsonSchema, ...JsonSchema[]] {
  const [first, ...others] = [schema.anyOf, schema.oneOf].flat().filter(isObject)
  return first ? [first, ...others] : [schema]
}

/** Returns the values that are allowed, if they are listed. */
export function optionsOf(schema: JsonSchema): unknown[] {
  if ('const' in schema) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : []
}

/** Returns the type in words, such as `string, date-time` or `list of number`. */
export function typeText(schema: JsonSchema): string {
  const { type, format, items, nullable, $ref } = schema
  const types = [type].flat().filter((each): each is string => typeof each === 'string')
  if (nullable === true) types.push('null')
  if (types.includes('array') && isObject(items)) {
    const inner = typeText(items)
    return inner ? `list of ${inner}` : 'list'
  }
  const text = types.length > 0 ? types.join(' or ') : typeof $ref === 'string' ? $ref : ''
  return typeof format === 'string' ? `${text}, ${format}` : text
}

const LIMITS: Record<string, (limit: string) => string> = {
  minimum: (limit) => `at least ${limit}`,
  maximum: (limit) => `at most ${limit}`,
  minLength: (limit) => `at least ${limit} ${limit === '1' ? 'character' : 'characters'}`,
  maxLength: (limit) => `at most ${limit} characters`,
  minItems: (limit) => `at least ${limit} in it`,
  maxItems: (limit) => `at most ${limit} in it`
}

/** Returns what else a value must be, such as `at least 1`. */
export function limitsText(schema: JsonSchema): string {
  return Object.entries(LIMITS)
    .flatMap(([name, text]) => (typeof schema[name] === 'number' ? [text(String(schema[name]))] : []))
    .join(', ')
}
