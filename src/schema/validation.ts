import { FormatRegistry, Kind, type TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { ValuePointer } from '@sinclair/typebox/value'
import { VENDOR_NAMES } from '../domain/assumptions.js'
import { SECRET_NAME } from '../domain/credentials.js'
import { DURATION_PATTERN } from '../domain/duration.js'
import {
  API_KEY_PATTERN,
  CHOSEN_API_KEY_PATTERN,
  CONTEXT_KEY_PATTERN,
  ID_PATTERN
} from '../domain/ids.js'
import { didYouMean } from '../domain/suggestions.js'
import { compile, targetOf } from './typebox.js'

/** Names of fields and indexes of lists that lead from a value to one inside it. */
export type Path = readonly (string | number)[]

/** One way in which a value does not match its schema. */
export interface ValidationIssue {
  path: Path
  /** Follows the path in a sentence: `must be a string`. */
  message: string
  /** Follows the message: what was found instead or was probably meant. May be empty. */
  hint: string
  /** Whether the name of the field is wrong or its value. */
  part: 'name' | 'value'
}

// The only format that is judged.
FormatRegistry.Set('regex', (text) => regexError(text) === undefined)

function regexError(text: string): string | undefined {
  try {
    return void new RegExp(text)
  } catch (error) {
    return (error as Error).message
  }
}

/** How many issues of one value are put into words. */
export const MAX_ISSUES = 100

/** Returns the first issues of a JSON value by its schema; an empty list when it matches. Changes nothing. */
export function findIssues(schema: TSchema, value: unknown, most = MAX_ISSUES): ValidationIssue[] {
  const check = compile(schema)
  if (check.Check(value)) return []
  const breaches = withoutLengths(countableBreaches(breachesOf(check.Errors(value), value, [])))
  return breaches.slice(0, most).flatMap(issuesOf).slice(0, most)
}

/** Whether a value is not to be repeated, as a name on its path is that of a secret, or of the settings of a provider. */
export const isSecretPath = (path: Path): boolean =>
  path.some((part) => part === 'configurations' || SECRET_NAME.test(String(part)))

/** Returns a path as it is written in code: `environments[0].integrations[1].channel`. */
export function formatPath(path: Path): string {
  const texts = path.map((part, index) => {
    if (typeof part === 'number' || !/^[\w$-]+$/.test(part)) return `[${JSON.stringify(part)}]`
    return index === 0 ? part : `.${part}`
  })
  return texts.join('')
}

/** An error of TypeBox, with those of the referenced schema in place of one about the reference. */
interface Breach extends Pick<ValueError, 'type' | 'schema' | 'value'> {
  path: Path
  /** The breaches of each variant of a union. */
  variants: Breach[][]
  /** The fields that the object lacks, of the breach that stands for all about one. */
  missing?: string[]
}

/** `root` is the value that the errors are about, and `base` its path. */
function breachesOf(errors: Iterable<ValueError>, root: unknown, base: Path): Breach[] {
  const breaches: Breach[] = []
  for (const { type, schema, path: pointer, value, errors: variants } of errors) {
    // More than there may be issues, as the fields that an object lacks are one.
    if (breaches.length >= 10 * MAX_ISSUES) break
    const isMissing = type === ValueErrorType.ObjectRequiredProperty
    // A required field that is missing is judged by its own schema too.
    if (value === undefined && !isMissing) continue
    const path = [...base, ...pathFrom(root, pointer)]
    if (schema[Kind] === 'Reference' && type === ValueErrorType.Kind) {
      breaches.push(...breachesOf(compile(targetOf(schema)).Errors(value), value, path))
      continue
    }
    breaches.push({
      type,
      schema,
      path,
      value,
      variants: variants.map((each) => breachesOf(each, root, base))
    })
  }
  return breaches
}

function pathFrom(root: unknown, pointer: string): Path {
  let node = root
  return [...ValuePointer.Format(pointer)].map((name) => {
    const part = Array.isArray(node) ? Number(name) : name
    node = (node as Record<string | number, unknown>)[part]
    return part
  })
}

/** Returns the breaches with one in place of all the fields that an object lacks. */
function countableBreaches(breaches: Breach[]): Breach[] {
  const lacking = new Map<string, string[]>()
  return breaches.flatMap((breach) => {
    if (breach.type !== ValueErrorType.ObjectRequiredProperty) return breach
    const path = breach.path.slice(0, -1)
    const missing = lacking.get(formatPath(path)) ?? []
    missing.push(String(breach.path.at(-1)))
    lacking.set(formatPath(path), missing)
    return missing.length > 1 ? [] : { ...breach, path, missing }
  })
}

/** Drops the length of a value that breaks a pattern, because the pattern describes the length. */
function withoutLengths(breaches: Breach[]): Breach[] {
  const withPattern = breaches.filter(({ type }) => type === ValueErrorType.StringPattern)
  if (withPattern.length === 0) return breaches
  const paths = new Set(withPattern.map(({ path }) => formatPath(path)))
  return breaches.filter(
    ({ type, path }) => type !== ValueErrorType.StringMinLength || !paths.has(formatPath(path))
  )
}

function issuesOf(breach: Breach): ValidationIssue[] {
  const { type, schema, path, missing } = breach
  if (type === ValueErrorType.Union) return issuesOfUnion(breach)
  if (missing)
    return [{ path, message: `must have ${missing.join(', ')}`, hint: '', part: 'value' }]
  if (type !== ValueErrorType.ObjectAdditionalProperties)
    return [{ path, ...wording(breach), part: 'value' }]
  const allowed = Object.keys(schema.properties)
  const hint =
    didYouMean(String(path.at(-1)), allowed) || `; there are ${allowed.join(', ') || 'none'}`
  return [{ path, message: 'is not a field here', hint, part: 'name' }]
}

/** The fields whose value says which variant of a union is meant. */
const DISCRIMINATORS = ['type', 'mode']

/** Returns the issues of the variant that was probably meant: not of another type, and with the fewest issues. */
function issuesOfUnion(union: Breach): ValidationIssue[] {
  const { variants, path } = union
  const isOtherType = (breach: Breach) =>
    breach.path.length === path.length &&
    (isTypeError(breach) || (breach.schema.enum && typeof breach.value !== 'string'))
  const isOtherVariant = (breach: Breach) => isOtherType(breach) || isDiscriminator(breach, path)

  const [meant] = variants
    .filter((each) => !each.some(isOtherVariant))
    .sort((one, two) => one.length - two.length)
  if (meant) return countableBreaches(meant).flatMap(issuesOf)
  const discriminators = variants.flat().filter((breach) => isDiscriminator(breach, path))
  const [first] = discriminators
  if (first) {
    const allowed = [...new Set(discriminators.flatMap(({ schema }) => schema.enum as string[]))]
    return [{ path: first.path, ...oneOf(allowed, first.value), part: 'value' }]
  }
  const types = variants
    .flat()
    .flatMap((breach) =>
      isOtherType(breach) ? (FORMS[breach.schema.pattern] ?? typeText(breach.schema)) : []
    )
  return [
    {
      path,
      message: `must be ${[...new Set(types)].join(' or ')}`,
      hint: notText(union),
      part: 'value'
    }
  ]
}

function isDiscriminator({ type, path, schema }: Breach, union: Path): boolean {
  if (type !== ValueErrorType.Kind || !schema.enum) return false
  return path.length === union.length + 1 && DISCRIMINATORS.includes(String(path.at(-1)))
}

// Larger numbers can't be told apart, so the bound is not part of the type's description.
const atMost = ({ schema: { maximum } }: Breach): string | undefined =>
  maximum === Number.MAX_SAFE_INTEGER ? `must be at most ${maximum}` : undefined

/** The words for what is neither a type nor a bound. */
const TEXTS: { [Type in ValueErrorType]?: (breach: Breach) => string | undefined } = {
  [ValueErrorType.StringPattern]: ({ schema: { pattern } }) =>
    `must be ${FORMS[pattern] ?? `text that matches ${pattern}`}`,
  [ValueErrorType.StringFormat]: ({ path, value }) =>
    `must be a regular expression${isSecretPath(path) ? '' : `: ${regexError(String(value))}`}`,
  [ValueErrorType.StringMinLength]: ({ schema: { minLength } }) =>
    minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`,
  [ValueErrorType.ObjectMinProperties]: () => 'must not be empty',
  [ValueErrorType.StringMaxLength]: ({ schema }) =>
    `must have at most ${schema.maxLength} characters`,
  [ValueErrorType.ArrayMinItems]: ({ schema }) => `must have at least ${schema.minItems}`,
  [ValueErrorType.ArrayMaxItems]: ({ schema }) => `must have at most ${schema.maxItems}`,
  [ValueErrorType.ObjectMaxProperties]: ({ schema }) =>
    `must have at most ${schema.maxProperties} fields`,
  [ValueErrorType.IntegerMaximum]: atMost,
  [ValueErrorType.NumberMaximum]: atMost
}

const isTypeError = (breach: Breach): boolean =>
  breach.type !== ValueErrorType.Union &&
  !breach.schema.enum &&
  TEXTS[breach.type]?.(breach) === undefined

function wording(breach: Breach): Pick<ValidationIssue, 'message' | 'hint'> {
  const { schema, value } = breach
  if (schema.enum) return oneOf(schema.enum, value)
  const message = TEXTS[breach.type]?.(breach)
  if (message !== undefined) return { message, hint: '' }
  const isText = schema.const === undefined && [schema.type].flat().includes('string')
  const remedy = isText && /^(number|boolean)$/.test(typeof value) ? ': put it in quotes' : ''
  return { message: `must be ${typeText(schema)}`, hint: notText(breach) + remedy }
}

function oneOf(values: readonly string[], value: unknown): ReturnType<typeof wording> {
  const known = values.find((each) => VENDOR_NAMES[each] === value)
  const hint = typeof value === 'string' ? didYouMean(known ?? value, values) : ''
  return { message: `must be one of ${values.join(', ')}`, hint }
}

/** JSON Schema's types, in words. */
const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null'
}

function typeText({ type, const: only, enum: values, multipleOf, ...bounds }: TSchema): string {
  const { minimum, exclusiveMinimum, maximum = Number.MAX_SAFE_INTEGER } = bounds
  if (values) return `one of ${values.join(', ')}`
  if (only !== undefined) return JSON.stringify(only)
  const from = minimum === undefined ? '' : ` from ${minimum}`
  const above = exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`
  const to = maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`
  const names: string[] = [multipleOf === 1 ? 'integer' : type].flat()
  return names
    .map((name) => TYPES[name] + (/integer|number/.test(name) ? from + above + to : ''))
    .join(' or ')
}

function notText({ value, path }: Breach): string {
  if (isSecretPath(path) && /^(string|number)$/.test(typeof value)) return `, not a ${typeof value}`
  if (Array.isArray(value)) return ', not a list'
  if (typeof value === 'object' && value !== null) return ', not an object'
  if (typeof value !== 'string') return `, not ${value}`
  // No other text is repeated, as it may be a credential.
  return /^(yes|no|on|off|true|false|[\d.]+)$/i.test(value)
    ? `, not the string "${value}"`
    : ', not a string'
}

/** The patterns of our schemas, in words. */
const FORMS: Record<string, string> = {
  [CONTEXT_KEY_PATTERN]: 'in the form type:id',
  [DURATION_PATTERN]: 'a duration, such as 30s, 10m or 1h',
  [ID_PATTERN.source]: 'an id of 24 lower-case hex digits',
  [API_KEY_PATTERN.source]: 'an API key, of printable ASCII without spaces',
  [CHOSEN_API_KEY_PATTERN.source]:
    'an API key, of printable ASCII without spaces: at least 16 characters, or at least 8 with a digit or hyphen in it'
}

/** How deep a document may be nested: more than any needs, and few enough for every recursive function that reads one. */
export const MAX_DEPTH = 100

export const TOO_DEEP = `is nested more than ${MAX_DEPTH} deep: make it flatter`

/** Whether a JSON value is an object, and no list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a JSON value is nested more than `MAX_DEPTH` lists and objects deep. It may be nested as deep as it likes. */
export function isTooDeep(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  return left === 0 || Object.values(value).some((each) => isTooDeep(each, left - 1))
}
