import type { Clock } from '../../core/clock.js'
import type { Environment } from '../../environments/service.js'
import { createChangeLog } from './changes.js'
import { type Describe, JournalEntry } from './entry.js'

/** Called with each request when it arrives and when it ends, and with nothing when the journal is closed. */
export type JournalListener = (entry?: JournalEntry) => void
export type Journal = ReturnType<typeof createJournal>

type JournalOwner = Pick<Environment, 'key' | 'now' | 'assumptions'>

interface JournalOptions {
  capacity: number
  clock: Clock
  describe: Describe
  /** Called with each request that has ended, whatever the capacity. */
  count: (entry: JournalEntry) => void
}

type ServiceOptions = Omit<JournalOptions, 'count'> & {
  counterOf: (environment: JournalOwner | undefined) => JournalOptions['count']
}

/** A journal for each environment, and one for the requests without a valid key. In memory only. */
export function journalService({ capacity, clock, describe, counterOf }: ServiceOptions) {
  const journals = new Map<number | undefined, Journal>()
  let closed = false

  return {
    /** Returns the journal of an environment; of `undefined`, that of the requests without a valid key. */
    of(environment: JournalOwner | undefined): Journal {
      const key = environment?.key
      let journal = journals.get(key)
      if (!journal) {
        const count = counterOf(environment)
        journal = createJournal({ capacity, clock: environment?.now ?? clock, describe, count }, closed)
        journals.set(key, journal)
      }
      return journal
    },

    /** Ends the streams and waits of a removed environment, and forgets its journal; `undefined` as in `of`. */
    drop(environmentKey: number | undefined): void {
      journals.get(environmentKey)?.close()
      journals.delete(environmentKey)
    },

    /** Whether requests of the environment are in progress, or streams or waits open. */
    isBusy: (environmentKey: number): boolean => journals.get(environmentKey)?.isBusy ?? false,

    /** Ends all streams and waits, and any that start later. */
    close(): void {
      closed = true
      for (const journal of journals.values()) journal.close()
    }
  }
}

/** Bytes of requests that a journal keeps, so that a thousand of the largest do not take all memory. */
const MAX_BYTES = 32 * 1024 * 1024

/**
 * The last `capacity` requests, oldest first, or as many of them as have 32 MiB together. With a capacity of 0 its
 * listeners are not called either.
 */
export function createJournal({ capacity, clock, describe, count: countEnded }: JournalOptions, closed = false) {
  const listeners = new Set<JournalListener>()
  /** A ring: the request with sequence n is at index n modulo capacity. */
  const entries: (JournalEntry | undefined)[] = []
  let count = 0
  let clearedCount = 0
  let droppedCount = 0
  let bytes = 0
  let endedCount = 0
  const changes = createChangeLog(clock, () => count)

  return {
    capacity,
    listeners,

    /** What was done to the environment between the requests, whatever the capacity. */
    changes,

    /** Adds a request that has arrived; `text` as in `JournalEntry.text`. */
    open(text: string, operation: JournalEntry['operation']): JournalEntry {
      count += 1
      const index = count % capacity
      let entry = entries[index]
      bytes -= entry?.storedLength ?? 0
      // The entry of a request in progress stays its own, though it is no longer in the journal.
      if (!entry || entry.endSequence === 0) {
        entry = new JournalEntry(end, describe)
        if (capacity > 0) entries[index] = entry
      }
      entry.start(count, clock(), text, operation)
      notify(entry)
      return entry
    },

    /** Returns the requests with a greater sequence, oldest first; all if that is of an earlier run of the server. */
    requests: entriesAfter,

    /** Another number whenever a request has arrived or ended, and when the journal has been emptied. */
    get version(): number {
      return count + endedCount + clearedCount
    },

    /** Returns how many requests with a greater sequence were replaced by newer ones. */
    lost(after = 0): number {
      return Math.max(0, lastForgotten() - beginning(after))
    },

    /** Empties the journal, of changes too. Sequences go on, so that a stream that resumes does not take new requests for old ones. */
    clear(): void {
      clearedCount = count
      entries.length = bytes = 0
      changes.clear()
    },

    /** How many requests have ended: the end sequence of the last one. */
    get endedCount(): number {
      return endedCount
    },

    /** Returns the requests that ended after this end sequence, in the order in which they ended. */
    endedAfter(endSequence: number): JournalEntry[] {
      const found: JournalEntry[] = []
      const forgotten = Math.max(clearedCount, lastForgotten())
      // From the newest on, as there are few of them in many.
      for (let sequence = count; sequence > forgotten && found.length < endedCount - endSequence; sequence -= 1) {
        const entry = entries[sequence % capacity]
        if (entry && entry.endSequence > endSequence) found.push(entry)
      }
      return found.sort((a, b) => a.endSequence - b.endSequence)
    },

    /** Whether requests are in progress, or streams or waits open. */
    get isBusy(): boolean {
      return count > endedCount || listeners.size > 0
    },

    /** Whether streams and waits on this journal have been ended, so that none may start. */
    get closed(): boolean {
      return closed
    },

    /** Ends all streams and waits on this journal. */
    close(): void {
      closed = true
      for (const listener of listeners) listener()
      listeners.clear()
    }
  }

  function end(entry: JournalEntry): void {
    entry.endSequence = ++endedCount
    countEnded(entry)
    if (entries[entry.sequence % capacity] === entry) {
      entry.storedLength = entry.length
      bytes += entry.storedLength
      while (bytes > MAX_BYTES) forgetOldest()
    }
    notify(entry)
  }

  /** The sequence of the last request that others have replaced. */
  function lastForgotten(): number {
    return Math.max(count - capacity, droppedCount)
  }

  function forgetOldest(): void {
    droppedCount = Math.max(lastForgotten(), clearedCount) + 1
    const index = droppedCount % capacity
    bytes -= entries[index]?.storedLength ?? 0
    entries[index] = undefined
  }

  function notify(entry: JournalEntry): void {
    if (capacity > 0) for (const listener of listeners) listener(entry)
  }

  /** A sequence that there is not yet is of an earlier run of the server. */
  function beginning(after: number): number {
    return Math.max(after > count ? 0 : after, clearedCount)
  }

  function entriesAfter(after = 0): JournalEntry[] {
    const first = Math.max(beginning(after), lastForgotten()) + 1
    const sequences = Array.from({ length: Math.max(0, count + 1 - first) }, (_, index) => first + index)
    return sequences.flatMap((sequence) => entries[sequence % capacity] ?? [])
  }
}
