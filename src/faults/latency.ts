import {
  drawLatency,
  type Latency,
  type LatencyPreset,
  type LatencySetting,
  resolveLatency
} from '../domain/latency.js'
import type { Environment } from '../environments/service.js'
import type { JournalEntry } from '../journal/entry.js'
import { clearTimeout, setTimeout } from '../platform/timers.js'

type DelayedRequest = { environment?: Environment | undefined; journalEntry: JournalEntry | null }

/**
 * Stores the latencies that were set for environments, in memory only. Other environments use the
 * server's latency.
 */
export class LatencyService {
  readonly #serverLatency: Latency
  /** The latencies that a reset restores. */
  readonly #initial = new WeakMap<Environment, Latency>()
  readonly #current = new WeakMap<Environment, Latency>()
  /**
   * Functions that end the current waits early. An `AbortSignal` doesn't work, because test
   * environments such as jsdom replace the global `AbortSignal`.
   */
  readonly #waits = new Set<() => void>()
  /** Whether each wait ends immediately. `Replay` sets this while it repeats a request. */
  isInstant = false
  #isClosed = false

  constructor(serverLatency: LatencyPreset | LatencySetting) {
    this.#serverLatency = resolveLatency(serverLatency)
  }

  get(environment: Environment): Latency {
    return this.#current.get(environment) ?? this.#initial.get(environment) ?? this.#serverLatency
  }

  set(environment: Environment, latency: LatencySetting): void {
    this.#current.set(environment, resolveLatency(latency))
  }

  /** Sets the latency that a reset restores. */
  setInitial(environment: Environment, latency: LatencyPreset | LatencySetting): void {
    this.#initial.set(environment, resolveLatency(latency))
  }

  /** Returns the latency that a reset restores. */
  initialOf(environment: Environment): Latency {
    return this.#initial.get(environment) ?? this.#serverLatency
  }

  reset(environment: Environment): void {
    this.#current.delete(environment)
  }

  /**
   * Draws a random delay for the request, in milliseconds. Returns 0 if the journal doesn't record
   * the request, or if the request's delay was already drawn.
   */
  draw({ environment, journalEntry }: DelayedRequest): number {
    if (!environment || !journalEntry || journalEntry.delayed !== undefined) return 0
    const latency = this.get(environment)
    if (latency.delay === 0 && latency.spread === 0) return 0
    const delay = drawLatency(latency, environment.random)
    journalEntry.delayed = delay
    return delay
  }

  /**
   * Resolves after this many milliseconds, or at once if `isInstant` is set. `close` ends the wait
   * early, because a closing server waits for open requests.
   */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#waits.delete(end)
        resolve()
      }
      const timer = setTimeout(end, this.#isClosed || this.isInstant ? 0 : milliseconds)
      this.#waits.add(end)
    })
  }

  /** Ends all waits. Waits that start later end at once. */
  close(): void {
    this.#isClosed = true
    for (const end of this.#waits) end()
  }
}
