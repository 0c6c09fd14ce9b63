import { SECRET_NAME } from '../domain/credentials.js'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Returns a text about the request as a log may have it: without keys and tokens, wherever they were sent. Absent of
     * a request whose path can't be decoded.
     */
    redacted?(text: string): string
  }
}

/**
 * Path and query of a request, as answers and logs may show them: without the scheme and host that a proxy is sent, and
 * without the values of parameters named like a credential, where a key is sent by mistake.
 */
export const redactedTarget = (url: string): string => withoutSecretParameters(withoutHost(url))

/** Returns a query or a form, and what stands before it, without the values of parameters named like a credential. */
export const withoutSecretParameters = (text: string): string =>
  text.replace(/(?<=^|[?&])([\w%+.[\]-]+)=[^&]+/g, (pair, name: string) => {
    const plain = name.replace(/%[0-9a-f]{2}/gi, (byte) =>
      String.fromCharCode(Number.parseInt(byte.slice(1), 16))
    )
    return SECRET_NAME.test(plain) ? `${name}=***` : pair
  })

/** The path alone, as it was sent. */
export const pathOf = (url: string): string => withoutHost(url).replace(/[?#].*$/s, '')

/** The query alone, as it was sent. */
export const queryOf = (url: string): string => /\?([^#]*)/.exec(url)?.[1] ?? ''

function withoutHost(url: string): string {
  if (url.startsWith('/') || url === '') return url
  return url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
}
