import { type Clock, isoTime, steadyClock } from '../../core/clock.js'
import type { Environment } from '../../environments/service.js'
import { type AnswerStore, createAnswers } from './answers.js'
import { createEntry, type Describe, type JournalEntry, type SentRequest } from './entry.js'
import type { Change } from './schemas.js'

export type { JournalEntry } from './entry.js'

export type Journal = ReturnType<typeof createJournal>
export type JournalOwner = Pick<Environment, 'key' | 'now' | 'assumptions'>
/** A request that has arrived or ended, or a change; neither when the journal is closed. */
export type JournalEvent = { entry?: JournalEntry; change?: Change }

interface JournalOptions {
  capacity: number
  clock: Clock
  describe: Describe
  /** Where answers are kept; one of its own if left out. */
  answers?: AnswerStore
  /** Returns what is called with each request of an environment that has ended, whatever the capacity. */
  counterOf: (owner: JournalOwner | undefined) => (entry: JournalEntry) => void
}

/** A journal for each environment, and one, of `undefined`, for the requests without a valid key. In memory only. */
export function journalService(options: JournalOptions) {
  const journals = new Map<number | undefined, Journal>()
  const createStore = createAnswers()
  let closed = false

  return {
    of(owner: JournalOwner | undefined): Journal {
      const journal = journals.get(owner?.key) ?? createJournal({ ...options, answers: createStore() }, owner, closed)
      journals.set(owner?.key, journal)
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

/** The last `capacity` requests, or as many as have 32 MiB together, and the last 200 changes between them. */
export function createJournal(options: JournalOptions, owner?: JournalOwner, closed = false) {
  const { capacity, describe, answers = createAnswers()() } = options
  const now = owner?.now ?? options.clock
  const count = options.counterOf(owner)
  /** Each request at its sequence modulo the capacity. */
  const ring: (JournalEntry | undefined)[] = []
  /** The sequences of the newest and of the oldest in the ring, and of the newest when the journal was emptied. */
  let [newest, oldest, cleared] = [0, 1, 0]
  let bytes = 0
  const changes = createChanges(({ sequence, ...done }) => {
    const change = { sequence, time: isoTime(now()), after: newest, ...done }
    for (const listener of journal.listeners) listener({ change })
    return change
  })

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
    open(sent: SentRequest): JournalEntry {
      const entry = createEntry(sent, journal, ++newest, now())
      if (newest - oldest === capacity) forgetOldest()
      if (capacity > 0) ring[newest % capacity] = entry
      for (const listener of journal.listeners) listener({ entry })
      return entry
    },

    /** Ends a request; one without a status was not answered. */
    end(entry: JournalEntry): void {
      entry.duration = steadyClock() - entry.startedAt
      entry.endSequence = ++journal.endedCount
      count(entry)
      if (entry.sequence >= oldest) bytes += bytesOf(entry)
      while (bytes > MAX_BYTES) forgetOldest()
      for (const listener of journal.listeners) listener({ entry })
    },

    /** Returns the requests with a greater sequence, oldest first; all if that is of an earlier run of the server. */
    requests(after = 0): JournalEntry[] {
      const first = Math.max(oldest, beginning(after) + 1)
      const sequences = Array.from({ length: newest + 1 - first }, (_, index) => first + index)
      return sequences.flatMap((sequence) => ring[sequence % capacity] ?? [])
    },

    /** Returns the sequence of the newest request; 0 if there was none. */
    last: (): number => newest,

    /** Returns how many requests with a greater sequence were replaced by newer ones. */
    lost: (after = 0): number => Math.max(0, oldest - 1 - beginning(after)),

    addChange: changes.add,
    changes: changes.list,

    /** Empties it, of changes too. Sequences go on, so that a stream that resumes does not take new requests for old ones. */
    clear(): void {
      cleared = newest
      while (oldest <= newest) forgetOldest()
      answers.clear()
      changes.clear()
    },

    /** Ends all streams and waits on this journal. */
    close(): void {
      journal.closed = true
      for (const listener of journal.listeners) listener({})
    }
  }
  return journal

  /** A sequence that there is not yet is of an earlier run of the server. */
  function beginning(after: number): number {
    return Math.max(after > newest ? 0 : after, cleared)
  }

  function forgetOldest(): void {
    const index = oldest++ % capacity
    const entry = ring[index]
    if (entry?.endSequence) bytes -= bytesOf(entry)
    ring[index] = undefined
  }
}

type Done = Pick<Change, 'operation' | 'summary' | 'target' | 'changed'>

/** The last 200 changes between the requests of a journal, each as `create` makes it. */
function createChanges(create: (done: Done & { sequence: number }) => Change) {
  let changes: Change[] = []
  let count = 0
  return {
    /** Adds a change that has just been made, and returns its sequence. */
    add(done: Done): number {
      changes = [...changes, create({ sequence: ++count, ...done })].slice(-MAX_CHANGES)
      return count
    },

    /** Returns the changes with a greater sequence, oldest first; all if that is of an earlier run of the server. */
    list: (after = 0): readonly Change[] =>
      after > count ? changes : changes.filter(({ sequence }) => sequence > after),

    clear(): void {
      changes = []
    }
  }
}

function bytesOf({ url, rawHeaders, body }: JournalEntry): number {
  return url.length + rawHeaders.length + (body?.length ?? 0)
}

/** Bytes of a body that are kept. */
const MAX_BODY = 65_536

/** Keeps the body of a request, or its beginning. */
export function keepBody(entry: JournalEntry, body: unknown): void {
  if (!Buffer.isBuffer(body) || body.length === 0) return
  // A slice would keep the whole buffer in memory.
  entry.body = body.length > MAX_BODY ? Buffer.from(body.subarray(0, MAX_BODY)) : body
  entry.bodyLength = body.length
}

/** Keeps what the client is about to receive, or its beginning. */
export function keepAnswer(entry: JournalEntry, payload: unknown): void {
  if (Buffer.isBuffer(payload) && payload.length > 0 && entry.method !== 'HEAD' && entry.journal.capacity > 0) {
    entry.answer = entry.journal.answers.keep(payload)
  }
}
