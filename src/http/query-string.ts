import type { onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { MalformedQuery } from '../domain/query-string.js'
import { didYouMean } from '../domain/suggestions.js'
import { type Operation, unknownParameters } from '../schema/operation.js'
import { setReasonHeader } from './errors.js'

/** The maximum number of unknown parameters to report for a request. */
const MAX_REPORTED = 3

/** Rejects a malformed query string with `bad-request`. */
export const rejectMalformedQuery = fp(async (app) => {
  app.addHook('onRequest', ({ query }, _reply, done) => {
    if (!(query instanceof MalformedQuery)) return done()
    done(malformedQueryError(query))
  })
})

export const malformedQueryError = ({ message }: MalformedQuery) =>
  new DomainError('bad-request', 'Malformed query string', { reason: message })

/**
 * Returns a hook that reports unknown query parameters in `x-mock-reason` and suggests similar
 * known names. Without this report, users wouldn't notice that a mistyped filter has no effect.
 */
export function warnUnknownParameters(
  operation: Pick<Operation, 'querystring'>
): onRequestHookHandler {
  const parameters = Object.keys(operation.querystring?.properties ?? {})
  return ({ query }, reply, done) => {
    const unknown = unknownParameters(Object.keys(query as object), operation)
    if (unknown.length > 0) {
      setReasonHeader(reply, describeUnknown(unknown.slice(0, MAX_REPORTED), parameters))
    }
    done()
  }
}

function describeUnknown(unknown: readonly string[], parameters: readonly string[]): string {
  const suggestions = unknown.map((name) => didYouMean(name, parameters))
  const problems = unknown.map((name, index) => `unknown parameter ${name}${suggestions[index]}`)
  if (suggestions.every((suggestion) => suggestion !== '')) return problems.join('; ')
  const hint =
    parameters.length > 0
      ? `the parameters are ${parameters.join(', ')}`
      : 'this operation has no query parameters'
  return [...problems, hint].join('; ')
}
