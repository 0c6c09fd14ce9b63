type JsonSchema = Record<string, unknown>

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Deeper ones are told by their type alone. */
const MAX_DEPTH = 20

/** Returns what a schema describes in its own shape, with types for values, such as `{ email: 'string' }`. */
export function sketchOf(schema: unknown, depth = 0): unknown {
  if (!isObject(schema)) return 'any'
  const { type, properties, items, enum: values, format, $ref } = schema
  if (isObject(properties) && Object.keys(properties).length > 0 && depth < MAX_DEPTH) {
    return Object.fromEntries(Object.entries(properties).map(([name, own]) => [name, sketchOf(own, depth + 1)]))
  }
  if (isObject(items)) return [sketchOf(items, depth + 1)]
  if (Array.isArray(values)) return values.join(' | ')
  const types = [type].flat().filter((each) => typeof each === 'string')
  const [named = typeof $ref === 'string' ? $ref : 'any'] = types.length > 0 ? [types.join(' | ')] : []
  return typeof format === 'string' ? `${named}, ${format}` : named
}
