import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { errorCodes, type FastifyRequest } from 'fastify'
import { DomainError } from '../domain/errors.js'

const unzip = promisify(gunzip)

/** Functions that decompress a body, by the value of the header `content-encoding`. */
const DECODERS: Record<string, typeof unzip> = {
  gzip: unzip,
  'x-gzip': unzip,
  deflate: promisify(inflate),
  br: promisify(brotliDecompress)
}

const SUPPORTED = 'gzip, deflate, br'

/**
 * Returns the request's body as text. If the header `content-encoding` names an encoding,
 * decompresses the body first. Rejects with 413 if the decompressed body exceeds the route's limit.
 * Rejects with `unsupported-encoding` if the encoding isn't supported, and with `bad-request` if
 * the body can't be decoded.
 */
export async function decodeBody(request: FastifyRequest, body: Buffer): Promise<string> {
  const { 'content-encoding': header = 'identity' } = request.headers
  const encoding = header.trim().toLowerCase()
  if (encoding === 'identity') return body.toString()
  if (!Object.hasOwn(DECODERS, encoding)) throw unsupportedEncoding(header)
  const { bodyLimit: maxOutputLength } = request.routeOptions
  try {
    const decoded = await DECODERS[encoding]?.(body, { maxOutputLength })
    return String(decoded)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
    throw new DomainError('bad-request', 'Malformed compressed request body', {
      reason:
        `the content-encoding is ${encoding}, but the body can't be decoded (${message}): ` +
        'compress the body, or omit the header'
    })
  }
}

function unsupportedEncoding(header: string): DomainError {
  return new DomainError('unsupported-encoding', 'Unsupported content encoding', {
    reason:
      `the content-encoding ${header} is not supported: use one of ${SUPPORTED}, ` +
      'or send the body uncompressed',
    headers: { 'accept-encoding': SUPPORTED }
  })
}
