import type { onRequestHookHandler } from 'fastify'
import { DomainError } from '../domain/errors.js'
import { isFromOtherSite } from './loopback.js'
import { pathOf } from './target.js'

/**
 * Matches the paths of pages and documents. Other sites may request them without a key, because
 * these requests aren't recorded and change nothing.
 */
const DOCUMENT = /^\/(?:$|(?:docs|health|openapi\.json|favicon\.ico)(?:\/|$))/

const REASON =
  'the Sec-Fetch-Site header shows that a web page of another site sent the request: ' +
  'send a valid API key, or open the page on this machine'

/**
 * Rejects requests that web pages of other sites send without a valid API key. Otherwise, an image
 * on any website could fill the journal of unauthenticated requests. Accepts CORS preflights, which
 * never have a key. Also accepts control requests with a bearer token, because their routes check
 * the token.
 */
export const rejectCrossSite: onRequestHookHandler = (request, _reply, done) => {
  const { headers, method, url, environment } = request
  if (headers['sec-fetch-site'] === undefined) return done()
  const path = pathOf(url)
  const isAllowed = environment !== undefined || method === 'OPTIONS' || DOCUMENT.test(path)
  const hasToken = path.startsWith('/_mock/') && /^Bearer\s/i.test(headers.authorization ?? '')
  const isRejected = !isAllowed && !hasToken && isFromOtherSite(headers)
  done(
    isRejected
      ? new DomainError('forbidden', 'Requests from other sites need an API key', {
          reason: REASON
        })
      : undefined
  )
}
