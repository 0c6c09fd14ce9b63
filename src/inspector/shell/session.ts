import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { decodeReason } from '../../client/connection.js'
import type { AttachedEnvironment, ConnectedMock, ListedEnvironment } from '../../client/index.js'
import { parsed } from '../parts/json-tree.js'

/** The environment that the page shows. */
export interface Session {
  mock: ConnectedMock
  /** The client of the environment, with its key. */
  env: AttachedEnvironment
  /** What the server lists of it; undefined if the page was only given its key. */
  listed: ListedEnvironment | undefined
  /** All that the server lists. */
  environments: readonly ListedEnvironment[]
  /** Sends a request to the service, as a product would, with the key of the environment. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** Counts what may have changed the state: a view that depends on it loads it again. */
  version: number
  /** Tells that the state may have changed: all that is shown is loaded again, the list of environments too. */
  changed(): void
}

export interface CallOptions {
  headers?: Record<string, string>
  body?: string
}

/** The answer of the service; its body also as `json`, unless it is none. */
export type Answer = Awaited<ReturnType<typeof callService>>

const SessionContext = createContext<Session | undefined>(undefined)
export const SessionProvider = SessionContext.Provider

/** The environment that the page shows. Only in a view. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('there is no session here')
  return session
}

/**
 * Returns the options of a call for a view: what nobody has asked for shows what is there, and takes no fault, counts for
 * no coverage and stands in no journal.
 */
export function lookOptions(isAsked: boolean): CallOptions {
  return isAsked ? {} : { headers: { 'x-mock-unrecorded': 'inspector' } }
}

/** Returns why an answer is what it is, in the server's words, if it says so. */
export function reasonOf({ headers }: Answer): string | undefined {
  const reason = headers['x-mock-reason']
  return reason === undefined ? undefined : decodeReason(reason)
}

/** Sends a request to the service, and measures its milliseconds. Rejects when there is no answer. */
export async function callService(
  env: AttachedEnvironment,
  method: string,
  path: string,
  { headers, ...options }: CallOptions = {}
) {
  const startedAt = performance.now()
  try {
    const response = await fetch(env.url + path, {
      method,
      headers: { ...env.headers, ...headers },
      ...options
    })
    const text = await response.text()
    const duration = performance.now() - startedAt
    const { status } = response
    return {
      status,
      headers: Object.fromEntries(response.headers),
      text,
      json: parsed(text),
      duration
    }
  } catch (cause) {
    // The browser tells no more than that it failed.
    const words = `no answer from ${env.url}: a fault that breaks the connection, or the server is not running`
    throw new Error(words, { cause })
  }
}
