import type { onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { MalformedQuery } from '../domain/query-string.js'
import { didYouMean } from '../domain/suggestions.js'
import { type Described, unknownParameters } from '../schema/operation.js'
import { setReasonHeader } from './errors.js'

/** Of how many parameters the names are told. */
const MAX_NAMES = 3

/** Refuses with `bad-request` a query string that can't be read. */
export const rejectMalformedQuery = fp(async (app) => {
  app.addHook('onRequest', ({ query }, _reply, done) => {
    if (!(query instanceof MalformedQuery)) return done()
    done(new DomainError('bad-request', 'Malformed query string', { reason: query.message }))
  })
})

/**
 * Returns the hook of an operation that says in `x-mock-reason` which parameters of a query it does not read, and what was
 * probably meant: else a filter with a slip in its name would filter nothing, unnoticed.
 */
export function warnUnknownParameters(operation: Described): onRequestHookHandler {
  const read = Object.keys(operation.querystring?.properties ?? {})
  const there = read.length > 0 ? `there are ${read.join(', ')}` : 'this operation takes no query'
  return ({ query }, reply, done) => {
    const unread = unknownParameters(Object.keys(query as object), operation).slice(0, MAX_NAMES)
    if (unread.length === 0) return done()
    const slips = unread.map((name) => `${name} is not read${didYouMean(name, read)}`)
    const isGuessed = slips.every((slip) => slip.endsWith('?'))
    setReasonHeader(reply, [...slips, ...(isGuessed ? [] : [there])].join('; '))
    done()
  }
}
