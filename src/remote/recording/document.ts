import { ASSUMPTION_IDS, type AssumptionId } from '../../domain/assumptions.js'
import { StartError } from '../../domain/errors.js'
import { isTooDeep } from '../../schema/validation.js'
import { ROWS } from '../probes.js'
import { isObject } from '../response-checks.js'

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
  explainedBy?: AssumptionId
}

type Node = Record<string, unknown>
type Change = Pick<DocumentDifference, 'kind' | 'there' | 'here'>
/** Undefined is any. */
type Words = ReadonlySet<string> | undefined
/** A part of a document, and the JSON pointer to it. */
type Part = { at: string; node: Node }

/** What a place allows: a schema with all its parts and choices as one, a response, or an operation. */
interface View extends Partial<Record<'types' | 'words' | 'preset', Words>> {
  at: string
  /** All the places that it was made of. */
  from: ReadonlySet<string>
  /** By what follows the path of the place: `.subject`, `[]`, ` header etag`. */
  fields: ReadonlyMap<string, () => View>
  required: ReadonlySet<string>
}

/** How deep a document may be nested, and how many references may follow one another. */
const MAX_DEPTH = 300

/**
 * Compares the operations of our OpenAPI document with those of a published one, 3.0 or 3.1: parameters, statuses, headers and
 * the fields of bodies, through references and an envelope. The variants of a choice are held as one; bounds, patterns and
 * formats are not compared. What several places share is told once. Returns how many operations both have, and which of
 * ours are missing there. Throws `StartError` when it is no such document.
 */
export function compareDocuments(published: unknown, own: object) {
  if (
    !isObject(published) ||
    !/^3\.[01]\b/.test(String(published.openapi)) ||
    !isObject(published.paths)
  ) {
    throw new StartError(
      'it is no OpenAPI document of version 3.0 or 3.1, which has openapi and paths'
    )
  }
  if (isTooDeep(published, MAX_DEPTH))
    throw new StartError(`it is nested more than ${MAX_DEPTH} deep`)
  const [theirs, ours] = [operationsIn(published), operationsIn(own as Node)]
  const seen = new Set<string>()
  const differences = [...ours].flatMap(([id, { name, view }]) => {
    const there = theirs.get(id)?.view()
    return there ? differencesOf(name, there, view(), seen) : []
  })
  const missing = [...ours].flatMap(([id, { name }]) => (theirs.has(id) ? [] : name))
  return { compared: ours.size - missing.length, missing, differences }
}

/** `seen` has the pairs of schemas that were compared before. */
function differencesOf(
  operation: string,
  theirs: View,
  ours: View,
  seen: Set<string>
): DocumentDifference[] {
  const found: DocumentDifference[] = []
  compareFields(theirs, ours, '')
  return found.sort((one, other) => (one.what < other.what ? -1 : 1))

  function add(
    what: string,
    change: Change | undefined,
    { at: thereAt }: View,
    { at: hereAt }: View
  ): void {
    if (!change) return
    const explainedBy = ASSUMPTION_IDS.find((id) => ROWS[id].documented?.(operation, what, change))
    found.push({ operation, what, ...change, thereAt, hereAt, ...(explainedBy && { explainedBy }) })
  }

  function compareFields(there: View, here: View, path: string): void {
    for (const name of new Set([...there.fields.keys(), ...here.fields.keys()])) {
      const [one, other, what] = [
        there.fields.get(name)?.(),
        here.fields.get(name)?.(),
        path + name
      ]
      if (!one || !other)
        add(what, { kind: one ? 'there only' : 'here only' }, one ?? there, other ?? here)
      else {
        add(`${what} required`, comparison(presence(there, name), presence(here, name)), one, other)
        compareViews(one, other, what)
      }
    }
  }

  function compareViews(there: View, here: View, what: string): void {
    const pair = [there, here].map(({ from }) => [...from].sort().join()).join(' ')
    if (seen.has(pair)) return
    seen.add(pair)
    const types = comparison(withIntegers(there.types), withIntegers(here.types))
    const [isOpen, isOursOpen] = [there, here].map(({ fields }) => fields.size === 0)
    add(
      `${what} default`,
      there.preset && here.preset && comparison(there.preset, here.preset),
      there,
      here
    )
    add(`${what} type`, types, there, here)
    add(`${what} words`, comparison(there.words, here.words), there, here)
    // What one of them leaves open has no fields that could be compared.
    if (isOpen === isOursOpen) compareFields(there, here, what)
    else if (!types) add(`${what} fields`, { kind: isOpen ? 'wider' : 'narrower' }, there, here)
  }
}

