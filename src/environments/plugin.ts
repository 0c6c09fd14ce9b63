import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { attempt, DomainError } from '../domain/errors.js'
import type { Environment, EnvironmentService } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The environment of the request's API key. Always set where `authentication` is registered. */
    environment: Environment
  }
}

/**
 * Finds the environment of each request's API key before anything else of the request is read, and lets it not expire until
 * the request is answered. Rejects with 401 when there is none. A key is neither logged nor repeated in an answer.
 */
export const authentication = fp<{ environments: EnvironmentService }>(
  async (app, { environments }) => {
    app.addHook('onRequest', (request, { raw }, done) => {
      request.environment ??= authenticate(request.headers.authorization, environments)
      if (request.environment.ttl !== null)
        raw.once('close', environments.keepInUse(request.environment))
      done()
    })
    // Once more when the body has been read: throws if the environment was removed meanwhile.
    app.addHook('preHandler', ({ environment }, _reply, done) => done(void environment.datasets))
  },
  { name: 'authentication' }
)

/** Returns the environment of an `Authorization` header. Throws `unauthenticated` when it gives access to none. */
export function authenticate(
  header: string | undefined,
  environments: EnvironmentService
): Environment {
  // As nearly all are sent: twice as fast.
  const known = header?.startsWith('ApiKey ') && environments.resolve(header.slice(7))
  if (known) return known
  const [scheme = '', ...rest] = (header ?? '').trim().split(/[ \t]+/)
  const apiKey = rest.join(' ')
  if (!scheme)
    throw unauthenticated(
      'Missing authorization header',
      'send the header "Authorization: ApiKey <key>"'
    )
  if (scheme.toLowerCase() !== 'apikey') {
    // The word may also be the key, sent without a scheme, or contain it, as in `ApiKey:<key>`.
    const word =
      /^(?!apikey)[a-z]{1,24}$/i.test(scheme) && !environments.resolve(scheme) ? scheme : '***'
    const reason = apiKey
      ? 'the scheme is ApiKey: "Authorization: ApiKey <key>"'
      : 'put "ApiKey " before the key'
    throw unauthenticated(`Invalid authentication scheme: "${word}"`, reason)
  }
  const environment = environments.resolve(apiKey)
  const assumptions = environment?.assumptions ?? environments.defaultAssumptions
  if (scheme !== 'ApiKey' && assumptions['auth-scheme-case'] === 'exact') {
    const reason = 'the scheme is spelled exactly "ApiKey" here (assumption auth-scheme-case)'
    throw unauthenticated(`Invalid authentication scheme: "${scheme}"`, reason)
  }
  if (apiKey === '') throw unauthenticated('Unauthorized', 'the header has no key after "ApiKey"')
  if (environment) return environment
  const reason = 'no environment has this key; the keys are printed when the server starts'
  throw unauthenticated('API Key not found', reason)
}

/**
 * Returns a function that sets `request.environment` from the API key. It rejects nothing: without a valid key the
 * environment stays undefined, and `authentication` rejects the request where a key is required.
 */
export const identifyEnvironment =
  (environments: EnvironmentService) =>
  (request: FastifyRequest): void => {
    const { authorization } = request.headers
    if (authorization === undefined) return
    request.environment = environmentOf(authorization, environments) as Environment
  }

/** Returns the environment of an `Authorization` header, or undefined when it gives access to none. */
export const environmentOf = (
  header: string | undefined,
  environments: EnvironmentService
): Environment | undefined => attempt(() => authenticate(header, environments))

const unauthenticated = (message: string, reason: string) =>
  new DomainError('unauthenticated', message, { reason })
