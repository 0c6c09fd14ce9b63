import type { IncomingMessage } from 'node:http'

/** Matches an id that is safe to log and to send back in a header. */
const SAFE_ID = /^[\w.:-]{1,64}$/

/**
 * An id of at least this length counts as a secret if the `Authorization` header contains it. The
 * header may contain a shorter id by chance.
 */
const MIN_SECRET_LENGTH = 4

/**
 * Returns a `genReqId` function for Fastify. It uses the client's `x-request-id` if that is safe to
 * log and isn't a secret. Otherwise, it creates `req-1`, `req-2`, …
 */
export function createRequestIds(isSecret: (id: string) => boolean) {
  let count = 0
  return ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
    const id = headers['x-request-id']
    if (typeof id === 'string' && SAFE_ID.test(id) && !isPartOfKey(id, headers) && !isSecret(id)) {
      return id
    }
    count += 1
    return `req-${count.toString(36)}`
  }
}

function isPartOfKey(id: string, { authorization = '' }: IncomingMessage['headers']): boolean {
  return id.length >= MIN_SECRET_LENGTH && authorization.includes(id)
}
