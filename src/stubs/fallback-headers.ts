import type { IncomingHttpHeaders } from 'node:http'

type Headers = Record<string, string | string[]>

/**
 * Matches the headers that aren't forwarded in either direction: hop-by-hop headers, cookies,
 * and this mock's own headers.
 */
const NEVER_FORWARDED =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|(set-)?cookie|x-mock-.*)$/

/** Matches the headers that aren't forwarded to the fallback server. */
const ONLY_FOR_MOCK = /^(authorization|expect)$/

/** Matches the headers that aren't forwarded to the client, because this server sets its own. */
const SET_BY_MOCK = /^(access-control-.*|x-request-id)$/

/**
 * Returns the headers to send to the fallback server. reply-from has already set `host` in
 * `headers` and removed the client's `connection`. `via` identifies this server.
 */
export function toForwardedRequest(
  headers: IncomingHttpHeaders,
  { key, via, hasBody }: { key: string; via: string; hasBody: boolean }
): Headers {
  const forwarded = without(headers, ONLY_FOR_MOCK)
  if (!hasBody) delete forwarded['content-length']
  return {
    ...forwarded,
    authorization: `ApiKey ${key}`,
    // The journal can't mask secrets in a compressed response.
    'accept-encoding': 'identity',
    via: headers.via === undefined ? via : `${headers.via}, ${via}`
  }
}

/** Returns the headers to send to the client. `headers` are from the fallback server. */
export function toForwardedResponse(headers: IncomingHttpHeaders): Headers {
  return without(headers, SET_BY_MOCK)
}

function without(headers: IncomingHttpHeaders, dropped: RegExp): Headers {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/)
  const kept = Object.entries(headers).filter(
    ([name]) => !NEVER_FORWARDED.test(name) && !dropped.test(name) && !named.includes(name)
  )
  return Object.fromEntries(kept) as Headers
}
