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
export type Describe = (raw: RawRequest, entry: JournalEntry) => RequestDetails

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
  reason: string | undefined
  /** At most the first 64 KiB of the body. */
  body: Buffer | undefined
  bodyLength = 0
  private time = 0
  private startedAt = 0
  private duration = 0
  /** 0 if the request was not answered. */
  private status = 0
  private size = 0
  private flags: RecordedRequest['flags'] | undefined
  private operation: RecordedOperation | undefined
  private readonly bytes = Buffer.allocUnsafeSlow(TEXT_SIZE)
  private byteLength = 0
  private longText: string | undefined
  private recorded: RecordedRequest | undefined
  private describe: Describe | undefined

  /** Makes it the entry of a request that has just arrived. */
  start(sequence: number, time: number, { method, url, rawHeaders, operation }: RawRequest, describe: Describe): void {
    this.sequence = sequence
    this.endSequence = 0
    this.time = time
    this.startedAt = performance.now()
    this.reason = this.body = this.flags = this.recorded = undefined
    this.operation = operation
    this.describe = describe
    // None of the parts can contain a line break.
    const text = `${method}\n${url}\n${rawHeaders.join('\n')}`
    // A character of UTF-16 takes at most three bytes.
    const fits = text.length * 3 <= TEXT_SIZE
    this.longText = fits ? undefined : text
    this.byteLength = fits ? this.bytes.write(text) : 0
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

  /** Ends the request, as the one with this number in the order in which requests ended. */
  end(endSequence: number, { status = 0, size = 0, reason }: Outcome): void {
    this.endSequence = endSequence
    this.duration = performance.now() - this.startedAt
    this.status = status
    this.size = size
    this.reason = reason
  }

  /** Returns the request as it is so far. */
  toRecordedRequest(): RecordedRequest {
    if (this.recorded || !this.describe) return this.recorded as RecordedRequest
    const text = this.longText ?? this.bytes.toString('utf8', 0, this.byteLength)
    const [sentMethod = '', url = '', ...lines] = text.split('\n')
    // Without headers there is an empty line in their place.
    const raw = { method: sentMethod, url, rawHeaders: lines.length > 1 ? lines : [], operation: this.operation }
    const { method, path, query, headers, reason, unread, ...body } = this.describe(raw, this)
    const recorded: RecordedRequest = {
      sequence: this.sequence,
      time: isoTime(this.time),
      ...(this.operation && { operation: this.operation.id }),
      method,
      path,
      query,
      headers,
      ...body,
      ...(this.endSequence > 0 && {
        ...(this.status > 0 && { status: this.status, size: this.size }),
        duration: Math.round(this.duration * 1000) / 1000
      }),
      ...(reason !== undefined && { reason }),
      flags: { ...this.flags },
      unread
    }
    if (this.endSequence > 0) this.recorded = recorded
    return recorded
  }
}
