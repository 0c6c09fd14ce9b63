import type { FastifyRequest } from 'fastify'
import { steadyClock } from '../domain/clock.js'
import type { ErrorCode } from '../domain/errors.js'
import { type MalformedQuery, parseQuery, type Query } from '../domain/query-string.js'
import { queryOf } from '../http/target.js'
import type { Operation } from '../schema/operation.js'
import type { ChangedRecord } from '../schema/shared.js'
import type { ResponseStore, StoredBody } from './response-store.js'
import type { RecordedExchange, RecordedRequest } from './schemas.js'

export type IncomingRequest = Pick<FastifyRequest, 'method' | 'url' | 'query' | 'raw'>

/** Describes journal entries as JSON, with secrets redacted. */
export interface Describer {
  request(entry: JournalEntry): RecordedRequest
  /** Describes the request together with its response, if it got one. */
  exchange(entry: JournalEntry): RecordedExchange
}

/** The parts of a journal that its entries use. */
interface EntryJournal {
  capacity: number
  describer: Describer
  responses: ResponseStore
  end(entry: JournalEntry): void
}

/**
 * A recorded request as it came. It is described, with secrets redacted, only when somebody looks.
 */
export interface JournalEntry {
  readonly journal: EntryJournal
  readonly sequence: number
  /** When the request arrived, by the environment's clock. */
  readonly time: number
  /** When the request arrived, by the machine's clock. */
  readonly startedAt: number
  /** Undefined if no operation matches the request. */
  readonly operation: Operation | undefined
  readonly method: string
  /** As sent. */
  readonly url: string
  readonly query: Query | MalformedQuery
  /** Names and values in turn, one per line. */
  readonly rawHeaders: string
  /** The request body, or its start. */
  body: Buffer | undefined
  /** The full length of the request body. */
  bodyLength: number
  /** The milliseconds from the request's arrival to its end. */
  duration: number
  /**
   * The request's number in the order in which requests ended, from 1. 0 while it is in progress.
   */
  endSequence: number
  /** The status of the response. 0 without a response. */
  status: number
  /** The bytes of the response body. */
  size: number
  /** The `x-mock-reason` of the response. */
  reason: string | undefined
  /** The response headers as Node wrote them. */
  head: string | undefined
  /** The response body, or its start. */
  response: StoredBody | undefined
  changed: readonly ChangedRecord[] | undefined
  /** Whether the response was stored for the idempotency key and sent again. */
  replayed: boolean
  /** Whether the request had an idempotency key that its operation uses. */
  hasKey: boolean
  errorCode: ErrorCode | undefined
  /** The id of the fault rule that was applied, or `header`. */
  faulted: string | undefined
  /** Whether a fault decided the response, rather than only delaying it. */
  injected: boolean
  /** The milliseconds by which the environment's latency delayed the request. */
  delayed: number | undefined
}

/** Creates an entry with every field set, so that all entries have the same hidden class in V8. */
export function createEntry(
  { method, url, query, raw }: IncomingRequest,
  operation: Operation | undefined,
  journal: EntryJournal,
  sequence: number,
  time: number
): JournalEntry {
  return {
    journal,
    sequence,
    time,
    startedAt: steadyClock(),
    operation,
    method,
    url,
    // Fastify doesn't parse the query of a path that it can't decode.
    query: (query as Query | MalformedQuery | null) ?? parseQuery(queryOf(url)),
    // One string instead of an array: the garbage collector visits the last 1,000 requests.
    rawHeaders: raw.rawHeaders.join('\n'),
    body: undefined,
    bodyLength: 0,
    duration: 0,
    endSequence: 0,
    status: 0,
    size: 0,
    reason: undefined,
    head: undefined,
    response: undefined,
    changed: undefined,
    replayed: false,
    hasKey: false,
    errorCode: undefined,
    faulted: undefined,
    injected: false,
    delayed: undefined
  }
}
