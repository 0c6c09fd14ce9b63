import { MASK } from '../domain/masking.js'
import type { RecordedExchange } from '../journal/schemas.js'
import { findParallel } from './compare.js'

/** Facts about a test that can explain why a response differs. */
export interface ReplayFacts {
  /** The requests in the report, oldest first. */
  requests: readonly RecordedExchange[]
  /** Whether the report has all requests and changes since the test's start. */
  isComplete: boolean
  /** The version of the package that wrote the report, if it isn't this version. */
  otherVersion?: string | undefined
}

/** Returns the probable cause of a response that differs from the recorded one. */
export function causeOf(
  recorded: RecordedExchange,
  repeated: RecordedExchange | undefined,
  { requests, isComplete, otherVersion }: ReplayFacts
): string | undefined {
  const { flags } = recorded
  if (flags.stubbed && repeated?.status === 501) {
    return "a stub's function responded, and a report can't contain functions"
  }
  if (flags.forwarded) {
    return 'the fallback server responded, but a reopened test runs without a fallback server'
  }
  const parallel = findParallel(recorded, requests)
  if (parallel !== undefined) {
    return `request ${parallel} was in progress at the same time, so the order of both is unknown`
  }
  if (recorded.reason?.includes('(assumption path-form)')) {
    return 'the report has only the normalized path, not the path that the client sent'
  }
  if (hasMask(recorded)) return 'the report masks a secret that the request contains'
  if (flags.replayed && !repeated?.flags.replayed) {
    return 'the first request with this idempotency key is not in the report'
  }
  if (!isComplete) return 'earlier requests or changes are not in the report'
  if (otherVersion !== undefined) return `the response was recorded by version ${otherVersion}`
  return undefined
}

function hasMask({ path, query, body = '', headers }: RecordedExchange): boolean {
  const key = headers['idempotency-key'] ?? ''
  return [path, JSON.stringify(query), body, String(key)].some((text) => text.includes(MASK))
}
