import { clearTimeout, setTimeout } from 'node:timers'
import { type FieldErrors, noFieldErrors } from '../../core/errors.js'
import {
  drawLatency,
  type Latency,
  type LatencyPreset,
  type LatencySetting,
  latencyIssue,
  latencyOf
} from '../../core/latency.js'
import type { Random } from '../../core/random.js'
import type { JournalEntry } from '../requests/entry.js'

export type LatencyService = ReturnType<typeof latencyService>

export interface DelayedRequest {
  /** Undefined without a valid key. */
  environment: { key: number; random: Random } | undefined
  journalEntry: JournalEntry | null
}

/** The latency of each environment, in memory only, and the server's for all that have none of their own. */
export function latencyService(wanted: LatencyPreset | LatencySetting) {
  const serversOwn = latencyOf(wanted)
  /** Whether any request may be delayed: until then nothing is looked up for one. */
  let isUsed = serversOwn.delay > 0 || serversOwn.spread > 0
  /** That they were created with. */
  const initial = new Map<number, Latency>()
  const present = new Map<number, Latency>()
  /** What ends each wait. */
  const waits = new Set<() => void>()
  let isClosed = false
  const get = (key: number) => present.get(key) ?? initial.get(key) ?? serversOwn

  return {
    get,

    set(environmentKey: number, latency: LatencyPreset | LatencySetting): void {
      isUsed = true
      present.set(environmentKey, latencyOf(latency))
    },

    /** Sets that which a reset goes back to. */
    setInitial(environmentKey: number, latency: LatencyPreset | LatencySetting): void {
      isUsed = true
      initial.set(environmentKey, latencyOf(latency))
    },

    reset: (environmentKey: number): void => void present.delete(environmentKey),

    drop(environmentKey: number): void {
      present.delete(environmentKey)
      initial.delete(environmentKey)
    },

    /** Returns how long to delay a request, in milliseconds: once for each, and 0 from then on. */
    draw({ environment, journalEntry }: DelayedRequest): number {
      if (!isUsed || !environment || !journalEntry) return 0
      const latency = get(environment.key)
      if ((latency.delay === 0 && latency.spread === 0) || journalEntry.delayed !== undefined) return 0
      const delay = drawLatency(latency, environment.random)
      journalEntry.setDelayed(delay)
      return delay
    },

    /** Resolves after so many milliseconds, or as soon as the server closes: it waits for its requests. */
    wait: (milliseconds: number): Promise<void> =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          waits.delete(end)
          resolve()
        }
        const timer = setTimeout(end, isClosed ? 0 : milliseconds)
        waits.add(end)
      }),

    /** Ends all waits, and any that start later. */
    close(): void {
      isClosed = true
      for (const end of waits) end()
    }
  }
}

/** Returns what is wrong with a latency that stands at this field of a body; an empty field is the body itself. */
export function latencyErrors(field: string, wanted: LatencyPreset | LatencySetting): FieldErrors {
  const errors = noFieldErrors()
  const issue = latencyIssue(wanted)
  if (issue) errors[field || 'preset'] = { messages: [issue] }
  return errors
}
