import fc from 'fast-check'
import { anyCharacter } from './any-character.js'
import { type JsonSchema, valuesBy } from './schema-values.js'
import { consistentSeed } from './seeds.js'

/** A request that is valid according to the OpenAPI document, or broken on purpose. */
export interface GeneratedRequest {
  operation: string
  method: string
  /** Path and query string. */
  path: string
  headers: Record<string, string>
  body?: string
}

export interface Published {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string; required?: boolean; schema: JsonSchema }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
}

/** Values that the server probably accepts. They are used often, so that many requests succeed. */
export interface KnownValues {
  /**
   * Maps the names of parameters to values. If a name alone is ambiguous, the key is a path segment
   * and the name, such as `messages/id`.
   */
  parameters: Record<string, readonly string[]>
  /** Maps the names of fields in the body to values. */
  fields: Record<string, readonly string[]>
}

/**
 * Generates requests to all operations of the document. Half of them are broken in one or two ways,
 * such as a wrong type, an unusual name, an invalid or very deep body, or a wrong method.
 */
export function anyRequest(
  document: Published,
  known: KnownValues
): fc.Arbitrary<GeneratedRequest> {
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId && operationId !== 'streamRequests')
      .map(([method, operation]) =>
        requestTo(document, known, template, method.toUpperCase(), operation)
      )
  )
  return fc
    .tuple(
      fc.oneof(...operations),
      fc.boolean(),
      fc.array(breakage, { minLength: 1, maxLength: 2 })
    )
    .map(([parts, isBroken, breakages]) => {
      if (isBroken) for (const change of breakages) change(parts)
      return asRequest(parts)
    })
}

/** The parts of a request. */
interface Parts {
  operation: string
  method: string
  segments: string[]
  query: [name: string, value: string][]
  headers: Record<string, string>
  body?: unknown
  /** Raw text to send instead of `body`, such as malformed JSON. */
  text?: string
}

function requestTo(
  document: Published,
  known: KnownValues,
  template: string,
  method: string,
  { operationId, parameters = [], requestBody }: Operation
): fc.Arbitrary<Parts> {
  const anyValueOf = valuesBy({
    find: (reference) => document.components.schemas[reference.split('/').at(-1) ?? ''],
    names: fc.oneof(fc.stringMatching(/^[a-z]{1,5}$/), oddName),
    textOf,
    ofField: (field, matching) => HARMLESS[field] ?? mostlyKnown(known.fields[field], matching)
  })
  const anyTextFor = (name: string, schema: JsonSchema) =>
    mostlyKnown(known.parameters[name], anyValueOf(schema).map(asText))
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema
  return fc.record({
    operation: fc.constant(operationId),
    method: fc.constant(method),
    segments: anySegments(template, parameters, known, anyTextFor),
    query: anyQuery(parameters, anyTextFor),
    headers: fc.oneof(
      fc.constant({}),
      fc.stringMatching(/^[a-z]{1,2}$/).map((key) => ({ 'idempotency-key': key }))
    ),
    ...(schema && { body: operationId === 'loadSeed' ? anySeedBody : anyValueOf(schema) })
  }) as fc.Arbitrary<Parts>
}

type Parameters = NonNullable<Operation['parameters']>
type AnyTextFor = (name: string, schema: JsonSchema) => fc.Arbitrary<string>

function anySegments(
  template: string,
  parameters: Parameters,
  known: KnownValues,
  anyTextFor: AnyTextFor
): fc.Arbitrary<string[]> {
  const segments = template.split('/').map((segment, index, all) => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1]
    if (name === undefined) return fc.constant(segment)
    const parameter = parameters.find((candidate) => {
      return candidate.in === 'path' && candidate.name === name
    })
    const path = `${all[index - 1]}/${name}`
    const text = anyTextFor(path in known.parameters ? path : name, parameter?.schema ?? {})
    return text.map((value) => value || 'x')
  })
  return fc.tuple(...segments)
}

function anyQuery(parameters: Parameters, anyTextFor: AnyTextFor): fc.Arbitrary<Parts['query']> {
  const lists = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => {
      const isList = [schema, ...(schema.anyOf ?? [])].some(({ type }) => type === 'array')
      const value = anyTextFor(name, (isList && schema.items) || schema).map(
        (text): [string, string] => [name, text]
      )
      return fc.oneof(fc.constant([]), fc.array(value, { minLength: 1, maxLength: isList ? 4 : 1 }))
    })
  return fc.tuple(...lists).map((values) => values.flat())
}

function mostlyKnown<Value>(known: readonly string[] | undefined, others: fc.Arbitrary<Value>) {
  if (!known) return others
  // Read the list for each request, because the caller adds and removes values.
  const existing = fc.nat().map((index) => known[index % known.length] ?? 'none')
  return fc.oneof({ weight: 4, arbitrary: existing }, others)
}

const anySeedBody = fc.oneof(
  consistentSeed().map(({ environments }) => ({ environments: environments.slice(0, 1) })),
  fc.integer({ min: 1, max: 300 }).map((messages) => ({
    environments: [
      {
        name: 'Generated',
        workflows: [{ name: 'Order placed', steps: [{ name: 'Mail', type: 'email' }] }],
        generate: { messages, subscribers: 5 }
      }
    ]
  }))
)

