import { type Connection, type Duration, milliseconds, path } from './connection.js'
import type * as wire from './control-api.js'
import { type Requests, requestsOf } from './requests.js'

/** A client of one environment, identified by its API key. */
export interface AttachedEnvironment extends ReturnType<typeof attachedEnvironment> {}

/** A snapshot of an environment, with methods to restore and compare it. */
export interface StoredSnapshot extends ReturnType<typeof storedSnapshot> {}

/**
 * A seed with one environment, or only the contents of an environment; or either as JSON or YAML.
 */
export type SeedContent = wire.Seed | Partial<wire.SeedEnvironment> | string

/** When to stop a clock, or a clock setting. */
export type ClockTime = string | Date | wire.ClockSetting

export interface ResetOptions {
  /** The parts to reset or restore. */
  parts?: wire.ResetPart[]
}

/**
 * Returns a client of the key's environment. Throws `MockError` if a header can't carry the key.
 */
export function attachedEnvironment(server: Connection, apiKey: string, unauthenticatedAfter = 0) {
  const authorization = `ApiKey ${apiKey}`
  const connection = server.as(authorization)
  const { send, json, list, done } = connection
  const requests: Requests = requestsOf(connection)
  return {
    /** The base URL for the client under test, without a trailing slash. */
    url: server.url,
    apiKey,
    /** The headers that every request to the environment needs. */
    headers: { authorization },
    requests,
    ...partsOf(connection),
    /** Returns how much of the API the requests to the environment have covered. */
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
    /** Adds a seed to the environment, or replaces its data with `mode: 'replace'`. */
    seed: (content: SeedContent, { mode }: { mode?: 'merge' | 'replace' } = {}) =>
      done('POST', '/_mock/seed', { query: { mode }, body: content }),
    /** Like `seed`, with the first environment of a built-in seed. */
    loadBuiltInSeed: (scenario: string, { mode }: { mode?: 'merge' | 'replace' } = {}) =>
      done('POST', '/_mock/seed', { query: { scenario, mode } }),
    /** Returns the environment, or parts of it, to the baseline: the state after its last seed. */
    reset: (options: ResetOptions = {}) =>
      json<wire.ResetResult>('POST', '/_mock/reset', { body: options }),
    /**
     * Returns text for the output of a failed test: the requests and their outcomes, hints about
     * likely mistakes, and the requests without a valid API key since the environment was created.
     */
    async describeRequests(): Promise<string> {
      const { requestLines } = await import('./report.js')
      // From another machine this route needs the admin token, which may be missing.
      const unauthenticated = server
        .list<wire.RecordedRequest>('/_mock/requests/unauthenticated', 'requests', {
          after: unauthenticatedAfter
        })
        .catch(() => [])
      return requestLines(
        ...(await Promise.all([requests.list(), requests.changes(), unauthenticated]))
      )
    },
    /** Returns how the current state differs from the baseline. */
    diff: () => json<wire.EnvironmentDiff>('GET', '/_mock/diff'),
    /** Records which test the environment belongs to, for the report of the run. */
    describeTest: (test: wire.TestDescription) => done('PUT', '/_mock/test', { body: test }),
    /** Stores the current state under a name. Without a name, a unique one is chosen. */
    snapshot: async (name = randomSnapshotName()): Promise<StoredSnapshot> =>
      storedSnapshot(connection, await json('PUT', path`/_mock/snapshots/${name}`)),
    /** Returns all snapshots, oldest first. */
    snapshots: async (): Promise<StoredSnapshot[]> =>
      (await list<wire.Snapshot>('/_mock/snapshots', 'snapshots')).map((snapshot) =>
        storedSnapshot(connection, snapshot)
      )
  }
}

/** Avoids `crypto.randomUUID`, which browsers offer only to HTTPS and localhost pages. */
const randomSnapshotName = () => `snapshot-${Math.random().toString(36).slice(2)}`

/**
 * Returns the methods for faults, latency, clock and records. The server's records always have an
 * `_id`, although the API reference calls it optional.
 */
function partsOf({ json, list, done }: Connection) {
  type Message = wire.MessageResponse & { _id: string }
  type Integration = wire.Integration & { _id: string }
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
    /** The delay of every response. */
    latency: {
      get: () => json<wire.Latency>('GET', '/_mock/latency'),
      /**
       * Sets a preset (`none`, `office`, `mobile`, `bad`) or a delay and spread in milliseconds.
       */
      set: (to: wire.LatencyPreset | wire.LatencySetting) =>
        json<wire.Latency>('PUT', '/_mock/latency', {
          body: typeof to === 'string' ? { preset: to } : to
        })
    },
    /** The clock of the environment. */
    clock: {
      get: () => json<wire.ClockState>('GET', '/_mock/clock'),
      /**
       * Stops the clock at a time, shifts it, or makes it follow the machine again with
       * `{ mode: 'wall' }`.
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
      /**
       * Adds a message in the format of a seed. `createdAt` defaults to now, by the environment's
       * clock.
       */
      add: (message: wire.NewMessage) =>
        json<Message>('POST', '/_mock/messages', { body: message }),
      /** Changes fields of a message. `null` removes a field. */
      change: (id: string, changes: wire.MessagePatch) =>
        json<Message>('PATCH', path`/_mock/messages/${id}`, { body: changes }),
      remove: (id: string) => done('DELETE', path`/_mock/messages/${id}`)
    },
    /** Integrations, addressed by `_id` or `identifier`. */
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
       * Changes fields of a step. `workflow` is an `_id` or `identifier`, `step` an `_id` or
       * `stepId`. `null` removes a field.
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
    /** Restores the snapshot: data, clock and idempotency keys, or only the given parts. */
    restore: (options: ResetOptions = {}) =>
      json<wire.ResetResult>('POST', path`/_mock/snapshots/${name}/restore`, { body: options }),
    /** Returns how the current state differs from the snapshot. */
    diff: () => json<wire.EnvironmentDiff>('GET', path`/_mock/snapshots/${name}/diff`),
    remove: () => done('DELETE', path`/_mock/snapshots/${name}`)
  }
}
