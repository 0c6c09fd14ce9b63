import { isoTime } from '../domain/clock.js'
import { MalformedQuery } from '../domain/query-string.js'
import { suggest } from '../domain/suggestions.js'
import { pathOf, queryOf } from '../http/target.js'
import { type Operation, unknownParameters } from '../schema/operation.js'
import { type Describer, isUnmocked, type JournalEntry } from './entry.js'
import type { Redaction, RedactionOf } from './redaction.js'
import { storedBytes } from './response-store.js'
import type { RecordedRequest, RecordedResponse } from './schemas.js'

/** Matches the start of a response body that contains a page of messages, but not the last page. */
const HAS_MORE = /^\{("totalCount":\d+,)?"hasMore":true/
const HAS_MORE_LENGTH = 64

const REQUEST_HEADER = /^(.+)\n(.*)$/gm
const RESPONSE_HEADER = /^(.+?): (.*)$/gm

/**
 * Creates the describer that all journals share. `faultHeader` is whether the server reads the
 * header `x-mock-fault`. If not, the header is reported as unknown.
 */
export function createDescriber(redactionOf: RedactionOf, faultHeader: boolean): Describer {
  const isKnownHeader = (name: string) =>
    KNOWN_HEADERS.has(name) || name.startsWith('sec-') || (faultHeader && name === 'x-mock-fault')

  function withRedaction(entry: JournalEntry) {
    const headers = headersIn(entry.rawHeaders, REQUEST_HEADER)
    const authorization = headers.find(([name]) => name === 'authorization')?.[1]
    return { headers, redaction: redactionOf(authorization) }
  }

  return {
    request(entry) {
      const { headers, redaction } = withRedaction(entry)
      return describeRequest(entry, headers, redaction, isKnownHeader)
    },

    exchange(entry) {
      const { headers, redaction } = withRedaction(entry)
      return {
        ...describeRequest(entry, headers, redaction, isKnownHeader),
        ...(entry.status > 0 && { response: describeResponse(entry, redaction) })
      }
    }
  }
}

function describeRequest(
  entry: JournalEntry,
  sentHeaders: [name: string, value: string][],
  redaction: Redaction,
  isKnownHeader: (name: string) => boolean
): RecordedRequest {
  const { operation, body, bodyLength, status, size, reason, changed } = entry
  const headers = redaction.redactValues(sentHeaders)
  const query = redaction.redactValues(parametersOf(entry))
  const isCut = body !== undefined && body.length < bodyLength
  return {
    sequence: entry.sequence,
    time: isoTime(entry.time),
    arrived: isoTime(entry.startedAt),
    ...(operation && { operation: operation.id }),
    method: entry.method,
    path: redaction.redact(pathOf(entry.url)),
    query,
    headers,
    ...(body && { body: redaction.redactBody(body, isCut) }),
    ...(isCut && { bodyLength }),
    ...(status > 0 && { status, size }),
    ...(entry.endSequence > 0 && { duration: Math.round(entry.duration * 1000) / 1000 }),
    ...(reason !== undefined && { reason: redaction.redact(reason) }),
    ...(hasMorePages(entry) && { hasMore: true }),
    ...(changed && changed.length > 0 && { changed: redaction.redactJson([...changed]) }),
    flags: describeFlags(entry),
    unknown: {
      query: unknownParameters(Object.keys(query), operation),
      headers: Object.keys(headers).filter((name) => !isKnownHeader(name)),
      ...suggestKnownNames(Object.keys(query), operation)
    }
  }
}

/**
 * The maximum number of unknown parameters that get a suggestion. The number is limited, because
 * each unknown parameter is compared with all known names.
 */
const MAX_SUGGESTIONS = 3

/**
 * Returns the closest known name for each unknown parameter. Skips parameters without a similar
 * name.
 */
function suggestKnownNames(
  names: readonly string[],
  operation: Operation | undefined
): { suggestions?: Record<string, string> } {
  const knownNames = Object.keys(operation?.querystring?.properties ?? {})
  const suggestions: Record<string, string> = {}
  for (const name of unknownParameters(names, operation).slice(0, MAX_SUGGESTIONS)) {
    const suggestion = suggest(name, knownNames)
    if (suggestion !== undefined) suggestions[name] = suggestion
  }
  return Object.keys(suggestions).length > 0 ? { suggestions } : {}
}

function describeFlags(entry: JournalEntry): RecordedRequest['flags'] {
  const { replayed, faulted, delayed, stub, forwarded } = entry
  return {
    ...(replayed && { replayed }),
    ...(faulted && { faulted }),
    ...(delayed !== undefined && { delayed }),
    ...(stub !== undefined && { stubbed: stub }),
    ...(forwarded && { forwarded }),
    ...(isUnmocked(entry) && { unmocked: true })
  }
}

function describeResponse(entry: JournalEntry, redaction: Redaction): RecordedResponse {
  const { status, size, head = '', response } = entry
  const body = response && storedBytes(response)
  const isTruncated = body !== undefined && body.length < size
  return {
    status,
    headers: redaction.redactValues(headersIn(head, RESPONSE_HEADER)),
    ...(body && { body: redaction.redactBody(body, isTruncated) }),
    ...(isTruncated && { truncated: true }),
    ...(response && !body && { dropped: true })
  }
}

function hasMorePages({ status, response }: JournalEntry): boolean {
  if (status !== 200 || !response) return false
  const start = storedBytes(response)?.toString('latin1', 0, HAS_MORE_LENGTH) ?? ''
  return HAS_MORE.test(start)
}

/**
 * Returns the query parameters as the operations read them. Operations can't read a malformed
 * query, so such a query is parsed with `URLSearchParams`.
 */
function parametersOf({ url, query }: JournalEntry): [name: string, value: string][] {
  if (query instanceof MalformedQuery) return [...new URLSearchParams(queryOf(url))]
  return Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, parameterText(value)])
  )
}

function parameterText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns the headers, with their names in lower case. */
function headersIn(lines: string, header: RegExp): [name: string, value: string][] {
  return Array.from(lines.matchAll(header), ([, name = '', value = '']) => [
    name.toLowerCase(),
    value
  ])
}

/** The headers that the server reads, and common headers that it can safely ignore. */
const KNOWN_HEADERS = new Set([
  'authorization',
  'idempotency-key',
  'host',
  'origin',
  'x-request-id',
  'te',
  'expect',
  'content-type',
  'content-encoding',
  'content-length',
  'content-language',
  'accept',
  'accept-encoding',
  'accept-language',
  'accept-charset',
  'user-agent',
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'upgrade-insecure-requests',
  'cookie',
  'referer',
  'dnt',
  'priority',
  'pragma',
  'cache-control',
  'via',
  'forwarded',
  'max-forwards',
  'traceparent',
  'tracestate',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-real-ip',
  'access-control-request-headers',
  'access-control-request-method'
])
