/** A JSON Schema of the control document, as far as a form needs it. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  description?: string
  pattern?: string
  minLength?: number
  minimum?: number
  maximum?: number
  /** Values that no one should see by chance. */
  writeOnly?: boolean
}

/** An object whose fields one may fill in. */
export type Fields = Record<string, unknown>

/** How a field is asked for. `json` is for what has no form of its own, `content` for text or else JSON. */
export type FieldKind = 'choice' | 'flag' | 'number' | 'text' | 'texts' | 'object' | 'content' | 'json'

interface Operation {
  operationId?: string
  requestBody?: { content: Record<string, { schema: Schema }> }
}

/** Returns the schema of the body of an operation. Throws when the document has none. */
export function bodySchema(document: Record<string, unknown>, operationId: string): Schema {
  const operations = Object.values(document.paths as Record<string, Record<string, Operation>>).flatMap(Object.values)
  const found = operations.find((each: Operation) => each.operationId === operationId)
  const schema = found?.requestBody?.content['application/json']?.schema
  if (!schema) throw new Error(`the server describes no body of ${operationId}`)
  return resolved(document, schema)
}

/** Follows references, and takes the one of two schemas that is not that of null. */
export function resolved(document: Record<string, unknown>, schema: Schema): Schema {
  const { $ref, anyOf, ...own } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    const { schemas } = document.components as { schemas: Record<string, Schema> }
    const target = schemas[name]
    return target ? resolved(document, { ...target, ...own }) : own
  }
  const others = anyOf?.filter(({ type }) => type !== 'null') ?? []
  const [only, ...more] = others
  return only && more.length === 0 ? { ...resolved(document, only), ...own } : schema
}

export function kindOf(
  document: Record<string, unknown>,
  { type, enum: values, anyOf, properties, items }: Schema
): FieldKind {
  const types = [type ?? []].flat().filter((each) => each !== 'null')
  if (values) return 'choice'
  // A word or a number, such as `always`.
  if (anyOf?.every((each) => each.const !== undefined || each.type === 'integer')) return 'text'
  if (anyOf) return anyOf.some((each) => each.type === 'string') ? 'content' : 'json'
  if (types.length !== 1) return 'json'
  if (types[0] === 'boolean') return 'flag'
  if (types[0] === 'number' || types[0] === 'integer') return 'number'
  if (types[0] === 'string') return 'text'
  if (types[0] === 'array' && items) {
    const { type: itemType, enum: itemValues } = resolved(document, items)
    return itemType === 'string' && !itemValues ? 'texts' : 'json'
  }
  return types[0] === 'object' && properties && Object.keys(properties).length > 0 ? 'object' : 'json'
}

/** Returns an object with one field changed; undefined takes it away. */
export function withField(fields: Fields, name: string, value: unknown): Fields {
  const { [name]: _, ...others } = fields
  return value === undefined ? others : { ...fields, [name]: value }
}

/** Returns the fields that one object has other than another; null for those that it lacks. */
export function differences(before: Fields, after: Fields): Fields {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}
