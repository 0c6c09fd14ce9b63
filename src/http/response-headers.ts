import { OutgoingMessage } from 'node:http'

/**
 * Headers that delimit a response. A fault rule or a stub can't set them, because a wrong value
 * could make the client wait forever or misread the next response.
 */
const FRAMING_HEADERS =
  /^(connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i

/** Returns whether a fault rule or a stub can set this header. */
export function isSendableHeader(name: string, value: string): boolean {
  // Fastify keeps headers in a plain object, where setting `__proto__` would replace the object's
  // prototype.
  if (FRAMING_HEADERS.test(name) || name === '__proto__') return false
  try {
    new OutgoingMessage().setHeader(name, value)
    return true
  } catch (error) {
    if (INVALID_HEADER_CODES.has((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

const INVALID_HEADER_CODES = new Set(['ERR_INVALID_HTTP_TOKEN', 'ERR_INVALID_CHAR'])
