import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '../domain/errors.js'
import type { Query } from '../domain/query-string.js'
import type { Stub } from '../domain/stub.js'
import { clearTimeout, setTimeout } from '../platform/timers.js'
import { findIssues, formatPath, isSecretPath } from '../schema/validation.js'
import { findResponseProblems } from './checks.js'
import { StubResponse } from './schemas.js'

/** The request that a stub's function gets. */
export interface FunctionRequest {
  apiKey: string
  /** The decoded values of the path's parameters. */
  params: Record<string, string>
  query: Query
  headers: IncomingHttpHeaders
  body: unknown
}

/**
 * Returns a response, or a promise of one. `runFunction` checks the response, because users may
 * return anything.
 */
export type StubFunction = (request: FunctionRequest) => unknown

/**
 * Keeps the functions of stubs. A stub has only the id of its function, so that environments can
 * store, fork and compare it like any other stub. Functions are never removed, because any fork or
 * snapshot may refer to them.
 */
export class StubFunctions {
  readonly #functions = new Map<string, StubFunction>()

  /** Keeps the function and returns an id for the stub's `function` field. */
  register(stubFunction: StubFunction): string {
    const id = randomUUID()
    this.#functions.set(id, stubFunction)
    return id
  }

  find(id: string): StubFunction | undefined {
    return this.#functions.get(id)
  }
}

/** How many milliseconds a function may take. */
const TIMEOUT = 5000

/**
 * Calls the function of a stub, and returns its response. Throws `stub-failed` if the function is
 * missing, throws, doesn't return in time, or returns something that can't be sent as a response.
 */
export async function runFunction(
  stub: Stub,
  stubFunction: StubFunction | undefined,
  request: FunctionRequest,
  timeout = TIMEOUT
): Promise<StubResponse> {
  if (!stubFunction) throw failed(stub, 'was lost when the server restarted; add the stub again')
  const response = await callInTime(stub, stubFunction, request, timeout)
  const problem = findProblem(response)
  if (problem !== undefined) throw failed(stub, `returned an invalid response: ${problem}`)
  return response as StubResponse
}

async function callInTime(
  stub: Stub,
  stubFunction: StubFunction,
  request: FunctionRequest,
  timeout: number
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const tooSlow = new Promise<never>((_resolve, reject) => {
    const error = failed(stub, `did not return within ${timeout / 1000} seconds`)
    // `unref` lets the process exit while a function hangs.
    timer = setTimeout(() => reject(error), timeout).unref()
  })
  const called = Promise.resolve(request)
    .then(stubFunction)
    .catch((error) => {
      throw failed(stub, `threw ${describeThrown(error)}`)
    })
  try {
    return await Promise.race([called, tooSlow])
  } finally {
    clearTimeout(timer)
  }
}

/** Describes the value that a function threw. It can be any value, so even `String()` may throw. */
function describeThrown(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'a value that is not an error'
  }
}

/** Returns why a function's return value can't be sent as a response, or undefined if it can. */
function findProblem(response: unknown): string | undefined {
  // Reject class instances such as a `Response` from `fetch`. They may have no properties of their
  // own, so the schema would accept them as an empty response.
  const kind = Object.prototype.toString.call(response)
  if (kind !== '[object Object]') {
    return `${kind} is not a plain object; return { status, headers, body }`
  }
  const [issue] = findIssues(StubResponse, response, 1)
  if (issue) {
    const { path, message, hint } = issue
    return `${formatPath(path)} ${message}${isSecretPath(path) ? '' : hint}`
  }
  const [problem] = findResponseProblems(response as StubResponse)
  return problem && `${problem.path.join('.')} ${problem.message}`
}

function failed(stub: Stub, problem: string): DomainError {
  const { id, method, path } = stub
  return new DomainError('stub-failed', 'The function of the stub failed', {
    reason: `the function of ${id} (${method} ${path}) ${problem}`,
    logLevel: 'warn'
  })
}