/** Compares what is allowed, and returns what only either has; undefined when both allow the same. */
function comparison(theirs: Words, own: Words): Change | undefined {
  const there = [...(theirs ?? [])].filter((each) => !own?.has(each))
  const here = [...(own ?? [])].filter((each) => !theirs?.has(each))
  if (there.length + here.length === 0) return undefined
  const isNarrower = !own || (theirs && there.length === 0)
  return {
    kind: isNarrower ? 'narrower' : !theirs || here.length === 0 ? 'wider' : 'there only',
    there,
    here
  }
}

const presence = ({ required }: View, name: string) =>
  new Set(required.has(name) ? ['present'] : ['present', 'absent'])
const withIntegers = (types: Words) =>
  types?.has('number') ? new Set([...types, 'integer']) : types

/** Returns the operations by method and path, in which the names of parameters do not count. */
function operationsIn(root: Node) {
  const { child, children, viewOf } = readerOf(root)
  const found = new Map<string, { name: string; view: () => View }>()
  const top = { at: '#', node: root }
  const base = String(child(top, 'servers', '0')?.node.url ?? '').replaceAll(
    /^https?:\/\/[^/]*|\/$/g,
    ''
  )
  for (const [url, path] of children(top, 'paths')) {
    for (const method of Object.keys(path.node)) {
      const [name, operation] = [
        `${method.toUpperCase()} ${base}${url}`,
        child(path, method) ?? path
      ]
      found.set(name.replaceAll(/\{[^}]*\}/g, '{}'), {
        name,
        view: () => operationView(name, path, operation)
      })
    }
  }
  return found

  function operationView(name: string, path: Part, operation: Part): View {
    const [fields, required] = [new Map<string, () => View>(), new Set<string>()]
    const inPath = [...name.matchAll(/\{([^}]*)\}/g)].map(([, each]) => each)
    for (const [, parameter] of [path, operation].flatMap((each) => children(each, 'parameters'))) {
      const { in: place, name: key, required: isRequired } = parameter.node
      const what = `parameter ${place} ${place === 'path' ? inPath.indexOf(String(key)) + 1 : key}`
      fields.set(what, () => ({
        ...viewOf(child(parameter, 'schema') ?? parameter),
        at: parameter.at
      }))
      if (isRequired === true) required.add(what)
    }
    const body = child(operation, 'requestBody')
    if (body) fields.set('request body', () => viewOf(body))
    for (const [status, response] of children(operation, 'responses')) {
      // Those that a mock alone has say nothing of the service.
      const headers = children(response, 'headers').filter(
        ([header]) => !/^x-(mock-|request-id$)/i.test(header)
      )
      const parts = new Map(
        headers.map(([header, part]) => [` header ${header.toLowerCase()}`, () => plain(part)])
      )
      fields.set(`status ${status}`, () => ({ ...plain(response), fields: parts }))
      const schema = child(response, 'content', 'application/json', 'schema')
      if (!schema) continue
      const whole = viewOf(schema)
      // An envelope is an object with `data` alone, which is an object too.
      const data =
        whole.fields.size === 1 && /^2/.test(status) ? whole.fields.get('.data')?.() : undefined
      const inner = data?.types?.has('object') ? data : whole
      if (inner === data) fields.set('envelope', () => plain(inner))
      if (/^2/.test(status)) fields.set('body', () => inner)
      else parts.set(' body', () => whole)
    }
    return { ...plain(operation), fields, required }
  }
}

