import type { IncomingHttpHeaders } from 'node:http'

/**
 * Checks a request's Host, Origin and Sec-Fetch-Site headers. If they show that a web page of
 * another site may have sent the request, returns the reason to reject it. Otherwise, returns
 * undefined.
 */
export function untrustedOrigin(headers: IncomingHttpHeaders): string | undefined {
  const { host, origin } = headers
  if (!isLoopbackName(host)) {
    return `the Host header does not name this machine: it is ${host ?? 'missing'}`
  }
  if (isFromOtherSite(headers)) return FROM_OTHER_SITE
  if (origin === undefined || isLoopbackOrigin(origin)) return undefined
  return 'the Origin header shows that a web page of another site sent the request'
}

const FROM_OTHER_SITE =
  'the Sec-Fetch-Site header shows that a web page of another site sent the request'

/**
 * Returns whether the browser's headers show that a page of another site sent the request. All
 * pages on this machine count as one site, even with different host names such as `localhost` and
 * `127.0.0.1`.
 */
export function isFromOtherSite({ 'sec-fetch-site': site, origin }: IncomingHttpHeaders): boolean {
  return site === 'cross-site' && !(origin !== undefined && isLoopbackOrigin(origin))
}

const isLoopbackOrigin = (origin: string) => isLoopbackName(origin.replace(/^https?:\/\//, ''))

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address)
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host)
}
