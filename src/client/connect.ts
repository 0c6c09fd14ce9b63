import {
  type Connection,
  type ConnectOptions,
  connectionTo,
  type Duration,
  MockError,
  milliseconds,
  path,
  type RegisterReply
} from './connection.js'
import type * as wire from './control-api.js'
import {
  type AttachedEnvironment,
  attachedEnvironment,
  type ClockTime,
  type SeedContent
} from './environment.js'
import type { RequestFilter } from './requests.js'

/**
 * Options for a new environment. `seed` and `scenario` (the name of a built-in seed) give it data,
 * and `from` copies another environment. Without these options, the environment is empty.
 */
export interface EnvironmentOptions extends Omit<wire.NewEnvironment, 'seed' | 'clock' | 'ttl'> {
  /** A complete seed with exactly one environment, or only the contents of that environment. */
  seed?: Exclude<SeedContent, string>
  /** A time at which to stop the clock, or a clock setting. */
  clock?: ClockTime
  /**
   * How long the environment may be unused before the server removes it, at most 30 days. Without a
   * `ttl`, the environment stays.
   */
  ttl?: Duration
}

export interface RunRecordOptions {
  /**
   * The tests for which the record includes the starting state. `notification-mock open` needs this
   * state. The default is `off`.
   */
  states?: wire.ReportState
  /** The id of an environment. The record then contains only the environment's test. */
  environment?: string
}

/** A client of a running server. It creates environments and reads reports about all of them. */
export interface ConnectedMock extends ReturnType<typeof serverAt> {
  /** Does nothing: the server keeps running and keeps its environments. */
  [Symbol.asyncDispose](): Promise<void>
}

/** An environment that this client created. It shares no data with other environments. */
export interface Environment
  extends AttachedEnvironment,
    Omit<wire.CreatedEnvironment, 'environmentId' | 'unauthenticatedAfter'> {
  id: string
  /** Removes the environment with all its data. */
  remove(): Promise<void>
  /** Removes the environment, unless it was already removed. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Returns a client of the server at `url`, without sending a request yet.
 *
 * Throws `MockError` if `url` isn't a valid server URL. If a request fails, the client's method
 * rejects with `MockError`.
 */
export function connect(url: string, options: ConnectOptions = {}): ConnectedMock {
  return { ...serverAt(connectionTo(url, options)), [asyncDispose]: async () => {} }
}

/**
 * Like `connect`, but for a server in this process, whose stubs can have a function `reply`. Only
 * `createMock` needs to call this function.
 */
export function connectInProcess(
  url: string,
  options: ConnectOptions,
  registerReply: RegisterReply
): ConnectedMock {
  const connection = connectionTo(url, options, registerReply)
  return { ...serverAt(connection), [asyncDispose]: async () => {} }
}

function serverAt(server: Connection) {
  const { json, list, done } = server
  return {
    /** The URL of the server, without a trailing slash. */
    url: server.url,
    /** Creates an environment. Without options it is empty. */
    async environment({ ttl, ...options }: EnvironmentOptions = {}): Promise<Environment> {
      const body = ttl === undefined ? options : { ...options, ttl: milliseconds(ttl) }
      const created = await json<wire.CreatedEnvironment>('POST', '/_mock/environments', { body })
      const { environmentId: id, unauthenticatedAfter, ...identity } = created
      const remove = () => done('DELETE', path`/_mock/environments/${id}`)
      return {
        ...attachedEnvironment(server, created.apiKey, unauthenticatedAfter),
        ...identity,
        id,
        remove,
        [asyncDispose]: () => remove().catch(ignoreRemoved)
      }
    },
    /**
     * Returns a client of the environment that the key belongs to, without sending a request yet.
     * Throws `MockError` if the key contains characters that a header can't carry.
     */
    attach: (apiKey: string): AttachedEnvironment => attachedEnvironment(server, apiKey),
    /**
     * Returns all environments, oldest first, without their API keys. With `removed: 'include'`,
     * also returns removed environments whose test is still in the report.
     */
    listEnvironments: ({ removed }: { removed?: 'include' | 'exclude' } = {}) =>
      list<wire.ListedEnvironment>('/_mock/environments', 'environments', { removed }),
    /**
     * Returns the API keys of the environment with this id or name. The server stores only hashes
     * of keys. After a restart, it therefore knows only the keys that are in a seed or that a
     * request has used since.
     */
    apiKeys: (id: string) => list<string>(path`/_mock/environments/${id}/keys`, 'apiKeys'),
    /** Removes the environment with this id or unique name. */
    removeEnvironment: (id: string) => done('DELETE', path`/_mock/environments/${id}`),
    /** Returns the requests that had no valid API key and so belong to no environment. */
    unauthenticatedRequests: (filter?: RequestFilter) =>
      list<wire.RecordedRequest>('/_mock/requests/unauthenticated', 'requests', { ...filter }),
    /** Returns one request that had no valid API key, together with its response. */
    unauthenticatedRequest: (sequence: number) =>
      json<wire.RecordedExchange>('GET', path`/_mock/requests/unauthenticated/${String(sequence)}`),
    /** Returns the record of a test run. Every created environment counts as one test. */
    runRecord: ({ states, environment }: RunRecordOptions = {}) =>
      json<wire.RunRecord>('GET', '/_mock/report', { query: { states, environment } }),
    /** Returns how much of the API has been covered by requests to any environment. */
    coverage: () => json<wire.Coverage>('GET', '/_mock/coverage/server'),
    /** Resets the coverage of the server and of every environment to zero. */
    clearCoverage: () => done('DELETE', '/_mock/coverage/server'),
    /** Resolves if the server is ready now, and rejects otherwise. Doesn't wait for the server. */
    health: () => done('GET', '/health'),
    /** Returns all assumptions with their possible values and their default in each profile. */
    assumptions: () => list<wire.Assumption>('/_mock/assumptions', 'assumptions'),
    /**
     * Returns the built-in seeds, to use with `environment({ scenario })` and `loadBuiltInSeed`.
     */
    builtInSeeds: () => list<wire.BuiltInSeed>('/_mock/seeds', 'seeds'),
    /** Returns the OpenAPI document of the control routes. */
    controlDocument: () => json<Record<string, unknown>>('GET', '/_mock/openapi.json')
  }
}

/**
 * Ignores the error that the server returns for a removed environment: 401 for its key, or 404 for
 * its id. Throws any other error.
 */
function ignoreRemoved(error: unknown): void {
  const isRemoved = error instanceof MockError && (error.status === 401 || error.status === 404)
  if (!isRemoved) throw error
}

/** A fallback for browsers without `Symbol.asyncDispose`, which don't support `await using`. */
const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')