/**
 * The generators for fields in which random values would slow down later requests or would rarely
 * be valid.
 */
const HARMLESS: Record<string, fc.Arbitrary<unknown>> = {
  delay: fc.nat({ max: 3 }),
  spread: fc.nat({ max: 3 }),
  within: fc.integer({ min: 1, max: 20 }),
  preset: fc.constant('none'),
  latency: fc.oneof(fc.constant('none'), fc.record({ delay: fc.nat({ max: 3 }) })),
  effect: fc.oneof(
    fc.record({ status: fc.integer({ min: 400, max: 599 }) }),
    fc.record({ delay: fc.integer({ min: 1, max: 5 }) }),
    fc.record(
      { abort: fc.constantFrom('reset', 'truncate'), lostResponse: fc.boolean() },
      { requiredKeys: [] }
    )
  ),
  seed: fc.constant({ environments: [{ name: 'From a seed' }] })
}

function asRequest({
  operation,
  method,
  segments,
  query,
  headers,
  body,
  text
}: Parts): GeneratedRequest {
  const path = segments.map(encoded).join('/')
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
  return {
    operation,
    method,
    path: search ? `${path}?${search}` : path,
    headers: { ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(sent !== undefined && { body: sent })
  }
}

const encoded = (text: string) =>
  encodeURIComponent(text.toWellFormed?.() ?? Buffer.from(text).toString())

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const oddName = fc.constantFrom(
  ...['__proto__', 'constructor', 'hasOwnProperty', 'a[b]', '', ' ', 'é', 'x'.repeat(300)]
)
const oddText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '-1',
    '1e400',
    'NaN',
    'null',
    '[]',
    '{}',
    '../..',
    '%00',
    '\u0000',
    '😀',
    "' OR 1=1 --"
  ),
  fc.constantFrom(
    '9'.repeat(400),
    'a'.repeat(5000),
    '(a+)+$',
    '(',
    '\\',
    '{{x}}',
    '66f1c2a47c9b1a0012ad0001',
    'a:b'
  )
)
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.constantFrom(null, true, 0, -1, 1e308, 1.5, [], {}, [[]], ['a'], { a: null }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(oddName, fc.constant(1), { maxKeys: 2 })
)

/** Changes that break a request. */
const breakage: fc.Arbitrary<(parts: Parts) => void> = fc.oneof(
  fc
    .tuple(fc.oneof(oddName, fc.constantFrom('page', 'limit', 'channel', 'transactionId')), oddText)
    .map(([name, value]) => (parts: Parts) => {
      parts.query.push([name, value])
    }),
  fc.integer({ min: 2, max: 40 }).map((times) => (parts: Parts) => {
    const [first = ['a', 'b'] satisfies [string, string]] = parts.query
    for (let time = 0; time < times; time += 1) parts.query.push(first as [string, string])
  }),
  fc.tuple(fc.nat(), oddText).map(([index, text]) => (parts: Parts) => {
    const at = 2 + (index % Math.max(1, parts.segments.length - 2))
    parts.segments[Math.min(at, parts.segments.length - 1)] = text
  }),
  fc
    .constantFrom('PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'HEAD', 'OPTIONS')
    .map((method) => (parts: Parts) => {
      parts.method = method
    }),
  fc
    .constantFrom(
      { authorization: 'ApiKey nobody' },
      { authorization: 'Bearer' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'x' },
      { accept: 'application/yaml' },
      { 'idempotency-key': 'x'.repeat(300) },
      { 'idempotency-key': '"' },
      { 'content-encoding': 'gzip' },
      { 'if-none-match': '*' },
      { range: 'bytes=0-1' }
    )
    .map((headers) => (parts: Parts) => {
      parts.headers = { ...parts.headers, ...headers }
    }),
  fc
    .constantFrom('', '{', 'null', '1', '"x"', '{"a":1,"a":2}', '\u0000', '[1,', '['.repeat(6000))
    .map((text) => (parts: Parts) => {
      parts.text = text
    }),
  fc.tuple(oddName, oddValue, fc.nat()).map(([name, value, index]) => (parts: Parts) => {
    parts.body = changed(parts.body, name, value, index)
  }),
  oddValue.map((value) => (parts: Parts) => {
    parts.body = value
  })
)

/** Returns a copy of the body with an unusual field or value, sometimes in a nested object. */
function changed(body: unknown, name: string, value: unknown, index: number): unknown {
  if (typeof body !== 'object' || body === null) return value
  const names = Object.keys(body)
  const chosen = names[index % Math.max(1, names.length)]
  if (chosen === undefined || index % 3 === 0)
    return Object.fromEntries([...Object.entries(body), [name, value]])
  const inner = (body as Record<string, unknown>)[chosen]
  const next = index % 2 === 0 ? value : changed(inner, name, value, index >> 1)
  return Array.isArray(body) ? body.with(Number(chosen), next) : { ...body, [chosen]: next }
}

function textOf({
  pattern,
  format,
  minLength = 0,
  maxLength = 12
}: JsonSchema): fc.Arbitrary<string> {
  if (pattern)
    return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length >= minLength)
  if (format === 'date-time')
    return fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
      .map((date) => date.toISOString())
  if (format === 'regex') return fc.constantFrom('a', '^/v1', '[0-9]+', 'x|y')
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 12) })
}
