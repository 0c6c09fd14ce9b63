import { callOptions, type Session } from '../../shell/session.js'

/** A parameter of an operation. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  isRequired: boolean
  /** Whether the parameter can be repeated. */
  isList: boolean
  description: string
  /** The values of the parameter's enum. Empty if the parameter has no enum. */
  allowedValues: readonly string[]
  /** The allowed numbers, such as `1 to 1000`. */
  range: string | undefined
  /** The value that the server uses if the parameter is absent. */
  defaultValue: string | undefined
  /** Values that exist in the default seed. */
  examples: readonly string[]
}

/** An operation of the mocked API, or a control route. */
export interface DescribedOperation {
  id: string
  title: string
  method: string
  /** The path with its parameters in braces, such as `/v1/integrations/{integrationId}`. */
  path: string
  parameters: readonly Parameter[]
}

/** The parts of an OpenAPI document that the form reads. */
interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>
}

interface OpenApiOperation {
  operationId: string
  summary: string
  parameters?: readonly OpenApiParameter[]
}

interface OpenApiSchema {
  enum?: readonly unknown[]
  minimum?: number
  maximum?: number
  default?: unknown
  examples?: readonly unknown[]
  items?: OpenApiSchema
}

interface OpenApiParameter extends Pick<Parameter, 'name' | 'in'> {
  required?: boolean
  description?: string
  example?: unknown
  schema: OpenApiSchema
}

/**
 * Loads the operations of the mocked API, with the environment's assumptions applied. If `id` is
 * the id of a control route, also loads that route.
 */
export async function loadOperations(
  call: Session['call'],
  id: string | undefined
): Promise<DescribedOperation[]> {
  const operations = await loadDocument(call, '/openapi.json')
  if (id === undefined || operations.some((operation) => operation.id === id)) return operations
  const routes = await loadDocument(call, '/_mock/openapi.json')
  return [...operations, ...routes.filter((route) => route.id === id)]
}

async function loadDocument(call: Session['call'], path: string): Promise<DescribedOperation[]> {
  const { status, json } = await call('GET', path, callOptions({ isUserAction: false }))
  if (status !== 200) throw new Error(`${path} returned ${status}: reload the page`)
  const { paths } = json as OpenApiDocument
  return Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, parameters = [] }]) => ({
      id: operationId,
      title: summary,
      method: method.toUpperCase(),
      path: url,
      parameters: parameters.map(toParameter)
    }))
  )
}

function toParameter(parameter: OpenApiParameter): Parameter {
  const { name, in: location, required = false, description = '', example, schema } = parameter
  const examples = [example ?? [], schema.examples ?? []].flat(2)
  return {
    name,
    in: location,
    isRequired: required,
    isList: schema.items !== undefined,
    description,
    allowedValues: (schema.enum ?? schema.items?.enum ?? []).map(String),
    range: rangeOf(schema),
    defaultValue: schema.default === undefined ? undefined : String(schema.default),
    examples: examples.map(String)
  }
}

function rangeOf({ minimum, maximum = Number.MAX_SAFE_INTEGER }: OpenApiSchema) {
  if (minimum === undefined) return undefined
  return maximum < Number.MAX_SAFE_INTEGER ? `${minimum} to ${maximum}` : `at least ${minimum}`
}
