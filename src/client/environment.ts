import {
  type Connection,
  type Duration,
  MockError,
  milliseconds,
  path,
  type ReceivedRequest
} from './connection.js'
import type * as wire from './control-api.js'
import { type Requests, requestsOf } from './requests.js'

/** A client of one environment, identified by its API key. */
export interface AttachedEnvironment extends ReturnType<typeof attachedEnvironment> {}

/**
 * A snapshot of an environment, with methods that restore it and compare it with the current state.
 */
export interface StoredSnapshot extends ReturnType<typeof storedSnapshot> {}

/**
 * A complete seed with exactly one environment, or only the contents of an environment: as an
 * object, or as a string in JSON or YAML.
 */
export type SeedContent = wire.Seed | Partial<wire.SeedEnvironment> | string

/** A time at which to stop the clock, or a clock setting. */
export type ClockTime = string | Date | wire.ClockSetting

export interface ResetOptions {
  /** Reset or restore only these parts of the environment. */
  parts?: wire.ResetPart[]
}

export interface RestoreOptions extends ResetOptions {
  /** Also restore the baseline that the environment had when the snapshot was taken. */
  baseline?: boolean
}

/** The request that a stub's function responds to. */
export interface StubRequest<Body = unknown> extends ReceivedRequest {
  body: Body
  /** A client of the environment that the request's API key belongs to. */
  env: AttachedEnvironment
}

/** Returns the response to a request. Must finish within 5 seconds. */
export type StubReply<Body = unknown> = (
  request: StubRequest<Body>
) => wire.StubResponse | Promise<wire.StubResponse>

/** A stub whose function `reply` returns the response. The server must run in this process. */
export interface FunctionStub<Body = unknown>
  extends Pick<wire.NewStub, 'method' | 'path' | 'delay'> {
  reply: StubReply<Body>
}

/**
 * Returns a client of the environment that the key belongs to. Throws `MockError` if the key
 * contains characters that a header can't carry.
 */
export function attachedEnvironment(server: Connection, apiKey: string, unauthenticatedAfter = 0) {
  const authorization = `ApiKey ${apiKey}`
  const connection = server.as(authorization)
  const { send, json, list, done } = connection
  const requests: Requests = requestsOf(connection)
  return {
    /** The base URL to configure in the app under test, without a trailing slash. */
    url: server.url,
    apiKey,
    /** The headers to send with every request to the environment. */
    headers: { authorization },
    requests,
    ...responsesOf(connection),
    ...partsOf(connection),
    /** Returns how much of the API this environment's requests have covered. */
    coverage: () => json<wire.Coverage>('GET', '/_mock/coverage'),
    /** Resets the coverage of the environment to zero. */
    clearCoverage: () => done('DELETE', '/_mock/coverage'),
    /** Returns the current state as a seed: an object, or YAML with `format: 'yaml'`. */
    async state<Format extends 'json' | 'yaml' = 'json'>({ format }: { format?: Format } = {}) {
      const headers = { accept: 'application/yaml' }
      const state =
        format === 'yaml'
          ? (await send('GET', '/_mock/state', { headers })).text()
          : json('GET', '/_mock/state')
      return state as Promise<Format extends 'yaml' ? string : wire.Seed>
    },
    /**
     * Adds a seed's data to the environment. With `mode: 'replace'`, the existing data is removed
     * first.
     */
    seed: (content: SeedContent, { mode }: { mode?: 'merge' | 'replace' } = {}) =>
      done('POST', '/_mock/seed', { query: { mode }, body: content }),
    /** Like `seed`, but loads the first environment of the built-in seed with this name. */
    loadBuiltInSeed: (scenario: string, { mode }: { mode?: 'merge' | 'replace' } = {}) =>
      done('POST', '/_mock/seed', { query: { scenario, mode } }),
    /**
     * Resets the environment, or only the given parts, to the baseline. The baseline is the state
     * after the environment was created, or after a seed last replaced its data.
     */
    reset: (options: ResetOptions = {}) =>
      json<wire.ResetResult>('POST', '/_mock/reset', { body: options }),
    /**
     * Returns a summary to print when a test fails. It lists the environment's requests with their
     * outcomes, and hints about likely mistakes. If the server has received requests without a
     * valid API key since the environment was created, it also lists the last of them.
     */
    async describeRequests(): Promise<string> {
      const { requestLines } = await import('./report.js')
      // This route fails if the client runs on another machine and has no admin token. If it fails,
      // omit the unauthenticated requests from the summary.
      const unauthenticated = server
        .list<wire.RecordedRequest>('/_mock/requests/unauthenticated', 'requests', {
          after: unauthenticatedAfter
        })
        .catch(() => [])
      return requestLines(
        ...(await Promise.all([requests.list(), requests.changes(), unauthenticated]))
      )
    },
    /** Returns how the current state differs from the baseline that `reset` would restore. */
    diff: () => json<wire.EnvironmentDiff>('GET', '/_mock/diff'),
    /** Records which test the environment belongs to, for the report of the test run. */
    describeTest: (test: wire.TestDescription) => done('PUT', '/_mock/test', { body: test }),
    /** Stores the current state as a snapshot with this name. The default is a random name. */
    snapshot: async (name = randomSnapshotName()): Promise<StoredSnapshot> =>
      storedSnapshot(connection, await json('PUT', path`/_mock/snapshots/${name}`)),
    /** Returns all snapshots, oldest first. */
    snapshots: async (): Promise<StoredSnapshot[]> =>
      (await list<wire.Snapshot>('/_mock/snapshots', 'snapshots')).map((snapshot) =>
        storedSnapshot(connection, snapshot)
      )
  }
}

