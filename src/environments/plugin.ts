import fp from 'fastify-plugin'
import { attempt, DomainError } from '../core/errors.js'
import type { Environment, EnvironmentService } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The environment of the request's API key. Always set where `authentication` is registered. */
    environment: Environment
  }
}

/**
 * Finds the environment of each request's API key before anything else of the request is read. Rejects with 401 when
 * there is none. A key is neither logged nor repeated in an answer.
 */
export const authentication = fp<{ environments: EnvironmentService }>(
  async (app, { environments }) => {
    app.addHook('onRequest', (request, _reply, done) => {
      request.environment ??= authenticate(request.headers.authorization, environments)
      done()
    })
  },
  { name: 'authentication' }
)

/** Lets no environment expire while a request with its key is read, worked on or answered. */
export const keepInUse = fp<{ environments: EnvironmentService }>(
  async (app, { environments }) => {
    app.addHook('onRequest', ({ environment }, { raw }, done) => {
      if (environment.ttl !== null) raw.once('close', environments.keepInUse(environment))
      done()
    })
  },
  { name: 'keep-in-use', dependencies: ['authentication'] }
)

/**
 * Rejects with 401 what came to its end after its environment was removed, before anything is kept for it in memory. Needed
 * where the database is not asked; on its own, as `authentication` runs before the body is read.
 */
export const presentEnvironment = fp(
  async (app) => {
    app.addHook('preHandler', ({ environment }, _reply, done) => {
      // Throws.
      void environment.datasets
      done()
    })
  },
  { name: 'present-environment', dependencies: ['authentication'] }
)

const USUAL_SCHEME = 'ApiKey '

/** Returns the environment of an `Authorization` header. Throws `unauthenticated` when it gives access to none. */
export function authenticate(header: string | undefined, environments: EnvironmentService): Environment {
  // Nearly all headers are of this form, which needs no parsing.
  const known = header?.startsWith(USUAL_SCHEME) ? environments.resolve(header.slice(USUAL_SCHEME.length)) : undefined
  if (known) return known
  const [scheme = '', ...rest] = (header ?? '').trim().split(/[ \t]+/)
  const apiKey = rest.join(' ')
  if (scheme === '') {
    throw unauthenticated('Missing authorization header', 'send the header "Authorization: ApiKey <key>"')
  }
  if (scheme.toLowerCase() !== 'apikey') {
    const word = isScheme(scheme, apiKey, environments) ? scheme : '***'
    throw unauthenticated(
      `Invalid authentication scheme: "${word}"`,
      apiKey ? 'the scheme is ApiKey: "Authorization: ApiKey <key>"' : 'put "ApiKey " before the key'
    )
  }
  const environment = environments.resolve(apiKey)
  const assumptions = environment?.assumptions ?? environments.defaultAssumptions
  if (scheme !== 'ApiKey' && assumptions['auth-scheme-case'] === 'exact') {
    throw unauthenticated(
      `Invalid authentication scheme: "${scheme}"`,
      'the scheme is spelled exactly "ApiKey" here (assumption auth-scheme-case)'
    )
  }
  if (apiKey === '') throw unauthenticated('Unauthorized', 'the header has no key after "ApiKey"')
  if (!environment) {
    throw unauthenticated(
      'API Key not found',
      'no environment has this key; the keys are printed when the server starts'
    )
  }
  return environment
}

/** Returns the environment of an `Authorization` header, or undefined when it gives access to none. */
export function environmentOf(header: string | undefined, environments: EnvironmentService): Environment | undefined {
  return attempt(() => authenticate(header, environments))
}

/**
 * Whether the first word of a header is a scheme, and so may be repeated in the answer. It may also be the key, sent
 * without a scheme, or contain it, as in `ApiKey:<key>`. A word with no key after it counts only if it is all letters.
 */
function isScheme(word: string, apiKey: string, environments: EnvironmentService): boolean {
  const shape = apiKey ? /^(?!apikey)[a-z][\w-]{0,23}$/i : /^(?!apikey)[a-z]{1,24}$/i
  return shape.test(word) && environments.resolve(word) === undefined
}

function unauthenticated(message: string, reason: string): DomainError {
  return new DomainError('unauthenticated', message, { reason })
}
