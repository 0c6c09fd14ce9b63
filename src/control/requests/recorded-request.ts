import { isoTime } from '../../core/clock.js'
import type { OperationId } from '../../core/enums.js'
import type { RecordedRequest } from './schemas.js'

/** What a request brought, as the journal shows it: without what is secret. */
export type Described = Pick<
  RecordedRequest,
  'method' | 'path' | 'query' | 'headers' | 'body' | 'bodyLength' | 'reason' | 'unread'
>

/** What requests of one kind have in common: those to an operation, or to none. */
export interface Kind {
  readonly operation: OperationId | undefined
  /** Of the text of a request. Called only when somebody looks, as most are never looked at. */
  describe(text: string, body: Body | undefined, reason: string | undefined): Described
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

/** All that is known of a request: what it takes to show it. */
export interface Facts extends Outcome {
  /** Its number in the journal, from 1. */
  readonly n: number
  /** Milliseconds since 1970. */
  readonly time: number
  readonly kind: Kind
  /** Its method, target and headers, in whatever form its kind reads. */
  readonly text: string
  /** In the order of the answers, from 1; 0 as long as there is none. */
  readonly place: number
  /** Whole microseconds; less than none as long as it goes on. */
  readonly duration: number
  readonly marks?: RecordedRequest['marks'] | undefined
  readonly body?: Body | undefined
}

/** The request as the journal shows it, so far. */
export function shownOf({
  n,
  time,
  kind,
  text,
  duration,
  status,
  size,
  reason: given,
  marks,
  body
}: Facts): RecordedRequest {
  const { method, path, query, headers, reason, unread, ...sent } = kind.describe(text, body, given)
  return {
    n,
    time: isoTime(time),
    ...(kind.operation && { operation: kind.operation }),
    method,
    path,
    query,
    headers,
    ...sent,
    ...(status !== undefined && { status }),
    ...(size !== undefined && { size }),
    ...(duration >= 0 && { duration: duration / 1000 }),
    ...(reason !== undefined && { reason }),
    marks: { ...marks },
    unread
  }
}

const MAX_BODY = 65_536

/** A request in the journal, to be told as it goes on. */
export class Entry implements Facts {
  readonly n: number
  readonly time: number
  readonly kind: Kind
  readonly text: string
  place = 0
  duration = -1
  status: number | undefined
  size: number | undefined
  reason: string | undefined
  marks: RecordedRequest['marks'] | undefined
  body: Body | undefined
  private readonly started = performance.now()
  private readonly ended: (entry: Entry) => void
  /** Once it is over, and somebody has looked. */
  private last: RecordedRequest | undefined

  constructor(facts: Pick<Facts, 'n' | 'time' | 'kind' | 'text'>, ended: (entry: Entry) => void) {
    this.n = facts.n
    this.time = facts.time
    this.kind = facts.kind
    this.text = facts.text
    this.ended = ended
  }

  mark(marks: RecordedRequest['marks']): void {
    this.marks = { ...this.marks, ...marks }
  }

  /** Only a beginning of it is kept if it is long. */
  setBody(bytes: Buffer): void {
    if (bytes.length === 0) return
    // A part of a buffer would hold on to all of it.
    const kept = bytes.length > MAX_BODY ? Buffer.from(bytes.subarray(0, MAX_BODY)) : bytes
    this.body = { bytes: kept, length: bytes.length }
  }

  /** Ends it; once it is ended, again does nothing. */
  close({ status, size, reason }: Outcome): void {
    if (this.duration >= 0) return
    this.duration = Math.round((performance.now() - this.started) * 1000)
    this.status = status
    this.size = size
    this.reason = reason
    this.ended(this)
  }

  shown(): RecordedRequest {
    if (this.last) return this.last
    const shown = shownOf(this)
    if (this.duration >= 0) this.last = shown
    return shown
  }
}
