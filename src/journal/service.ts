import { EventEmitter } from 'node:events'
import { type Clock, isoTime } from '../clock.js'
import type { JournalEntry, OperationName } from './schemas.js'

/** What a request brought, as the journal shows it: without what is secret. */
export type Described = Pick<JournalEntry, 'path' | 'query' | 'headers' | 'body' | 'bodyLength' | 'reason' | 'unread'>

/** A request as it comes in. */
export interface Arrival {
  readonly operation: OperationName | undefined
  readonly method: string
  /** Called only when somebody looks. */
  describe(body: Body | undefined, reason: string | undefined): Described
}

/** The body of a request, and how long it was before it was cut off. */
export interface Body {
  bytes: Buffer
  length: number
}

/** What became of a request; without a status, it was never answered. */
export interface Outcome {
  status?: number | undefined
  size?: number | undefined
  reason?: string | undefined
}

/** A request that is over, with its place in the order of the answers, from 1. */
export interface Answered {
  place: number
  entry: JournalEntry
}

export type Journal = ReturnType<typeof createJournal>
export type JournalService = ReturnType<typeof journalService>

const LONGEST_BODY = 65_536

/** A journal for each environment, and one for the requests that came with no valid key. Kept in memory only. */
export function journalService({ capacity, clock }: { capacity: number; clock: Clock }) {
  const journals = new Map<number | undefined, Journal>()
  let closed = false

  return {
    /** The journal of an environment, or of the requests without a valid key. */
    of(environment: { key: number; now: Clock } | undefined): Journal {
      const key = environment?.key
      const known = journals.get(key)
      if (known) return known
      const made = createJournal(capacity, environment?.now ?? clock)
      if (closed) made.end()
      journals.set(key, made)
      return made
    },

    /** Ends the streams and waits of an environment that is no more, and forgets its journal. */
    drop(environment: number): void {
      journals.get(environment)?.end()
      journals.delete(environment)
    },

    /** Ends every stream and every wait, and those that may still be asked for. */
    close(): void {
      closed = true
      for (const journal of journals.values()) journal.end()
    }
  }
}

/**
 * The last requests, up to `capacity` of them, oldest first. With a capacity of 0 nothing is kept, and nobody who
 * waits is told anything.
 */
export function createJournal(capacity: number, now: Clock) {
  const events = new EventEmitter().setMaxListeners(0)
  let ring: Entry[] = []
  let next = 0
  let count = 0
  let cleared = 0
  let answered = 0
  let ended = false

  return {
    capacity,

    open(arrival: Arrival): Entry {
      const entry = new Entry(arrival, ++count, now(), end)
      if (capacity > 0) {
        ring[next] = entry
        next = (next + 1) % capacity
        events.emit('arrived', entry)
      }
      return entry
    },

    /** Those with a greater `n`, oldest first. */
    entries(after = 0): JournalEntry[] {
      return inOrder()
        .filter(({ n }) => n > after)
        .map((entry) => entry.shown())
    },

    /** How many with a greater `n` have been pushed out by newer ones. */
    lost(after = 0): number {
      return Math.max(0, (inOrder()[0]?.n ?? count + 1) - 1 - Math.max(after, cleared))
    },

    /** Empties it; numbering goes on, so that a stream that resumes does not mistake new requests for old. */
    clear(): void {
      ring = []
      next = 0
      cleared = count
    },

    /**
     * Those that were answered after the one with this place, in the order of their answers: all of them, where there is
     * no such place yet, as it is then one of an earlier run of the server.
     */
    answeredAfter(place: number): Answered[] {
      const seen = place > answered ? 0 : place
      return inOrder()
        .filter(({ place }) => place > seen)
        .sort((a, b) => a.place - b.place)
        .map(answeredOf)
    },

    /** Calls back with each request once it is over, until the returned function is called. */
    onAnswered(listener: (answered: Answered) => void): () => void {
      return on('answered', (entry) => listener(answeredOf(entry)))
    },

    /** Calls back with each request, when it comes and when it is over, until the returned function is called. */
    onChange(listener: (entry: JournalEntry) => void): () => void {
      const told = (entry: Entry) => listener(entry.shown())
      const stop = [on('arrived', told), on('answered', told)]
      return () => {
        for (const each of stop) each()
      }
    },

    /** Calls back when the journal is ended, at once if it already is, until the returned function is called. */
    onEnd(listener: () => void): () => void {
      if (!ended) return on('end', listener)
      listener()
      return () => undefined
    },

    /** How many wait for a change. */
    get waiting(): number {
      return events.listenerCount('arrived')
    },

    get ended(): boolean {
      return ended
    },

    end(): void {
      ended = true
      events.emit('end')
      events.removeAllListeners()
    }
  }

  function end(entry: Entry): void {
    entry.place = ++answered
    if (capacity > 0) events.emit('answered', entry)
  }

  function on(event: 'arrived' | 'answered' | 'end', listener: (entry: Entry) => void): () => void {
    events.on(event, listener)
    return () => void events.off(event, listener)
  }

  function inOrder(): Entry[] {
    return ring.length < capacity ? ring : [...ring.slice(next), ...ring.slice(0, next)]
  }
}

