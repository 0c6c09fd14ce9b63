import type { onRequestHookHandler } from 'fastify'
import { DomainError } from '../domain/errors.js'

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/

/** The same test that Node's HTTP server applies. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/**
 * Sets `x-request-id` on the response. Rejects a missing `Host` (400) and an unknown `Expect`
 * (417), which HTTP/1.1 forbids. Removes a malformed `content-type`, because Fastify would reject
 * the request for it even though no operation reads the body.
 */
export const checkHeaders: onRequestHookHandler = ({ id, headers, raw }, reply, done) => {
  reply.header('x-request-id', id)
  const { 'content-type': contentType, expect, host } = headers
  if (contentType !== undefined && !MEDIA_TYPE.test(contentType)) delete headers['content-type']
  if (raw.httpVersion !== '1.1') return done()
  if (expect !== undefined && !CONTINUE.test(expect)) return done(unknownExpectation())
  done(host === undefined ? missingHost() : undefined)
}

function unknownExpectation(): DomainError {
  return new DomainError('expectation-failed', 'Expectation failed', {
    reason: 'the only supported Expect header is 100-continue'
  })
}

function missingHost(): DomainError {
  return new DomainError('bad-request', 'Missing Host header', {
    reason: 'HTTP/1.1 requires a Host header'
  })
}
