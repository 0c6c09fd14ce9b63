import { type Clock, isoTime, steadyClock } from '../domain/clock.js'
import type { Environment } from '../environments/service.js'
import { createEntry, type Describe, type JournalEntry, type SentRequest } from './entry.js'
import { type AnswerStore, createAnswers } from './responses.js'
import type { Change } from './schemas.js'

export type Journal = ReturnType<typeof createJournal>
export type JournalService = ReturnType<typeof journalService>
/** A request that has arrived or ended, or a change; neither when the journal is closed. */
export type JournalEvent = { entry?: JournalEntry; change?: Change }

interface JournalOptions {
  capacity: number
  clock: Clock
  describe: Describe
  /** Called with each request that has ended, whatever the capacity; without an environment it had no valid key. */
  count: (entry: JournalEntry, environment: Environment | undefined) => void
}

/** A journal for each environment, and one, of `undefined`, for the requests without a valid key. In memory only. */
export function journalService(options: JournalOptions) {
  const journals = new Map<number | undefined, Journal>()
  const createStore = createAnswers()
  let closed = false

  return {
    of(environment: Environment | undefined): Journal {
      const known = journals.get(environment?.key)
      const clock = environment?.now ?? options.clock
      const journal =
        known ?? createJournal({ ...options, clock, environment, answers: createStore(), closed })
      journals.set(environment?.key, journal)
      return journal
    },

    /** Ends the streams and waits of a removed environment, and forgets its journal. */
    drop(environmentKey: number | undefined): void {
      const journal = journals.get(environmentKey)
      journal?.clear()
      journal?.close()
      journals.delete(environmentKey)
    },

    /** Ends all streams and waits, and any that start later. */
    close(): void {
      closed = true
      for (const journal of journals.values()) journal.close()
    }
  }
}

/** Bytes of requests that a journal keeps, so that a thousand of the largest do not take all memory. */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_CHANGES = 200

interface OwnOptions extends JournalOptions {
  environment: Environment | undefined
  answers: AnswerStore
  closed: boolean
}

/** The last `capacity` requests, or as many as have 32 MiB together, and the last 200 changes between them. */
function createJournal({
  capacity,
  clock,
  describe,
  count,
  environment,
  answers,
  closed
}: OwnOptions) {
  /** By their sequences, which have no gaps. */
  const entries = new Map<number, JournalEntry>()
  /** The sequences of the newest request, of that when the journal was emptied, and of the newest change. */
  let [newest, cleared, newestChange, bytes] = [0, 0, 0, 0]
  let changes: Change[] = []

  const journal = {
    capacity,
    describe,
    answers,
    listeners: new Set<(event: JournalEvent) => void>(),
    /** How many requests have ended: the end sequence of the last one. */
    endedCount: 0,
    /** Whether streams and waits on this journal have been ended, so that none may start. */
    closed,

    /** Adds a request that has arrived. */
    open(request: SentRequest, operation: JournalEntry['operation']): JournalEntry {
      const entry = createEntry(request, operation, journal, ++newest, clock())
      entries.set(newest, entry)
      if (entries.size > capacity) forgetOldest()
      for (const listener of journal.listeners) listener({ entry })
      return entry
    },

    /** Ends a request; one without a status was not answered. */
    end(entry: JournalEntry): void {
      entry.duration = steadyClock() - entry.startedAt
      entry.endSequence = ++journal.endedCount
      count(entry, environment)
      if (entries.has(entry.sequence)) bytes += bytesOf(entry)
      while (bytes > MAX_BYTES) forgetOldest()
      for (const listener of journal.listeners) listener({ entry })
    },

    /** Returns the requests with a greater sequence, oldest first; all if that is of an earlier run of the server. */
    requests(after = 0): JournalEntry[] {
      const first = Math.max(newest - entries.size, after > newest ? 0 : after) + 1
      return Array.from(
        { length: newest - first + 1 },
        (_, index) => entries.get(first + index) as JournalEntry
      )
    },

    /** Returns the request of this sequence, if it is still there. */
    find: (sequence: number): JournalEntry | undefined => entries.get(sequence),

    /** Returns the sequence of the newest request; 0 if there was none. */
    last: (): number => newest,

    /** Returns how many requests with a greater sequence were replaced by newer ones. */
    lost: (after = 0): number =>
      Math.max(0, newest - entries.size - Math.max(after > newest ? 0 : after, cleared)),

    /** Adds a change that has just been made, and returns its sequence. */
    addChange(done: Pick<Change, 'operation' | 'summary' | 'target' | 'changed'>): number {
      const change = { sequence: ++newestChange, time: isoTime(clock()), after: newest, ...done }
      changes = [...changes, change].slice(-MAX_CHANGES)
      for (const listener of journal.listeners) listener({ change })
      return newestChange
    },

    /** Returns the changes with a greater sequence, oldest first; all if that is of an earlier run of the server. */
    changes: (after = 0): readonly Change[] =>
      changes.filter(({ sequence }) => after > newestChange || sequence > after),

    /** Empties it, of changes too. Sequences go on, so that a stream that resumes does not take new requests for old ones. */
    clear(): void {
      ;[cleared, bytes] = [newest, 0]
      entries.clear()
      answers.clear()
      changes = []
    },

    /** Ends all streams and waits on this journal. */
    close(): void {
      journal.closed = true
      for (const listener of journal.listeners) listener({})
    }
  }
  return journal

  function forgetOldest(): void {
    const [oldest] = entries.values()
    if (oldest?.endSequence) bytes -= bytesOf(oldest)
    entries.delete(newest - entries.size + 1)
  }
}

const bytesOf = ({ url, rawHeaders, body }: JournalEntry) =>
  url.length + rawHeaders.length + (body?.length ?? 0)
