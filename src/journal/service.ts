import { EventEmitter } from 'node:events'
import { type Clock, isoTime } from '../clock.js'
import type { JournalEntry, OperationName } from './schemas.js'

/** What a request brought, as the journal shows it: without what is secret. */
export type Described = Pick<JournalEntry, 'path' | 'query' | 'headers' | 'body' | 'bodyLength' | 'reason' | 'unread'>

/** A request as it comes in. */
export interface Arrival {
  operation: OperationName | undefined
  method: string
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
  status: number | undefined
  size: number | undefined
  reason: string | undefined
}

/** A request in the journal, to be told as it goes on. */
export interface OpenEntry {
  readonly marks: JournalEntry['marks']
  /** Only a beginning of it is kept if it is long. */
  setBody(bytes: Buffer): void
  /** The request as the journal shows it, so far. */
  shown(): JournalEntry
  /** Ends it; once it is ended, again does nothing. */
  close(outcome: Outcome): void
}

/** A request that is over, with its place in the order of the answers, from 1. */
export interface Answered {
  place: number
  entry: JournalEntry
}

interface Noted {
  arrival: Arrival
  n: number
  time: number
  started: number
  marks: JournalEntry['marks']
  body: Body | undefined
  outcome: Outcome | undefined
  duration: number
  /** In the order of the answers, from 1; 0 as long as there is none. */
  place: number
  /** Once it is over, and somebody has looked. */
  entry: JournalEntry | undefined
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
  let ring: Noted[] = []
  let next = 0
  let count = 0
  let cleared = 0
  let answered = 0
  let ended = false

  return {
    capacity,

    open(arrival: Arrival): OpenEntry {
      const record: Noted = {
        arrival,
        n: ++count,
        time: now(),
        started: performance.now(),
        marks: {},
        body: undefined,
        outcome: undefined,
        duration: 0,
        place: 0,
        entry: undefined
      }
      if (capacity > 0) {
        ring[next] = record
        next = (next + 1) % capacity
        events.emit('arrived', record)
      }
      return {
        marks: record.marks,
        setBody(bytes) {
          // A part of a buffer would hold on to all of it.
          const kept = bytes.length > LONGEST_BODY ? Buffer.from(bytes.subarray(0, LONGEST_BODY)) : bytes
          if (bytes.length > 0) record.body = { bytes: kept, length: bytes.length }
        },
        shown: () => entryOf(record),
        close(outcome) {
          if (record.outcome) return
          record.outcome = outcome
          record.place = ++answered
          record.duration = performance.now() - record.started
          if (capacity > 0) events.emit('answered', record)
        }
      }
    },

    /** Those with a greater `n`, oldest first. */
    entries(after = 0): JournalEntry[] {
      return inOrder()
        .filter(({ n }) => n > after)
        .map(entryOf)
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
        .filter((record) => record.place > seen)
        .sort((a, b) => a.place - b.place)
        .map(answeredOf)
    },

    /** Calls back with each request once it is over, until the returned function is called. */
    onAnswered(listener: (answered: Answered) => void): () => void {
      return on('answered', (record) => listener(answeredOf(record)))
    },

    /** Calls back with each request, when it comes and when it is over, until the returned function is called. */
    onChange(listener: (entry: JournalEntry) => void): () => void {
      const told = (record: Noted) => listener(entryOf(record))
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

  function on(event: 'arrived' | 'answered' | 'end', listener: (record: Noted) => void): () => void {
    events.on(event, listener)
    return () => void events.off(event, listener)
  }

  function inOrder(): Noted[] {
    return ring.length < capacity ? ring : [...ring.slice(next), ...ring.slice(0, next)]
  }
}

function answeredOf(record: Noted): Answered {
  return { place: record.place, entry: entryOf(record) }
}

function entryOf(record: Noted): JournalEntry {
  if (record.entry) return record.entry
  const { n, time, arrival, outcome, duration, marks, body } = record
  const { path, query, headers, reason, unread, ...sent } = arrival.describe(body, outcome?.reason)
  const entry: JournalEntry = {
    n,
    time: isoTime(time),
    ...(arrival.operation && { operation: arrival.operation }),
    method: arrival.method,
    path,
    query,
    headers,
    ...sent,
    ...(outcome?.status !== undefined && { status: outcome.status }),
    ...(outcome?.size !== undefined && { size: outcome.size }),
    ...(outcome && { duration: Math.round(duration * 1000) / 1000 }),
    ...(reason !== undefined && { reason }),
    marks: { ...marks },
    unread
  }
  if (outcome) record.entry = entry
  return entry
}
