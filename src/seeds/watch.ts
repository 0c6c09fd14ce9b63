import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { seedPath } from './read.js'

/** Between two looks at the files, in milliseconds: what is left alone for so long has been saved. */
const OFTEN = 100

export interface SeedWatch {
  /**
   * Calls back each time that there is something else in the files than there was, also what was put there before this
   * call, or that one of them has gone or come back. What an editor does in order to save is one change.
   */
  start(onChange: () => void): void
  stop(): void
}

/**
 * Watches the files of seeds, from how they are now. It looks at them instead of being told: so it works through links,
 * in folders that are mounted into a container, and when a new file takes the place of the old one.
 */
export function watchSeeds(seeds: readonly string[]): SeedWatch {
  let timer: NodeJS.Timeout | undefined
  let looks = seeds.map(lookOf).join()
  let contents = seeds.map(contentsOf).join()
  let isAtRest = true
  return {
    start(onChange) {
      timer = setInterval(() => {
        const present = seeds.map(lookOf).join()
        if (present !== looks) {
          looks = present
          isAtRest = false
        } else if (!isAtRest) {
          isAtRest = true
          const found = seeds.map(contentsOf).join()
          if (found === contents) return
          contents = found
          onChange()
        }
      }, OFTEN).unref()
    },

    stop: () => clearInterval(timer)
  }
}

/** Another one after each write. */
function lookOf(seed: string): string {
  return orCode(() => {
    const file = seedPath(seed)
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    return [file, dev, ino, size, mtimeNs, ctimeNs].join()
  })
}

function contentsOf(seed: string): string {
  return orCode(() => hash('sha256', readFileSync(seedPath(seed)), 'hex'))
}

/** What can't be read looks like the reason why. */
function orCode(look: () => string): string {
  try {
    return look()
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}
