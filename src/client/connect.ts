import { type Connection, type ConnectOptions, connectionTo, path } from './connection.js'
import type {
  AnsweredRequest,
  Assumption,
  ClockSetting,
  ClockState,
  Coverage,
  CreatedEnvironment,
  FaultRule,
  Integration,
  IntegrationPatch,
  Latency,
  LatencyPreset,
  LatencySetting,
  ListedEnvironment,
  ListedWorkflow,
  MessagePatch,
  MessageResponse,
  NewEnvironment,
  NewFaultRule,
  NewIntegration,
  NewMessage,
  RandomSetting,
  RecordedRequest,
  ResetPart,
  ResetResult,
  RunRecord,
  Scenario,
  Seed,
  SeedEnvironment,
  Snapshot,
  SnapshotDifferences,
  StepPatch,
  TestDescription,
  WorkflowStep
} from './control-api.js'
import { requestLines } from './describe-requests.js'
import { type Duration, milliseconds } from './duration.js'
import { MockError } from './errors.js'
import { hintsOf } from './hints.js'
import { type RequestFilter, type Requests, requestsOf } from './requests.js'

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
  /** Returns the keys of an environment, by its id or name: those that the seeds name, and those made since the start. */
  apiKeys(id: string): Promise<string[]>
  /** Removes an environment by its id, or by its name if only one has it. */
  removeEnvironment(id: string): Promise<void>
  /** Returns the requests without a valid key, which belong to no environment. */
  keylessRequests(filter?: RequestFilter): Promise<RecordedRequest[]>
  /** Returns one of them with its answer. */
  keylessRequest(sequence: number): Promise<AnsweredRequest>
  /** Returns what all tests have done: each environment that was made is taken for one of a test. */
  runRecord(): Promise<RunRecord>
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

/** A seed with one environment, or only what is in that environment; or either as JSON or YAML text. */
export type SeedContent = Seed | Partial<SeedEnvironment> | string

/** A time to stop a clock at, or the setting of a clock. */
export type ClockTime = string | Date | ClockSetting

/** An environment that the holder of its key uses. */
export interface AttachedEnvironment {
  /** The base url for the client under test, without a slash at the end. */
  url: string
  apiKey: string
  /** The headers that a request to the environment needs. */
  headers: { authorization: string }
  requests: Requests
  /** The fault rules of the environment. */
  faults: {
    /** Returns all rules with their counters, in the order they were added. */
    list(): Promise<FaultRule[]>
    /** Adds a rule, which applies once unless `times` is given. */
    add(rule: NewFaultRule): Promise<FaultRule>
    remove(id: string): Promise<void>
    /** Removes all rules. */
    clear(): Promise<void>
  }
  /** How much later the answers come. */
  latency: {
    get(): Promise<Latency>
    /** Sets it to a preset (`none`, `office`, `mobile`, `bad`) or to figures of its own, in milliseconds. */
    set(latency: LatencyPreset | LatencySetting): Promise<Latency>
  }
  /** The time of the environment. */
  clock: {
    get(): Promise<ClockState>
    /** Stops the clock at a time, shifts it, or lets it follow the machine again: `{ mode: 'wall' }`. */
    set(time: ClockTime): Promise<ClockState>
    advance(by: Duration): Promise<ClockState>
  }
  /** The seed of the random values, which are then the same for the same seed; null: they are not repeatable. */
  random: {
    get(): Promise<number | null>
    set(randomSeed: number | null): Promise<void>
  }
  /** Single messages. */
  messages: {
    /** Adds a message as in a seed; without `createdAt` it is of now, by the environment's clock. */
    add(message: NewMessage): Promise<MessageResponse & WithId>
    /** Changes fields of a message; null removes one. */
    change(id: string, changes: MessagePatch): Promise<MessageResponse & WithId>
    remove(id: string): Promise<void>
  }
  /** Single integrations, by their `_id` or identifier. */
  integrations: {
    /** Returns all integrations in the order in which they were added. */
    list(): Promise<(Integration & WithId)[]>
    /** Adds an integration as in a seed. */
    add(integration: NewIntegration): Promise<Integration & WithId>
    /** Changes fields of an integration; null removes one. */
    change(id: string, changes: IntegrationPatch): Promise<Integration & WithId>
    remove(id: string): Promise<void>
  }
  workflows: {
    /** Returns all workflows, with the ids of their steps. */
    list(): Promise<ListedWorkflow[]>
    /** Changes fields of a step; both are named by their `_id`, or by `identifier` and `stepId`. Null removes a field. */
    changeStep(workflow: string, step: string, changes: StepPatch): Promise<WorkflowStep>
  }
  /** Returns how much of the contract the requests to the environment have met. */
  coverage(): Promise<Coverage>
  /** Counts again from nothing. */
  clearCoverage(): Promise<void>
  /** Returns the state as a seed; as YAML text if asked for. */
  state(options?: { format?: 'json' }): Promise<Seed>
  state(options: { format: 'yaml' }): Promise<string>
  /** Adds a seed to the state, or replaces the state by it. */
  seed(content: SeedContent, options?: { mode?: 'merge' | 'replace' }): Promise<void>
  /** The same with a seed that comes with the package, by its name: its first environment. */
  loadScenario(scenario: string, options?: { mode?: 'merge' | 'replace' }): Promise<void>
  /** Goes back to the state in which the environment was created or seeded: all of it, or some parts. */
  reset(options?: ResetOptions): Promise<ResetResult>
  /**
   * Returns what was sent and answered, in lines to read when a test has failed: the requests, hints of mistakes in them, and
   * the requests that came without a valid key since the environment was created.
   */
  describeRequests(): Promise<string>
  /** Returns what the present state has over the one in which the environment was created or seeded. */
  differences(): Promise<SnapshotDifferences>
  /** Tells of the test that the environment is made for, for the report of a run. */
  describeTest(test: TestDescription): Promise<void>
  /** Stores the present state, by default under a name of its own. */
  snapshot(name?: string): Promise<StoredSnapshot>
  /** Returns the stored states, in the order in which they were taken. */
  snapshots(): Promise<StoredSnapshot[]>
}

