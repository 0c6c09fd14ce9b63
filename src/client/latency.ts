import type { Connection } from './connection.js'
import type { Latency, LatencyPreset, LatencySetting } from './control-api.js'

/** How much later the answers to an environment come. */
export interface LatencyMethods {
  get(): Promise<Latency>
  /** Sets it to a preset (`none`, `office`, `mobile`, `bad`) or to figures of its own, in milliseconds. */
  set(latency: LatencyPreset | LatencySetting): Promise<Latency>
}

export function latencyMethodsOf(connection: Connection): LatencyMethods {
  return {
    get: () => connection.json('GET', '/_mock/latency'),
    set: (latency) => {
      const body = typeof latency === 'string' ? { preset: latency } : latency
      return connection.json('PUT', '/_mock/latency', { body })
    }
  }
}
