import type { TObject, TSchema } from '@sinclair/typebox'
import type { FastifyServerOptions } from 'fastify'
import { parseTime } from '../domain/clock.js'
import { createFieldErrors, type DomainError, invalidFields } from '../domain/errors.js'
import type { Query } from '../domain/query-string.js'
import { findIssues, formatPath, isSecretPath, type Path } from '../schema/validation.js'

type CompilersFactory = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>
type Judgement = { value: unknown; error?: never } | { error: DomainError }

/**
 * The compilers of an app: TypeBox judges what is sent, by the schema of the route, and answers go out as
 * `JSON.stringify` writes them. Rejects with `invalid`, all bad fields at once.
 */
export const COMPILERS = {
  buildValidator: () => validatorOf,
  buildSerializer: () => () => JSON.stringify
} as unknown as CompilersFactory

const validatorOf = ({ schema, httpPart }: { schema: TSchema; httpPart?: string }) =>
  httpPart === 'querystring'
    ? queryValidator(schema as TObject)
    : (sent: unknown) => validate(schema, sent)

/** Returns what was sent if it matches the schema, else the error to reject it with. */
export function validate(schema: TSchema, sent: unknown): Judgement {
  const issues = findIssues(schema, sent)
  if (issues.length === 0) return { value: sent }
  const errors = createFieldErrors()
  for (const { path, message, hint } of issues) {
    const field = formatPath(path) || 'body'
    errors[field] ??= { messages: [], ...(!isSecretPath(path) && sentAt(path, sent)) }
    errors[field].messages.push(`${field} ${message}${hint}`)
  }
  return { error: invalidFields(errors) }
}

/** Returns the milliseconds since 1970 of a field that gives a time. Throws `invalid` when it is none. */
export function parseTimeField(field: string, text: string): number {
  const time = parseTime(text)
  if (time !== undefined) return time
  throw invalidFields({
    [field]: { messages: [`${field} must be a time in ISO 8601, with its zone`], value: text }
  })
}

/** Returns the value at a path. Objects and lists are left out: they may be long, and their fields have own messages. */
function sentAt(path: Path, sent: unknown): { value?: unknown } {
  const value = path.reduce<unknown>(
    (node, part) => (node as Record<string | number, unknown>)[part],
    sent
  )
  return typeof value === 'object' && value !== null ? {} : { value }
}

/**
 * Reads a query by its schema: lists where it says array, numbers where it says so, defaults filled in, unknown
 * parameters left out. An empty text counts as absent, in a list too, but the list stays.
 */
function queryValidator(schema: TObject): (query: unknown) => Judgement {
  const parameters = Object.entries(schema.properties as Record<string, TSchema>)
  return (query) => {
    const sent = query as Query
    const read: Record<string, unknown> = {}
    const errors = createFieldErrors()
    for (const [name, { type, default: fallback }] of parameters) {
      const value = sent[name]
      if (fallback !== undefined) read[name] = fallback
      if (value === undefined) continue
      if (type === 'array') read[name] = [value].flat().filter((item) => item !== '')
      else if (Array.isArray(value)) addError(name, 'must be given once, without brackets')
      else if (/^(integer|number)$/.test(type)) read[name] = asInteger(value)
      else if (value) read[name] = value
    }
    for (const { path, message, hint } of findIssues(schema, read)) {
      // That it is a text and no number goes without saying: all of a query is.
      addError(String(path[0]), hint.startsWith(';') ? message + hint : message)
    }
    return Object.keys(errors).length === 0 ? { value: read } : { error: invalidFields(errors) }

    function addError(name: string, message: string): void {
      errors[name] ??= { messages: [], value: sent[name] }
      const text = `${name} ${message}`
      if (!errors[name].messages.includes(text)) errors[name].messages.push(text)
    }
  }
}

/** `10` and `10.0`, which some generated clients send, are integers. Any other text stays text, and is refused as such. */
const asInteger = (value: string): string | number =>
  /^\d+(\.0+)?$/.test(value) ? Math.min(Number(value), Number.MAX_VALUE) : value
