import { type Connection, path } from './connection.js'
import type { ResetPart, ResetResult, Seed, SeedEnvironment, Snapshot, SnapshotDifferences } from './control-api.js'

/** A seed with one environment, or only what is in that environment; or either as JSON or YAML text. */
export type SeedContent = Seed | Partial<SeedEnvironment> | string

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

/** The state of an environment as a whole. */
export interface StateMethods {
  /** Returns the state as a seed; as YAML text if asked for. */
  state(options?: { format?: 'json' }): Promise<Seed>
  state(options: { format: 'yaml' }): Promise<string>
  /** Adds a seed to the state, or replaces the state by it. */
  seed(content: SeedContent, options?: { mode?: 'merge' | 'replace' }): Promise<void>
  /** The same with a seed that comes with the package, by its name: its first environment. */
  loadScenario(scenario: string, options?: { mode?: 'merge' | 'replace' }): Promise<void>
  /** Goes back to the state in which the environment was created or seeded: all of it, or some parts. */
  reset(options?: ResetOptions): Promise<ResetResult>
  /** Stores the present state, by default under a name of its own. */
  snapshot(name?: string): Promise<StoredSnapshot>
  /** Returns the stored states. */
  snapshots(): Promise<StoredSnapshot[]>
}

export function stateOf(connection: Connection): StateMethods {
  const stored = (snapshot: Snapshot): StoredSnapshot => ({
    ...snapshot,
    restore: (options = {}) =>
      connection.json('POST', path`/_mock/snapshots/${snapshot.name}/restore`, { body: options }),
    differences: () => connection.json('GET', path`/_mock/snapshots/${snapshot.name}/differences`),
    remove: () => connection.done('DELETE', path`/_mock/snapshots/${snapshot.name}`)
  })

  function state(options?: { format?: 'json' }): Promise<Seed>
  function state(options: { format: 'yaml' }): Promise<string>
  async function state({ format = 'json' }: { format?: 'json' | 'yaml' } = {}): Promise<Seed | string> {
    if (format === 'json') return connection.json<Seed>('GET', '/_mock/state')
    return (await connection.send('GET', '/_mock/state', { headers: { accept: 'application/yaml' } })).text()
  }

  return {
    state,
    seed: (content, { mode } = {}) => connection.done('POST', '/_mock/seed', { query: { mode }, body: content }),
    loadScenario: (scenario, { mode } = {}) => connection.done('POST', '/_mock/seed', { query: { scenario, mode } }),
    reset: (options = {}) => connection.json('POST', '/_mock/reset', { body: options }),
    snapshot: async (name = uniqueName()) => stored(await connection.json('PUT', path`/_mock/snapshots/${name}`)),
    snapshots: async () => {
      const { snapshots } = await connection.json<{ snapshots: Snapshot[] }>('GET', '/_mock/snapshots')
      return snapshots.map(stored)
    }
  }
}

/** Not `crypto.randomUUID`, which pages have only when they come by https or from this machine. */
function uniqueName(): string {
  return `snapshot-${Math.random().toString(36).slice(2)}`
}
