import { ASSUMPTION_IDS, type AssumptionId } from '../../domain/assumptions.js'
import { StartError } from '../../domain/errors.js'
import { isObject, isTooDeep } from '../../schema/validation.js'
import { assumptionProbes } from '../probes/index.js'
import {
  type Allowed,
  bareView,
  type DocumentNode,
  DocumentReader,
  MAX_DOCUMENT_DEPTH,
  type Part,
  type View
} from './document-view.js'

/** How a part of a published OpenAPI document differs from ours. */
export interface DocumentDifference {
  /**
   * `narrower` means that the published document allows fewer values, and `wider` that it allows
   * more.
   */
  kind: 'published only' | 'ours only' | 'narrower' | 'wider'
  operation: string
  /** The part that differs: `parameter query limit`, `body.data[].channel values` or the like. */
  part: string
  /** The values that only the published document allows. */
  published?: unknown
  /** The values that only our document allows. */
  ours?: unknown
  /**
   * JSON pointers to the part in each document. If a document lacks the part, its pointer leads to
   * the part's parent.
   */
  publishedAt: string
  oursAt: string
  explainedBy?: AssumptionId
}

export interface DocumentComparison {
  /** How many operations are in both documents. */
  compared: number
  /** The operations that the published document lacks. */
  missing: string[]
  differences: DocumentDifference[]
}

type Change = Pick<DocumentDifference, 'kind' | 'published' | 'ours'>

/**
 * Compares the parameters, statuses, headers and body fields in our OpenAPI document with those in
 * a published document of version 3.0 or 3.1. Follows references. If a response is in an envelope,
 * compares the content of the envelope. Merges the alternatives of `oneOf` and `anyOf`. Doesn't
 * compare bounds, patterns and formats. Lists a difference in a shared schema only once. Throws
 * `StartError` if the published document isn't an OpenAPI document.
 */
export function compareDocuments(published: unknown, ours: object): DocumentComparison {
  const publishedOperations = operationsIn(checkedDocument(published))
  const ourOperations = operationsIn(ours as DocumentNode)
  const comparison = new OperationComparison()
  const missing: string[] = []
  for (const [id, { name, view }] of ourOperations) {
    const publishedOperation = publishedOperations.get(id)
    if (publishedOperation) comparison.compare(name, publishedOperation.view(), view())
    else missing.push(name)
  }
  const compared = ourOperations.size - missing.length
  return { compared, missing, differences: comparison.differences }
}

function checkedDocument(document: unknown): DocumentNode {
  const isOpenApi =
    isObject(document) && /^3\.[01]\b/.test(String(document.openapi)) && isObject(document.paths)
  if (!isOpenApi)
    throw new StartError('not an OpenAPI document of version 3.0 or 3.1 with openapi and paths')
  if (isTooDeep(document, MAX_DOCUMENT_DEPTH))
    throw new StartError(`the document is nested more than ${MAX_DOCUMENT_DEPTH} levels deep`)
  return document
}

class OperationComparison {
  readonly differences: DocumentDifference[] = []
  /** The pairs of schemas that were already compared, in any operation. */
  readonly #comparedPairs = new Set<string>()
  #ofOperation: DocumentDifference[] = []
  #operation = ''

  /** Adds the differences of one operation, sorted by part. */
  compare(operation: string, published: View, ours: View): void {
    this.#operation = operation
    this.#ofOperation = []
    this.#compareFields(published, ours, '')
    this.#ofOperation.sort((one, two) => (one.part < two.part ? -1 : 1))
    this.differences.push(...this.#ofOperation)
  }

  #add(part: string, change: Change | undefined, published: View, ours: View): void {
    if (!change) return
    const operation = this.#operation
    const explainedBy = ASSUMPTION_IDS.find((id) =>
      assumptionProbes[id].explainsDocument?.(operation, part, change)
    )
    this.#ofOperation.push({
      operation,
      part,
      ...change,
      publishedAt: published.pointer,
      oursAt: ours.pointer,
      ...(explainedBy && { explainedBy })
    })
  }

  #compareFields(published: View, ours: View, path: string): void {
    const names = new Set([...published.fields.keys(), ...ours.fields.keys()])
    for (const name of names) {
      const part = path + name
      const publishedField = published.fields.get(name)?.()
      const ourField = ours.fields.get(name)?.()
      if (publishedField && ourField) {
        const change = compareAllowed(presenceOf(published, name), presenceOf(ours, name))
        this.#add(`${part} required`, change, publishedField, ourField)
        this.#compareViews(publishedField, ourField, part)
      } else {
        const kind = publishedField ? 'published only' : 'ours only'
        this.#add(part, { kind }, publishedField ?? published, ourField ?? ours)
      }
    }
  }

  #compareViews(published: View, ours: View, part: string): void {
    const pair = `${pointersOf(published)} ${pointersOf(ours)}`
    if (this.#comparedPairs.has(pair)) return
    this.#comparedPairs.add(pair)
    const haveDefaults = published.defaults && ours.defaults
    const defaults = haveDefaults && compareAllowed(published.defaults, ours.defaults)
    const types = compareAllowed(withIntegers(published.types), withIntegers(ours.types))
    this.#add(`${part} default`, defaults, published, ours)
    this.#add(`${part} type`, types, published, ours)
    this.#add(`${part} values`, compareAllowed(published.values, ours.values), published, ours)
    const isPublishedOpen = published.fields.size === 0
    const areOursOpen = ours.fields.size === 0
    if (isPublishedOpen === areOursOpen) {
      this.#compareFields(published, ours, part)
      return
    }
    // A schema without fields allows any field, so its fields can't be compared one by one.
    const kind = isPublishedOpen ? 'wider' : 'narrower'
    if (!types) this.#add(`${part} fields`, { kind }, published, ours)
  }
}