// Uses `Math.random`, because `crypto.randomUUID` is only available to web pages that are served
// over HTTPS or from localhost.
const randomSnapshotName = () => `snapshot-${Math.random().toString(36).slice(2)}`

/** Returns the methods for faults, latency and stubs. */
function responsesOf(connection: Connection) {
  const { json, list, done } = connection
  return {
    /** The fault rules of the environment. */
    faults: {
      /** Returns all rules with their counters, oldest first. */
      list: () => list<wire.FaultRule>('/_mock/faults', 'faults'),
      /** Adds a rule, which applies once unless `times` is given. */
      add: (rule: wire.NewFaultRule) =>
        json<wire.FaultRule>('POST', '/_mock/faults', { body: rule }),
      remove: (id: string) => done('DELETE', path`/_mock/faults/${id}`),
      clear: () => done('DELETE', '/_mock/faults')
    },
    /** The environment's stubs, which respond to requests that no operation serves. */
    stubs: {
      /** Returns all stubs, oldest first. */
      list: () => list<wire.Stub>('/_mock/stubs', 'stubs'),
      /**
       * Adds a stub. If a stub with the same method and path exists, the new stub replaces it and
       * takes over its id.
       *
       * If the stub has a function `reply`, this function returns the response. Rejects such a stub
       * with `MockError` if the server runs in another process.
       */
      add: async <Body = unknown>(stub: wire.NewStub | FunctionStub<Body>) =>
        json<wire.AddedStub>('POST', '/_mock/stubs', {
          body: toNewStub(stub as wire.NewStub | FunctionStub, connection)
        }),
      remove: (id: string) => done('DELETE', path`/_mock/stubs/${id}`),
      clear: () => done('DELETE', '/_mock/stubs')
    },
    /** The delay that the environment adds to every response. */
    latency: {
      get: () => json<wire.Latency>('GET', '/_mock/latency'),
      /**
       * Sets the delay: a preset (`none`, `office`, `mobile`, `bad`), or a delay and spread in
       * milliseconds.
       */
      set: (to: wire.LatencyPreset | wire.LatencySetting) =>
        json<wire.Latency>('PUT', '/_mock/latency', {
          body: typeof to === 'string' ? { preset: to } : to
        })
    }
  }
}

/**
 * Returns the stub to send to the server. Registers the function `reply`, if the stub has one.
 * Throws `MockError` if the server doesn't run in this process, or if `reply` isn't a function.
 */
