import { SECRET_NAME } from '../domain/credentials.js'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Returns a text about the request without any keys and tokens, wherever they were sent. Absent
     * if the path can't be decoded.
     */
    redacted?(text: string): string
  }
}

/**
 * Returns a request's path and query for responses and logs: without the scheme and host of a proxy
 * request, and without the values of parameters named like a credential.
 */
export const redactedTarget = (url: string): string => withoutSecretParameters(withoutHost(url))

/** Masks the values of parameters named like a credential, in a URL, a query or a form. */
export function withoutSecretParameters(text: string): string {
  return text.replace(/(?<=^|[?&])([\w%+.[\]-]+)=[^&]+/g, (pair, name: string) =>
    SECRET_NAME.test(decodeAscii(name)) ? `${name}=***` : pair
  )
}

/** Decodes percent-encoded bytes one by one, so that it never throws. */
function decodeAscii(name: string): string {
  return name.replace(/%[0-9a-f]{2}/gi, (byte) =>
    String.fromCharCode(Number.parseInt(byte.slice(1), 16))
  )
}

/** Returns the path without the query, and doesn't decode it. */
export const pathOf = (url: string): string => withoutHost(url).replace(/[?#].*$/s, '')

/** Returns the query without the path, and doesn't decode it. */
export const queryOf = (url: string): string => /\?([^#]*)/.exec(url)?.[1] ?? ''

function withoutHost(url: string): string {
  if (url.startsWith('/') || url === '') return url
  return url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
}
