import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../core/errors.js'
import { packageRoot } from '../core/package.js'

/**
 * Sends a file of a page whole, read from where the build puts it.
 *
 * @throws {DomainError} `not-found` when it was not built, `range-not-satisfiable` when a GET asks for ranges that hold no
 *   byte of it. Any other `Range` is ignored, as RFC 9110 (section 14.2) allows.
 */
export async function sendBuilt(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
  const content = await readFile(join(packageRoot(), 'dist', path)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? NOT_BUILT : error
  })
  const { method, headers } = request
  if (method === 'GET' && isOutside(headers.range ?? '', content.length)) {
    reply.header('content-range', `bytes */${content.length}`)
    throw new DomainError('range-not-satisfiable', 'Range Not Satisfiable', {
      reason: `the file has ${content.length} bytes: leave out Range, the file is sent whole`
    })
  }
  return reply.send(content)
}

const NOT_BUILT = new DomainError('not-found', 'There is no page here', {
  reason: 'it is built into dist/ by `npm run build`; what programs ask for needs no build'
})

function isOutside(range: string, length: number): boolean {
  const [, ranges] = /^bytes=(.+)$/i.exec(range) ?? []
  if (ranges === undefined) return false
  return ranges.split(',').every((each) => {
    const [, first, last] = /^\s*(\d*)-(\d*)\s*$/.exec(each) ?? []
    return first ? Number(first) >= length : /^0+$/.test(last ?? '')
  })
}
