import type { TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'

/** Something wrong with a value, and where in it. */
export interface Mistake {
  path: readonly (string | number)[]
  /** Goes on after the name of the place: `must be a string`. */
  message: string
}

/** The schemas are our own: to judge them too, Ajv would first compile the schema of schemas. */
export const AJV_OPTIONS = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  meta: false,
  validateSchema: false
} as const

const compiled = new WeakMap<TSchema, ValidateFunction>()

/**
 * What is wrong with a value by its schema: all of it, nothing when it fits. `named` are the schemas that it refers to.
 * Nothing is coerced, filled in or removed.
 */
export function mistakesIn(schema: TSchema, value: unknown, named: readonly TSchema[] = []): Mistake[] {
  let validate = compiled.get(schema)
  if (!validate) {
    const ajv = new Ajv(AJV_OPTIONS)
    for (const each of named) if (each !== schema) ajv.addSchema(each)
    validate = ajv.compile(schema)
    compiled.set(schema, validate)
  }
  return validate(value) ? [] : telling(validate.errors ?? []).map(mistakeOf)
}

/** A path as one writes it: `environments[0].name`. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((part, place) => (/^\d+$/.test(String(part)) ? `[${part}]` : `${place === 0 ? '' : '.'}${part}`))
    .join('')
}

function mistakeOf(error: ErrorObject): Mistake {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (error.keyword === 'required') return { path, message: `must have ${error.params.missingProperty}` }
  if (error.keyword === 'additionalProperties') {
    const allowed = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
    return {
      path: [...path, error.params.additionalProperty],
      message: `is not a field here; there are ${allowed.join(', ')}`
    }
  }
  return { path, message: wording(error) }
}

function wording(error: ErrorObject): string {
  const schema = error.parentSchema as {
    type?: string | string[]
    minimum?: number
    maximum?: number
    enum?: unknown[]
  }
  switch (error.keyword) {
    case 'enum':
      return `must be one of ${(schema.enum ?? []).join(', ')}`
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`
    case 'maximum':
      return `must be ${schema.maximum === Number.MAX_SAFE_INTEGER ? `at most ${schema.maximum}` : kindOf(schema)}`
    case 'type':
    case 'minimum':
      return `must be ${kindOf(schema)}`
    case 'pattern':
      return `must be ${FORMS[error.params.pattern] ?? `text that matches ${error.params.pattern}`}`
    case 'minLength':
      return 'must not be empty'
    case 'minItems':
      return `must have at least ${error.params.limit}`
    case 'minProperties':
      return 'must not be empty'
    case 'anyOf':
    case 'oneOf':
      return 'has none of the shapes that it may have'
    default:
      return error.message ?? 'is wrong'
  }
}

function kindOf({ type, minimum, maximum }: { type?: string | string[]; minimum?: number; maximum?: number }): string {
  const bounds = [
    minimum === undefined ? '' : ` from ${minimum}`,
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`
  ]
  return [type]
    .flat()
    .map((name) => `${KINDS[name ?? ''] ?? name}${/integer|number/.test(String(name)) ? bounds.join('') : ''}`)
    .join(' or ')
}

/** JSON Schema's types, in words. */
export const KINDS: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null'
}

/** The patterns that our schemas use, in words. */
const FORMS: Record<string, string> = {
  '^[^:]+:.+$': 'in the form type:id',
  '^[0-9a-f]{24}$': 'an id of 24 lower-case hex digits'
}

/**
 * Leaves out what a failed union says of the branches that were not meant. Meant are those whose only word, such as
 * that of `mode`, is the one that was given. Of a single one all is told; of several what all of them say, else what failed
 * deeper inside, else only the union itself.
 */
function telling(errors: readonly ErrorObject[]): ErrorObject[] {
  const told: ErrorObject[] = []
  for (const error of errors) {
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      told.push(error)
      continue
    }
    let start = told.length
    while (start > 0 && told[start - 1]?.instancePath.startsWith(error.instancePath)) start -= 1
    const inside = told.splice(start)
    const deeper = inside.filter(({ instancePath }) => instancePath !== error.instancePath)
    const common = saidByAll(branchesMeant(error, inside))
    told.push(...(common.length > 0 ? common : deeper.length > 0 ? deeper : [error]))
  }
  return told
}

function branchesMeant(union: ErrorObject, inside: readonly ErrorObject[]): ErrorObject[][] {
  const branches = new Map<string, ErrorObject[]>()
  for (const error of inside) {
    const isOfUnion = error.schemaPath.startsWith(`${union.schemaPath}/`)
    const branch = isOfUnion ? (error.schemaPath.slice(union.schemaPath.length + 1).split('/')[0] ?? '') : ''
    branches.set(branch, [...(branches.get(branch) ?? []), error])
  }
  // Of a branch that is a reference it can't be told which it is.
  if (branches.has('')) return []
  const all = [...branches.values()]
  const isOther = ({ keyword, params, instancePath }: ErrorObject) =>
    keyword === 'enum' && params.allowedValues.length === 1 && instancePath !== union.instancePath
  const meant = all.filter((branch) => !branch.some(isOther))
  return meant.length > 0 ? meant : all
}

function saidByAll([first = [], ...others]: ErrorObject[][]): ErrorObject[] {
  const same = (a: ErrorObject, b: ErrorObject) =>
    a.keyword === b.keyword &&
    a.instancePath === b.instancePath &&
    JSON.stringify(a.params) === JSON.stringify(b.params)
  return first.filter((error) => others.every((branch) => branch.some((other) => same(error, other))))
}
