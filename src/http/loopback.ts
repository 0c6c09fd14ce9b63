import type { IncomingHttpHeaders } from 'node:http'

/**
 * Checks a request's Host and Origin headers. If they show that a web page of another site may have
 * sent the request, returns the reason to reject it. Otherwise, returns undefined.
 */
export function untrustedOrigin({ host, origin }: IncomingHttpHeaders): string | undefined {
  if (!isLoopbackName(host)) return `the Host header is ${host ?? 'missing'}, not this machine`
  if (origin === undefined || isLoopbackName(origin.replace(/^https?:\/\//, ''))) return undefined
  return 'the Origin header shows that a web page of another site sent the request'
}

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address)
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host)
}
