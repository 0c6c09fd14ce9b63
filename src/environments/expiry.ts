import { clearTimeout, setTimeout } from 'node:timers'
import type { Clock } from '../core/clock.js'
import { nextTurn, runSlice, runToEnd } from '../core/slices.js'
import type { Db } from '../db/open.js'
import type { Environment } from './environment.js'

/** Milliseconds between two looks, at least and at most: Node has no longer timers than 24 days. */
const MIN_WAIT = 20
const MAX_WAIT = 3_600_000

interface Options {
  machineClock: Clock
  /** Returns the environments that have a `ttl`. */
  list: () => Environment[]
  /** Whether requests, streams or waits are open. */
  isBusy: (environment: Environment) => boolean
  remove: (environment: Environment) => void
  onError: (error: unknown, environment: Environment) => void
}

/** Removes the environments that were not used for as long as their `ttl`, by one timer, which keeps no process alive. */
export function expiryTimer({ client }: Db, { machineClock, list, isBusy, remove, onError }: Options) {
  /** Those that were in use when their time was over. */
  const busy = new WeakSet<Environment>()
  /** How many have been begun by `keepInUse` and not ended. */
  const open = new WeakMap<Environment, number>()
  let timer: NodeJS.Timeout | undefined
  let nextLook = Number.POSITIVE_INFINITY
  let isClosed = false

  return {
    /** Removes all at once whose time is over. */
    removeExpired: (): void => runToEnd(removingExpired()),

    /** To be called when an environment with a `ttl` is there. */
    watch({ ttl, lastUsed }: Environment): void {
      if (ttl !== null) lookAt(lastUsed + ttl)
    },

    /** Keeps the environment until the function that it returns is called, once; then its time begins again. */
    keepInUse(environment: Environment): () => void {
      const add = (count: number) => open.set(environment, (open.get(environment) ?? 0) + count)
      add(1)
      return () => {
        add(-1)
        environment.lastUsed = machineClock()
      }
    },

    close(): void {
      isClosed = true
      clearTimeout(timer)
    }
  }

  function lookAt(time: number): void {
    if (isClosed || time >= nextLook) return
    nextLook = time
    clearTimeout(timer)
    const wait = Math.min(Math.max(time - machineClock(), MIN_WAIT), MAX_WAIT)
    timer = setTimeout(look, wait).unref()
  }

  function look(): void {
    if (isClosed || !client.open) return
    // In a transaction somebody works in steps, which may be rolled back. Many take long: others are answered in between.
    if (!client.inTransaction && !runSlice(removingExpired()).done) {
      nextTurn().then(look)
      return
    }
    nextLook = Number.POSITIVE_INFINITY
    for (const { ttl, lastUsed } of list()) lookAt(lastUsed + Number(ttl))
  }

  /** Removes, in steps, those whose time is over. The time of one that is in use begins again when it is not any more. */
  function* removingExpired(): Generator<undefined, void> {
    const now = machineClock()
    for (const environment of list()) {
      if (now - environment.lastUsed < Number(environment.ttl)) continue
      const wasBusy = busy.delete(environment)
      if (isBusy(environment)) busy.add(environment)
      else if (!wasBusy && !open.get(environment)) {
        removeOne(environment)
        yield
        continue
      }
      environment.lastUsed = now
    }
  }

  /** What can't be removed, be it that the disk is full, is tried again when as much time has passed. */
  function removeOne(environment: Environment): void {
    try {
      remove(environment)
    } catch (error) {
      environment.lastUsed = machineClock()
      onError(error, environment)
    }
  }
}
