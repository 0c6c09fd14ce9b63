import type { ClockTime } from './clock.js'
import { type ConnectOptions, connectionTo, path } from './connection.js'
import type {
  Assumption,
  Coverage,
  CreatedEnvironment,
  ListedEnvironment,
  NewEnvironment,
  RecordedRequest,
  Scenario
} from './control-api.js'
import { type Duration, milliseconds } from './duration.js'
import {
  type AttachedEnvironment,
  asyncDispose,
  attachedEnvironment,
  createdEnvironment,
  type Environment
} from './environment.js'
import { listRequests, type RequestFilter } from './requests.js'
import type { SeedContent } from './state.js'

/** An environment to create: empty, from a seed or a packaged scenario, or as a fork of another one. */
export interface EnvironmentOptions extends Omit<NewEnvironment, 'seed' | 'clock' | 'ttl'> {
  /** A seed with one environment, or only what is in it. */
  seed?: Exclude<SeedContent, string>
  /** A time to stop its clock at, or a setting. */
  clock?: ClockTime
  /** How long after its last use it is removed, at most 30 days. It stays if left out. */
  ttl?: Duration
}

/** A server to make environments on. */
export interface ConnectedMock {
  /** Without a slash at the end. */
  url: string
  /** Creates an environment. */
  environment(options?: EnvironmentOptions): Promise<Environment>
  /** Returns the environment that a key belongs to, without asking whether it does. Throws for one that can't be sent. */
  attach(apiKey: string): AttachedEnvironment
  /** Returns all environments, oldest first, without their keys. */
  listEnvironments(): Promise<ListedEnvironment[]>
  /**
   * Returns the keys of an environment, by its id or name, as far as the server knows them: those that the seeds of its
   * start name, and those of environments that were created since.
   */
  apiKeys(id: string): Promise<string[]>
  /** Removes an environment by its id, or by its name if only one has it. */
  removeEnvironment(id: string): Promise<void>
  /** Returns the requests without a valid key, which belong to no environment. */
  keylessRequests(filter?: RequestFilter): Promise<RecordedRequest[]>
  /** Returns how much of the contract the requests to all environments have met. */
  coverage(): Promise<Coverage>
  /** Counts again from nothing, for all environments too. */
  clearCoverage(): Promise<void>
  /** Resolves when the server is ready; rejects when it is not. */
  health(): Promise<void>
  assumptions(): Promise<Assumption[]>
  /** Returns the seeds that come with the package, for `environment({ scenario })` and `loadScenario`. */
  scenarios(): Promise<Scenario[]>
  /** Returns the OpenAPI document of the control routes. */
  controlDocument(): Promise<Record<string, unknown>>
  /** Nothing to do: the server runs on, and so do its environments. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Returns a client of the server at a url. It asks nothing of it yet. Throws `MockError` for what is no url of a server;
 * the methods reject with `MockError`.
 */
export function connect(url: string, options: ConnectOptions = {}): ConnectedMock {
  const server = connectionTo(url, options)
  return {
    url: server.url,
    environment: async ({ ttl, ...wanted } = {}) => {
      const body = ttl === undefined ? wanted : { ...wanted, ttl: milliseconds(ttl) }
      return createdEnvironment(server, await server.json<CreatedEnvironment>('POST', '/_mock/environments', { body }))
    },
    attach: (apiKey) => attachedEnvironment(server, apiKey),
    listEnvironments: async () => {
      const { environments } = await server.json<{ environments: ListedEnvironment[] }>('GET', '/_mock/environments')
      return environments
    },
    apiKeys: async (id) =>
      (await server.json<{ apiKeys: string[] }>('GET', path`/_mock/environments/${id}/keys`)).apiKeys,
    removeEnvironment: (id) => server.done('DELETE', path`/_mock/environments/${id}`),
    keylessRequests: (filter = {}) => listRequests(server, '/_mock/requests/keyless', filter),
    coverage: () => server.json('GET', '/_mock/coverage/server'),
    clearCoverage: () => server.done('DELETE', '/_mock/coverage/server'),
    health: () => server.done('GET', '/health'),
    assumptions: async () =>
      (await server.json<{ assumptions: Assumption[] }>('GET', '/_mock/assumptions')).assumptions,
    scenarios: async () => (await server.json<{ scenarios: Scenario[] }>('GET', '/_mock/scenarios')).scenarios,
    controlDocument: () => server.json('GET', '/_mock/openapi.json'),
    [asyncDispose]: async () => {}
  }
}
