import { type Connection, type Duration, milliseconds, path } from './connection.js'
import type * as wire from './control-api.js'
import { type Requests, requestsOf } from './requests.js'

/** An environment that the holder of its key uses. */
export interface AttachedEnvironment extends ReturnType<typeof attachedEnvironment> {}

/** A stored state of an environment. */
export interface StoredSnapshot extends ReturnType<typeof storedSnapshot> {}

/** A seed with one environment, or only what is in that environment; or either as JSON or YAML text. */
export type SeedContent = wire.Seed | Partial<wire.SeedEnvironment> | string

/** A time to stop a clock at, or the setting of a clock. */
export type ClockTime = string | Date | wire.ClockSetting

/** What to reset or restore. */
export interface ResetOptions {
  parts?: wire.ResetPart[]
}

/** Returns the environment of a key. Throws `MockError` for a key that can't be sent. */
export function attachedEnvironment(server: Connection, apiKey: string, unauthenticatedAfter = 0) {
  const authorization = `ApiKey ${apiKey}`
  const connection = server.as(authorization)
  const { send, json, list, done } = connection
  const requests: Requests = requestsOf(connection)
  return {
    /** The base url for the client under test, without a slash at the end. */
    url: server.url,
    apiKey,
    /** The headers that a request to the environment needs. */
    headers: { authorization },
    requests,
    ...partsOf(connection),
    /** Returns how much of the contract the requests to the environment have met. */
    coverage: () => json<wire.Coverage>('GET', '/_mock/coverage'),
    clearCoverage: () => done('DELETE', '/_mock/coverage'),
    /** Returns the state as a seed; as YAML text if asked for. */
    async state<Format extends 'json' | 'yaml' = 'json'>({ format }: { format?: Format } = {}) {
      const headers = { accept: 'application/yaml' }
      const state =
        format === 'yaml'
          ? (await send('GET', '/_mock/state', { headers })).text()
          : json('GET', '/_mock/state')
      return state as Promise<Format extends 'yaml' ? string : wire.Seed>
    },
    /** Adds a seed to the state, or replaces the state by it. */
    seed: (content: SeedContent, { mode }: { mode?: 'merge' | 'replace' } = {}) =>
      done('POST', '/_mock/seed', { query: { mode }, body: content }),
    /** The same with a seed that comes with the package, by its name: its first environment. */
    loadBuiltInSeed: (scenario: string, { mode }: { mode?: 'merge' | 'replace' } = {}) =>
      done('POST', '/_mock/seed', { query: { scenario, mode } }),
    /** Goes back to the state in which the environment was created or seeded: all of it, or some parts. */
    reset: (options: ResetOptions = {}) =>
      json<wire.ResetResult>('POST', '/_mock/reset', { body: options }),
    /**
     * Returns what was sent and answered, in lines to read when a test has failed: the requests, hints of mistakes in them,
     * and the requests that came without a valid key since the environment was created.
     */
    async describeRequests(): Promise<string> {
      const { requestLines } = await import('./report.js')
      // Those are not for everybody who has a key: from another machine it takes the admin token.
      const unauthenticated = server
        .list<wire.RecordedRequest>('/_mock/requests/unauthenticated', 'requests', {
          after: unauthenticatedAfter
        })
        .catch(() => [])
      return requestLines(
        ...(await Promise.all([requests.list(), requests.changes(), unauthenticated]))
      )
    },
    /** Returns what the present state has over the one in which the environment was created or seeded. */
    diff: () => json<wire.EnvironmentDiff>('GET', '/_mock/diff'),
    /** Tells of the test that the environment is made for, for the report of a run. */
    describeTest: (test: wire.TestDescription) => done('PUT', '/_mock/test', { body: test }),
    /** Stores the present state, by default under a name of its own. */
    // Not `crypto.randomUUID`, which pages have only when they come by https or from this machine.
    snapshot: async (
      name = `snapshot-${Math.random().toString(36).slice(2)}`
    ): Promise<StoredSnapshot> =>
      storedSnapshot(connection, await json('PUT', path`/_mock/snapshots/${name}`)),
    /** Returns the stored states, in the order in which they were taken. */
    snapshots: async (): Promise<StoredSnapshot[]> =>
      (await list<wire.Snapshot>('/_mock/snapshots', 'snapshots')).map((each) =>
        storedSnapshot(connection, each)
      )
  }
}

/** What the environment does to requests, and its records: what the server shows of those always has an `_id`. */
function partsOf({ json, list, done }: Connection) {
  type Message = wire.MessageResponse & { _id: string }
  type Integration = wire.Integration & { _id: string }
  return {
    /** The fault rules of the environment. */
    faults: {
      /** Returns all rules with their counters, in the order they were added. */
      list: () => list<wire.FaultRule>('/_mock/faults', 'faults'),
      /** Adds a rule, which applies once unless `times` is given. */
      add: (rule: wire.NewFaultRule) =>
        json<wire.FaultRule>('POST', '/_mock/faults', { body: rule }),
      remove: (id: string) => done('DELETE', path`/_mock/faults/${id}`),
      clear: () => done('DELETE', '/_mock/faults')
    },
    /** How much later the answers come. */
    latency: {
      get: () => json<wire.Latency>('GET', '/_mock/latency'),
      /** Sets it to a preset (`none`, `office`, `mobile`, `bad`) or to figures of its own, in milliseconds. */
      set: (to: wire.LatencyPreset | wire.LatencySetting) =>
        json<wire.Latency>('PUT', '/_mock/latency', {
          body: typeof to === 'string' ? { preset: to } : to
        })
    },
    /** The time of the environment. */
    clock: {
      get: () => json<wire.ClockState>('GET', '/_mock/clock'),
      /** Stops the clock at a time, shifts it, or lets it follow the machine again: `{ mode: 'wall' }`. */
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
      /** Adds a message as in a seed; without `createdAt` it is of now, by the environment's clock. */
      add: (message: wire.NewMessage) =>
        json<Message>('POST', '/_mock/messages', { body: message }),
      /** Changes fields of a message; null removes one. */
      change: (id: string, changes: wire.MessagePatch) =>
        json<Message>('PATCH', path`/_mock/messages/${id}`, { body: changes }),
      remove: (id: string) => done('DELETE', path`/_mock/messages/${id}`)
    },
    /** Single integrations, by their `_id` or identifier. */
    integrations: {
      /** Returns all integrations in the order in which they were added. */
      list: () => list<Integration>('/_mock/integrations', 'integrations'),
      add: (integration: wire.NewIntegration) =>
        json<Integration>('POST', '/_mock/integrations', { body: integration }),
      /** Changes fields of an integration; null removes one. */
      change: (id: string, changes: wire.IntegrationPatch) =>
        json<Integration>('PATCH', path`/_mock/integrations/${id}`, { body: changes }),
      remove: (id: string) => done('DELETE', path`/_mock/integrations/${id}`)
    },
    workflows: {
      list: () => list<wire.ListedWorkflow>('/_mock/workflows', 'workflows'),
      /** Changes fields of a step; both are named by their `_id`, or by `identifier` and `stepId`. Null removes a field. */
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
    /** Goes back to it: data, clock and idempotency keys, unless parts are given. */
    restore: (options: ResetOptions = {}) =>
      json<wire.ResetResult>('POST', path`/_mock/snapshots/${name}/restore`, { body: options }),
    /** Returns what the present state has over it. */
    diff: () => json<wire.EnvironmentDiff>('GET', path`/_mock/snapshots/${name}/diff`),
    remove: () => done('DELETE', path`/_mock/snapshots/${name}`)
  }
}
