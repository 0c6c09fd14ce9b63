import type { AssumptionId } from '../../core/assumptions.js'
import { isTooDeep } from '../../core/depth.js'
import { attempt, StartError } from '../../core/errors.js'
import { FILE_LIMITS } from '../../seeds/limits.js'
import { readYaml } from '../../seeds/yaml.js'
import { isObject } from '../answers.js'
import { CONTRACT_NAMES } from '../contract-names.js'
import { createTarget } from '../target.js'
import { textOf } from './questions.js'

/** What a published document, `there`, says otherwise than ours, `here`. */
export interface DocumentDifference {
  /** What only one of them has; or whether the published one allows less than ours, or more. */
  kind: 'there only' | 'here only' | 'narrower' | 'wider'
  operation: string
  /** `parameter query limit`, `status 404`, `body.data[].channel words` */
  what: string
  there?: unknown
  here?: unknown
  /** JSON pointers: where it stands in either, or what it is missing in. */
  thereAt: string
  hereAt: string
  /** The row of the register that says why. */
  explainedBy?: AssumptionId
}

export interface DocumentComparison {
  /** How many operations both have, and which of ours the published document has not. */
  compared: number
  missing: string[]
  differences: DocumentDifference[]
}

/** A part of a document, and the pointer to it. */
interface Part {
  /** `left` is how many schemas of it may still be looked at: a document of some lines can stand for millions. */
  document: { root: Part['node']; left: number }
  at: string
  node: Record<string, unknown>
}

/** Undefined is any. */
type Words = ReadonlySet<string> | undefined

/** What a document says of one place. */
interface Facts {
  at: string
  isRequired?: boolean
  types?: Words
  words?: Words
  preset?: unknown
  hasFields?: boolean
  isCircular?: boolean
}

type Change = Pick<DocumentDifference, 'kind' | 'there' | 'here'>

/** By what they are of, that around it first. */
type Flat = Map<string, Facts>

/** How deep a document may be nested, how many references may follow one another, and how many schemas it may stand for. */
const MAX_DEPTH = 300
const MAX_LINKS = 30
const MAX_SCHEMAS = 50_000

/**
 * Compares the operations of our OpenAPI document with those of a published one, 3.0 or 3.1: parameters, statuses, headers and
 * the fields of bodies, through references and an envelope. The variants of a choice are held as one; bounds, patterns and
 * formats are not compared. Throws `StartError` when it is no such document.
 */
export function compareDocuments(published: unknown, own: object): DocumentComparison {
  if (!isObject(published) || !/^3\.[01]\b/.test(String(published.openapi)) || !isObject(published.paths)) {
    throw new StartError('it is no OpenAPI document of version 3.0 or 3.1, which has openapi and paths')
  }
  if (isTooDeep(published, MAX_DEPTH)) throw new StartError(`it is nested more than ${MAX_DEPTH} deep`)
  const [theirs, ours] = [operationsIn(published), operationsIn(own as Part['node'])]
  const both = [...ours].flatMap(([id, { name, facts }]) => {
    const there = theirs.get(id)
    return there ? differencesOf(name, there.facts(), facts()) : []
  })
  // What operations and statuses share is told once.
  const differences = new Map(
    both.reverse().map((each) => [JSON.stringify([each.kind, each.thereAt, each.hereAt, each.there, each.here]), each])
  )
  const missing = [...ours].flatMap(([id, { name }]) => (theirs.has(id) ? [] : name))
  return { compared: ours.size - missing.length, missing, differences: [...differences.values()].reverse() }
}

