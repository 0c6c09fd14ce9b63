import { isSendableHeader } from '../http/response-headers.js'
import { isSecretPath } from '../schema/validation.js'
import type { NewStub, StubResponse } from './schemas.js'

/** The maximum size of a stub's body, in bytes of JSON. */
export const MAX_STUB_BODY = 1024 * 1024

/** An operation that the mock serves. A stub must not replace it. */
interface ServedOperation {
  method: string
  /** The path, with parameters as `:name`. */
  url: string
}

export interface StubProblem {
  /** The path to the wrong field, such as `['path']`, or `['headers', name]` for a header. */
  path: readonly string[]
  /** The message to show after the field's name, such as `must start with /`. */
  message: string
  value?: unknown
}

/** Returns all problems of a stub. The stub must already match the schema. */
export function findStubProblems(
  stub: NewStub,
  operations: readonly ServedOperation[]
): StubProblem[] {
  const { path } = stub
  const pathProblem = findPathProblem(path) ?? findShadowed(stub, operations)
  return [
    ...(pathProblem ? [{ path: ['path'], message: pathProblem, value: path }] : []),
    ...findFunctionProblems(stub),
    ...findResponseProblems(stub)
  ]
}

/** Returns a problem for each field of a stub that its function must return instead. */
function findFunctionProblems(stub: NewStub): StubProblem[] {
  if (stub.function === undefined) return []
  const fields = (['status', 'headers', 'body'] as const).filter(
    (field) => stub[field] !== undefined
  )
  return fields.map((field) => ({ path: [field], message: 'must be returned by the function' }))
}

/** Returns all problems of a response. The response must already match the schema. */
export function findResponseProblems(response: StubResponse): StubProblem[] {
  const problems: StubProblem[] = []
  for (const [name, value] of Object.entries(response.headers ?? {})) {
    if (isSendableHeader(name, value)) continue
    const shown = isSecretPath([name]) ? {} : { value }
    problems.push({ path: ['headers', name], message: "can't be sent as a header", ...shown })
  }
  const bodyProblem = findBodyProblem(response)
  if (bodyProblem) problems.push({ path: ['body'], message: bodyProblem })
  return problems
}

function findPathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must start with /'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no path can contain these
  if (/[\x00-\x20\x7f?#*\\]/.test(path)) return "can't contain spaces, ?, #, * or \\"
  const segments = path.split('/').slice(1)
  const names = segments.filter((segment) => /[{}]/.test(segment))
  const malformed = names.find((segment) => !/^\{[A-Za-z_]\w*\}$/.test(segment))
  if (malformed !== undefined) {
    return (
      `has the invalid segment ${malformed}; a parameter must be a whole segment, such as {id}, ` +
      "and its name must have only letters, digits and _ and can't start with a digit"
    )
  }
  if (new Set(names).size < names.length) return 'has two parameters with the same name'
  return undefined
}

/**
 * Matches the paths that the mock server uses outside of Novu's API, such as `/_mock`, `/docs` and
 * `/health`.
 */
const RESERVED =
  /^\/($|(_mock|docs|health|openapi\.json|favicon\.ico|llms\.txt|seeds\/schema\.json)(\/|$))/

function findShadowed(
  { method, path }: NewStub,
  operations: readonly ServedOperation[]
): string | undefined {
  if (RESERVED.test(path)) return 'belongs to the mock server itself'
  const example = path.replaceAll(/\{\w+\}/g, 'x')
  const shadowed = operations.find(
    (operation) =>
      operation.method === method &&
      new RegExp(`^${operation.url.replaceAll(/:\w+/g, '[^/]+')}$`).test(example)
  )
  if (!shadowed) return undefined
  const operation = `${shadowed.method} ${shadowed.url}`
  return (
    `is served by the operation ${operation}; ` +
    'to change the response, edit the records or add a fault'
  )
}

function findBodyProblem({ status = 200, body }: StubResponse): string | undefined {
  if (body === undefined) return undefined
  if (status === 204 || status === 304) return `can't be sent with status ${status}`
  const json = toJson(body)
  if (json === undefined) return "can't be written as JSON"
  return Buffer.byteLength(json) > MAX_STUB_BODY ? 'must be at most 1 MiB of JSON' : undefined
}

/**
 * Returns undefined for a value that JSON can't represent, such as a function or an object that
 * contains itself.
 */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
