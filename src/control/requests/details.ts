import { isoTime } from '../../core/clock.js'
import { MalformedQuery, parseQuery } from '../../http/query-string.js'
import { pathOf } from '../../http/target.js'
import { unreadParameters } from '../../http/unread.js'
import type { Describe, JournalEntry } from './entry.js'
import { redactionOf, type Secrets } from './redaction.js'

/** Returns the function that describes the requests of a journal: parsed, and without secrets. */
export function createDescribe({ faultHeader, ...secrets }: Secrets & { faultHeader: boolean }): Describe {
  return (entry) => {
    const { operation, body, bodyLength, endSequence, status, size, reason, replayed, faulted, delayed } = entry
    const [method = '', url = '', ...rawHeaders] = entry.text.split('\n')
    const sentHeaders = pairsOf(rawHeaders)
    const redaction = redactionOf(secrets, authorizationIn(sentHeaders))
    // In this order: what has too many words hides those that follow.
    const headers = redaction.values(sentHeaders)
    const path = redaction.text(pathOf(url))
    const query = redaction.values(parametersOf(url))
    const isCut = body !== undefined && body.length < bodyLength
    const isRead = (name: string) => KNOWN_HEADERS.has(name) || (faultHeader && name === 'x-mock-fault')
    return {
      sequence: entry.sequence,
      time: isoTime(entry.time),
      ...(operation && { operation: operation.id }),
      method,
      path,
      query,
      headers,
      ...(body && { body: redaction.body(body, isCut) }),
      ...(isCut && { bodyLength }),
      ...(status > 0 && { status, size }),
      ...(endSequence > 0 && { duration: Math.round(entry.duration * 1000) / 1000 }),
      ...(reason !== undefined && { reason: redaction.text(reason) }),
      flags: {
        ...(replayed && { replayed }),
        ...(faulted && { faulted }),
        ...(delayed !== undefined && { delayed }),
        ...(!operation && { unserved: true })
      },
      unread: {
        query: unreadParameters(Object.keys(query), operation),
        headers: Object.keys(headers).filter((name) => !isRead(name))
      }
    }
  }
}

/** Returns the function that replaces secrets in texts of a request, for those who show but a part of it. */
export function createRedaction(secrets: Secrets): (entry: JournalEntry) => (text: string) => string {
  return (entry) => {
    const [, , ...rawHeaders] = entry.text.split('\n')
    return redactionOf(secrets, authorizationIn(pairsOf(rawHeaders))).text
  }
}

/** Whether the parameters of a request can be decoded, as those of nearly all. */
export function isDecoded({ text }: JournalEntry): boolean {
  const [, url = ''] = text.split('\n', 2)
  return !(parseQuery(queryOf(url)) instanceof MalformedQuery)
}

const queryOf = (url: string) => /\?([^#]*)/.exec(url)?.[1] ?? ''

/** As the operations read them; as they were sent when they cannot be decoded. */
export function parametersOf(url: string): [string, string][] {
  const text = queryOf(url)
  const query = parseQuery(text)
  if (query instanceof MalformedQuery) {
    return text.split('&').map((part) => [part.replace(/=.*/s, ''), part.replace(/^[^=]*=?/, '')])
  }
  return Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)])
  )
}

function pairsOf(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? '']] : []
  )
}

function authorizationIn(headers: readonly [name: string, value: string][]): string | undefined {
  return headers.find(([name]) => name === 'authorization')?.[1]
}

/** Headers that the server reads, and those that every client sends and that do not influence an answer. */
export const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'idempotency-key', 'content-type', 'content-encoding', 'content-length', 'host', 'origin'],
  ...['x-request-id', 'connection', 'transfer-encoding', 'expect', 'upgrade', 'upgrade-insecure-requests'],
  ...['access-control-request-headers', 'access-control-request-method', 'proxy-connection', 'max-forwards'],
  ...['accept', 'accept-encoding', 'accept-language', 'user-agent', 'cookie', 'referer', 'dnt', 'priority', 'te'],
  ...['sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-user', 'sec-gpc', 'cache-control', 'pragma'],
  ...['sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform', 'keep-alive', 'traceparent', 'tracestate', 'forwarded'],
  ...['via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']
])