function differencesOf(operation: string, theirs: Flat, ours: Flat): DocumentDifference[] {
  const found: DocumentDifference[] = []
  const ended: string[] = []
  for (const what of new Set([...theirs.keys(), ...ours.keys()])) {
    if (ended.some((path) => what.startsWith(path) && /^[. [*]/.test(what.slice(path.length)))) continue
    const [there, here] = [theirs.get(what), ours.get(what)]
    const at = [there ?? around(theirs, what), here ?? around(ours, what)] as const
    if (!there || !here) add(what, { kind: there ? 'there only' : 'here only' }, ...at)
    else for (const [of, change] of changesOf(there, here)) if (change) add(`${what} ${of}`, change, ...at)
    // What only one has, or one leaves open, or goes on in a circle has no fields that could be compared.
    const isSame = Boolean(there?.hasFields) === Boolean(here?.hasFields)
    if (!there || !here || !isSame || there.isCircular || here.isCircular) ended.push(what)
  }
  return found.sort((one, other) => (one.what < other.what ? -1 : 1))

  function add(what: string, change: Change, { at: thereAt }: Facts, { at: hereAt }: Facts): void {
    const [explainedBy] = ROWS.find(([, where, pattern]) => where.test(operation) && pattern.test(what)) ?? []
    found.push({ operation, what, ...change, thereAt, hereAt, ...(explainedBy && { explainedBy }) })
  }
}

/** Returns what two places differ in, each with what it is of. */
function changesOf(there: Facts, here: Facts): [string, Change | undefined][] {
  const presence = ({ isRequired }: Facts) => new Set(isRequired ? ['present'] : ['present', 'absent'])
  const presets = [there, here].map(({ preset }) => (preset === undefined ? undefined : new Set([String(preset)])))
  const types = comparison(withIntegers(there.types), withIntegers(here.types))
  const words = comparison(inContract(there.words), inContract(here.words))
  const areOpen = [there, here].map(({ hasFields, isCircular }) => !hasFields && !isCircular)
  const isOpener = areOpen[0] !== areOpen[1] && !types && !there.isCircular && !here.isCircular
  return [
    ['required', comparison(presence(there), presence(here))],
    ['default', presets[0] && presets[1] && comparison(presets[0], presets[1])],
    ['type', types],
    ['words', words],
    ['spelling', words ? undefined : comparison(there.words, here.words)],
    ['fields', isOpener ? { kind: areOpen[0] ? 'wider' : 'narrower' } : undefined]
  ]
}

/** Compares what is allowed, and returns what only either has; undefined when both allow the same. */
function comparison(theirs: Words, own: Words): Change | undefined {
  const there = [...(theirs ?? [])].filter((each) => !own?.has(each))
  const here = [...(own ?? [])].filter((each) => !theirs?.has(each))
  if (there.length + here.length === 0) return undefined
  const isNarrower = !own || (theirs && there.length === 0)
  return { kind: isNarrower ? 'narrower' : !theirs || here.length === 0 ? 'wider' : 'there only', there, here }
}

const withIntegers = (types: Words) => (types?.has('number') ? new Set([...types, 'integer']) : types)
const inContract = (words: Words) => words && new Set([...words].map((word) => CONTRACT_NAMES.get(word) ?? word))

/** The nearest place around another that there is. */
function around(flat: Flat, what: string): Facts {
  const outer = what.replace(/([. ][^. ]*|\[\])$/, '')
  return flat.get(outer) ?? (outer === what ? { at: '#' } : around(flat, outer))
}

/** Which row of the register explains a difference: of which operation, and what it is of. */
const ROWS: [AssumptionId, RegExp, RegExp][] = [
  ['envelope', /primary$|steps/, /^envelope$/],
  ['vendor-names', /./, / spelling$/],
  ['credentials', /primary$/, /^body\.credentials\b|\.inboundWebhookSigningKey$/],
  ['total-count', /messages$/, /^body\.totalCount$/],
  ['control-values', /steps/, /^body\.controls\.values$/],
  ['paging-bounds', /messages$/, /^parameter query (page|limit) type$/],
  ['unknown-channel-filter', /messages$/, /^parameter query channel words$/],
  ['unknown-subscriber-filter', /messages$/, /^status 404$/],
  ['unknown-step', /steps/, /^status 400$/],
  ['foreign-integration', /primary$/, /^status 403$/],
  ['integration-lookup', /primary$/, /^status 422$/]
]

/** Returns the operations by method and path, in which the names of parameters do not count. */
function operationsIn(root: Part['node']): Map<string, { name: string; facts(): Flat }> {
  const document: Part = { document: { root, left: MAX_SCHEMAS }, at: '#', node: root }
  const [server] = children(document, 'servers')
  const base = String(server?.[1].node.url ?? '')
    .replace(/^https?:\/\/[^/]*/, '')
    .replace(/\/$/, '')
  const found = children(document, 'paths').flatMap(([url, path]) =>
    ['get', 'post', 'put', 'patch', 'delete'].flatMap((method) => {
      const operation = child(path, method)
      const name = `${method.toUpperCase()} ${base}${url}`
      const facts = () => factsOf(name, path, operation as Part)
      return operation ? [[name.replaceAll(/\{[^}]*\}/g, '{}'), { name, facts }] as const] : []
    })
  )
  return new Map(found)
}