/** What the server shows always has one. */
interface WithId {
  _id: string
}

/** What to reset or restore. */
export interface ResetOptions {
  parts?: ResetPart[]
}

/** A stored state of an environment. */
export interface StoredSnapshot extends Snapshot {
  /** Goes back to it: data, clock and idempotency keys, unless parts are given. */
  restore(options?: ResetOptions): Promise<ResetResult>
  /** Returns what the present state has over it. */
  differences(): Promise<SnapshotDifferences>
  remove(): Promise<void>
}

/** An environment of its own, isolated from all others. */
export interface Environment extends AttachedEnvironment, Omit<CreatedEnvironment, 'environmentId' | 'keylessAfter'> {
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
  const server = connectionTo(url, options)
  const { json, list, done } = server
  return {
    url: server.url,
    environment: async ({ ttl, ...wanted } = {}) => {
      const body = ttl === undefined ? wanted : { ...wanted, ttl: milliseconds(ttl) }
      return createdEnvironment(server, await json<CreatedEnvironment>('POST', '/_mock/environments', { body }))
    },
    attach: (apiKey) => attachedEnvironment(server, apiKey),
    listEnvironments: () => list('/_mock/environments', 'environments'),
    apiKeys: (id) => list(path`/_mock/environments/${id}/keys`, 'apiKeys'),
    removeEnvironment: (id) => done('DELETE', path`/_mock/environments/${id}`),
    keylessRequests: (filter) => list('/_mock/requests/keyless', 'requests', { ...filter }),
    keylessRequest: (sequence) => json('GET', path`/_mock/requests/keyless/${String(sequence)}`),
    runRecord: () => json('GET', '/_mock/report'),
    coverage: () => json('GET', '/_mock/coverage/server'),
    clearCoverage: () => done('DELETE', '/_mock/coverage/server'),
    health: () => done('GET', '/health'),
    assumptions: () => list('/_mock/assumptions', 'assumptions'),
    scenarios: () => list('/_mock/scenarios', 'scenarios'),
    controlDocument: () => json('GET', '/_mock/openapi.json'),
    [asyncDispose]: async () => {}
  }
}