const pointersOf = ({ pointers }: View) => [...pointers].sort().join()

/**
 * Returns the values that only one document allows, or undefined if both documents allow the same
 * values.
 */
function compareAllowed(publishedSet: Allowed, ourSet: Allowed): Change | undefined {
  const published = [...(publishedSet ?? [])].filter((item) => !ourSet?.has(item))
  const ours = [...(ourSet ?? [])].filter((item) => !publishedSet?.has(item))
  if (published.length + ours.length === 0) return undefined
  const isNarrower = !ourSet || (publishedSet && published.length === 0)
  if (isNarrower) return { kind: 'narrower', published, ours }
  const isWider = !publishedSet || ours.length === 0
  return { kind: isWider ? 'wider' : 'published only', published, ours }
}

const presenceOf = ({ required }: View, name: string) =>
  new Set(required.has(name) ? ['present'] : ['present', 'absent'])

/** Adds `integer` if `number` is allowed, because every integer is a number. */
const withIntegers = (types: Allowed) =>
  types?.has('number') ? new Set([...types, 'integer']) : types

interface Operation {
  name: string
  view: () => View
}

/** Returns the operations by method and path. The names of path parameters are ignored. */
function operationsIn(document: DocumentNode): Map<string, Operation> {
  const reader = new DocumentReader(document)
  const server = reader.child(reader.root, 'servers', '0')
  const basePath = String(server?.node.url ?? '').replaceAll(/^https?:\/\/[^/]*|\/$/g, '')
  const operations = new Map<string, Operation>()
  for (const [url, pathItem] of reader.children(reader.root, 'paths')) {
    for (const method of Object.keys(pathItem.node)) {
      const name = `${method.toUpperCase()} ${basePath}${url}`
      const operation = reader.child(pathItem, method) ?? pathItem
      const view = () => operationView(reader, name, pathItem, operation)
      operations.set(name.replaceAll(/\{[^}]*\}/g, '{}'), { name, view })
    }
  }
  return operations
}

function operationView(reader: DocumentReader, name: string, pathItem: Part, operation: Part) {
  const fields = new Map<string, () => View>()
  const required = new Set<string>()
  const pathParameters = [...name.matchAll(/\{([^}]*)\}/g)].map(([, parameter]) => parameter)
  const parameters = [pathItem, operation].flatMap((part) => reader.children(part, 'parameters'))
  for (const [, parameter] of parameters) {
    const { in: location, name: ownName, required: isRequired } = parameter.node
    const position = pathParameters.indexOf(String(ownName)) + 1
    const part = `parameter ${location} ${location === 'path' ? position : ownName}`
    const schema = reader.child(parameter, 'schema') ?? parameter
    fields.set(part, () => ({ ...reader.viewOf(schema), pointer: parameter.pointer }))
    if (isRequired === true) required.add(part)
  }
  const body = reader.child(operation, 'requestBody')
  if (body) fields.set('request body', () => reader.viewOf(body))
  for (const [status, response] of reader.children(operation, 'responses')) {
    for (const [part, view] of responseFields(reader, status, response)) fields.set(part, view)
  }
  return { ...bareView(operation.pointer), fields, required }
}

/** Returns the fields that one response adds to the view of its operation. */
function responseFields(
  reader: DocumentReader,
  status: string,
  response: Part
): Map<string, () => View> {
  const responseParts = new Map<string, () => View>()
  for (const [header, part] of reader.children(response, 'headers')) {
    // Only the mock sends these headers.
    if (/^x-(mock-|request-id$)/i.test(header)) continue
    responseParts.set(` header ${header.toLowerCase()}`, () => bareView(part.pointer))
  }
  const fields = new Map<string, () => View>()
  fields.set(`status ${status}`, () => ({ ...bareView(response.pointer), fields: responseParts }))
  const schema = reader.child(response, 'content', 'application/json', 'schema')
  if (!schema) return fields
  const whole = reader.viewOf(schema)
  if (!status.startsWith('2')) {
    responseParts.set(' body', () => whole)
    return fields
  }
  const data = envelopedData(whole)
  if (data) fields.set('envelope', () => bareView(data.pointer))
  fields.set('body', () => data ?? whole)
  return fields
}

/**
 * Returns the field `data` if the schema is an envelope: an object whose only field is the object
 * `data`. Otherwise, returns undefined.
 */
function envelopedData(whole: View): View | undefined {
  if (whole.fields.size !== 1) return undefined
  const data = whole.fields.get('.data')?.()
  return data?.types?.has('object') ? data : undefined
}
