import type { FastifyRequest } from 'fastify'
import { steadyClock } from '../domain/clock.js'
import type { ErrorCode } from '../domain/errors.js'
import { type MalformedQuery, parseQuery, type Query } from '../domain/query-string.js'
import { queryOf } from '../http/target.js'
import type { Operation } from '../schema/operation.js'
import type { ChangedRecord } from '../schema/shared.js'
import type { AnswerStore, KeptAnswer } from './responses.js'
import type { RecordedExchange } from './schemas.js'

export type SentRequest = Pick<FastifyRequest, 'method' | 'url' | 'query' | 'raw'>

interface OwnJournal {
  capacity: number
  describe: Describe
  answers: AnswerStore
  end: (entry: JournalEntry) => void
}

/** Describes a request without its secrets; with its answer, if that is asked for. */
export type Describe = (entry: JournalEntry, withAnswer?: boolean) => RecordedExchange

/** A request from its arrival to its end, as it came: it is described, without its secrets, when somebody looks. */
export interface JournalEntry extends ReturnType<typeof createEntry> {}

/** One literal with all that is known of a request only later, as each request makes one. */
export function createEntry(
  { method, url, query, raw }: SentRequest,
  operation: Operation | undefined,
  journal: OwnJournal,
  sequence: number,
  time: number
) {
  return {
    journal,
    sequence,
    time,
    /** Undefined for a request that no operation serves. */
    operation,
    method,
    /** As it was sent; the query also as it was parsed, which is not done where no route is looked for. */
    url,
    query: (query as Query | MalformedQuery | null) ?? parseQuery(queryOf(url)),
    /** Names and values in turn, a line each: one string, as the garbage collector sees to the last thousand requests. */
    rawHeaders: raw.rawHeaders.join('\n'),
    /** By the machine's clock. */
    startedAt: steadyClock(),
    duration: 0,
    /** Number in the order in which requests ended, from 1; 0 while it is in progress. */
    endSequence: 0,
    body: undefined as Buffer | undefined,
    bodyLength: 0,
    /** Of its answer: 0 if there was none; the bytes of its body; its `x-mock-reason`. */
    status: 0,
    size: 0,
    reason: undefined as string | undefined,
    /** The head of its answer, as Node has sent it; its body, of which only the beginning may be kept, or none any more. */
    head: undefined as string | undefined,
    answer: undefined as KeptAnswer | undefined,
    changed: undefined as readonly ChangedRecord[] | undefined,
    /** Whether the answer was stored for its idempotency key, and whether it had one with an effect. */
    replayed: false,
    hasKey: false,
    errorCode: undefined as ErrorCode | undefined,
    /** Id of the fault rule that was applied, or `header`; whether it has decided what the client got, and not only when. */
    faulted: undefined as string | undefined,
    injected: false,
    /** Milliseconds that the latency of its environment has delayed it; undefined if it has not. */
    delayed: undefined as number | undefined
  }
}
