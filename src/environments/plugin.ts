import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import type { Environment, EnvironmentService } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The environment of the request's API key. Undefined if the request has no valid key. */
    environment?: Environment | undefined
  }
}

/**
 * The result of checking an `Authorization` header: the environment of its key, or the error with
 * which to reject the request.
 */
export type Authentication =
  | { kind: 'authenticated'; environment: Environment }
  | { kind: 'rejected'; error: DomainError }

/**
 * Rejects requests without a valid API key with 401, before their body is read. Keeps a request's
 * environment from expiring until the response is sent. API keys are neither logged nor repeated in
 * a response.
 */
export const authentication = fp<{ environments: EnvironmentService }>(
  async (app, { environments }) => {
    app.addHook('onRequest', (request, _reply, done) => {
      authenticateRequest(request, environments)
      done()
    })
    // The environment may have been removed while the body was being received.
    app.addHook('preHandler', (request, _reply, done) => {
      environments.assertExists(requireEnvironment(request))
      done()
    })
  },
  { name: 'authentication' }
)

/**
 * Sets `request.environment`, and keeps that environment from expiring until the response is sent.
 * Throws `unauthenticated` if the request has no valid API key.
 */
export function authenticateRequest(
  request: FastifyRequest,
  environments: EnvironmentService
): void {
  request.environment ??= authenticate(request.headers.authorization, environments)
  const { environment, raw } = request
  if (environment.ttl !== null) raw.once('close', environments.keepInUse(environment))
}

/** Returns the environment of a request to a route behind `authentication`. */
export function requireEnvironment({ environment, url }: FastifyRequest): Environment {
  if (!environment) throw new Error(`the route of ${url} needs the plugin "authentication"`)
  return environment
}

/**
 * Returns a function that sets `request.environment` if the request has a valid API key. The
 * function never rejects a request. On routes that require a key, the plugin `authentication`
 * rejects requests without one.
 */
export const identifyEnvironment =
  (environments: EnvironmentService) =>
  (request: FastifyRequest): void => {
    const { authorization } = request.headers
    if (authorization === undefined) return
    const result = checkAuthorization(authorization, environments)
    if (result.kind === 'authenticated') request.environment = result.environment
  }

/**
 * Returns the environment of an `Authorization` header. Throws `unauthenticated` if the header is
 * missing or invalid.
 */
export function authenticate(
  header: string | undefined,
  environments: EnvironmentService
): Environment {
  const result = checkAuthorization(header, environments)
  if (result.kind === 'rejected') throw result.error
  return result.environment
}

function checkAuthorization(
  header: string | undefined,
  environments: EnvironmentService
): Authentication {
  // Nearly all headers start with `ApiKey ` and have a valid key. Checking for this case first is
  // twice as fast as parsing every header.
  const usual = header?.startsWith('ApiKey ') && environments.findByApiKey(header.slice(7))
  if (usual) return { kind: 'authenticated', environment: usual }

  const [scheme = '', ...rest] = (header ?? '').trim().split(/[ \t]+/)
  const apiKey = rest.join(' ')
  if (!scheme) {
    const reason = 'send the header "Authorization: ApiKey <key>"'
    return rejected('Missing authorization header', reason)
  }
  if (scheme.toLowerCase() !== 'apikey') return rejectScheme(scheme, apiKey, environments)
  const environment = environments.findByApiKey(apiKey)
  const assumptions = environment?.assumptions ?? environments.defaultAssumptions
  if (scheme !== 'ApiKey' && assumptions['auth-scheme-case'] === 'exact') {
    const reason = 'write the scheme exactly as "ApiKey" (assumption auth-scheme-case)'
    return rejected(`Invalid authentication scheme: "${scheme}"`, reason)
  }
  if (apiKey === '')
    return rejected('Unauthorized', 'the Authorization header has no key after "ApiKey"')
  if (environment) return { kind: 'authenticated', environment }
  const reason = 'no environment has this key; the server prints the keys when it starts'
  return rejected('API Key not found', reason)
}

function rejectScheme(
  scheme: string,
  apiKey: string,
  environments: EnvironmentService
): Authentication {
  // The header's first word may be a key that was sent without a scheme, or may contain a key, as
  // in `ApiKey:<key>`. Don't repeat such a word in the message.
  const isScheme = /^(?!apikey)[a-z]{1,24}$/i.test(scheme) && !environments.isApiKey(scheme)
  const reason = apiKey
    ? 'the scheme must be ApiKey: "Authorization: ApiKey <key>"'
    : 'put "ApiKey " before the key'
  return rejected(`Invalid authentication scheme: "${isScheme ? scheme : '***'}"`, reason)
}

function rejected(message: string, reason: string): Authentication {
  return { kind: 'rejected', error: new DomainError('unauthenticated', message, { reason }) }
}
