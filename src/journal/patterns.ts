import type { RE2JS } from 're2js'
import { createFieldErrors, type FieldErrors, invalidFields } from '../domain/errors.js'
import { MASK } from '../domain/masking.js'
import { pathOf } from '../http/target.js'
import type { JournalEntry } from './entry.js'
import type { RecordedRequest, RequestPattern } from './schemas.js'

/** A field of a pattern, with the value of the same field in a request. */
export interface PatternField {
  /** The field's path in the body of the control request, such as `inOrder[0].method`. */
  path: string
  expected: NonNullable<RequestPattern['query']>[string]
  /** The request's value, or undefined if the request doesn't have the field. */
  actual: string | number | string[] | undefined
}

export const PATTERN_FIELDS = [
  'operation',
  'method',
  'path',
  'query',
  'headers',
  'body',
  'status'
] as const

/** How many regular expressions one verification may contain. */
const MAX_EXPRESSIONS = 20
const UNSUPPORTED =
  "can't use lookarounds or backreferences, and can't repeat anything more than 1,000 times"
const TOO_MANY = `exceeds the limit of ${MAX_EXPRESSIONS} regular expressions in one verification`

/** Maps each `{ matches }` object in a pattern to its expression, compiled by `preparePatterns`. */
const compiledExpressions = new WeakMap<object, RE2JS>()

/**
 * Compiles the regular expressions in `patterns`. Each `path` is the prefix of the pattern's fields
 * in the body of the control request, such as `inOrder[1].`. Throws `invalid` if RE2 doesn't
 * support an expression, or if there are too many expressions.
 *
 * RE2 matches in linear time. In Node's own engine, some expressions could block the server
 * forever.
 */
export async function preparePatterns(
  patterns: readonly (readonly [path: string, RequestPattern])[]
): Promise<void> {
  const expressions = patterns.flatMap(([path, pattern]) => expressionsIn(pattern, path))
  if (expressions.length === 0) return
  const re2js = await import('re2js')
  const errors: FieldErrors = createFieldErrors()
  for (const [index, { path, expected }] of expressions.entries()) {
    const compiled = index < MAX_EXPRESSIONS ? compile(re2js, expected.matches) : undefined
    if (compiled) {
      compiledExpressions.set(expected, compiled)
    } else {
      const problem = index < MAX_EXPRESSIONS ? UNSUPPORTED : TOO_MANY
      errors[path] = { messages: [`${path} ${problem}`], value: expected.matches }
    }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

function expressionsIn(pattern: RequestPattern, path: string) {
  return fieldsOf(pattern, path).flatMap((field) => {
    const { expected } = field
    const isExpression = typeof expected === 'object' && 'matches' in expected
    return isExpression ? [{ path: `${field.path}.matches`, expected }] : []
  })
}

function compile({ RE2JS, RE2JSException }: typeof import('re2js'), expression: string) {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(expression))
  } catch (error) {
    if (error instanceof RE2JSException) return undefined
    throw error
  }
}

/**
 * Returns whether a request matches all fields of a pattern. Call `preparePatterns` for the pattern
 * first.
 */
export function matches(entry: JournalEntry, pattern: RequestPattern): boolean {
  if (!mayMatch(entry, pattern)) return false
  const { path, query, headers, body } = pattern
  // Describe the request only if the pattern has one of these fields, because `mayMatch` has
  // already compared the other fields.
  const isDecided = path === undefined && !query && !headers && body === undefined
  return isDecided || mismatches(entry.journal.describer.request(entry), pattern).length === 0
}

/**
 * Returns false if the entry's raw fields are enough to rule out a match. This check is much faster
 * than describing the request.
 */
export function mayMatch(entry: JournalEntry, pattern: RequestPattern): boolean {
  const { operation, method, path, status, headers = {} } = pattern
  if (operation !== undefined && entry.operation?.id !== operation) return false
  if (method !== undefined && method.toUpperCase() !== entry.method) return false
  if (status !== undefined && entry.status !== status) return false
  const isPlainPath = typeof path === 'string' && !path.includes(MASK)
  if (isPlainPath && path !== pathOf(entry.url)) return false
  return mayHaveHeaders(entry, headers)
}

function mayHaveHeaders(
  { rawHeaders }: JournalEntry,
  headers: NonNullable<RequestPattern['headers']>
): boolean {
  const lines = `\n${rawHeaders}\n`.toLowerCase()
  return Object.entries(headers).every(([name, expected]) => {
    const value = typeof expected === 'object' ? '' : `${expected}\n`
    const line = `\n${name}\n${value}`
    // Raw headers aren't redacted, so a pattern with a redacted value can't be checked here.
    // `mismatches` compares it with the redacted request later.
    return line.includes(MASK) || lines.includes(line.toLowerCase())
  })
}

/**
 * Returns the pattern fields that a request doesn't match. `path` is the prefix of the pattern's
 * fields in the body of the control request, such as `inOrder[1].`.
 */
export function mismatches(
  request: RecordedRequest,
  pattern: RequestPattern,
  path = ''
): PatternField[] {
  return fieldsOf(pattern, path, request).filter((field) => !isMatch(field))
}

/** Returns the pattern fields, each with the value of the same field in the request. */
function fieldsOf(
  pattern: RequestPattern,
  parentPath: string,
  request?: RecordedRequest
): PatternField[] {
  return PATTERN_FIELDS.flatMap((name): PatternField[] => {
    const path = `${parentPath}${name}`
    if (name === 'query' || name === 'headers') {
      return Object.entries(pattern[name] ?? {}).map(([key, expected]) => {
        // Recorded requests have header names in lower case.
        const requestKey = name === 'headers' && request ? key.toLowerCase() : key
        return { path: `${path}.${requestKey}`, expected, actual: request?.[name][requestKey] }
      })
    }
    const expected = name === 'method' ? pattern.method?.toUpperCase() : pattern[name]
    return expected === undefined ? [] : [{ path, expected, actual: request?.[name] }]
  })
}

function isMatch({ expected, actual }: PatternField): boolean {
  if (actual === undefined) return false
  const values = [actual].flat().map(String)
  if (Array.isArray(expected)) return hasSameMembers(values, expected.map(String))
  if (typeof expected !== 'object') return values.includes(String(expected))
  const expression = compiledExpressions.get(expected)
  if (!expression) throw new Error('call preparePatterns() before matching a pattern')
  return values.some((value) => expression.test(value))
}

function hasSameMembers(one: readonly string[], other: readonly string[]): boolean {
  return one.every((value) => other.includes(value)) && other.every((value) => one.includes(value))
}
