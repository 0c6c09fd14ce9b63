import { isObject } from '../../schema/validation.js'

/** A JSON object in an OpenAPI document. */
export type DocumentNode = Record<string, unknown>

/** A part of a document, and the JSON pointer to it. */
export interface Part {
  pointer: string
  node: DocumentNode
}

/** The allowed values or types, or undefined if everything is allowed. */
export type Allowed = ReadonlySet<string> | undefined

/**
 * What a part of a document allows. The part is an operation, a response, or a schema merged with
 * its `allOf`, `oneOf` and `anyOf`.
 */
export interface View {
  pointer: string
  /** The pointers to all schemas that were merged into this view. */
  pointers: ReadonlySet<string>
  /**
   * The views of the fields, by the suffix that each field adds to the path, such as `.subject`,
   * `[]` or ` header etag`.
   */
  fields: ReadonlyMap<string, () => View>
  required: ReadonlySet<string>
  types?: Allowed
  values?: Allowed
  defaults?: Allowed
  /** Other properties, such as `deprecated` and `media types`, by name. */
  traits: ReadonlyMap<string, Allowed>
}

/** The maximum depth of a document, and the maximum length of a chain of references. */
export const MAX_DOCUMENT_DEPTH = 300

/** Returns the view of a part that exists but has no fields and allows any value. */
export const bareView = (pointer: string): View => ({
  pointer,
  pointers: new Set([pointer]),
  fields: new Map(),
  required: new Set(),
  traits: new Map()
})

/** Finds the parts of a document and returns what its schemas allow. Follows references. */
export class DocumentReader {
  readonly root: Part
  readonly #views = new Map<string, View>()

  constructor(document: DocumentNode) {
    this.root = { pointer: '#', node: document }
  }

  /** Returns the part at a path below `parent`. Follows references. */
  child(parent: Part, ...names: string[]): Part | undefined {
    let part: Part | undefined = parent
    for (const name of names) {
      const node: DocumentNode | undefined = nodeIn(part.node, name)
      if (!node) return undefined
      part = this.#follow({ pointer: `${part.pointer}/${escapePointer(name)}`, node })
    }
    return part
  }

  /** Returns all entries of the object or list `name` in `parent`, with their keys. */
  children(parent: Part, name: string): [key: string, part: Part][] {
    const keys = Object.keys(this.child(parent, name)?.node ?? {})
    return keys.flatMap((key) => {
      const part = this.child(parent, name, key)
      return part ? [[key, part] as [string, Part]] : []
    })
  }

  /**
   * Returns what a schema allows. If a schema is part of its own `allOf`, `oneOf` or `anyOf`, the
   * inner schema allows any value.
   */
  viewOf(part: Part): View {
    const { pointer } = part
    const cached = this.#views.get(pointer)
    if (cached) return cached
    this.#views.set(pointer, bareView(pointer))
    const view = this.#readSchema(part)
    this.#views.set(pointer, view)
    return view
  }

  #readSchema(part: Part): View {
    const { node } = part
    const choices = [...this.#viewsIn(part, 'oneOf'), ...this.#viewsIn(part, 'anyOf')]
    let whole: View = {
      ...bareView(part.pointer),
      types: typesOf(node),
      values: valuesOf(node),
      fields: this.#fieldsOf(part),
      required: requiredOf(node),
      traits: traitsOf(node)
    }
    for (const view of this.#viewsIn(part, 'allOf')) whole = mergeViews(whole, view, 'all')
    const [firstChoice, ...otherChoices] = choices
    if (firstChoice) {
      let anyChoice = firstChoice
      for (const choice of otherChoices) anyChoice = mergeViews(anyChoice, choice, 'any')
      whole = mergeViews(whole, anyChoice, 'all')
    }
    const isNullable = whole.types !== undefined && node.nullable === true
    return {
      ...whole,
      types: isNullable ? new Set([...(whole.types ?? []), 'null']) : whole.types,
      defaults: node.default === undefined ? undefined : new Set([String(node.default)])
    }
  }

  #viewsIn(part: Part, name: string): View[] {
    return this.children(part, name).map(([, child]) => this.viewOf(child))
  }

