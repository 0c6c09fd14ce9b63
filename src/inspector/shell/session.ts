import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { decodeReason } from '../../client/connection.js'
import type { AttachedEnvironment, ConnectedMock, ListedEnvironment } from '../../client/index.js'
import { parseJsonOrText } from '../parts/json.js'

/** The selected environment and the clients that access it. */
export interface Session {
  mock: ConnectedMock
  /** A client with the environment's API key. */
  env: AttachedEnvironment
  /** The environment's entry in the server's list; undefined if the user has only its API key. */
  listed: ListedEnvironment | undefined
  /** All environments on the server. */
  environments: readonly ListedEnvironment[]
  /** Sends a request to the mocked API with the environment's API key, as an app would. */
  call(method: string, path: string, options?: CallOptions): Promise<ServiceResponse>
  /** Increases whenever the data may have changed. Views reload when the version changes. */
  version: number
  /** Increases whenever the clock, the faults or the latency may have changed. */
  settingsVersion: number
  /** Reloads all visible data and the list of environments. */
  reloadAll(): void
}

export interface CallOptions {
  /**
   * The names must be in lower case. The header `authorization` replaces the environment's API key.
   */
  headers?: Record<string, string>
  body?: string
  signal?: AbortSignal
}

/** A response from the mocked API. If the body isn't JSON, `json` is the body's text. */
export type ServiceResponse = Awaited<ReturnType<typeof callService>>

const SessionContext = createContext<Session | undefined>(undefined)
export const SessionProvider = SessionContext.Provider

/** Returns the session. Throws if there is no `SessionProvider` around the component. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession() needs a SessionProvider')
  return session
}

/**
 * Returns the options for a request from the inspector. A request that only loads a view isn't
 * recorded, doesn't count as coverage, and isn't affected by faults and latency. A request that the
 * user starts is treated like a request from an app.
 */
export function callOptions({ isUserAction }: { isUserAction: boolean }): CallOptions {
  return isUserAction ? {} : { headers: { 'x-mock-unrecorded': 'inspector' } }
}

/** Returns a response's decoded `x-mock-reason` header; undefined if there is none. */
export function reasonOf({ headers }: ServiceResponse): string | undefined {
  const reason = headers['x-mock-reason']
  return reason === undefined ? undefined : decodeReason(reason)
}

/** Sends a request to the mocked API and measures its duration. Rejects if no response arrives. */
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
    if (options.signal?.aborted) throw new Error('you canceled the request', { cause })
    // Browsers don't report why a request failed.
    const reason = "the server isn't running, or a fault broke the connection"
    throw new Error(`no response from ${env.url}: ${reason}`, { cause })
  }
}
