import type { FastifyReply } from 'fastify'
import { DomainError, noFieldErrors } from '../core/errors.js'
import { SeedError } from '../seeds/errors.js'
import { REQUEST_LIMITS } from '../seeds/limits.js'

/** The body limit of requests that carry a seed, in bytes. */
export const MAX_SEED = REQUEST_LIMITS.json

/** Throws when the client has gone, or the server closes: what takes long is then given up. */
export function rejectAborted({ raw, server }: FastifyReply): void {
  if (raw.destroyed) throw new DomainError('bad-request', 'Request aborted', { reason: 'the connection was closed' })
  if (server.server.listening) return
  throw new DomainError('taken', 'The server is closing', { reason: 'nothing of what was asked for has been done' })
}

/**
 * Rejects with `invalid` a seed that can't be loaded, each issue under its path in the seed. One of the seed as a whole is
 * under the name of that.
 */
export async function withSeedErrors<Result>(load: () => Promise<Result>, whole = 'seed'): Promise<Result> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    const errors = noFieldErrors()
    for (const { location, line, path, message } of error.issues) {
      const field = path || whole
      errors[field] ??= { messages: [] }
      errors[field].messages.push(`${line === undefined ? field : location} ${message}`)
    }
    throw new DomainError('invalid', 'Validation Error', { reason: error.message.replaceAll('\n', '; '), errors })
  }
}
