import { type Clock, isoTime, steadyClock } from '../domain/clock.js'
import type { Environment } from '../environments/service.js'
import { createEntry, type Describer, type IncomingRequest, type JournalEntry } from './entry.js'
import type { ResponseStore } from './response-store.js'
import type { Change } from './schemas.js'

/**
 * The bytes of requests that a journal keeps, so that 1,000 of the largest can't take all memory.
 */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_CHANGES = 200

export type JournalEvent =
  | { kind: 'request'; entry: JournalEntry }
  | { kind: 'change'; change: Change }
  | { kind: 'closed' }

/**
 * Called when a request arrives, when it ends, when a change is recorded and when the journal
 * closes.
 */
export type JournalListener = (event: JournalEvent) => void

/**
 * Called with each request that has ended. The environment is undefined for requests without a
 * valid key.
 */
export type CountRequest = (entry: JournalEntry, environment: Environment | undefined) => void

export interface JournalOptions {
  /** The requests that the journal keeps. */
  capacity: number
  clock: Clock
  describer: Describer
  /** Counts every request, whatever the capacity. */
  count: CountRequest
  environment: Environment | undefined
  responses: ResponseStore
  isClosed: boolean
}

/**
 * Keeps the last requests of one environment, up to its capacity and 32 MiB, and the last 200
 * changes between them. In memory only.
 */
export class Journal {
  readonly capacity: number
  readonly describer: Describer
  readonly responses: ResponseStore
  readonly listeners = new Set<JournalListener>()
  readonly #clock: Clock
  readonly #count: CountRequest
  readonly #environment: Environment | undefined
  /** Entries by sequence, without gaps. */
  readonly #entries = new Map<number, JournalEntry>()
  #changes: Change[] = []
  #lastSequence = 0
  #lastChangeSequence = 0
  /** The last sequence when the journal was emptied. */
  #clearedUpTo = 0
  #storedBytes = 0
  #endedCount = 0
  #isClosed: boolean

  constructor(options: JournalOptions) {
    this.capacity = options.capacity
    this.describer = options.describer
    this.responses = options.responses
    this.#clock = options.clock
    this.#count = options.count
    this.#environment = options.environment
    this.#isClosed = options.isClosed
  }

  /** The sequence of the last request. 0 if there was none. */
  get lastSequence(): number {
    return this.#lastSequence
  }

  /** The number of requests that have ended, which is the end sequence of the last one. */
  get endedCount(): number {
    return this.#endedCount
  }

  /** Whether the journal is closed, so that no stream or wait may start. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Adds a request that has arrived. */
  open(request: IncomingRequest, operation: JournalEntry['operation']): JournalEntry {
    this.#lastSequence += 1
    const entry = createEntry(request, operation, this, this.#lastSequence, this.#clock())
    this.#entries.set(entry.sequence, entry)
    if (this.#entries.size > this.capacity) this.#forgetOldest()
    this.#publish({ kind: 'request', entry })
    return entry
  }

  /** Records that a request has ended. A request without a status got no response. */
  end(entry: JournalEntry): void {
    this.#endedCount += 1
    entry.duration = steadyClock() - entry.startedAt
    entry.endSequence = this.#endedCount
    this.#count(entry, this.#environment)
    if (this.#entries.has(entry.sequence)) this.#storedBytes += sizeOf(entry)
    while (this.#storedBytes > MAX_BYTES) this.#forgetOldest()
    this.#publish({ kind: 'request', entry })
  }

  /**
   * Returns the requests after a sequence, oldest first. Returns all if the sequence is from an
   * earlier run.
   */
  requests(after = 0): JournalEntry[] {
    const first = Math.max(this.#firstSequence, this.#sinceThisRun(after) + 1)
    const length = this.#lastSequence - first + 1
    return Array.from({ length }, (_, index) => this.#entries.get(first + index) as JournalEntry)
  }

  /** Returns the request with this sequence if the journal still has it. */
  find(sequence: number): JournalEntry | undefined {
    return this.#entries.get(sequence)
  }

  /** Returns how many requests after a sequence were dropped for newer ones. */
  lostCount(after = 0): number {
    const lastKnown = Math.max(this.#sinceThisRun(after), this.#clearedUpTo)
    return Math.max(0, this.#firstSequence - 1 - lastKnown)
  }

  /** Records a change that was just made, and returns its sequence. */
  addChange(details: Pick<Change, 'operation' | 'summary' | 'target' | 'changed'>): number {
    this.#lastChangeSequence += 1
    const change: Change = {
      sequence: this.#lastChangeSequence,
      time: isoTime(this.#clock()),
      after: this.#lastSequence,
      ...details
    }
    this.#changes = [...this.#changes, change].slice(-MAX_CHANGES)
    this.#publish({ kind: 'change', change })
    return change.sequence
  }

  /**
   * Returns the changes after a sequence, oldest first. Returns all if the sequence is from an
   * earlier run.
   */
  changes(after = 0): readonly Change[] {
    if (after > this.#lastChangeSequence) return this.#changes
    return this.#changes.filter(({ sequence }) => sequence > after)
  }

  /**
   * Removes all requests and changes. Sequences continue, so that a stream that resumes doesn't
   * skip new requests as already sent.
   */
  clear(): void {
    this.#clearedUpTo = this.#lastSequence
    this.#storedBytes = 0
    this.#entries.clear()
    this.responses.clear()
    this.#changes = []
  }

  /** Ends all streams and waits. */
  close(): void {
    this.#isClosed = true
    this.#publish({ kind: 'closed' })
  }

  /**
   * The sequence of the oldest request. One more than the last sequence if the journal is empty.
   */
  get #firstSequence(): number {
    return this.#lastSequence - this.#entries.size + 1
  }

  /**
   * Returns 0 for a sequence that this journal hasn't reached: it is from an earlier run of the
   * server.
   */
  #sinceThisRun(sequence: number): number {
    return sequence > this.#lastSequence ? 0 : sequence
  }

  #forgetOldest(): void {
    const oldest = this.#entries.get(this.#firstSequence)
    if (!oldest) return
    // A request that is in progress hasn't been counted yet.
    if (oldest.endSequence > 0) this.#storedBytes -= sizeOf(oldest)
    this.#entries.delete(oldest.sequence)
  }

  #publish(event: JournalEvent): void {
    for (const listener of this.listeners) listener(event)
  }
}

function sizeOf({ url, rawHeaders, body }: JournalEntry): number {
  return url.length + rawHeaders.length + (body?.length ?? 0)
}
