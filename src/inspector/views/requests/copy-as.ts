import type { AttachedEnvironment, RecordedRequest } from '../../../client/index.js'
import { curlCommand } from '../../../domain/shell.js'
import { flattenValues } from './format-request.js'

/**
 * The headers to omit when a request is copied or sent again: the API key, and headers that HTTP
 * clients or proxies set.
 */
const OMITTED_HEADERS = new RegExp(
  '^(' +
    'authorization|host|connection|content-length|transfer-encoding|accept-encoding|user-agent|' +
    'accept-language|origin|referer|cookie|te|priority|expect|dnt|sec-.*|x-forwarded-.*' +
    ')$'
)

/** A request that can be sent. Its headers have lower-case names. */
export type RepeatableRequest = ReturnType<typeof repeatable>

type Server = Pick<AttachedEnvironment, 'url' | 'headers'>

/**
 * Returns the data for sending a recorded request again. Omits `OMITTED_HEADERS` and headers with
 * masked values. If the journal truncated the body, the returned body is truncated too.
 */
export function repeatable({ method, path, query, headers, body }: RecordedRequest) {
  const search = flattenValues(query).map((pair) => pair.map(encodeURIComponent).join('='))
  const sentHeaders = flattenValues(headers).filter(
    ([name, value]) => !OMITTED_HEADERS.test(name) && !value.includes('***')
  )
  return {
    method,
    path: search.length > 0 ? `${path}?${search.join('&')}` : path,
    headers: Object.fromEntries(new Headers(sentHeaders)),
    ...(body && { body })
  }
}

/** Returns a curl command (for a POSIX shell) that sends a request. */
export function toCurl(server: Server, request: RepeatableRequest): string {
  const { method, path, headers, body } = request
  const allHeaders = Object.entries({ ...server.headers, ...headers })
  return curlCommand({ method, url: server.url + path, headers: allHeaders, body }, ' \\\n  ')
}

/** Returns a JavaScript statement that repeats a request. */
export function toFetch(server: Server, request: RecordedRequest): string {
  const { path, headers, ...options } = repeatable(request)
  const init = { ...options, headers: { ...server.headers, ...headers } }
  return `await fetch(${toSource(server.url + path)}, ${toSource(init)})`
}

/**
 * Returns a JavaScript statement for a test. The statement verifies that a request like this one
 * has arrived.
 */
export function toVerification(request: RecordedRequest): string {
  const { operation, method, path, query, body, bodyLength, status } = request
  const completeBody = bodyLength === undefined && body ? { body } : {}
  const expected = { operation, method, path, query, ...completeBody, status }
  return `await env.requests.verify(${toSource(expected)})`
}

/** Returns a value as JSON, which is valid JavaScript source. */
const toSource = (value: unknown) => JSON.stringify(value, null, 2)
