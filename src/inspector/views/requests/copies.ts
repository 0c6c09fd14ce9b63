import type { AttachedEnvironment, RecordedRequest } from '../../../client/index.js'
import { parametersOf } from './rows.js'

/** What curl sends by itself, or what says how the request was sent rather than what it asked; and its key. */
const LEFT_OUT =
  /^(authorization|host|connection|content-length|transfer-encoding|accept-encoding|user-agent|accept-language|origin|referer|cookie|te|priority|expect|dnt|sec-.*|x-forwarded-.*)$/

type Server = Pick<AttachedEnvironment, 'url' | 'headers'>

/** Returns what to send so that the server gets the same request; of a body that was cut only its beginning. */
export function sentAgain({ method, path, query, headers, body }: RecordedRequest) {
  const search = parametersOf(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  )
  const own = parametersOf(headers).filter(
    ([name, value]) => !LEFT_OUT.test(name) && !value.includes('***')
  )
  return {
    method,
    path: search.length > 0 ? `${path}?${search.join('&')}` : path,
    headers: Object.fromEntries(new Headers(own)),
    ...(body && { body })
  }
}

/** Returns a command for a POSIX shell that sends the request again. */
export function curlAgain(server: Server, request: RecordedRequest): string {
  const { method, path, headers, body } = sentAgain(request)
  const url = server.url + path
  return [
    'curl',
    // Told the method alone, curl waits for the body of a HEAD.
    ...(method === 'HEAD' ? ['--head'] : method === 'GET' && !body ? [] : [`-X ${method}`]),
    // Else brackets are ranges.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    quoted(url),
    ...Object.entries({ ...server.headers, ...headers }).map(
      (header) => `-H ${quoted(header.join(': '))}`
    ),
    ...(body ? [`--data-raw ${quoted(body)}`] : [])
  ].join(' \\\n  ')
}

/** Returns a text as one word of a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Returns a line of JavaScript that sends the request again. */
export function fetchAgain(server: Server, request: RecordedRequest): string {
  const { path, headers, ...sent } = sentAgain(request)
  return `await fetch(${source(server.url + path)}, ${source({ ...sent, headers: { ...server.headers, ...headers } })})`
}

/** Returns a line of a test that uses the library: it expects that such a request has come. */
export function verificationOf(request: RecordedRequest): string {
  const { operation, method, path, query, body, bodyLength, status } = request
  const whole = bodyLength === undefined && body ? { body } : {}
  return `await env.requests.verify(${source({ operation, method, path, query, ...whole, status })})`
}

/** A value as JavaScript. */
const source = (value: unknown) => JSON.stringify(value, null, 2)
