import type { TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { CONTEXT_KEY_PATTERN } from '../messages/query.js'
import { API_KEY_PATTERN, ID_PATTERN } from './ids.js'
import { suggest } from './suggest.js'

/** Leads to a value in another: names of fields, and places in lists. */
export type Path = readonly (string | number)[]

/** Where a value breaks its schema, and how. */
export interface ValidationIssue {
  path: Path
  /** Goes on after the path: `must be a string`. */
  message: string
  /** Goes on after the message: what there is instead, or what was probably meant. Empty, when there is no telling. */
  hint: string
  /** Whether it is the field itself that is wrong, or what it holds. */
  part: 'name' | 'value'
}

/** The schemas are our own: to judge them too, Ajv would first compile the schema of schemas. */
const AJV_OPTIONS = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  meta: false,
  validateSchema: false
} as const

/** What is wrong by one schema, and what that takes to be told. */
interface Check {
  /** Made when there is something to be told. */
  ajv(): Ajv
  validate: ValidateFunction
}

const checks = new WeakMap<TSchema, Check>()

/**
 * What is wrong with a value that JSON can hold, by its schema: all of it, nothing when it fits. `named` are the schemas
 * that it refers to, dependencies first. Nothing is coerced, filled in or removed.
 */
export function findIssues(schema: TSchema, value: unknown, named: readonly TSchema[] = []): ValidationIssue[] {
  let check = checks.get(schema)
  if (!check) {
    check = checkOf(schema, named)
    checks.set(schema, check)
  }
  const { ajv, validate } = check
  return validate(value) ? [] : told(ajv(), validate.errors ?? [], value, [])
}

function checkOf(schema: TSchema, named: readonly TSchema[]): Check {
  let known: Ajv | undefined
  const ajv = () => {
    known ??= ajvFor(schema, named)
    return known
  }
  return { ajv, validate: ajv().compile(schema) }
}

/** An Ajv that knows the schemas that this one refers to. */
export function ajvFor(schema: TSchema, named: readonly TSchema[], options: Options = {}): Ajv {
  const ajv = new Ajv({ ...AJV_OPTIONS, ...options })
  for (const each of named) if (each !== schema) ajv.addSchema(each)
  return ajv
}

/** A path as one writes it: `environments[0].integrations[1].channel`. */
export function pathText(path: Path): string {
  return path
    .map((part, place) => {
      if (typeof part === 'number') return `[${part}]`
      if (!/^[\w$-]+$/.test(part)) return `[${JSON.stringify(part)}]`
      return place === 0 ? part : `.${part}`
    })
    .join('')
}

/** `value` is what the errors are about, and stands at `path` in the whole. */
function told(ajv: Ajv, errors: readonly ErrorObject[], value: unknown, path: Path): ValidationIssue[] {
  const mistakes = withoutEchoes(errors).flatMap((error) => {
    const at = [...path, ...pathIn(value, error.instancePath)]
    if (error.keyword === 'anyOf') return ofUnion(ajv, error, at)
    if (error.keyword === 'required') return ofLacking(error, errors, at)
    return [mistake(error, at)]
  })
  // A number that is not whole may be out of bounds besides, which is told with its kind.
  const seen = new Set<string>()
  return mistakes.filter(({ path: at, message }) => {
    const key = JSON.stringify([at, message])
    return !seen.has(key) && seen.add(key)
  })
}

/** All that an object lacks, told once. */
function ofLacking(error: ErrorObject, errors: readonly ErrorObject[], path: Path): ValidationIssue[] {
  const same = errors.filter(
    ({ keyword, instancePath }) => keyword === 'required' && instancePath === error.instancePath
  )
  if (same[0] !== error) return []
  const names = same.map(({ params }) => params.missingProperty)
  return [{ path, message: `must have ${names.join(', ')}`, hint: '', part: 'value' }]
}

