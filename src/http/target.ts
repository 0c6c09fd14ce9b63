import { SECRET_FIELD } from '../core/credentials.js'

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
export const redactedTarget = (url: string): string => withoutHost(url).replace(SECRET_PARAMETER, '$1***')

const SECRET_PARAMETER = new RegExp(`([?&]${SECRET_FIELD}=)[^&#]+`, 'gi')

/** The path alone, as it was sent. */
export const pathOf = (url: string): string => withoutHost(url).replace(/[?#].*$/s, '')

/** The query alone, as it was sent. */
export const queryOf = (url: string): string => /\?([^#]*)/.exec(url)?.[1] ?? ''

function withoutHost(url: string): string {
  if (url.startsWith('/') || url === '') return url
  return url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
}
