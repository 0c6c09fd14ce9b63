import { type Clock, wallClock } from '../domain/clock.js'
import { clearInterval, setInterval } from '../platform/timers.js'
import type { Environment, EnvironmentStore } from './environment.js'

const CHECK_INTERVAL = 1000

/** Removes environments that have been unused for longer than their `ttl`. */
export class EnvironmentExpiry {
  readonly #store: EnvironmentStore
  readonly #machineClock: Clock
  readonly #timer: NodeJS.Timeout

  constructor(store: EnvironmentStore, machineClock: Clock) {
    this.#store = store
    this.#machineClock = machineClock
    this.#timer = setInterval(() => this.removeExpired(), CHECK_INTERVAL).unref()
  }

  /** Restarts the environment's `ttl`. */
  touch(environment: Environment): void {
    if (environment.ttl !== null) environment.lastUsed = this.#machineClock()
  }

  /**
   * Keeps the environment from expiring until the returned function is called. Call that function
   * exactly once. The call restarts the `ttl`.
   */
  keepInUse(environment: Environment): () => void {
    environment.openRequests += 1
    return () => {
      environment.openRequests -= 1
      this.touch(environment)
    }
  }

  /**
   * Returns when the environment expires, in milliseconds since 1970 on the system clock. Returns
   * undefined if the environment has no `ttl`.
   */
  expiresAt({ ttl, lastUsed }: Environment): number | undefined {
    if (ttl === null) return undefined
    // The two clocks are read one after the other, so their difference varies slightly. Rounding it
    // to whole seconds keeps the result stable between calls.
    const offset = Math.round((wallClock() - this.#machineClock()) / 1000) * 1000
    return Math.round(lastUsed + ttl + offset)
  }

  /**
   * Removes the expired environments. If an environment has a request in progress or its removal
   * fails, the removal is tried again after another `ttl`.
   */
  removeExpired(): void {
    const now = this.#machineClock()
    for (const environment of this.#store.loaded()) {
      if (environment.ttl === null || now - environment.lastUsed < environment.ttl) continue
      environment.lastUsed = now
      if (environment.openRequests === 0) this.#tryToRemove(environment)
    }
  }

  /** Stops the timer. */
  close(): void {
    clearInterval(this.#timer)
  }

  #tryToRemove(environment: Environment): void {
    try {
      this.#store.remove(environment)
    } catch (error) {
      for (const listener of this.#store.listeners) listener.onExpiryError?.(error, environment)
    }
  }
}
