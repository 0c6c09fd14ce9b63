import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { decodeReason } from '../../client/connection.js'
import type { AttachedEnvironment, ConnectedMock, ListedEnvironment } from '../../client/index.js'
import { parseJsonOrText } from '../parts/json.js'

/** The selected environment and how to reach it. */
export interface Session {
  mock: ConnectedMock
  /** A client with the API key of the environment. */
  env: AttachedEnvironment
  /** The environment as the server lists it; undefined if only its API key is known. */
  listed: ListedEnvironment | undefined
  /** All environments of the server. */
  environments: readonly ListedEnvironment[]
  /** Sends a request to the mocked API with the API key of the environment, as an app would. */
  call(method: string, path: string, options?: CallOptions): Promise<ServiceResponse>
  /** Increases whenever the data may have changed. Views reload when it does. */
  version: number
  /** Reloads all visible data and the list of environments. */
  reloadAll(): void
}

export interface CallOptions {
  headers?: Record<string, string>
  body?: string
}

/** A response of the mocked API. `json` is the text if the body isn't JSON. */
export type ServiceResponse = Awaited<ReturnType<typeof callService>>

const SessionContext = createContext<Session | undefined>(undefined)
export const SessionProvider = SessionContext.Provider

/** Returns the session. Throws outside of a `SessionProvider`. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession() needs a SessionProvider')
  return session
}

/**
 * Returns the options for a request of the inspector. Requests that only load a view stay out of
 * the journal and the coverage, and skip faults and latency. A request that the user starts is a
 * normal one.
 */
export function callOptions({ isUserAction }: { isUserAction: boolean }): CallOptions {
  return isUserAction ? {} : { headers: { 'x-mock-unrecorded': 'inspector' } }
}

/** Returns the `x-mock-reason` of a response, decoded; undefined if there is none. */
export function reasonOf({ headers }: ServiceResponse): string | undefined {
  const reason = headers['x-mock-reason']
  return reason === undefined ? undefined : decodeReason(reason)
}

/** Sends a request to the mocked API and measures it. Rejects if there is no response. */
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
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      json: parseJsonOrText(text),
      /** In milliseconds. */
      duration: performance.now() - startedAt
    }
  } catch (cause) {
    // Browsers don't reveal why a request failed.
    const reason = "the server isn't running, or a fault broke the connection"
    throw new Error(`no response from ${env.url}: ${reason}`, { cause })
  }
}
