import type { ErrorCode } from '../../core/errors.js'
import type { Operation } from '../../http/operation.js'
import type { RecordedRequest } from './schemas.js'

/** Returns an entry as clients see it. Called only when somebody looks, as most requests are never looked at. */
export type Describe = (entry: JournalEntry) => RecordedRequest

/** Bytes of a body that are kept. */
const MAX_BODY = 65_536
const TEXT_SIZE = 1024

/**
 * A request in the journal, from its arrival to its end. The journal uses an entry again for a later request, and keeps
 * what every request has in numbers and bytes: strings and objects of the last thousand requests would outlive garbage
 * collections of the young generation and make those of the old one, which take ten times as long, frequent.
 */
export class JournalEntry {
  /** Number in the journal, from 1. */
  sequence = 0
  /** Number in the order in which requests ended, from 1; 0 while it is in progress. */
  endSequence = 0
  /** When it arrived, by the environment's clock. */
  time = 0
  /** Undefined for a request that no operation serves. */
  operation: Operation | undefined
  body: Buffer | undefined
  bodyLength = 0
  replayed = false
  /** Id of the fault rule that was applied, or `header`. */
  faulted: string | undefined
  /** Whether the fault has decided what the client got, and not only when. */
  injected = false
  /** Milliseconds that the latency of its environment has delayed it; undefined if it has not. */
  delayed: number | undefined
  /** Whether it had an idempotency key with an effect. Set when it ends, as the code of its error is. */
  hasKey = false
  /** What it was sent with, for the coverage (`coverage/plan.ts`). */
  sent = 0
  /** Whether it counts for no coverage. */
  ignored = false
  errorCode: ErrorCode | undefined
  duration = 0
  /** 0 if the request was not answered. */
  status = 0
  size = 0
  /** Its `length` when it ended, as the journal counts it; 0 before that. */
  storedLength = 0
  reason: string | undefined
  private startedAt = 0
  private readonly bytes = Buffer.allocUnsafeSlow(TEXT_SIZE)
  private byteLength = 0
  private longText: string | undefined
  private recorded: RecordedRequest | undefined
  private readonly onEnd: (entry: JournalEntry) => void
  private readonly describe: Describe

  constructor(onEnd: (entry: JournalEntry) => void, describe: Describe) {
    this.onEnd = onEnd
    this.describe = describe
  }

  start(sequence: number, time: number, text: string, operation: Operation | undefined): void {
    this.sequence = sequence
    this.time = time
    this.startedAt = performance.now()
    this.operation = operation
    this.endSequence = this.status = this.storedLength = 0
    this.replayed = this.injected = this.ignored = false
    this.faulted = this.reason = this.body = this.recorded = this.delayed = undefined
    // A character of UTF-16 takes at most three bytes.
    const fits = text.length * 3 <= TEXT_SIZE
    this.longText = fits ? undefined : text
    this.byteLength = fits ? this.bytes.write(text) : 0
  }

  /** Method, URL, and names and values of the headers in turn, one per line: none of them can contain a line break. */
  get text(): string {
    return this.longText ?? this.bytes.toString('utf8', 0, this.byteLength)
  }

  /** Bytes, or characters of a long text, that a description is made of. */
  get length(): number {
    return (this.longText?.length ?? this.byteLength) + (this.body?.length ?? 0)
  }

  setDelayed(milliseconds: number): void {
    this.recorded = undefined
    this.delayed = milliseconds
  }

  setBody(body: unknown): void {
    this.recorded = undefined
    if (!Buffer.isBuffer(body) || body.length === 0) return
    // A slice would keep the whole buffer in memory.
    this.body = body.length > MAX_BODY ? Buffer.from(body.subarray(0, MAX_BODY)) : body
    this.bodyLength = body.length
  }

  /** Ends the request; without a status it was not answered. The entry may now be used for another one. */
  end(status = 0, size = 0, reason?: string): void {
    this.duration = performance.now() - this.startedAt
    this.status = status
    this.size = size
    this.reason = reason
    this.recorded = undefined
    this.onEnd(this)
  }

  /** Returns the request as it is so far, and keeps that until it changes: thousands may look at the same one. */
  toRecordedRequest(): RecordedRequest {
    this.recorded ??= this.describe(this)
    return this.recorded
  }

  /** Returns the same without keeping it, for those who look at what others have sent. */
  peek(): RecordedRequest {
    return this.recorded ?? this.describe(this)
  }
}