function factsOf(name: string, path: Part, operation: Part): Flat {
  const flat: Flat = new Map()
  const inPath = [...name.matchAll(/\{([^}]*)\}/g)].map(([, each]) => each)
  for (const [, parameter] of [path, operation].flatMap((each) => children(each, 'parameters'))) {
    const { in: place, name: key, required } = parameter.node
    const label = place === 'path' ? inPath.indexOf(String(key)) + 1 : String(key)
    const schema = child(parameter, 'schema')
    const what = `parameter ${place} ${place === 'header' ? String(label).toLowerCase() : label}`
    if (schema) addAll(flatten(schema, what))
    flat.set(what, { ...flat.get(what), at: parameter.at, isRequired: required === true, preset: schema?.node.default })
  }
  const body = child(operation, 'requestBody')
  if (body) flat.set('request body', { at: body.at })
  for (const [status, response] of children(operation, 'responses')) {
    flat.set(`status ${status}`, { at: response.at, hasFields: true })
    for (const [header, { at }] of children(response, 'headers')) {
      // Those that a mock alone has say nothing of the service.
      if (!/^x-(mock-|request-id$)/i.test(header)) flat.set(`status ${status} header ${header.toLowerCase()}`, { at })
    }
    const schema = child(response, 'content', 'application/json', 'schema')
    if (!schema) continue
    addAll(/^2/.test(status) ? withoutEnvelope(flatten(schema, 'body')) : flatten(schema, `status ${status} body`))
  }
  return flat

  function addAll(others: Flat): void {
    for (const [what, facts] of others) flat.set(what, facts)
  }
}

/** An envelope is an object with `data` alone, which is an object too. */
function withoutEnvelope(body: Flat): Flat {
  const data = body.get('body.data')
  if (!data?.types?.has('object') || ![...body.keys()].every((path) => /^body(\.data\b|$)/.test(path))) return body
  const inner = [...body]
    .filter(([path]) => path !== 'body')
    .map(([path, facts]) => [path.replace('.data', ''), facts] as const)
  return new Map([['envelope', { at: data.at }], ...inner]).set('body', { ...data, isRequired: false })
}

/** Returns what a schema says of a place, and of all places in it. */
function flatten(part: Part, path: string, inside: readonly string[] = []): Flat {
  const { node, at } = part
  const own = { at, types: typesOf(node), words: wordsOf(node) }
  if (part.document.left-- === 0) throw new StartError(`it stands for more than ${MAX_SCHEMAS} schemas`)
  if (inside.includes(at)) return new Map([[path, { ...own, isCircular: true }]])
  const inner = (each: Part | undefined, name: string): Flat[] =>
    each ? [flatten(each, path + name, [...inside, at])] : []
  const fields = [
    ...children(part, 'properties').flatMap(([name, each]) => inner(each, `.${name}`)),
    ...inner(child(part, 'items'), '[]'),
    ...inner(child(part, 'additionalProperties'), '.*')
  ]
  const flat: Flat = new Map([[path, { ...own, hasFields: fields.length > 0 }], ...fields.flatMap((each) => [...each])])
  const partsIn = (name: string) => children(part, name).flatMap(([, each]) => inner(each, ''))
  const choices = [...partsIn('oneOf'), ...partsIn('anyOf')]
  const choice = choices.length > 0 ? [choices.reduce((one, other) => merged(one, other, true))] : []
  const whole = [...partsIn('allOf'), ...choice].reduce((one, other) => merged(one, other, false), flat)
  const { types } = whole.get(path) as Facts
  if (node.nullable === true && types)
    whole.set(path, { ...(whole.get(path) as Facts), types: new Set([...types, 'null']) })
  for (const name of Array.isArray(node.required) ? node.required : []) {
    const facts = whole.get(`${path}.${name}`)
    if (facts) whole.set(`${path}.${name}`, { ...facts, isRequired: true })
  }
  return whole
}