  #fieldsOf(part: Part): Map<string, () => View> {
    const fields = new Map<string, () => View>()
    for (const [name, property] of this.children(part, 'properties'))
      fields.set(`.${name}`, () => this.viewOf(property))
    const items = this.child(part, 'items')
    if (items) fields.set('[]', () => this.viewOf(items))
    const additional = this.child(part, 'additionalProperties')
    if (additional && Object.keys(additional.node).length > 0)
      fields.set('.*', () => this.viewOf(additional))
    return fields
  }

  /** Follows a reference. A circular, broken or external reference allows any value. */
  #follow(part: Part, depthLeft = MAX_DOCUMENT_DEPTH): Part {
    const { $ref } = part.node
    if (typeof $ref !== 'string') return part
    const [start, ...names] = $ref.split('/').map(unescapePointer)
    let target: DocumentNode | undefined = this.root.node
    for (const name of names) target = nodeIn(target, name)
    if (start !== '#' || !target || depthLeft === 0) return { pointer: part.pointer, node: {} }
    return this.#follow({ pointer: $ref, node: target }, depthLeft - 1)
  }
}

const escapePointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
const unescapePointer = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~')

function nodeIn(node: DocumentNode | undefined, name: string): DocumentNode | undefined {
  const value = node && Object.hasOwn(node, name) ? node[name] : undefined
  return typeof value === 'object' && value !== null ? (value as DocumentNode) : undefined
}

/**
 * Merges two views. In `all` mode, a value must match both views. In `any` mode, it must match one
 * of them, and a field is required only if every view that has fields requires it.
 */
function mergeViews(one: View, two: View, mode: 'all' | 'any'): View {
  const bothHaveFields = one.fields.size > 0 && two.fields.size > 0
  const names = new Set([...one.fields.keys(), ...two.fields.keys()])
  const fields = new Map<string, () => View>()
  for (const name of names) {
    const first = one.fields.get(name)
    const second = two.fields.get(name)
    if (first && second) fields.set(name, () => mergeViews(first(), second(), mode))
    else fields.set(name, (first ?? second) as () => View)
  }
  const isRequiredByAll = mode === 'any' && bothHaveFields
  const required = isRequiredByAll
    ? intersect(one.required, two.required)
    : union(one.required, two.required)
  return {
    ...one,
    traits: mergeTraits(one, two, mode),
    pointers: union(one.pointers, two.pointers),
    types: mergeAllowed(one.types, two.types, mode),
    values: mergeAllowed(one.values, two.values, mode),
    fields,
    required
  }
}

/** In `any` mode, leaves out the traits in which the views differ. */
function mergeTraits({ traits: one }: View, { traits: two }: View, mode: 'all' | 'any') {
  const merged = new Map([...two, ...one])
  if (mode === 'all') return merged
  const asText = (trait: Allowed) => [...(trait ?? [])].join()
  return new Map([...merged].filter(([name]) => asText(one.get(name)) === asText(two.get(name))))
}

function mergeAllowed(one: Allowed, two: Allowed, mode: 'all' | 'any'): Allowed {
  if (mode === 'any') return one && two && union(one, two)
  return one && two ? intersect(one, two) : (one ?? two)
}

const union = (one: ReadonlySet<string>, two: ReadonlySet<string>) => new Set([...one, ...two])

const intersect = (one: ReadonlySet<string>, two: ReadonlySet<string>) =>
  new Set([...one].filter((item) => two.has(item)))

function requiredOf({ required }: DocumentNode): Set<string> {
  return new Set(Array.isArray(required) ? required.map((name) => `.${name}`) : [])
}

function typesOf(node: DocumentNode): Allowed {
  const types = [node.type ?? impliedType(node)].flat()
  return types.length > 0 ? new Set(types.map(String)) : undefined
}

/** Derives the type of a schema without `type` from its other keywords. */
function impliedType({ enum: values, const: value, properties, items }: DocumentNode) {
  if (properties) return 'object'
  if (items) return 'array'
  return [values ?? value ?? []].flat().map((item) => (item === null ? 'null' : typeof item))
}

function traitsOf({ deprecated, minItems, oneOf, anyOf }: DocumentNode): Map<string, Allowed> {
  const traits = new Map<string, Allowed>()
  if (deprecated === true) traits.set('deprecated', new Set(['true']))
  if (Number(minItems ?? 0) > 0) traits.set('minimum items', new Set([String(minItems)]))
  const variants = [oneOf, anyOf].flat().filter((choice) => isObject(choice) && !isNull(choice))
  if (variants.length > 1) traits.set('variants', new Set([String(variants.length)]))
  return traits
}

const isNull = ({ type }: DocumentNode) => type === 'null'

/**
 * Returns the values that `enum` or `const` allows. Leaves out null, which is compared as a type,
 * and the empty string, which only means that a filter isn't set.
 */
function valuesOf({ type, enum: listed, const: value }: DocumentNode): Allowed {
  if (type === 'null') return new Set()
  const values = value === undefined ? listed : [value]
  if (!Array.isArray(values)) return undefined
  return new Set(values.filter((item) => item !== null && item !== '').map(String))
}