function attachedEnvironment(server: Connection, apiKey: string, keylessAfter = 0): AttachedEnvironment {
  const authorization = `ApiKey ${apiKey}`
  const connection = server.as(authorization)
  const { json, list, done, send } = connection
  const stored = (snapshot: Snapshot): StoredSnapshot => ({
    ...snapshot,
    restore: (options = {}) => json('POST', path`/_mock/snapshots/${snapshot.name}/restore`, { body: options }),
    differences: () => json('GET', path`/_mock/snapshots/${snapshot.name}/differences`),
    remove: () => done('DELETE', path`/_mock/snapshots/${snapshot.name}`)
  })
  const requests = requestsOf(connection)
  return {
    url: server.url,
    apiKey,
    headers: { authorization },
    requests,
    async describeRequests() {
      const [recorded, changes] = await Promise.all([requests.list(), requests.changes()])
      // Those are not for everybody who has a key: from another machine it takes the admin token.
      const query = { after: keylessAfter }
      const keyless = await server.list<RecordedRequest>('/_mock/requests/keyless', 'requests', query).catch(() => [])
      return requestLines(recorded, hintsOf(recorded, changes), keyless)
    },
    faults: {
      list: () => list('/_mock/faults', 'faults'),
      add: (rule) => json('POST', '/_mock/faults', { body: rule }),
      remove: (id) => done('DELETE', path`/_mock/faults/${id}`),
      clear: () => done('DELETE', '/_mock/faults')
    },
    latency: {
      get: () => json('GET', '/_mock/latency'),
      set: (to) => json('PUT', '/_mock/latency', { body: typeof to === 'string' ? { preset: to } : to })
    },
    clock: {
      get: () => json('GET', '/_mock/clock'),
      set: (time) => json('PUT', '/_mock/clock', { body: clockSetting(time) }),
      advance: async (by) => json('POST', '/_mock/clock/advance', { body: { by: milliseconds(by) } })
    },
    random: {
      get: async () => (await json<RandomSetting>('GET', '/_mock/chance')).randomSeed,
      set: (randomSeed) => done('PUT', '/_mock/chance', { body: { randomSeed } })
    },
    messages: {
      add: (message) => json('POST', '/_mock/messages', { body: message }),
      change: (id, changes) => json('PATCH', path`/_mock/messages/${id}`, { body: changes }),
      remove: (id) => done('DELETE', path`/_mock/messages/${id}`)
    },
    integrations: {
      list: () => list('/_mock/integrations', 'integrations'),
      add: (integration) => json('POST', '/_mock/integrations', { body: integration }),
      change: (id, changes) => json('PATCH', path`/_mock/integrations/${id}`, { body: changes }),
      remove: (id) => done('DELETE', path`/_mock/integrations/${id}`)
    },
    workflows: {
      list: () => list('/_mock/workflows', 'workflows'),
      changeStep: (workflow, step, changes) =>
        json('PATCH', path`/_mock/workflows/${workflow}/steps/${step}`, { body: changes })
    },
    coverage: () => json('GET', '/_mock/coverage'),
    clearCoverage: () => done('DELETE', '/_mock/coverage'),
    // Each overload asks for one of the two.
    state: async ({ format = 'json' }: { format?: 'json' | 'yaml' } = {}): Promise<never> => {
      if (format === 'json') return json('GET', '/_mock/state')
      return (await send('GET', '/_mock/state', { headers: { accept: 'application/yaml' } })).text() as Promise<never>
    },
    seed: (content, { mode } = {}) => done('POST', '/_mock/seed', { query: { mode }, body: content }),
    loadScenario: (scenario, { mode } = {}) => done('POST', '/_mock/seed', { query: { scenario, mode } }),
    reset: (options = {}) => json('POST', '/_mock/reset', { body: options }),
    differences: () => json('GET', '/_mock/differences'),
    describeTest: (test) => done('PUT', '/_mock/test', { body: test }),
    // Not `crypto.randomUUID`, which pages have only when they come by https or from this machine.
    snapshot: async (name = `snapshot-${Math.random().toString(36).slice(2)}`) =>
      stored(await json('PUT', path`/_mock/snapshots/${name}`)),
    snapshots: async () => (await list<Snapshot>('/_mock/snapshots', 'snapshots')).map(stored)
  }
}

function createdEnvironment(server: Connection, created: CreatedEnvironment): Environment {
  const { environmentId: id, keylessAfter, ...identity } = created
  const remove = () => server.done('DELETE', path`/_mock/environments/${id}`)
  return {
    ...attachedEnvironment(server, created.apiKey, keylessAfter),
    ...identity,
    id,
    remove,
    [asyncDispose]: () =>
      remove().catch((error) => {
        // It was removed before.
        if (!(error instanceof MockError && (error.status === 401 || error.status === 404))) throw error
      })
  }
}

/** Browsers that do not know `await using` have no such symbol. */
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')

function clockSetting(time: ClockTime): ClockSetting {
  if (time instanceof Date) return { mode: 'fixed', at: time.toISOString() }
  return typeof time === 'string' ? { mode: 'fixed', at: time } : time
}
