import {
  type Allowed,
  bareView,
  type DocumentNode,
  DocumentReader,
  type Part,
  type View
} from './document-view.js'

/** What a document says about one operation. */
export interface OperationView {
  /** The parameters, the request body, and the body of successful responses. */
  view: View
  /** For each status, the headers of the response and, if it is an error, its body. */
  responses: ReadonlyMap<string, View>
}

export interface DocumentedOperation {
  name: string
  read: () => OperationView
}

/** Returns the operations by method and path. The names of path parameters are ignored. */
export function operationsIn(document: DocumentNode): Map<string, DocumentedOperation> {
  const reader = new DocumentReader(document)
  const server = reader.child(reader.root, 'servers', '0')
  const basePath = String(server?.node.url ?? '').replaceAll(/^https?:\/\/[^/]*|\/$/g, '')
  const operations = new Map<string, DocumentedOperation>()
  for (const [url, pathItem] of reader.children(reader.root, 'paths')) {
    for (const method of Object.keys(pathItem.node)) {
      const name = `${method.toUpperCase()} ${basePath}${url}`
      const operation = reader.child(pathItem, method) ?? pathItem
      const read = () => readOperation(reader, name, pathItem, operation)
      operations.set(name.replaceAll(/\{[^}]*\}/g, '{}'), { name, read })
    }
  }
  return operations
}

function readOperation(
  reader: DocumentReader,
  name: string,
  pathItem: Part,
  operation: Part
): OperationView {
  const { fields, required } = parameterFields(reader, name, pathItem, operation)
  const body = reader.child(operation, 'requestBody')
  if (body) fields.set('request body', () => withMediaTypes(reader.viewOf(body), body))
  const responses = new Map<string, View>()
  for (const [status, response] of reader.children(operation, 'responses')) {
    const isSuccess = status.startsWith('2')
    const content = contentOf(reader, response)
    responses.set(status, responseView(reader, response, isSuccess ? undefined : content))
    if (isSuccess && content) addBody(fields, content)
  }
  const traits = new Map<string, Allowed>([
    ['security', securityOf(reader, operation)],
    ['deprecated', new Set([String(operation.node.deprecated === true)])]
  ])
  return { view: { ...bareView(operation.pointer), fields, required, traits }, responses }
}

function parameterFields(reader: DocumentReader, name: string, pathItem: Part, operation: Part) {
  const fields = new Map<string, () => View>()
  const required = new Set<string>()
  const pathParameters = [...name.matchAll(/\{([^}]*)\}/g)].map(([, parameter]) => parameter)
  const parameters = [pathItem, operation].flatMap((part) => reader.children(part, 'parameters'))
  for (const [, parameter] of parameters) {
    const { in: location, name: ownName, required: isRequired } = parameter.node
    const position = pathParameters.indexOf(String(ownName)) + 1
    const part = `parameter ${location} ${location === 'path' ? position : ownName}`
    fields.set(part, () => parameterView(reader, parameter))
    if (isRequired === true) required.add(part)
  }
  return { fields, required }
}

function parameterView(reader: DocumentReader, parameter: Part): View {
  const view = reader.viewOf(reader.child(parameter, 'schema') ?? parameter)
  const traits = new Map(view.traits)
  if (parameter.node.deprecated === true) traits.set('deprecated', new Set(['true']))
  // The style doesn't matter for a parameter with a single value.
  if (view.types?.has('array') || view.types?.has('object')) {
    const { in: location, style = location === 'query' ? 'form' : 'simple' } = parameter.node
    traits.set('style', new Set([String(style)]))
    traits.set('explode', new Set([String(parameter.node.explode ?? style === 'form')]))
  }
  return { ...view, traits, pointer: parameter.pointer }
}

/** Returns the view of a response: its headers and, if it is an error, its body. */
function responseView(reader: DocumentReader, response: Part, error: View | undefined): View {
  const fields = new Map<string, () => View>()
  for (const [header] of reader.children(response, 'headers')) {
    // Only the mock sends these headers.
    if (/^x-(mock-|request-id$)/i.test(header)) continue
    fields.set(`header ${header.toLowerCase()}`, () => bareView(response.pointer))
  }
  if (error) fields.set('error body', () => error)
  return { ...bareView(response.pointer), fields }
}

/**
 * Adds the body of a successful response as the field `body`. If the body is an envelope, `body` is
 * the envelope's content, and the field `envelope` is added too.
 */
function addBody(fields: Map<string, () => View>, whole: View): void {
  const data = envelopedData(whole)
  if (data) fields.set('envelope', () => bareView(data.pointer))
  fields.set('body', () => ({ ...(data ?? whole), traits: whole.traits }))
}

function contentOf(reader: DocumentReader, response: Part): View | undefined {
  const schema = reader.child(response, 'content', 'application/json', 'schema')
  return schema && withMediaTypes(reader.viewOf(schema), response)
}

function withMediaTypes(view: View, { node }: Part): View {
  const types = Object.keys((node.content as DocumentNode | undefined) ?? {})
  return { ...view, traits: new Map([...view.traits, ['media types', new Set(types)]]) }
}

/**
 * Returns the ways to authenticate, such as `apiKey header Authorization`. Names of schemes are
 * ignored.
 */
function securityOf(reader: DocumentReader, operation: Part): Allowed {
  const from = operation.node.security === undefined ? reader.root : operation
  const ways = reader.children(from, 'security').map(([, { node }]) => {
    const schemes = Object.keys(node).map((name) => {
      const scheme = reader.child(reader.root, 'components', 'securitySchemes', name)
      const { type, in: location, name: header, scheme: word } = scheme?.node ?? {}
      return [type, location, header, word].filter(Boolean).join(' ') || name
    })
    return schemes.join(' and ') || 'none'
  })
  return new Set(ways.length > 0 ? ways : ['none'])
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
