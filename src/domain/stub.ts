import { DomainError } from './errors.js'

/** Methods that a stub can have. A GET stub also responds to HEAD. */
export const STUB_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type StubMethod = (typeof STUB_METHODS)[number]

/** The built-in sets of stubs, which are files in `seeds/stubs/`. */
export const STUB_SETS = ['novu-client'] as const
export type StubSet = (typeof STUB_SETS)[number]

/** The maximum number of stubs in an environment. */
export const MAX_STUBS = 1000
/**
 * The maximum total length of an environment's stubs, as JSON. It is limited because each fork
 * copies the stubs.
 */
const MAX_TOTAL = 16 * 1024 * 1024

/** A fixed or computed response to requests that no operation serves. */
export interface Stub {
  /** Unique in the environment, such as `stub-1`. */
  id: string
  method: StubMethod
  /** The path, with parameters as `{name}`. */
  path: string
  status: number
  headers?: Record<string, string>
  /** A string is sent as text, anything else as JSON. */
  body?: unknown
  /** Milliseconds to wait before the response. */
  delay?: number
  /** The id of a function, in the server's process, that returns the status, headers and body. */
  function?: string
}

/** A stub before it has an id. The default status is 200. */
export type NewStub = Omit<Stub, 'id' | 'status'> & { status?: number }

/**
 * Returns the existing stubs and the added stubs. If two stubs are for the same requests, the later
 * stub replaces the earlier one and takes over its id. Throws `bad-request` if the result has too
 * many stubs or is too large.
 */
export function mergeStubs(stubs: readonly Stub[], added: readonly NewStub[]): Stub[] {
  const merged = new Map(stubs.map((stub) => [requestsOf(stub), stub]))
  let lastNumber = Math.max(0, ...stubs.map(({ id }) => Number(id.replace('stub-', ''))))
  for (const newStub of added) {
    const { method, path, status = 200, ...rest } = newStub
    const replaced = merged.get(requestsOf(newStub))
    if (!replaced) lastNumber += 1
    const id = replaced?.id ?? `stub-${lastNumber}`
    merged.set(requestsOf(newStub), { id, method, path, status, ...rest })
  }
  const result = [...merged.values()]
  rejectTooMany(result)
  return result
}

function rejectTooMany(stubs: readonly Stub[]): void {
  if (stubs.length > MAX_STUBS) {
    throw new DomainError('bad-request', `An environment can have at most ${MAX_STUBS} stubs`, {
      reason: 'remove some with DELETE /_mock/stubs/{id}'
    })
  }
  if (JSON.stringify(stubs).length > MAX_TOTAL) {
    throw new DomainError('bad-request', 'The stubs of the environment are too large', {
      reason: 'the total size of the stubs, as JSON, can be at most 16 MiB'
    })
  }
}

/**
 * Returns the existing stubs and the added stubs. Unlike `mergeStubs`, keeps the existing stub if
 * an added stub is for the same requests.
 */
export function addMissingStubs(stubs: readonly Stub[], added: readonly NewStub[]): Stub[] {
  const existing = new Set(stubs.map(requestsOf))
  return mergeStubs(
    stubs,
    added.filter((newStub) => !existing.has(requestsOf(newStub)))
  )
}

/**
 * Returns a key for the requests that a stub responds to: the method and the path without the names
 * of its parameters.
 */
export const requestsOf = ({ method, path }: NewStub): string =>
  `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