function toNewStub(stub: wire.NewStub | FunctionStub, connection: Connection): wire.NewStub {
  if (!('reply' in stub)) return stub
  const { reply, ...rest } = stub
  if (typeof reply !== 'function') {
    throw new MockError('`reply` must be a function; for a fixed response, use `body`')
  }
  if (!connection.registerReply) {
    throw new MockError(
      '`reply` needs a client from createMock; ' +
        'a stub from this client can only have a fixed `status`, `headers` and `body`'
    )
  }
  const id = connection.registerReply(({ apiKey, ...request }) =>
    reply({ ...request, env: attachedEnvironment(connection, apiKey) })
  )
  return { ...rest, function: id }
}

/** Returns the methods for the clock and the records. */
function partsOf({ json, list, done }: Connection) {
  // `_id` is optional in the API reference, but the mock always sets it.
  type Message = wire.MessageResponse & { _id: string }
  type Integration = wire.Integration & { _id: string }
  return {
    /** The clock of the environment. */
    clock: {
      get: () => json<wire.ClockState>('GET', '/_mock/clock'),
      /**
       * Stops the clock at a time, or sets its offset from the machine's clock. With
       * `{ mode: 'wall' }`, the clock follows the machine's clock again.
       */
      set(time: ClockTime) {
        const isTime = typeof time === 'string' || time instanceof Date
        return json<wire.ClockState>('PUT', '/_mock/clock', {
          body: isTime ? { mode: 'fixed', at: time } : time
        })
      },
      advance: async (by: Duration) =>
        json<wire.ClockState>('POST', '/_mock/clock/advance', { body: { by: milliseconds(by) } })
    },
    messages: {
      /** Returns a page of the messages that match all filters, newest first. */
      search: (search: Partial<wire.MessageSearch> = {}) =>
        json<wire.FoundMessages>('GET', '/_mock/messages', { query: search }),
      /**
       * Adds a message. It has the same fields as a message in a seed. `createdAt` defaults to the
       * current time of the environment's clock.
       */
      add: (message: wire.NewMessage) =>
        json<Message>('POST', '/_mock/messages', { body: message }),
      /** Returns the message with this `_id`. */
      get: (id: string) => json<Message>('GET', path`/_mock/messages/${id}`),
      /** Changes fields of a message. `null` removes a field. */
      change: (id: string, changes: wire.MessagePatch) =>
        json<Message>('PATCH', path`/_mock/messages/${id}`, { body: changes }),
      remove: (id: string) => done('DELETE', path`/_mock/messages/${id}`)
    },
    /**
     * The environment's integrations. The parameter `id` is an integration's `_id` or `identifier`.
     */
    integrations: {
      /** Returns all integrations, oldest first. */
      list: () => list<Integration>('/_mock/integrations', 'integrations'),
      add: (integration: wire.NewIntegration) =>
        json<Integration>('POST', '/_mock/integrations', { body: integration }),
      /** Changes fields of an integration. `null` removes a field. */
      change: (id: string, changes: wire.IntegrationPatch) =>
        json<Integration>('PATCH', path`/_mock/integrations/${id}`, { body: changes }),
      remove: (id: string) => done('DELETE', path`/_mock/integrations/${id}`)
    },
    workflows: {
      list: () => list<wire.ListedWorkflow>('/_mock/workflows', 'workflows'),
      /**
       * Changes fields of a step. `workflow` is the workflow's `_id` or `identifier`, and `step` is
       * the step's `_id` or `stepId`. `null` removes a field.
       */
      changeStep: (workflow: string, step: string, changes: wire.StepPatch) =>
        json<wire.WorkflowStep>('PATCH', path`/_mock/workflows/${workflow}/steps/${step}`, {
          body: changes
        })
    }
  }
}

function storedSnapshot({ json, done }: Connection, snapshot: wire.Snapshot) {
  const { name } = snapshot
  return {
    ...snapshot,
    /** Restores the snapshot's data, clock and idempotency keys, or only the given parts. */
    restore: (options: RestoreOptions = {}) =>
      json<wire.ResetResult>('POST', path`/_mock/snapshots/${name}/restore`, { body: options }),
    /** Returns how the current state differs from the snapshot. */
    diff: () => json<wire.EnvironmentDiff>('GET', path`/_mock/snapshots/${name}/diff`),
    remove: () => done('DELETE', path`/_mock/snapshots/${name}`)
  }
}
