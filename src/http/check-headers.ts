import type { onRequestHookHandler } from 'fastify'
import { DomainError } from '../domain/errors.js'

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/

/** The regular expression that Node's HTTP server uses for the `Expect` header. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/**
 * Sets `x-request-id` on the response. As HTTP/1.1 requires, rejects a missing `Host` header (400)
 * and an unknown `Expect` header (417). Removes a malformed `content-type`, so that Fastify doesn't
 * reject the request because of it.
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