/** Returns what two say together, or what one or the other allows: a field is required when all have it that have any. */
function merged(one: Flat, other: Flat, isOr: boolean): Flat {
  const isRequired = isOr && (one.size === 1 || other.size === 1)
  const paths = [...new Set([...one.keys(), ...other.keys()])]
  return new Map(
    paths.map((path): [string, Facts] => {
      const first = one.get(path) ?? ({ ...other.get(path), isRequired } as Facts)
      const second = other.get(path) ?? { ...first, isRequired }
      const isNullable = isOr && [first, second].some(({ types }) => types?.size === 1 && types.has('null'))
      return [
        path,
        {
          ...first,
          isRequired: isOr ? first.isRequired && second.isRequired : first.isRequired || second.isRequired,
          types: combined(first.types, second.types, isOr),
          words: isNullable ? (first.words ?? second.words) : combined(first.words, second.words, isOr),
          hasFields: first.hasFields || second.hasFields,
          isCircular: first.isCircular || second.isCircular
        } as Facts
      ]
    })
  )
}

function combined(one: Words, other: Words, isOr: boolean): Words {
  if (!one || !other) return isOr ? undefined : (one ?? other)
  return isOr ? new Set([...one, ...other]) : new Set([...one].filter((each) => other.has(each)))
}

function typesOf({ type, enum: words, const: word, properties, items }: Part['node']): Words {
  const ofValues = [words ?? word ?? []].flat().map((each) => (each === null ? 'null' : typeof each))
  const implied = properties ? ['object'] : items ? ['array'] : ofValues
  const types = type === undefined ? implied : [type].flat().map(String)
  return types.length === 0 ? undefined : new Set(types)
}

/** Without the empty text, which stands for a filter that is left out. */
function wordsOf({ enum: words, const: word }: Part['node']): Words {
  const values = Array.isArray(words) ? words : word === undefined ? undefined : [word]
  return values && new Set(values.filter((each) => each !== null && each !== '').map(String))
}

/** Returns a part of a part, or what a reference there leads to. */
function child(parent: Part | undefined, ...names: string[]): Part | undefined {
  return names.reduce<Part | undefined>((part, name) => {
    const node = part && Object.hasOwn(part.node, name) ? part.node[name] : undefined
    if (!part || typeof node !== 'object' || node === null) return undefined
    const at = `${part.at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return followed({ document: part.document, at, node: node as Part['node'] })
  }, parent)
}

function children(parent: Part, name: string): [string, Part][] {
  const list = child(parent, name)
  return Object.keys(list?.node ?? {}).flatMap((key) => {
    const part = child(list, key)
    return part ? [[key, part] as [string, Part]] : []
  })
}

/** A reference that leads nowhere, in a circle or to another document is any value. */
function followed(part: Part, left = MAX_LINKS): Part {
  const { document, node, at } = part
  if (typeof node.$ref !== 'string') return part
  const keys = node.$ref
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const target = keys.reduce(
    (found: unknown, key) => (isObject(found) ? found[key] : undefined),
    document.root as unknown
  )
  if (!node.$ref.startsWith('#/') || !isObject(target) || left === 0) return { document, at, node: {} }
  return followed({ document, at: node.$ref, node: target }, left - 1)
}

/** Reads a document from a file or an address, JSON or YAML. Rejects with `StartError` or `SeedError` when it is none. */
export async function readDocument(place: string, timeout: number, signal: AbortSignal): Promise<unknown> {
  const text = /^https?:\/\//i.test(place) ? await download() : textOf(place)
  return attempt(() => JSON.parse(text)) ?? readYaml(text, place, FILE_LIMITS)

  async function download(): Promise<string> {
    const { askAgain } = createTarget({ url: place, apiKey: '', timeout, signal })
    const { answer, problem } = await askAgain('', { authorization: null, tries: 3 })
    if (answer?.status === 200) return answer.text
    throw new StartError(`${place}: ${problem ?? `answers ${answer?.status}`}`)
  }
}
