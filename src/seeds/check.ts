import type { TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { CONTEXT_KEY_PATTERN } from '../messages/schemas.js'
import { nearest } from '../nearest.js'
import { AJV_OPTIONS, KINDS } from '../validation.js'
import { API_KEY_PATTERN, ID_PATTERN, Seed, seedFormatSchemas } from './format.js'
import type { Path } from './mistakes.js'

/** Where a value breaks the format, and how. */
export interface Breach {
  path: Path
  /** Goes on after the path: `must be a string`. */
  message: string
  /** Whether it is the field itself that is wrong, or what it holds. */
  part: 'name' | 'value'
}

/** Every breach of the seed format, in a value that JSON can hold; none when it has the format. */
export function breachesOf(value: unknown): Breach[] {
  const { format } = schemas()
  return format(value) ? [] : breaches(format.errors ?? [], value, [])
}

let compiled: { ajv: Ajv; format: ValidateFunction } | undefined

function schemas(): { ajv: Ajv; format: ValidateFunction } {
  if (!compiled) {
    const ajv = new Ajv(AJV_OPTIONS)
    for (const schema of seedFormatSchemas) ajv.addSchema(schema)
    compiled = { ajv, format: ajv.compile(Seed as TSchema) }
  }
  return compiled
}

/** `value` is what the errors are about, and stands at `path` in the seed. */
function breaches(errors: readonly ErrorObject[], value: unknown, path: Path): Breach[] {
  return withoutEchoes(errors).flatMap((error) => {
    const at = [...path, ...pathIn(value, error.instancePath)]
    if (error.keyword === 'anyOf') return ofUnion(error, at)
    if (error.keyword === 'required') return ofLacking(error, errors, at)
    return [breach(error, at)]
  })
}

/** All that an object lacks, told once. */
function ofLacking(error: ErrorObject, errors: readonly ErrorObject[], path: Path): Breach[] {
  const same = errors.filter(
    ({ keyword, instancePath }) => keyword === 'required' && instancePath === error.instancePath
  )
  if (same[0] !== error) return []
  const names = same.map(({ params }) => params.missingProperty)
  return [{ path, message: `must have ${names.join(', ')}`, part: 'value' }]
}

/** Without what a union says of each of its branches, and without the type of what is no word of a list either. */
function withoutEchoes(errors: readonly ErrorObject[]): ErrorObject[] {
  const told: ErrorObject[] = []
  for (const error of errors) {
    const { keyword, instancePath } = error
    if (keyword === 'anyOf') {
      while (told.at(-1) && isWithin(told.at(-1)?.instancePath ?? '', instancePath)) told.pop()
    }
    if (keyword === 'enum' && told.at(-1)?.keyword === 'type' && told.at(-1)?.instancePath === instancePath) told.pop()
    told.push(error)
  }
  return told
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`)
}

/** What is wrong by the branch that was probably meant: one of the same kind and sort, with the fewest breaches. */
function ofUnion({ schema, data }: ErrorObject, path: Path): Breach[] {
  const branches = (schema as TSchema[]).map((branch) => {
    const validate = schemas().ajv.compile(branch)
    validate(data)
    return validate.errors ?? []
  })
  const [meant] = branches.filter((errors) => !errors.some(isOfAnotherSort)).sort((one, two) => one.length - two.length)
  if (meant) return breaches(meant, data, path)

  const sorts = branches.flatMap((errors) => errors.filter(isOfAnotherSort))
  const named = sorts.filter(({ keyword }) => keyword === 'enum')
  const [first] = named
  if (first) {
    const list = new Set(named.flatMap(({ schema: allowed }) => allowed as string[]))
    const name = first.instancePath.slice(1)
    return [{ path: [...path, name], message: `must be one of ${[...list].join(', ')}`, part: 'value' }]
  }
  const kinds = new Set(sorts.map((error) => kindsOf(error)))
  return [{ path, message: `must be ${[...kinds].join(' or ')}, not ${described(data)}`, part: 'value' }]
}

/** The fields that tell the branches of a union apart. */
const SORTS = ['/type', '/mode']

function isOfAnotherSort({ keyword, instancePath }: ErrorObject): boolean {
  return (keyword === 'type' && instancePath === '') || (keyword === 'enum' && SORTS.includes(instancePath))
}

function breach(error: ErrorObject, path: Path): Breach {
  if (error.keyword !== 'additionalProperties') return { path, message: wording(error), part: 'value' }
  const name: string = error.params.additionalProperty
  const allowed = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
  const meant = nearest(name, allowed)
  const remedy = meant ? `did you mean ${meant}?` : `there are ${listed(allowed)}`
  return { path: [...path, name], message: `is not a field here; ${remedy}`, part: 'name' }
}

function wording(error: ErrorObject): string {
  const { keyword, params, data } = error
  switch (keyword) {
    case 'enum': {
      const words = params.allowedValues as string[]
      const meant = typeof data === 'string' ? nearest(data, words) : undefined
      return `must be one of ${words.join(', ')}${meant ? `; did you mean ${meant}?` : ''}`
    }
    case 'type':
      return `must be ${kindsOf(error)}, not ${described(data)}${quotable(error) ? ': put it in quotes' : ''}`
    case 'pattern':
      return `must be ${FORMS[params.pattern] ?? `text that matches ${params.pattern}`}`
    case 'minLength':
      return 'must not be empty'
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    default:
      return error.message ?? 'is wrong'
  }
}

function listed(names: readonly string[]): string {
  return names.length > MOST_LISTED
    ? `${names.slice(0, MOST_LISTED).join(', ')} and ${names.length - MOST_LISTED} more`
    : names.join(', ')
}

const MOST_LISTED = 25

function quotable({ schema, data }: ErrorObject): boolean {
  return [schema].flat().includes('string') && (typeof data === 'number' || typeof data === 'boolean')
}

function kindsOf({ schema }: ErrorObject): string {
  return [schema as string | string[]]
    .flat()
    .map((kind) => KINDS[kind] ?? kind)
    .join(' or ')
}

function described(data: unknown): string {
  if (data === null) return 'null'
  if (Array.isArray(data)) return 'a list'
  if (typeof data === 'object') return 'an object'
  if (typeof data !== 'string') return String(data)
  // No other text: it may be a credential.
  return /^(yes|no|on|off|true|false|[\d.]+)$/i.test(data) ? `the string "${data}"` : 'a string'
}

/** The patterns of the format, in words. */
const FORMS: Record<string, string> = {
  [CONTEXT_KEY_PATTERN]: 'in the form type:id',
  [ID_PATTERN]: 'an id of 24 lower-case hex digits',
  [API_KEY_PATTERN]: 'an API key, of printable ASCII without spaces'
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
