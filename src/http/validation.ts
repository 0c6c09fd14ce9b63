import type { TObject, TSchema } from '@sinclair/typebox'
import type { FastifyServerOptions } from 'fastify'
import { parseTime } from '../domain/clock.js'
import {
  createFieldErrors,
  type DomainError,
  type FieldErrors,
  invalidFields
} from '../domain/errors.js'
import type { Query } from '../domain/query-string.js'
import {
  findIssues,
  formatPath,
  isSecretPath,
  type Path,
  type ValidationIssue
} from '../schema/validation.js'

type CompilersFactory = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>
type ValidationResult = { value: unknown; error?: never } | { error: DomainError }

/**
 * Creates the validators and serializers of all Fastify instances. TypeBox validates requests. An
 * invalid request is rejected with `invalid` and a list of all invalid fields. `JSON.stringify`
 * serializes responses.
 */
export const COMPILERS = {
  buildValidator: () => createValidator,
  buildSerializer: () => () => JSON.stringify
} as unknown as CompilersFactory

function createValidator({ schema, httpPart }: { schema: TSchema; httpPart?: string }) {
  if (httpPart === 'querystring') return createQueryValidator(schema as TObject)
  return (value: unknown) => validate(schema, value)
}

/** Returns the value, or an `invalid` error that lists all fields that don't match the schema. */
export function validate(schema: TSchema, value: unknown): ValidationResult {
  const issues = findIssues(schema, value)
  if (issues.length === 0) return { value }
  const errors = createFieldErrors()
  for (const { path, message, hint } of issues) {
    const field = formatPath(path) || 'body'
    errors[field] ??= { messages: [], ...(!isSecretPath(path) && scalarAt(path, value)) }
    errors[field].messages.push(`${field} ${message}${hint}`)
  }
  return { error: invalidFields(errors) }
}

/**
 * Parses the time in a field and returns milliseconds since 1970. Throws `invalid` if the text
 * isn't a valid time.
 */
export function parseTimeField(field: string, text: string): number {
  const time = parseTime(text)
  if (time !== undefined) return time
  throw invalidFields({
    [field]: { messages: [`${field} must be an ISO 8601 time with a time zone`], value: text }
  })
}

/**
 * Returns the value at the path as `{ value }`. Returns `{}` for objects and lists, which can be
 * long and whose fields have their own errors.
 */
function scalarAt(path: Path, root: unknown): { value?: unknown } {
  const value = path.reduce<unknown>(
    (node, part) => (node as Record<string | number, unknown>)[part],
    root
  )
  return typeof value === 'object' && value !== null ? {} : { value }
}

/**
 * Returns a function that validates a query. The function converts values to the types in the
 * schema, adds defaults, and drops unknown parameters and the empty strings in lists. An empty
 * value counts as absent for a string parameter, and is rejected for a number.
 */
function createQueryValidator(schema: TObject): (query: unknown) => ValidationResult {
  const parameters = Object.entries(schema.properties as Record<string, TSchema>)
  return (rawQuery) => {
    const query = rawQuery as Query
    const errors = createFieldErrors()
    const values: Record<string, unknown> = {}
    for (const [name, parameter] of parameters) {
      const value = query[name]
      if (Array.isArray(value) && parameter.type !== 'array') {
        addError(errors, query, name, 'must be given once, without brackets')
      }
      const converted = convert(value, parameter)
      if (converted !== undefined) values[name] = converted
    }
    addIssues(errors, query, findIssues(schema, values))
    return Object.keys(errors).length === 0 ? { value: values } : { error: invalidFields(errors) }
  }
}

function addIssues(errors: FieldErrors, query: Query, issues: readonly ValidationIssue[]): void {
  for (const { path, message, hint } of issues) {
    // Hints that start with `;` are suggestions. Drop all other hints: they name the value's type,
    // and query values are always strings.
    addError(errors, query, String(path[0]), hint.startsWith(';') ? message + hint : message)
  }
}

/** Returns the converted value of the parameter, or its default if the value is absent. */
function convert(value: Query[string] | undefined, parameter: TSchema): unknown {
  const { type, default: fallback } = parameter
  if (value === undefined) return fallback
  if (type === 'array') return [value].flat().filter((item) => item !== '')
  if (typeof value !== 'string') return fallback
  if (/^(integer|number)$/.test(type)) return toIntegerOrString(value)
  return value === '' ? fallback : value
}

/**
 * Converts strings such as `10` to numbers. Accepts `10.0` too, because some generated clients send
 * it. Returns other strings unchanged, so that validation rejects them.
 */
function toIntegerOrString(value: string): string | number {
  return /^\d+(\.0+)?$/.test(value) ? Math.min(Number(value), Number.MAX_VALUE) : value
}

function addError(errors: FieldErrors, query: Query, name: string, message: string): void {
  errors[name] ??= { messages: [], value: query[name] }
  const text = `${name} ${message}`
  if (!errors[name].messages.includes(text)) errors[name].messages.push(text)
}
