import type { FastifyRequest } from 'fastify'
import { steadyClock } from '../domain/clock.js'
import type { ErrorCode } from '../domain/errors.js'
import { type MalformedQuery, parseQuery, type Query } from '../domain/query-string.js'
import { queryOf } from '../http/target.js'
import type { Operation } from '../schema/operation.js'
import type { ChangedRecord } from '../schema/shared.js'
import type { StoredBody } from './response-store.js'
import type { RecordedExchange, RecordedRequest } from './schemas.js'

export type IncomingRequest = Pick<FastifyRequest, 'method' | 'url' | 'query' | 'raw'>

/** Converts journal entries to JSON with secrets redacted. */
export interface Describer {
  request(entry: JournalEntry): RecordedRequest
  /** Describes the request, and its response if there was one. */
  exchange(entry: JournalEntry): RecordedExchange
}

/** The parts of a journal that its entries use. */
interface EntryJournal {
  describer: Describer
  keepResponse(entry: JournalEntry, body: Buffer): void
  forgetResponse(entry: JournalEntry): void
  end(entry: JournalEntry): void
}

/**
 * A recorded request in raw form. It is converted to JSON, with secrets redacted, only when a
 * client reads it.
 */
export interface JournalEntry {
  readonly journal: EntryJournal
  readonly sequence: number
  /** When the request arrived, by the environment's clock. */
  readonly time: number
  /** The latest time read from the environment's clock while the request was in progress. */
  lastReading: number
  /** When the request arrived, by the machine's clock. */
  readonly startedAt: number
  /** Undefined if no operation matches the request. */
  readonly operation: Operation | undefined
  readonly method: string
  /** The path and query as the client sent them. */
  readonly url: string
  readonly query: Query | MalformedQuery
  /** The request's headers as text, with names and values on alternating lines. */
  readonly rawHeaders: string
  /** The request body, or the start of a long body. */
  body: Buffer | undefined
  /** The length of the whole request body. */
  bodyLength: number
  /** The milliseconds from the request's arrival until it ended. */
  duration: number
  /**
   * 1 for the request that ended first, 2 for the next one, and so on. 0 while the request is in
   * progress.
   */
  endSequence: number
  /** The status of the response, or 0 if no response has been sent. */
  status: number
  /** The length of the response body in bytes. */
  size: number
  /** The `x-mock-reason` of the response. */
  reason: string | undefined
  /** The status line and headers of the response, as Node wrote them. */
  head: string | undefined
  /** The response body, or the start of a long body. */
  response: StoredBody | undefined
  changed: readonly ChangedRecord[] | undefined
  /**
   * Whether the response is a replay: the stored response to an earlier request with the same
   * idempotency key.
   */
  replayed: boolean
  /** Whether the request had an idempotency key and its operation supports idempotency keys. */
  hasKey: boolean
  errorCode: ErrorCode | undefined
  /** The id of the stub that responded. */
  stub: string | undefined
  /** Whether the request was forwarded to the fallback server. */
  forwarded: boolean
  /**
   * The id of the fault rule that was applied, or `header` if the fault came from `x-mock-fault`.
   */
  faulted: string | undefined
  /** Whether a fault replaced the response. False if the fault only delayed it. */
  injected: boolean
  /** How many milliseconds the environment's latency setting delayed the request. */
  delayed: number | undefined
}

/** Returns true if nothing served the request: no operation, stub, fault or fallback server. */
export const isUnmocked = ({ operation, stub, forwarded, injected }: JournalEntry): boolean =>
  operation === undefined && stub === undefined && !forwarded && !injected

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
    lastReading: time,
    startedAt: steadyClock(),
    operation,
    method,
    url,
    // If Fastify can't decode the path, it doesn't parse the query, so parse the query here.
    query: (query as Query | MalformedQuery | null) ?? parseQuery(queryOf(url)),
    // Keep one string per request instead of an array of strings, so that the garbage collector has
    // fewer objects to visit.
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
    stub: undefined,
    forwarded: false,
    faulted: undefined,
    injected: false,
    delayed: undefined
  }
}
