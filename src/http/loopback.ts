import type { IncomingHttpHeaders } from 'node:http'

/**
 * Returns why the Host or Origin header shows that a page of another site sends the request, or
 * undefined if it shows nothing of the kind.
 */
export function untrustedOrigin({ host, origin }: IncomingHttpHeaders): string | undefined {
  if (!isLoopbackName(host)) return `the Host header is ${host ?? 'missing'}, not this machine`
  if (origin === undefined || isLoopbackName(origin.replace(/^https?:\/\//, ''))) return undefined
  return 'the request comes from a page of another site (Origin)'
}

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address)
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host)
}
