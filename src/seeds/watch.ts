import { statSync } from 'node:fs'
import { SeedError } from './errors.js'
import { seedPath } from './read.js'
import type { SeedChange } from './service.js'

/** The result of reloading changed seed files. */
export type SeedReload =
  | { applied: true; files: readonly string[]; changes: readonly SeedChange[] }
  /** The seeds have an error, and no data was changed. */
  | { applied: false; files: readonly string[]; error: SeedError }

/** Milliseconds between two checks. A file counts as saved once two checks find it unchanged. */
const INTERVAL = 100

/** Returns a watcher that reports changes of the seed files from now on. */
export function watchSeeds(seeds: readonly string[]): SeedWatcher {
  return new SeedWatcher(seeds)
}

/**
 * Polls the seed files. Unlike `fs.watch`, polling also works for symbolic links, for folders
 * mounted into a container, and for a file that is replaced by a new one.
 */
class SeedWatcher {
  readonly #seeds: readonly string[]
  #timer: NodeJS.Timeout | undefined
  /** The states that the last callback was about. */
  #reported: string[]
  /** The states at the last check. */
  #latest: string[]

  constructor(seeds: readonly string[]) {
    this.#seeds = seeds
    this.#reported = this.#readStates()
    this.#latest = this.#reported
  }

  /** Calls back with the seeds that were written, deleted or created since the watcher exists. */
  start(onChange: (seeds: string[]) => void): void {
    this.#timer = setInterval(() => this.#check(onChange), INTERVAL).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
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
    // The file can be missing or in a folder that isn't readable. Reading it reports the reason.
    return [file, (error as NodeJS.ErrnoException).code].join()
  }
}

/** Applies the changed files with `apply`, and returns the result. */
export function reloaded(files: readonly string[], apply: () => SeedChange[]): SeedReload {
  try {
    return { applied: true, files, changes: apply() }
  } catch (error) {
    if (error instanceof SeedError) return { applied: false, files, error }
    throw error
  }
}
