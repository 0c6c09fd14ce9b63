import { OutgoingMessage } from 'node:http'

/**
 * Headers that delimit a response. A rule or stub can't set them, because with a wrong value the
 * client would wait forever or misread the next response.
 */
const FRAMING_HEADERS =
  /^(connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i

/** Returns whether a configured header can be sent with a response. */
export function isSendableHeader(name: string, value: string): boolean {
  // Fastify keeps headers in a plain object, where `__proto__` would set the prototype.
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
