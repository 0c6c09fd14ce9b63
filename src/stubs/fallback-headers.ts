import type { IncomingHttpHeaders } from 'node:http'

type Headers = Record<string, string | string[]>

/**
 * Matches the headers that aren't forwarded in either direction: headers about one connection,
 * cookies, and this mock's own headers.
 */
const NEVER_FORWARDED =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|(set-)?cookie|x-mock-.*)$/

/** Matches further headers that the fallback server must not get. */
const ONLY_FOR_MOCK = /^(authorization|expect)$/

/** Matches further headers that the client must not get, because this server sets them itself. */
const SET_BY_MOCK = /^(access-control-.*|x-request-id)$/

/**
 * Returns the headers to send to the fallback server. `host` and `connection` already belong to
 * the new connection. `via` names this server.
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

/** Returns those headers of the fallback server's response that are sent to the client. */
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
