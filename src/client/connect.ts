import {
  type Connection,
  type ConnectOptions,
  connectionTo,
  type Duration,
  MockError,
  milliseconds,
  path
} from './connection.js'
import type * as wire from './control-api.js'
import {
  type AttachedEnvironment,
  attachedEnvironment,
  type ClockTime,
  type SeedContent
} from './environment.js'
import type { RequestFilter } from './requests.js'

/** An environment to create: empty, from a seed or a built-in seed, or as a fork of another one. */
export interface EnvironmentOptions extends Omit<wire.NewEnvironment, 'seed' | 'clock' | 'ttl'> {
  /** A seed with one environment, or only what is in it. */
  seed?: Exclude<SeedContent, string>
  /** A time to stop its clock at, or a setting. */
  clock?: ClockTime
  /** How long after its last use it is removed, at most 30 days. It stays if left out. */
  ttl?: Duration
}

/** A server to make environments on. */
export interface ConnectedMock extends ReturnType<typeof serverAt> {
  /** Nothing to do: the server runs on, and so do its environments. */
  [Symbol.asyncDispose](): Promise<void>
}

/** An environment of its own, isolated from all others. */
export interface Environment
  extends AttachedEnvironment,
    Omit<wire.CreatedEnvironment, 'environmentId' | 'unauthenticatedAfter'> {
  id: string
  /** Removes the environment with all its data. */
  remove(): Promise<void>
  /** Removes the environment, unless the test or its ttl has done so. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Returns a client of the server at a url. It asks nothing of it yet. Throws `MockError` for what is no url of a server;
 * the methods reject with `MockError`.
 */
export function connect(url: string, options: ConnectOptions = {}): ConnectedMock {
  return { ...serverAt(connectionTo(url, options)), [asyncDispose]: async () => {} }
}

function serverAt(server: Connection) {
  const { json, list, done } = server
  return {
    /** Without a slash at the end. */
    url: server.url,
    /** Creates an environment. */
    async environment({ ttl, ...wanted }: EnvironmentOptions = {}): Promise<Environment> {
      const body = ttl === undefined ? wanted : { ...wanted, ttl: milliseconds(ttl) }
      const created = await json<wire.CreatedEnvironment>('POST', '/_mock/environments', { body })
      const { environmentId: id, unauthenticatedAfter, ...identity } = created
      const remove = () => done('DELETE', path`/_mock/environments/${id}`)
      return {
        ...attachedEnvironment(server, created.apiKey, unauthenticatedAfter),
        ...identity,
        id,
        remove,
        [asyncDispose]: () =>
          remove().catch((error) => {
            // It was removed before.
            if (!(error instanceof MockError && (error.status === 401 || error.status === 404)))
              throw error
          })
      }
    },
    /** Returns the environment that a key belongs to, without asking whether it does. Throws for one that can't be sent. */
    attach: (apiKey: string): AttachedEnvironment => attachedEnvironment(server, apiKey),
    /** Returns all environments, oldest first, without their keys. */
    listEnvironments: () => list<wire.ListedEnvironment>('/_mock/environments', 'environments'),
    /** Returns the keys of an environment, by its id or name: those that the seeds name, and those made since the start. */
    apiKeys: (id: string) => list<string>(path`/_mock/environments/${id}/keys`, 'apiKeys'),
    /** Removes an environment by its id, or by its name if only one has it. */
    removeEnvironment: (id: string) => done('DELETE', path`/_mock/environments/${id}`),
    /** Returns the requests without a valid key, which belong to no environment. */
    unauthenticatedRequests: (filter?: RequestFilter) =>
      list<wire.RecordedRequest>('/_mock/requests/unauthenticated', 'requests', { ...filter }),
    /** Returns one of them with its answer. */
    unauthenticatedRequest: (sequence: number) =>
      json<wire.RecordedExchange>('GET', path`/_mock/requests/unauthenticated/${String(sequence)}`),
    /** Returns what all tests have done: each environment that was made is taken for one of a test. */
    runRecord: () => json<wire.RunRecord>('GET', '/_mock/report'),
    /** Returns how much of the contract the requests to all environments have met. */
    coverage: () => json<wire.Coverage>('GET', '/_mock/coverage/server'),
    /** Counts again from nothing, for all environments too. */
    clearCoverage: () => done('DELETE', '/_mock/coverage/server'),
    /** Resolves when the server is ready; rejects when it is not. */
    health: () => done('GET', '/health'),
    assumptions: () => list<wire.Assumption>('/_mock/assumptions', 'assumptions'),
    /** Returns the built-in seeds, for `environment({ scenario })` and `loadBuiltInSeed`. */
    builtInSeeds: () => list<wire.BuiltInSeed>('/_mock/seeds', 'seeds'),
    /** Returns the OpenAPI document of the control routes. */
    controlDocument: () => json<Record<string, unknown>>('GET', '/_mock/openapi.json')
  }
}

/** Browsers that do not know `await using` have no such symbol. */
const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')
