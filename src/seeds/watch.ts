import { statSync } from 'node:fs'
import * as nodeTimers from '../platform/timers.js'
import { SeedError } from './errors.js'
import { seedPath } from './read.js'
import type { SeedChange } from './service.js'

/** The result of reloading changed seed files. */
export type SeedReload =
  | { applied: true; files: readonly string[]; changes: readonly SeedChange[] }
  /** The seeds have an error, so no data was changed. */
  | { applied: false; files: readonly string[]; error: SeedError }

/**
 * Milliseconds between checks. A change is reported once two checks in a row find the same state,
 * so that a file isn't loaded while it is still being written.
 */
const INTERVAL = 100

type Timers = Pick<typeof nodeTimers, 'setInterval' | 'clearInterval'>

/**
 * Returns a watcher that reports changes made to the seed files from now on. Only tests pass
 * `timers`.
 */
export function watchSeeds(seeds: readonly string[], timers: Timers = nodeTimers): SeedWatcher {
  return new SeedWatcher(seeds, timers)
}

/**
 * Polls the seed files. Unlike `fs.watch`, polling also works for symbolic links, for folders
 * mounted into a container, and for a file that is replaced by a new one.
 */
class SeedWatcher {
  readonly #seeds: readonly string[]
  readonly #timers: Timers
  #timer: NodeJS.Timeout | undefined
  /** The state of each file at the last call of `onChange`, or at the start. */
  #reported: string[]
  /** The state of each file at the last check. */
  #latest: string[]

  constructor(seeds: readonly string[], timers: Timers) {
    this.#seeds = seeds
    this.#timers = timers
    this.#reported = this.#readStates()
    this.#latest = this.#reported
  }

  /** Starts polling. Calls `onChange` with the seeds that were written, created or deleted. */
  start(onChange: (seeds: string[]) => void): void {
    this.#timer = this.#timers.setInterval(() => this.#check(onChange), INTERVAL).unref()
  }

  stop(): void {
    this.#timers.clearInterval(this.#timer)
  }

  #check(onChange: (seeds: string[]) => void): void {
    const previous = this.#latest
    const latest = this.#readStates()
    this.#latest = latest
    if (latest.join() !== previous.join()) return
    const changed = this.#seeds.filter((_, index) => latest[index] !== this.#reported[index])
    this.#reported = latest
    if (changed.length > 0) onChange(changed)
  }

  #readStates(): string[] {
    return this.#seeds.map((seed) => fileState(seedPath(seed)))
  }
}

/** Returns a string that changes with every write, and when the file appears or disappears. */
function fileState(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    return [file, dev, ino, size, mtimeNs, ctimeNs].join()
  } catch (error) {
    // The file is missing, or its folder can't be read. Loading the seed then reports the error.
    return [file, (error as NodeJS.ErrnoException).code].join()
  }
}

/** Calls `apply` to load the changed files. If it throws a `SeedError`, the result contains it. */
export function reloaded(files: readonly string[], apply: () => SeedChange[]): SeedReload {
  try {
    return { applied: true, files, changes: apply() }
  } catch (error) {
    if (error instanceof SeedError) return { applied: false, files, error }
    throw error
  }
}
