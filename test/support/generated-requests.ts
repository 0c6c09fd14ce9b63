import fc from 'fast-check'
import { consistentSeed } from './seeds.js'

/** A request as it is sent: valid by the document, or with something in it that should be refused. */
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

interface JsonSchema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  pattern?: string
  format?: string
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
}

/** Values that exist on the server, and of other fields some that it takes. */
export interface KnownValues {
  /** By name, or where that tells little by what comes before it in the path: `messages/id`. */
  parameters: Record<string, readonly string[]>
  /** By the name of the field of a body. */
  fields: Record<string, readonly string[]>
}

/**
 * Any request to an operation of the document. Half of them are broken in one or two ways: a parameter or field of
 * another type, an odd name, a repetition, a body that is no JSON or too deep, a method that the path does not have.
 */
export function anyRequest(document: Published, known: KnownValues): fc.Arbitrary<GeneratedRequest> {
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId && operationId !== 'streamRequests')
      .map(([method, operation]) => requestTo(document, known, template, method.toUpperCase(), operation))
  )
  return fc
    .tuple(fc.oneof(...operations), fc.boolean(), fc.array(breakage, { minLength: 1, maxLength: 2 }))
    .map(([parts, isBroken, breakages]) => {
      if (isBroken) for (const change of breakages) change(parts)
      return asRequest(parts)
    })
}

/** What a request is made of before it is written. */
interface Parts {
  operation: string
  method: string
  segments: string[]
  query: [name: string, value: string][]
  headers: Record<string, string>
  body?: unknown
  /** Sent in place of the body. */
  text?: string
}

function requestTo(
  document: Published,
  known: KnownValues,
  template: string,
  method: string,
  { operationId, parameters = [], requestBody }: Operation
): fc.Arbitrary<Parts> {
  const values = { document, fields: known.fields }
  const anyTextFor = (name: string, schema: JsonSchema) =>
    mostlyKnown(known.parameters[name], anyValueOf(values, schema).map(asText))
  const inPath = template.split('/').map((segment, index, all) => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1]
    if (name === undefined) return fc.constant(segment)
    const schema = parameters.find((each) => each.in === 'path' && each.name === name)?.schema
    const path = `${all[index - 1]}/${name}`
    return anyTextFor(path in known.parameters ? path : name, schema ?? {}).map((value) => value || 'x')
  })
  const inQuery = parameters
    .filter((each) => each.in === 'query')
    .map(({ name, schema }) => {
      const isList = [schema, ...(schema.anyOf ?? [])].some(({ type }) => type === 'array')
      const value = anyTextFor(name, (isList && schema.items) || schema).map((text): [string, string] => [name, text])
      return fc.oneof(fc.constant([]), fc.array(value, { minLength: 1, maxLength: isList ? 4 : 1 }))
    })
  const inHeaders = fc.oneof(
    fc.constant({}),
    fc.stringMatching(/^[a-z]{1,2}$/).map((key) => ({ 'idempotency-key': key }))
  )
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema
  return fc.record({
    operation: fc.constant(operationId),
    method: fc.constant(method),
    segments: fc.tuple(...inPath),
    query: fc.tuple(...inQuery).map((lists) => lists.flat()),
    headers: inHeaders,
    ...(schema && { body: operationId === 'loadSeed' ? anySeedBody : anyValueOf(values, schema).map(madeHarmless) })
  }) as fc.Arbitrary<Parts>
}

function mostlyKnown<Value>(known: readonly string[] | undefined, others: fc.Arbitrary<Value>) {
  if (!known) return others
  // Chosen when it is generated, as there may be more of them by then.
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

interface Latency {
  preset?: unknown
  delay?: unknown
  spread?: unknown
}

interface Risky extends Latency {
  latency?: unknown
  effect?: { delay?: number; status?: number }
  within?: number
  seed?: unknown
}

/** Waits so short that the requests that follow are not held up, and mostly an effect that does not contradict itself. */
function madeHarmless(body: unknown): unknown {
  const { effect, within, seed, latency } = (body ?? {}) as Risky
  return {
    ...quick((body ?? {}) as Latency),
    ...(latency !== undefined && {
      latency: typeof latency === 'object' ? quick(latency ?? {}) : quickPreset(latency)
    }),
    ...(effect && {
      effect: effect.status ? { status: effect.status } : effect.delay ? { delay: 1 + (effect.delay % 5) } : effect
    }),
    ...(within !== undefined && { within: 1 + (Math.abs(within) % 20) }),
    ...(seed !== undefined && { seed: { environments: [{ name: 'From a seed' }] } })
  }
}

/** A latency of few milliseconds in place of a long one; what is none stays. */
function quick<Body extends Latency>({ preset, delay, spread, ...body }: Body): object {
  const few = (value: unknown) => (typeof value === 'number' ? value % 3 : value)
  return {
    ...body,
    ...(preset !== undefined && { preset: quickPreset(preset) }),
    ...(delay !== undefined && { delay: few(delay) }),
    ...(spread !== undefined && { spread: few(spread) })
  }
}

const quickPreset = (preset: unknown) => (['office', 'mobile', 'bad'].includes(String(preset)) ? 'none' : preset)

function asRequest({ operation, method, segments, query, headers, body, text }: Parts): GeneratedRequest {
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

const encoded = (text: string) => encodeURIComponent(text.toWellFormed?.() ?? Buffer.from(text).toString())

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'a[b]',
  '',
  ' ',
  '$where',
  'é',
  'x'.repeat(300)
]
const oddName = fc.constantFrom(...ODD_NAMES)
const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e400',
    'NaN',
    'null',
    'true',
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
    'A:B',
    'a:b'
  )
)
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.constantFrom(null, true, 0, -1, 1e308, 1.5, [], {}, [[]], ['a'], { a: null }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(oddName, fc.constant(1), { maxKeys: 2 })
)