/** Without what a union says of each of its branches, and without the type of what is no word of a list either. */
function withoutEchoes(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = []
  for (const error of errors) {
    const { keyword, instancePath } = error
    if (keyword === 'anyOf') {
      while (kept.at(-1) && isWithin(kept.at(-1)?.instancePath ?? '', instancePath)) kept.pop()
    }
    const isWord = keyword === 'enum' || keyword === 'const'
    if (isWord && kept.at(-1)?.keyword === 'type' && kept.at(-1)?.instancePath === instancePath) kept.pop()
    kept.push(error)
  }
  return kept
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`)
}

/** What is wrong by the branch that was probably meant: one of the same kind and sort, with the fewest mistakes. */
function ofUnion(ajv: Ajv, { schema, data }: ErrorObject, path: Path): ValidationIssue[] {
  const branches = (schema as TSchema[]).map((branch) => {
    const validate = ajv.compile(branch)
    validate(data)
    return withoutEchoes(validate.errors ?? [])
  })
  if (branches.every((errors) => errors.every(isOfKind))) {
    const kinds = new Set(branches.flatMap((errors) => errors.slice(0, 1).map(kindWanted)))
    return [{ path, message: `must be ${[...kinds].join(' or ')}`, hint: `, not ${described(data)}`, part: 'value' }]
  }
  const [meant] = branches.filter((errors) => !errors.some(isOfAnotherSort)).sort((one, two) => one.length - two.length)
  if (meant) return told(ajv, meant, data, path)

  const sorts = branches.flatMap((errors) => errors.filter(isOfAnotherSort))
  const named = sorts.filter(({ keyword }) => keyword === 'enum')
  const [first] = named
  if (first) {
    const list = [...new Set(named.flatMap(({ schema: allowed }) => allowed as string[]))]
    const name = first.instancePath.slice(1)
    return [{ path: [...path, name], ...oneOf(list, first.data), part: 'value' }]
  }
  const kinds = new Set(sorts.map(kindWanted))
  return [{ path, message: `must be ${[...kinds].join(' or ')}`, hint: `, not ${described(data)}`, part: 'value' }]
}

/** Whether it says of the value as a whole what it should be, and of nothing in it. */
function isOfKind({ keyword, instancePath }: ErrorObject): boolean {
  return instancePath === '' && ['type', 'const', 'minimum', 'maximum', 'exclusiveMinimum'].includes(keyword)
}

/** The fields that tell the branches of a union apart. */
const SORTS = ['/type', '/mode']

function isOfAnotherSort({ keyword, instancePath }: ErrorObject): boolean {
  return (keyword === 'type' && instancePath === '') || (keyword === 'enum' && SORTS.includes(instancePath))
}

function mistake(error: ErrorObject, path: Path): ValidationIssue {
  if (error.keyword !== 'additionalProperties') return { path, ...wording(error), part: 'value' }
  const name: string = error.params.additionalProperty
  const allowed = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
  const meant = suggest(name, allowed)
  const hint = meant ? `; did you mean ${meant}?` : `; ${listed(allowed)}`
  return { path: [...path, name], message: 'is not a field here', hint, part: 'name' }
}

type Wording = Pick<ValidationIssue, 'message' | 'hint'>

function wording(error: ErrorObject): Wording {
  const { keyword, params, data } = error
  switch (keyword) {
    case 'enum':
      return oneOf(params.allowedValues as string[], data)
    case 'maximum':
      // Of what is whole and no longer told apart.
      if (params.limit === Number.MAX_SAFE_INTEGER) return { message: `must be at most ${params.limit}`, hint: '' }
      return { message: `must be ${kindWanted(error)}`, hint: `, not ${described(data)}` }
    case 'type':
    case 'const':
    case 'minimum':
    case 'exclusiveMinimum': {
      const remedy = quotable(error) ? ': put it in quotes' : ''
      return { message: `must be ${kindWanted(error)}`, hint: `, not ${described(data)}${remedy}` }
    }
    case 'pattern':
      return { message: `must be ${FORMS[params.pattern] ?? `text that matches ${params.pattern}`}`, hint: '' }
    case 'minLength':
    case 'minProperties':
      return { message: 'must not be empty', hint: '' }
    case 'maxLength':
      return { message: `must have at most ${params.limit} characters`, hint: '' }
    case 'minItems':
      return { message: `must have at least ${params.limit}`, hint: '' }
    default:
      return { message: error.message ?? 'is wrong', hint: '' }
  }
}

function oneOf(words: readonly string[], data: unknown): Wording {
  const meant = typeof data === 'string' ? suggest(data, words) : undefined
  return { message: `must be one of ${words.join(', ')}`, hint: meant ? `; did you mean ${meant}?` : '' }
}

function listed(names: readonly string[]): string {
  if (names.length < 2) return names.length === 0 ? 'there are none' : `there is ${names[0]}`
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : ''
  return `there are ${names.slice(0, MAX_LISTED).join(', ')}${more}`
}

const MAX_LISTED = 25

function quotable({ keyword, schema, data }: ErrorObject): boolean {
  const isText = keyword === 'type' && [schema].flat().includes('string')
  return isText && (typeof data === 'number' || typeof data === 'boolean')
}

/** What the value as a whole should be, by the schema of the error. */
function kindWanted({ parentSchema }: ErrorObject): string {
  const { const: only, type, ...bounds } = parentSchema as JsonSchema
  if (only !== undefined) return JSON.stringify(only)
  const kinds = [type].flat().map((kind = '') => {
    return `${KINDS[kind] ?? kind}${kind === 'integer' || kind === 'number' ? boundsText(bounds) : ''}`
  })
  return kinds.join(' or ')
}

interface JsonSchema {
  const?: unknown
  type?: string | string[]
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
}

function boundsText({ minimum, exclusiveMinimum, maximum = Number.MAX_SAFE_INTEGER }: JsonSchema): string {
  const from = minimum === undefined ? '' : ` from ${minimum}`
  const above = exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`
  const to = maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`
  return `${from}${above}${to}`
}

/** JSON Schema's types, in words. */
const KINDS: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null'
}

function described(data: unknown): string {
  if (data === null) return 'null'
  if (Array.isArray(data)) return 'a list'
  if (typeof data === 'object') return 'an object'
  if (typeof data !== 'string') return String(data)
  // No other text: it may be a credential.
  return /^(yes|no|on|off|true|false|[\d.]+)$/i.test(data) ? `the string "${data}"` : 'a string'
}

/** The patterns of our schemas, in words. */
const FORMS: Record<string, string> = {
  [CONTEXT_KEY_PATTERN]: 'in the form type:id',
  [ID_PATTERN.source]: 'an id of 24 lower-case hex digits',
  [API_KEY_PATTERN.source]: 'an API key, of printable ASCII without spaces'
}

/** A JSON pointer as names and places: which of the two a step is, the value tells. */
function pathIn(value: unknown, pointer: string): Path {
  let node = value
  return pointer
    .split('/')
    .slice(1)
    .map((step) => {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      const part = Array.isArray(node) ? Number(name) : name
      node = (node as Record<string | number, unknown>)[part]
      return part
    })
}