function answeredOf(entry: Entry): Answered {
  return { place: entry.place, entry: entry.shown() }
}

/**
 * A request in the journal, to be told as it goes on. Only facts that are at hand are kept of it: it is described when
 * somebody looks, as most are never looked at. They are kept in few objects: the last thousand requests outlive
 * a collection of garbage, and what it has to copy of them is up to a tenth of what a request costs.
 */
export class Entry {
  readonly n: number
  /** In the order of the answers, from 1; 0 as long as there is none. */
  place = 0
  private readonly arrival: Arrival
  private readonly time: number
  private readonly ended: (entry: Entry) => void
  private readonly started = performance.now()
  /** Whole microseconds; less than none as long as it goes on. */
  private duration = -1
  private status: number | undefined
  private size: number | undefined
  private reason: string | undefined
  private marks: JournalEntry['marks'] | undefined
  private body: Body | undefined
  /** Once it is over, and somebody has looked. */
  private last: JournalEntry | undefined

  constructor(arrival: Arrival, n: number, time: number, ended: (entry: Entry) => void) {
    this.arrival = arrival
    this.n = n
    this.time = time
    this.ended = ended
  }

  mark(marks: JournalEntry['marks']): void {
    this.marks = { ...this.marks, ...marks }
  }

  /** Only a beginning of it is kept if it is long. */
  setBody(bytes: Buffer): void {
    if (bytes.length === 0) return
    // A part of a buffer would hold on to all of it.
    const kept = bytes.length > LONGEST_BODY ? Buffer.from(bytes.subarray(0, LONGEST_BODY)) : bytes
    this.body = { bytes: kept, length: bytes.length }
  }

  /** Ends it; once it is ended, again does nothing. */
  close({ status, size, reason }: Outcome): void {
    if (this.isOver) return
    this.duration = Math.round((performance.now() - this.started) * 1000)
    this.status = status
    this.size = size
    this.reason = reason
    this.ended(this)
  }

  private get isOver(): boolean {
    return this.duration >= 0
  }

  /** The request as the journal shows it, so far. */
  shown(): JournalEntry {
    if (this.last) return this.last
    const { n, time, arrival, isOver, duration, status, size, marks, body } = this
    const { path, query, headers, reason, unread, ...sent } = arrival.describe(body, this.reason)
    const entry: JournalEntry = {
      n,
      time: isoTime(time),
      ...(arrival.operation && { operation: arrival.operation }),
      method: arrival.method,
      path,
      query,
      headers,
      ...sent,
      ...(status !== undefined && { status }),
      ...(size !== undefined && { size }),
      ...(isOver && { duration: duration / 1000 }),
      ...(reason !== undefined && { reason }),
      marks: { ...marks },
      unread
    }
    if (isOver) this.last = entry
    return entry
  }
}
