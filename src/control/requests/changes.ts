import { isoTime } from '../../core/clock.js'
import type { Change } from './schemas.js'

/** What was done to the environment, before time and number are known. */
type Done = Pick<Change, 'operation' | 'summary' | 'target'>

/** How many changes are kept. */
const CAPACITY = 200

/** The last changes of an environment, which tell why its answers are others than before. */
export function createChangeLog(now: () => number, lastRequest: () => number) {
  const listeners = new Set<() => void>()
  let changes: Change[] = []
  let count = 0

  return {
    /** Called when a change has been added. */
    listeners,

    /** Adds a change that has just been made, and returns its number. */
    note({ operation, summary, target }: Done): number {
      const change: Change = {
        sequence: ++count,
        time: isoTime(now()),
        after: lastRequest(),
        ...(operation !== undefined && { operation }),
        summary,
        ...(target !== undefined && { target })
      }
      changes = [...changes, change].slice(-CAPACITY)
      for (const listener of listeners) listener()
      return count
    },

    /** Returns the changes with a greater sequence, oldest first; all if that is of an earlier run of the server. */
    list: (after = 0): readonly Change[] =>
      after > count ? changes : changes.filter(({ sequence }) => sequence > after),

    /** The sequence of the last change; 0 if there was none. */
    get last(): number {
      return count
    },

    clear(): void {
      changes = []
    }
  }
}
