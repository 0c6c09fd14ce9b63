import { EventEmitter } from 'node:events'
import type { Clock } from '../../core/clock.js'
import { Entry, type Kind } from './recorded-request.js'
import { type Kept, shelf } from './ring-buffer.js'
import type { RecordedRequest } from './schemas.js'

/** A request that is over, with its place in the order of the answers, from 1. */
export interface Answered {
  place: number
  entry: RecordedRequest
}

export type Journal = ReturnType<typeof createJournal>
export type JournalService = ReturnType<typeof journalService>

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
    drop(environment: number | undefined): void {
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
  const kept = shelf(capacity)
  let count = 0
  let cleared = 0
  let answered = 0
  let ended = false

  return {
    capacity,

    /** Opens the entry of a request that has come; its text is what its kind reads. */
    open(kind: Kind, text: string): Entry {
      const entry = new Entry({ n: ++count, time: now(), kind, text }, end)
      if (capacity > 0) {
        kept.add(entry)
        events.emit('arrived', entry)
      }
      return entry
    },

    /** Those with a greater `n`, oldest first. */
    entries(after = 0): RecordedRequest[] {
      return keptAfter(after).map((request) => request.shown())
    },

    /** How many with a greater `n` have been pushed out by newer ones. */
    lost(after = 0): number {
      return Math.max(0, count - capacity - Math.max(after, cleared))
    },

    /** Empties it; numbering goes on, so that a stream that resumes does not mistake new requests for old. */
    clear(): void {
      cleared = count
      kept.clear()
    },

    /**
     * Those that were answered after the one with this place, in the order of their answers: all of them, where there is
     * no such place yet, as it is then one of an earlier run of the server.
     */
    answeredAfter(place: number): Answered[] {
      const seen = place > answered ? 0 : place
      return keptAfter(0)
        .filter(({ place }) => place > seen)
        .sort((a, b) => a.place - b.place)
        .map(answeredOf)
    },

    /** Calls back with each request once it is over, until the returned function is called. */
    onAnswered(listener: (answered: Answered) => void): () => void {
      return on('answered', (entry) => listener(answeredOf(entry)))
    },

    /** Calls back with each request, when it comes and when it is over, until the returned function is called. */
    onChange(listener: (entry: RecordedRequest) => void): () => void {
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
    if (capacity === 0) return
    events.emit('answered', entry)
    kept.file(entry)
  }

  function on(event: 'arrived' | 'answered' | 'end', listener: (entry: Entry) => void): () => void {
    events.on(event, listener)
    return () => void events.off(event, listener)
  }

  function keptAfter(after: number): Kept[] {
    const last = Math.max(after, cleared, count - capacity)
    return Array.from({ length: Math.max(0, count - last) }, (_, place) => kept.at(last + 1 + place))
  }
}

function answeredOf(request: Kept): Answered {
  return { place: request.place, entry: request.shown() }
}
