import { isoTime } from '../../core/clock.js'
import type { OperationId } from '../../core/enums.js'
import type { RecordedRequest } from './schemas.js'

/** What the journal shows of what a client sent, and of the reason it was given: without secrets. */
export type RequestDetails = Pick<
  RecordedRequest,
  'method' | 'path' | 'query' | 'headers' | 'body' | 'bodyLength' | 'reason' | 'unread'
>

/** An operation of the service, as far as the journal needs to know it. */
export interface RecordedOperation {
  id: OperationId
  /** Its properties are the query parameters that are read. */
  querystring?: { properties: object }
}

/** A request as it came. */
export interface RawRequest {
  readonly method: string
  readonly url: string
  /** Names and values in turn, as Node gives them. */
  readonly rawHeaders: readonly string[]
  /** Undefined for a request that no operation serves. */
  readonly operation: RecordedOperation | undefined
}

/** How a request ended. Without a status, its connection was closed before it was answered. */
export interface Outcome {
  status?: number | undefined
  size?: number | undefined
  reason?: string | undefined
}

/** Returns the details of a request. Called only when somebody looks, as most requests are never looked at. */
export type Describe = (entry: JournalEntry) => RequestDetails

interface Opened {
  sequence: number
  time: number
  raw: RawRequest
  describe: Describe
  onEnd: (entry: JournalEntry) => void
}

const MAX_BODY = 65_536

/** A request in the journal, from its arrival to its end. A class, as one is made for every request. */
export class JournalEntry {
  /** Number in the journal, from 1. */
  readonly sequence: number
  readonly raw: RawRequest
  /** Number in the order in which requests ended, from 1; 0 while it is in progress. */
  endSequence = 0
  outcome: Outcome | undefined
  /** At most the first 64 KiB of the body. */
  body: Buffer | undefined
  bodyLength = 0
  private readonly time: number
  private readonly startedAt = performance.now()
  private endedAt = 0
  private flags: RecordedRequest['flags'] | undefined
  private readonly describe: Describe
  private readonly onEnd: (entry: JournalEntry) => void
  private recorded: RecordedRequest | undefined

  constructor({ sequence, time, raw, describe, onEnd }: Opened) {
    this.sequence = sequence
    this.time = time
    this.raw = raw
    this.describe = describe
    this.onEnd = onEnd
  }

  addFlags(flags: RecordedRequest['flags']): void {
    this.flags = { ...this.flags, ...flags }
  }

  setBody(bytes: Buffer): void {
    if (bytes.length === 0) return
    // A slice would keep the whole buffer in memory.
    this.body = bytes.length > MAX_BODY ? Buffer.from(bytes.subarray(0, MAX_BODY)) : bytes
    this.bodyLength = bytes.length
  }

  /** Ends the request; does nothing when it has ended already. */
  end(outcome: Outcome): void {
    if (this.outcome) return
    this.endedAt = performance.now()
    this.outcome = outcome
    this.onEnd(this)
  }

  /** Returns the request as it is so far. */
  toRecordedRequest(): RecordedRequest {
    if (this.recorded) return this.recorded
    const { method, path, query, headers, reason, unread, ...body } = this.describe(this)
    const { status, size } = this.outcome ?? {}
    const recorded: RecordedRequest = {
      sequence: this.sequence,
      time: isoTime(this.time),
      ...(this.raw.operation && { operation: this.raw.operation.id }),
      method,
      path,
      query,
      headers,
      ...body,
      ...(status !== undefined && { status }),
      ...(size !== undefined && { size }),
      ...(this.outcome && { duration: Math.round((this.endedAt - this.startedAt) * 1000) / 1000 }),
      ...(reason !== undefined && { reason }),
      flags: { ...this.flags },
      unread
    }
    if (this.outcome) this.recorded = recorded
    return recorded
  }
}
