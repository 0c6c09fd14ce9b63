import { type BigIntStats, statSync } from 'node:fs'
import { attempt } from '../domain/errors.js'
import { SeedError } from './errors.js'
import { seedPath } from './read.js'
import type { SeedChange } from './service.js'

/** What a change of the seed files has led to. */
export type SeedReload =
  | { applied: true; files: readonly string[]; changes: readonly SeedChange[] }
  /** The data is what it was. */
  | { applied: false; files: readonly string[]; error: SeedError }

/** Milliseconds between two looks at the files. A file that is left alone for so long has been saved. */
const INTERVAL = 100

/**
 * Watches the files of seeds. It compares their state at intervals, which works through links, in folders that are mounted
 * into a container, and when a new file replaces the old one.
 */
export function watchSeeds(seeds: readonly string[]) {
  const statesOf = () => seeds.map((seed) => stateOf(seedPath(seed)))
  let timer: NodeJS.Timeout | undefined
  let known = statesOf()
  let latest = known

  return {
    /** Calls back with the seeds that were written to since `watchSeeds` was called, or that have gone or come back. */
    start(onChange: (seeds: string[]) => void): void {
      timer = setInterval(() => {
        const former = latest
        latest = statesOf()
        if (latest.join() !== former.join()) return
        const changed = seeds.filter((_, index) => latest[index] !== known[index])
        known = latest
        if (changed.length > 0) onChange(changed)
      }, INTERVAL).unref()
    },

    stop: (): void => clearInterval(timer)
  }
}

/** Differs after each write, and when the file is gone. */
function stateOf(file: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } =
    attempt(() => statSync(file, { bigint: true })) ?? ({} as BigIntStats)
  return [file, dev, ino, size, mtimeNs, ctimeNs].join()
}

/** Returns what came of a change of the files, which `apply` reads again and applies. */
export function reloaded(files: readonly string[], apply: () => SeedChange[]): SeedReload {
  try {
    return { applied: true, files, changes: apply() }
  } catch (error) {
    if (error instanceof SeedError) return { applied: false, files, error }
    throw error
  }
}
