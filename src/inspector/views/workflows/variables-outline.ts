/** Outlines a JSON Schema as an object with types as values, such as `{ email: 'string' }`. */
export function outlineOf(schema: unknown): unknown {
  const { type = 'any', properties, items, enum: values = type, format } = Object(schema)
  const fields = Object.entries(Object(properties))
  if (fields.length > 0) {
    return Object.fromEntries(fields.map(([name, field]) => [name, outlineOf(field)]))
  }
  if (items) return [outlineOf(items)]
  return [[values].flat().join(' | '), format].filter(Boolean).join(', ')
}
