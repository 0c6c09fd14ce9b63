import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { SeedError } from './errors.js'
import { type SeedFile, seedPath } from './read.js'
import type { SeedChange, SeedService } from './service.js'

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
  let timer: NodeJS.Timeout | undefined
  let state = readEach(seeds, stateOf).join()
  let contents = readEach(seeds, contentOf)
  let isSettled = true

  /** Returns the seeds whose content is another one, once the files are left alone. */
  function findChanged(): string[] {
    const present = readEach(seeds, stateOf).join()
    const wasSettled = isSettled
    isSettled = present === state
    state = present
    if (wasSettled || !isSettled) return []
    const former = contents
    contents = readEach(seeds, contentOf)
    return seeds.filter((_, index) => contents[index] !== former[index])
  }

  return {
    /** Calls back with the seeds whose content has changed since `watchSeeds` was called, or that have gone or come back. */
    start(onChange: (seeds: string[]) => void): void {
      timer = setInterval(() => {
        const changed = findChanged()
        if (changed.length > 0) onChange(changed)
      }, INTERVAL).unref()
    },

    stop: (): void => clearInterval(timer)
  }
}

/** Differs after each write. */
function stateOf(file: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
  return [file, dev, ino, size, mtimeNs, ctimeNs].join()
}

const contentOf = (file: string): string => hash('sha256', readFileSync(file), 'hex')

/** Returns what is read of each file, or the code of the error. */
function readEach(seeds: readonly string[], read: (file: string) => string): string[] {
  return seeds.map((seed) => {
    try {
      return read(seedPath(seed))
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code)
    }
  })
}

/**
 * Returns a function that reads the seeds again and applies what has changed in them since the last time. Called again
 * meanwhile, it waits until that is done.
 */
export function reloader(
  read: () => Promise<SeedFile[]>,
  applied: readonly SeedFile[],
  reseed: SeedService['reseed']
): (files: readonly string[]) => Promise<SeedReload> {
  let former = applied
  let last: Promise<unknown> = Promise.resolve()
  return (files) => {
    const task = last.then(() => reload(files))
    last = task.catch(() => {})
    return task
  }

  async function reload(files: readonly string[]): Promise<SeedReload> {
    try {
      const present = await read()
      const changes = await reseed(present, former)
      former = present
      return { applied: true, files, changes }
    } catch (error) {
      if (error instanceof SeedError) return { applied: false, files, error }
      throw error
    }
  }
}
