import { FormatRegistry, Kind, type TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { ValuePointer } from '@sinclair/typebox/value'
import { VENDOR_NAMES } from '../domain/assumptions.js'
import { isSecretName } from '../domain/credentials.js'
import { DURATION_PATTERN } from '../domain/duration.js'
import {
  API_KEY_PATTERN,
  CHOSEN_API_KEY_PATTERN,
  CONTEXT_KEY_PATTERN,
  ID_PATTERN
} from '../domain/ids.js'
import { TIME_FIELDS } from '../domain/record-times.js'
import { didYouMean } from '../domain/suggestions.js'
import { compile, targetOf } from './typebox.js'

/** Field names and list indexes that lead from a value to a nested value. */
export type Path = readonly (string | number)[]

/** A mismatch between a value and its schema. */
export interface ValidationIssue {
  path: Path
  /** The text that follows the path in an error message, such as `must be a string`. */
  message: string
  /** The text to append to the message: the actual value, a suggestion, or nothing. */
  hint: string
  /** The part of the field that is wrong. */
  part: 'name' | 'value'
}

// `regex` is the only string format that we let TypeBox check. Timestamps accept any string.
FormatRegistry.Set('regex', (text) => findRegexError(text) === undefined)

function findRegexError(text: string): string | undefined {
  try {
    RegExp(text)
    return undefined
  } catch (error) {
    return (error as SyntaxError).message
  }
}

/** The maximum number of issues to report for a value. */
export const MAX_ISSUES = 100

/**
 * The maximum number of errors to read from TypeBox. It is higher than `MAX_ISSUES`, because the
 * errors about an object's missing fields are merged into one issue.
 */
const MAX_ERRORS = 10 * MAX_ISSUES

/** Returns at most `limit` issues of a JSON value. A value that matches the schema has none. */
export function findIssues(schema: TSchema, value: unknown, limit = MAX_ISSUES): ValidationIssue[] {
  const checker = compile(schema)
  if (checker.Check(value)) return []
  const collected = collectErrors(checker.Errors(value), value, [])
  const errors = withoutLengths(mergeMissingFields(collected))
  return errors.slice(0, limit).flatMap(toIssues).slice(0, limit)
}

/** Returns whether the value at the path may be a secret, which messages must not repeat. */
export const isSecretPath = (path: Path): boolean =>
  path.some((part) => part === 'configurations' || isSecretName(String(part)))

/** Returns a path in code notation, such as `environments[0].integrations[1].channel`. */
export function formatPath(path: Path): string {
  const parts = path.map((part, index) => {
    if (typeof part === 'number' || !/^[\w$-]+$/.test(part)) return `[${JSON.stringify(part)}]`
    return index === 0 ? part : `.${part}`
  })
  return parts.join('')
}

/**
 * An error from TypeBox. An error about a reference is replaced with the errors of the referenced
 * schema.
 */
interface SchemaError extends Pick<ValueError, 'type' | 'schema' | 'value'> {
  path: Path
  /** If the schema is a union, the errors of each variant. */
  variants: SchemaError[][]
  /** The names of an object's missing fields, set by `mergeMissingFields`. */
  missing?: string[]
}

/** Converts TypeBox's errors about the value `root`. `base` is the path to `root`. */
function collectErrors(errors: Iterable<ValueError>, root: unknown, base: Path): SchemaError[] {
  const collected: SchemaError[] = []
  for (const { type, schema, path: pointer, value, errors: variants } of errors) {
    if (collected.length >= MAX_ERRORS) break
    // TypeBox also checks a missing field against the field's schema, which adds a second error.
    // Skip that error.
    const isDuplicate = value === undefined && type !== ValueErrorType.ObjectRequiredProperty
    if (isDuplicate) continue
    const path = [...base, ...toPath(root, pointer)]
    if (schema[Kind] === 'Reference' && type === ValueErrorType.Kind) {
      collected.push(...collectErrors(compile(targetOf(schema)).Errors(value), value, path))
    } else {
      const variantErrors = variants.map((variant) => collectErrors(variant, root, base))
      collected.push({ type, schema, path, value, variants: variantErrors })
    }
  }
  return collected
}

/** Converts a JSON pointer to a path in which list indexes are numbers, not strings. */
function toPath(root: unknown, pointer: string): Path {
  let node = root
  return [...ValuePointer.Format(pointer)].map((name) => {
    const part = Array.isArray(node) ? Number(name) : name
    node = (node as Record<string | number, unknown>)[part]
    return part
  })
}

/** Merges the errors about missing fields of the same object into one error. */
function mergeMissingFields(errors: SchemaError[]): SchemaError[] {
  const missingByObject = new Map<string, string[]>()
  return errors.flatMap((error) => {
    if (error.type !== ValueErrorType.ObjectRequiredProperty) return error
    const objectPath = error.path.slice(0, -1)
    const key = formatPath(objectPath)
    const field = String(error.path.at(-1))
    const missing = missingByObject.get(key)
    if (missing) {
      // The object's merged error already contains this array.
      missing.push(field)
      return []
    }
    const fields = [field]
    missingByObject.set(key, fields)
    return { ...error, path: objectPath, missing: fields }
  })
}

/**
 * Drops the minimum-length error of each value that also has a pattern error. The message about the
 * pattern already includes the required length.
 */
function withoutLengths(errors: SchemaError[]): SchemaError[] {
  const withPattern = errors.filter(({ type }) => type === ValueErrorType.StringPattern)
  if (withPattern.length === 0) return errors
  const paths = new Set(withPattern.map(({ path }) => formatPath(path)))
  return errors.filter(
    ({ type, path }) => type !== ValueErrorType.StringMinLength || !paths.has(formatPath(path))
  )
}

function toIssues(error: SchemaError): ValidationIssue[] {
  const { type, path, missing } = error
  if (type === ValueErrorType.Union) return toUnionIssues(error)
  if (type === ValueErrorType.ObjectAdditionalProperties) return [unknownFieldIssue(error)]
  if (missing) {
    return [{ path, message: `must have ${missing.join(', ')}`, hint: '', part: 'value' }]
  }
  return [{ path, ...describeError(error), part: 'value' }]
}

function unknownFieldIssue({ path, schema }: SchemaError): ValidationIssue {
  const allowed = Object.keys(schema.properties)
  const fields =
    allowed.length > 0 ? `; allowed fields: ${allowed.join(', ')}` : '; no fields are allowed'
  const hint = didYouMean(String(path.at(-1)), allowed) || fields
  return { path, message: 'is not a known field', hint, part: 'name' }
}

/** The fields whose value selects a variant of a union. */
const DISCRIMINATORS = ['type', 'mode']

/**
 * Returns the issues of the closest variant. Considers only variants whose type and discriminator
 * match the value, and chooses the one with the fewest errors. If no variant matches, returns one
 * issue about the discriminator or the type.
 */
function toUnionIssues(union: SchemaError): ValidationIssue[] {
  const { variants, path } = union
  const candidates = variants.filter(
    (errors) => !errors.some((error) => isOtherType(error, path) || isDiscriminator(error, path))
  )
  const [closest] = candidates.sort((one, two) => one.length - two.length)
  if (closest) return mergeMissingFields(closest).flatMap(toIssues)
  return [discriminatorIssue(union) ?? typeIssue(union)]
}

/**
 * Returns the issue for a discriminator that selects no variant, or undefined if the value has no
 * discriminator.
 */
function discriminatorIssue({ variants, path }: SchemaError): ValidationIssue | undefined {
  const errors = variants.flat().filter((error) => isDiscriminator(error, path))
  const [first] = errors
  if (!first) return undefined
  const allowed = [...new Set(errors.flatMap(({ schema }) => schema.enum as string[]))]
  return { path: first.path, ...describeEnum(allowed, first.value), part: 'value' }
}

/** Returns the issue for a value whose type matches none of the variants. */
function typeIssue(union: SchemaError): ValidationIssue {
  const { variants, path } = union
  const types = variants
    .flat()
    .filter((error) => isOtherType(error, path))
    .map(({ schema }) => PATTERN_NAMES[schema.pattern] ?? describeType(schema))
  const message = `must be ${[...new Set(types)].join(' or ')}`
  return { path, message, hint: describeActual(union), part: 'value' }
}

/** Returns whether the error is about the type of the value itself, not about a field in it. */
function isOtherType(error: SchemaError, union: Path): boolean {
  if (error.path.length !== union.length) return false
  if (isTypeError(error)) return true
  return Boolean(error.schema.enum) && typeof error.value !== 'string'
}

function isDiscriminator({ type, path, schema }: SchemaError, union: Path): boolean {
  if (type !== ValueErrorType.Kind || !schema.enum) return false
  return path.length === union.length + 1 && DISCRIMINATORS.includes(String(path.at(-1)))
}

/**
 * Returns a message only if the maximum is the largest safe integer. The text from `describeType`
 * includes every other maximum.
 */
const describeSafeMaximum = ({ schema: { maximum } }: SchemaError): string | undefined =>
  maximum === Number.MAX_SAFE_INTEGER ? `must be at most ${maximum}` : undefined

const countItems = (count: number) => `${count} ${count === 1 ? 'item' : 'items'}`

/**
 * Functions that create the message of an error, by error type. If there is no function or it
 * returns undefined, the message names the expected type, such as `must be a string`.
 */
const MESSAGES: { [Type in ValueErrorType]?: (error: SchemaError) => string | undefined } = {
  [ValueErrorType.StringPattern]: ({ schema: { pattern } }) =>
    `must be ${PATTERN_NAMES[pattern] ?? `a string that matches ${pattern}`}`,
  [ValueErrorType.StringFormat]: ({ path, value }) => {
    const reason = isSecretPath(path) ? '' : `: ${findRegexError(String(value))}`
    return `must be a regular expression${reason}`
  },
  [ValueErrorType.StringMinLength]: ({ schema: { minLength } }) =>
    minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`,
  [ValueErrorType.StringMaxLength]: ({ schema }) =>
    `must have at most ${schema.maxLength} characters`,
  [ValueErrorType.ObjectMinProperties]: () => 'must not be empty',
  [ValueErrorType.ObjectMaxProperties]: ({ schema }) =>
    `must have at most ${schema.maxProperties} fields`,
  [ValueErrorType.ArrayMinItems]: ({ schema }) =>
    `must have at least ${countItems(schema.minItems)}`,
  [ValueErrorType.ArrayMaxItems]: ({ schema }) =>
    `must have at most ${countItems(schema.maxItems)}`,
  [ValueErrorType.IntegerMaximum]: describeSafeMaximum,
  [ValueErrorType.NumberMaximum]: describeSafeMaximum
}

const isTypeError = (error: SchemaError): boolean =>
  error.type !== ValueErrorType.Union &&
  !error.schema.enum &&
  MESSAGES[error.type]?.(error) === undefined

type Description = Pick<ValidationIssue, 'message' | 'hint'>

function describeError(error: SchemaError): Description {
  const { schema, value } = error
  if (schema.enum) return describeEnum(schema.enum, value)
  const message = MESSAGES[error.type]?.(error)
  if (message !== undefined) return { message, hint: '' }
  const isString = schema.const === undefined && [schema.type].flat().includes('string')
  const isUnquoted = /^(number|boolean)$/.test(typeof value)
  const fix = isString && isUnquoted ? describeFix(error) : ''
  return { message: `must be ${describeType(schema)}`, hint: describeActual(error) + fix }
}

/** The names of all fields that contain a time, or a list of times. */
const TIME_NAMES = new Set<string>([...Object.values(TIME_FIELDS).flat(), 'at', 'timesRelativeTo'])

/** Returns the fix for a number or boolean that must be a string, such as `: put it in quotes`. */
function describeFix({ path, value }: SchemaError): string {
  const name = path.findLast((part) => typeof part === 'string') ?? ''
  if (typeof value !== 'number' || !TIME_NAMES.has(name)) return ': put it in quotes'
  return `: write it as an ISO 8601 time, such as "${isoTimeOf(value)}"`
}

/** A number below this limit is read as seconds since 1970, any other number as milliseconds. */
const MAX_SECONDS = 1e11

/** Returns the time that the number probably means, or an example if it can't be a time. */
function isoTimeOf(value: number): string {
  const date = new Date(value < MAX_SECONDS ? value * 1000 : value)
  const isPlausible = date.getTime() >= Date.UTC(1980) && date.getTime() < Date.UTC(2100)
  return isPlausible ? date.toISOString() : '2026-02-18T10:07:11.402Z'
}

function describeEnum(values: readonly string[], value: unknown): Description {
  const documentedName = values.find((name) => VENDOR_NAMES[name] === value)
  const hint = typeof value === 'string' ? didYouMean(documentedName ?? value, values) : ''
  return { message: `must be one of ${values.join(', ')}`, hint }
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null'
}

/** Returns the type with its bounds, such as `a whole number from 1 to 1000`. */
function describeType({ type, const: constant, enum: values, multipleOf, ...bounds }: TSchema) {
  if (values) return `one of ${values.join(', ')}`
  if (constant !== undefined) return JSON.stringify(constant)
  const types: string[] = [multipleOf === 1 ? 'integer' : type].flat()
  const names = types.map((name) =>
    /integer|number/.test(name) ? TYPE_NAMES[name] + describeBounds(bounds) : TYPE_NAMES[name]
  )
  return names.join(' or ')
}

function describeBounds({ minimum, exclusiveMinimum, maximum }: Record<string, unknown>): string {
  const hasMaximum = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER
  if (exclusiveMinimum !== undefined) {
    return hasMaximum
      ? ` above ${exclusiveMinimum} and at most ${maximum}`
      : ` above ${exclusiveMinimum}`
  }
  if (minimum !== undefined && hasMaximum) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return hasMaximum ? ` of at most ${maximum}` : ''
}

/**
 * Returns text that describes the actual value, such as `, not a list`. It doesn't repeat most
 * strings, because they may be secrets.
 */
function describeActual({ value, path }: SchemaError): string {
  if (isSecretPath(path) && /^(string|number)$/.test(typeof value)) return `, not a ${typeof value}`
  if (Array.isArray(value)) return ', not a list'
  if (typeof value === 'object' && value !== null) return ', not an object'
  if (typeof value !== 'string') return `, not ${value}`
  const isQuotedScalar = /^(yes|no|on|off|true|false|[\d.]+)$/i.test(value)
  return isQuotedScalar ? `, not the string "${value}"` : ', not a string'
}

/** Readable descriptions of the patterns in our schemas. */
const PATTERN_NAMES: Record<string, string> = {
  [CONTEXT_KEY_PATTERN]: 'in the form type:id',
  [DURATION_PATTERN]: 'a duration, such as 30s, 10m or 1h',
  [ID_PATTERN.source]: 'an id of 24 lower-case hex digits',
  [API_KEY_PATTERN.source]: 'an API key of printable ASCII characters without spaces',
  [CHOSEN_API_KEY_PATTERN.source]:
    'an API key of printable ASCII characters without spaces: ' +
    'at least 16 characters, or at least 8 if it has a digit or hyphen'
}

/**
 * The maximum number of nested levels in a JSON value. It is more than any document needs, and low
 * enough that recursive functions don't overflow the stack.
 */
export const MAX_DEPTH = 100

export const TOO_DEEP = `is nested more than ${MAX_DEPTH} levels deep: flatten it`

/** Returns whether a JSON value is an object and not a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns whether a JSON value has more than `MAX_DEPTH` levels of lists and objects. */
export function isTooDeep(value: unknown, levelsLeft = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levelsLeft === 0) return true
  return Object.values(value).some((child) => isTooDeep(child, levelsLeft - 1))
}
