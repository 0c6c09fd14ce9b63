/** Methods that a stub can have. A GET stub also responds to HEAD. */
export const STUB_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type StubMethod = (typeof STUB_METHODS)[number]

/** The built-in sets of stubs, which are files in `seeds/stubs/`. */
export const STUB_SETS = ['novu-client'] as const
export type StubSet = (typeof STUB_SETS)[number]

/** A fixed response to requests that no operation serves. */
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
}

/** A stub before it has an id. The default status is 200. */
export type NewStub = Omit<Stub, 'id' | 'status'> & { status?: number }

/**
 * Returns the existing stubs and the added stubs. If two stubs are for the same requests, the later
 * stub replaces the earlier one.
 */
export function mergeStubs(stubs: readonly Stub[], added: readonly NewStub[]): Stub[] {
  const merged = [...stubs]
  for (const newStub of added) {
    const index = merged.findIndex((stub) => isForSameRequests(stub, newStub))
    const id = merged[index]?.id ?? nextId(merged)
    const { method, path, status = 200, ...rest } = newStub
    const stub = { id, method, path, status, ...rest }
    if (index < 0) merged.push(stub)
    else merged[index] = stub
  }
  return merged
}

/**
 * Returns the existing stubs and the added stubs. Leaves out an added stub if an existing stub is
 * for the same requests.
 */
export function addMissingStubs(stubs: readonly Stub[], added: readonly NewStub[]): Stub[] {
  const isMissing = (newStub: NewStub) => !stubs.some((stub) => isForSameRequests(stub, newStub))
  return mergeStubs(stubs, added.filter(isMissing))
}

/** Returns whether two stubs are for the same requests, whatever their parameters are called. */
export function isForSameRequests(stub: NewStub, other: NewStub): boolean {
  return stub.method === other.method && shapeOf(stub.path) === shapeOf(other.path)
}

const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

function nextId(stubs: readonly Stub[]): string {
  const numbers = stubs.map(({ id }) => Number(id.replace('stub-', '')))
  return `stub-${Math.max(0, ...numbers) + 1}`
}
