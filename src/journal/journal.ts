import { type Clock, isoTime, steadyClock } from '../domain/clock.js'
import type { Environment } from '../environments/service.js'
import { type ControlRequest, ControlRequestLog } from './control-requests.js'
import { createEntry, type Describer, type IncomingRequest, type JournalEntry } from './entry.js'
import type { ResponseStore } from './response-store.js'
import type { Change } from './schemas.js'

/**
 * The maximum total size of a journal's requests, in bytes. `capacity` alone wouldn't keep large
 * requests from using up the memory.
 */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_CHANGES = 200
/** Roughly how many bytes an entry takes in addition to its URL, headers and bodies. */
const ENTRY_MEMORY = 512
/** The response store keeps at most this many bytes of a response. */
const MAX_RESPONSE = 16 * 1024

export type JournalEvent =
  | { kind: 'request'; entry: JournalEntry }
  | { kind: 'change'; change: Change }
  | { kind: 'closed' }

/**
 * Called when a request arrives or ends, when a change is recorded, and when the journal closes.
 */
export type JournalListener = (event: JournalEvent) => void

/**
 * Called for each request that has ended. `environment` is undefined for requests without a valid
 * key.
 */
export type CountRequest = (entry: JournalEntry, environment: Environment | undefined) => void

export interface JournalOptions {
  /** How many requests the journal keeps. */
  capacity: number
  clock: Clock
  describer: Describer
  /** Called for every request that has ended, even if the capacity is 0. */
  count: CountRequest
  environment: Environment | undefined
  responses: ResponseStore
  isClosed: boolean
}

/**
 * Keeps the most recent requests to one environment in memory: at most `capacity` requests and
 * 32 MiB. Also keeps the last 200 changes to the environment.
 */
export class Journal {
  readonly capacity: number
  readonly describer: Describer
  readonly responses: ResponseStore
  readonly listeners = new Set<JournalListener>()
  /** The control requests that made the changes. */
  readonly controlRequests = new ControlRequestLog()
  /** Whether the requests are kept for the report after the environment is removed. */
  isKept = false
  readonly #clock: Clock
  readonly #count: CountRequest
  readonly #environment: Environment | undefined
  /** Maps each sequence number to its entry. The sequence numbers have no gaps. */
  readonly #entries = new Map<number, JournalEntry>()
  #changes: Change[] = []
  #lastSequence = 0
  #lastChangeSequence = 0
  /** The last sequence number when the journal was last cleared; 0 if it never was. */
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

  /** The sequence number of the oldest request or, if the journal is empty, of the next request. */
  get firstSequence(): number {
    return this.#lastSequence - this.#entries.size + 1
  }

  /** The sequence number of the last request, or 0 if there was no request. */
  get lastSequence(): number {
    return this.#lastSequence
  }

  /**
   * The number of requests that have ended. This is also the `endSequence` of the request that
   * ended last.
   */
  get endedCount(): number {
    return this.#endedCount
  }

  /**
   * Whether the journal is closed. On a closed journal, new streams end at once, and verifications
   * don't wait.
   */
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

  /** Records that a request has ended. If its `status` is still 0, it got no response. */
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
   * Returns the requests after a sequence number, oldest first. Returns all requests if the
   * sequence number comes from an earlier run of the server.
   */
  requests(after = 0): JournalEntry[] {
    const first = Math.max(this.firstSequence, this.#sinceThisRun(after) + 1)
    const length = this.#lastSequence - first + 1
    return Array.from({ length }, (_, index) => this.#entries.get(first + index) as JournalEntry)
  }

  /**
   * Returns the request with this sequence number, or undefined if the journal no longer has it.
   */
  find(sequence: number): JournalEntry | undefined {
    return this.#entries.get(sequence)
  }

  /** Keeps the response body of a request, unless the journal has already forgotten the request. */
  keepResponse(entry: JournalEntry, body: Buffer): void {
    this.forgetResponse(entry)
    if (this.#entries.has(entry.sequence)) entry.response = this.responses.keep(body)
  }

  /** Forgets the response body of a request. */
  forgetResponse(entry: JournalEntry): void {
    if (!entry.response) return
    if (this.#entries.has(entry.sequence)) this.responses.forget(entry.response)
    entry.response = undefined
  }

  /** Returns roughly how many bytes of memory the requests and responses take. */
  memoryUse(): number {
    let bytes = this.controlRequests.size
    let previous: JournalEntry | undefined
    for (const entry of this.#entries.values()) {
      // Consecutive responses share memory if they are equal.
      const isShared = entry.response === previous?.response
      bytes += ENTRY_MEMORY + sizeOf(entry) + (isShared ? 0 : Math.min(entry.size, MAX_RESPONSE))
      previous = entry
    }
    return bytes
  }

  /**
   * Returns how many requests with a sequence number greater than `after` were dropped to make room
   * for newer requests.
   */
  lostCount(after = 0): number {
    const lastKnown = Math.max(this.#sinceThisRun(after), this.#clearedUpTo)
    return Math.max(0, this.firstSequence - 1 - lastKnown)
  }

  /**
   * Records a change that was just made, and returns its sequence number. `request` is the control
   * request that made it.
   */
  addChange(
    details: Pick<Change, 'operation' | 'summary' | 'target' | 'changed'>,
    request?: Omit<ControlRequest, 'after'>
  ): number {
    this.#lastChangeSequence += 1
    this.controlRequests.add(request && { after: this.#lastSequence, ...request })
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
   * Returns the changes after a sequence number, oldest first. Returns all changes if the sequence
   * number comes from an earlier run of the server.
   */
  changes(after = 0): readonly Change[] {
    if (after > this.#lastChangeSequence) return this.#changes
    return this.#changes.filter(({ sequence }) => sequence > after)
  }

  /**
   * Removes all requests and changes, but doesn't reset the sequence numbers. If they restarted at
   * 1, a resumed stream would mistake new requests for requests that it has already sent.
   */
  clear(): void {
    this.#clearedUpTo = this.#lastSequence
    this.#storedBytes = 0
    this.#entries.clear()
    this.responses.clear()
    this.#changes = []
    this.controlRequests.clear()
  }

  /** Ends the journal's streams and the verifications that are waiting for its requests. */
  close(): void {
    this.#isClosed = true
    this.#publish({ kind: 'closed' })
  }

  /**
   * Returns the sequence number. Returns 0 if it is greater than the last sequence number, because
   * it then comes from an earlier run of the server.
   */
  #sinceThisRun(sequence: number): number {
    return sequence > this.#lastSequence ? 0 : sequence
  }

  #forgetOldest(): void {
    const oldest = this.#entries.get(this.firstSequence)
    if (!oldest) return
    // `#storedBytes` doesn't include requests that haven't ended.
    if (oldest.endSequence > 0) this.#storedBytes -= sizeOf(oldest)
    this.#entries.delete(oldest.sequence)
    if (oldest.response) this.responses.forget(oldest.response)
  }

  #publish(event: JournalEvent): void {
    for (const listener of this.listeners) listener(event)
  }
}

function sizeOf({ url, rawHeaders, body }: JournalEntry): number {
  return url.length + rawHeaders.length + (body?.length ?? 0)
}