/** Each changes the request in one way. */
const breakage: fc.Arbitrary<(parts: Parts) => void> = fc.oneof(
  fc.tuple(fc.oneof(oddName, fc.constantFrom('page', 'limit', 'channel', 'transactionId')), oddText).map(
    ([name, value]) =>
      (parts: Parts) =>
        void parts.query.push([name, value])
  ),
  fc.integer({ min: 2, max: 40 }).map((times) => (parts: Parts) => {
    const [first = ['a', 'b'] satisfies [string, string]] = parts.query
    for (let time = 0; time < times; time += 1) parts.query.push(first as [string, string])
  }),
  fc.tuple(fc.nat(), oddText).map(([index, text]) => (parts: Parts) => {
    const at = 2 + (index % Math.max(1, parts.segments.length - 2))
    parts.segments[Math.min(at, parts.segments.length - 1)] = text
  }),
  fc.constantFrom('PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'HEAD', 'OPTIONS').map((method) => (parts: Parts) => {
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
    .constantFrom(
      '',
      '{',
      '[',
      'null',
      '1',
      '"x"',
      '{"a":1,"a":2}',
      '\u0000',
      '[1,',
      '['.repeat(6000),
      '{"a":'.repeat(6000)
    )
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

/** A copy with an odd field besides, or an odd value in place of one; half of the time further inside. */
function changed(body: unknown, name: string, value: unknown, index: number): unknown {
  if (typeof body !== 'object' || body === null) return value
  const names = Object.keys(body)
  const chosen = names[index % Math.max(1, names.length)]
  if (chosen === undefined || index % 3 === 0) return Object.fromEntries([...Object.entries(body), [name, value]])
  const inner = (body as Record<string, unknown>)[chosen]
  const next = index % 2 === 0 ? value : changed(inner, name, value, index >> 1)
  return Array.isArray(body) ? body.with(Number(chosen), next) : { ...body, [chosen]: next }
}

interface Values {
  document: Published
  fields: KnownValues['fields']
}

function anyValueOf(values: Values, schema: JsonSchema): fc.Arbitrary<unknown> {
  const inner = (each: JsonSchema) => anyValueOf(values, each)
  if (schema.$ref) return inner(values.document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) return fc.oneof(...variants.map(inner))
  const types = [schema.type ?? []].flat()
  if (types.length > 1) return fc.oneof(...types.map((type) => inner({ ...schema, type })))
  const { minimum = schema.exclusiveMinimum ?? 0, maximum = 1000 } = schema
  switch (types[0]) {
    case 'object':
      return anyObjectOf(schema, (each, name = '') => mostlyKnown(values.fields[name], inner(each)))
    case 'array':
      return fc.array(inner(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 4 })
    case 'integer':
      return fc.oneof(
        fc.integer({ min: minimum, max: Math.min(maximum, minimum + 5) }),
        fc.integer({ min: minimum, max: Math.min(maximum, 1e9) })
      )
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true, minExcluded: schema.exclusiveMinimum !== undefined })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return anyTextOf(schema)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function anyTextOf({ pattern, format, minLength = 0, maxLength = 12 }: JsonSchema): fc.Arbitrary<string> {
  if (pattern) return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length >= minLength)
  if (format === 'date-time')
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString())
  if (format === 'regex') return fc.constantFrom('a', '^/v1', '[0-9]+', 'x|y')
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 12) })
}

function anyObjectOf(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  inner: (each: JsonSchema, name?: string) => fc.Arbitrary<unknown>
): fc.Arbitrary<object> {
  const fields = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, inner(each, name)]))
  // Of many optional fields half seldom fit together, so half of the objects have few.
  const optional = Object.keys(fields).filter((name) => !required.includes(name))
  const few = fc.subarray(optional, { maxLength: Math.min(2, optional.length) })
  const withFew = few.chain((names) =>
    fc.record(Object.fromEntries(Object.entries(fields).filter(([name]) => [...required, ...names].includes(name))))
  )
  const own = fc.oneof(fc.record(fields, { requiredKeys: required }), withFew)
  if (additionalProperties === undefined || additionalProperties === false) return own
  const others = additionalProperties === true ? fc.jsonValue({ maxDepth: 1 }) : inner(additionalProperties)
  const names = fc.oneof(fc.stringMatching(/^[a-z]{1,5}$/), oddName)
  return fc
    .tuple(own, fc.array(fc.tuple(names, others), { maxLength: 3 }))
    .map(([object, more]) => Object.fromEntries([...Object.entries(object), ...more]))
}
