import { maskForm } from '../domain/masking.js'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Removes API keys and tokens from text about the request, such as an error's reason. Undefined
     * if the request's path can't be decoded.
     */
    redacted?(text: string): string
  }
}

/**
 * Returns a request's path and query for responses and logs. Removes the scheme and host, which
 * clients send if they use this server as a proxy. Masks the values of parameters whose name
 * suggests a credential.
 */
export const redactedTarget = (url: string): string => maskForm(withoutHost(url))

/** Returns the path of a URL without the query, still percent-encoded. */
export const pathOf = (url: string): string => withoutHost(url).replace(/[?#].*$/s, '')

/** Returns the query of a URL without the path, still percent-encoded. */
export const queryOf = (url: string): string => /\?([^#]*)/.exec(url)?.[1] ?? ''

function withoutHost(url: string): string {
  if (url.startsWith('/') || url === '') return url
  return url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
}
