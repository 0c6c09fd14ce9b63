import { isSendableHeader } from '../http/response-headers.js'
import { isSecretPath } from '../schema/validation.js'
import type { NewStub } from './schemas.js'

/** The maximum size of a stub's body, in bytes of JSON. */
export const MAX_STUB_BODY = 1024 * 1024

/** An operation that the mock serves. A stub must not replace it. */
interface ServedOperation {
  method: string
  /** The path, in which parameters are written as `:name`. */
  url: string
}

interface StubProblem {
  /** The path to the wrong field, such as `['path']`, or `['headers', name]` for a header. */
  path: readonly string[]
  /** The problem, worded to follow the field's name, such as `must start with /`. */
  message: string
  value?: unknown
}

/** Returns everything that is wrong with a stub that matches the schema. */
export function findStubProblems(
  stub: NewStub,
  operations: readonly ServedOperation[]
): StubProblem[] {
  const { path, headers = {} } = stub
  const problems: StubProblem[] = []
  const pathProblem = findPathProblem(path) ?? findShadowed(stub, operations)
  if (pathProblem) problems.push({ path: ['path'], message: pathProblem, value: path })
  for (const [name, value] of Object.entries(headers)) {
    if (isSendableHeader(name, value)) continue
    const shown = isSecretPath([name]) ? {} : { value }
    problems.push({ path: ['headers', name], message: "can't be sent as a header", ...shown })
  }
  const bodyProblem = findBodyProblem(stub)
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
    return `has the segment ${malformed}; a parameter is a whole segment, such as {id}`
  }
  if (new Set(names).size < names.length) return 'has two parameters with the same name'
  return undefined
}

const RESERVED = /^\/($|(_mock|docs|health|openapi\.json|favicon\.ico)(\/|$))/

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
  return `is served by the operation ${operation}; change its data or add a fault`
}

function findBodyProblem({ status = 200, body }: NewStub): string | undefined {
  if (body === undefined) return undefined
  if (status === 204 || status === 304) return `can't be sent with status ${status}`
  const size = Buffer.byteLength(JSON.stringify(body))
  return size > MAX_STUB_BODY ? 'must be at most 1 MiB of JSON' : undefined
}