/** Returns what finds parts of a document, and reads its schemas. */
function readerOf(root: Node) {
  const views = new Map<string, View>()
  return { child, children, viewOf }

  /** Returns what a schema says. While it is being read, it is any: so a circle of parts ends. */
  function viewOf(part: Part): View {
    const { at, node } = part
    const known = views.get(at)
    if (known) return known
    views.set(at, plain(part))
    const [items, others] = [child(part, 'items'), child(part, 'additionalProperties')]
    const fields = new Map(
      children(part, 'properties').map(([name, each]) => [`.${name}`, () => viewOf(each)])
    )
    if (items) fields.set('[]', () => viewOf(items))
    if (others && Object.keys(others.node).length > 0) fields.set('.*', () => viewOf(others))
    const partsIn = (name: string) => children(part, name).map(([, each]) => viewOf(each))
    const choices = [...partsIn('oneOf'), ...partsIn('anyOf')]
    const choice =
      choices.length > 0 ? [choices.reduce((one, other) => merged(one, other, true))] : []
    const required = new Set(
      Array.isArray(node.required) ? node.required.map((name) => `.${name}`) : []
    )
    const own: View = {
      ...plain(part),
      types: typesOf(node),
      words: wordsOf(node),
      fields,
      required
    }
    const whole = [...partsIn('allOf'), ...choice].reduce(
      (one, other) => merged(one, other, false),
      own
    )
    const types =
      whole.types && node.nullable === true ? new Set([...whole.types, 'null']) : whole.types
    const view = {
      ...whole,
      types,
      preset: node.default === undefined ? undefined : new Set([String(node.default)])
    }
    views.set(at, view)
    return view
  }

  function children(parent: Part, name: string): [string, Part][] {
    const keys = Object.keys(child(parent, name)?.node ?? {})
    return keys
      .map((key) => [key, child(parent, name, key)] as [string, Part])
      .filter(([, part]) => part)
  }

  /** Returns a part of a part, or what a reference there leads to. */
  function child(parent: Part | undefined, ...names: string[]): Part | undefined {
    return names.reduce<Part | undefined>((part, name) => {
      const node = nodeIn(part?.node, name)
      return (
        node &&
        followed({ at: `${part?.at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, node })
      )
    }, parent)
  }

  /** A reference that leads nowhere, in a circle or to another document is any value. */
  function followed({ at, node }: Part, left = MAX_DEPTH): Part {
    const { $ref } = node
    if (typeof $ref !== 'string') return { at, node }
    const names = $ref.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    const target = names.slice(1).reduce<Node | undefined>(nodeIn, root)
    if (names[0] !== '#' || !target || left === 0) return { at, node: {} }
    return followed({ at: $ref, node: target }, left - 1)
  }
}

function nodeIn(node: Node | undefined, name: string): Node | undefined {
  const value = node && Object.hasOwn(node, name) ? node[name] : undefined
  return typeof value === 'object' && value !== null ? (value as Node) : undefined
}

/** A place that says no more than that it is there. */
const plain = ({ at }: Pick<Part, 'at'>): View => ({
  at,
  from: new Set([at]),
  fields: new Map(),
  required: new Set()
})

/** Returns what two say together, or what one or the other allows: a field is required when all have it that have any. */
function merged(one: View, other: View, isOr: boolean): View {
  const isBoth = isOr && one.fields.size > 0 && other.fields.size > 0
  const fields = [...new Set([...one.fields.keys(), ...other.fields.keys()])].map(
    (name): [string, () => View] => {
      const [first, second] = [one.fields.get(name), other.fields.get(name)]
      return [
        name,
        first && second ? () => merged(first(), second(), isOr) : ((first ?? second) as () => View)
      ]
    }
  )
  return {
    ...one,
    from: new Set([...one.from, ...other.from]),
    types: combined(one.types, other.types, isOr),
    words: combined(one.words, other.words, isOr),
    fields: new Map(fields),
    required: combined(one.required, other.required, !isBoth) as ReadonlySet<string>
  }
}

/** Returns the words of both, or those that both have. */
function combined(one: Words, other: Words, isOr: boolean): Words {
  if (!one || !other) return isOr ? undefined : (one ?? other)
  return isOr ? new Set([...one, ...other]) : new Set([...one].filter((each) => other.has(each)))
}

function typesOf({ type, enum: words, const: word, properties, items }: Node): Words {
  const ofValues = [words ?? word ?? []]
    .flat()
    .map((each) => (each === null ? 'null' : typeof each))
  const types = [type ?? (properties ? 'object' : items ? 'array' : ofValues)].flat()
  return types.length > 0 ? new Set(types.map(String)) : undefined
}

/** Without the empty text, which stands for a filter that is left out. */
function wordsOf({ type, enum: words, const: word }: Node): Words {
  const values = type === 'null' ? [] : word === undefined ? words : [word]
  return Array.isArray(values)
    ? new Set(values.filter((each) => each !== null && each !== '').map(String))
    : undefined
}
