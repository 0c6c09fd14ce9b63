import fp from 'fastify-plugin'
import { DomainError } from '../core/errors.js'
import type { Environment, EnvironmentService } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The world the request acts in. Always there behind `authentication`. */
    environment: Environment
  }
}

/**
 * Resolves the API key of each request to its environment, before anything else about the request is looked at.
 * Refuses with `unauthenticated`; a key is neither logged nor repeated in an answer.
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

const USUAL = 'ApiKey '

/** The environment that an `Authorization` header gives access to. Refuses with `unauthenticated`. */
export function authenticate(header: string | undefined, environments: EnvironmentService): Environment {
  // As nearly all send it: nothing is to be taken apart.
  const known = header?.startsWith(USUAL) ? environments.resolve(header.slice(USUAL.length)) : undefined
  if (known) return known
  const [scheme = '', ...rest] = (header ?? '').trim().split(/[ \t]+/)
  const apiKey = rest.join(' ')
  if (scheme === '') {
    throw refused('Missing authorization header', 'send the header "Authorization: ApiKey <key>"')
  }
  if (scheme.toLowerCase() !== 'apikey') {
    const word = isScheme(scheme, apiKey, environments) ? scheme : '***'
    throw refused(
      `Invalid authentication scheme: "${word}"`,
      apiKey ? 'the scheme is ApiKey: "Authorization: ApiKey <key>"' : 'put "ApiKey " before the key'
    )
  }
  if (apiKey === '') throw refused('Unauthorized', 'the header has no key after "ApiKey"')

  const environment = environments.resolve(apiKey)
  if (!environment) {
    throw refused('API Key not found', 'no environment has this key; the keys are printed when the server starts')
  }
  if (scheme !== 'ApiKey' && environment.assumptions['auth-scheme-case'] === 'exact') {
    throw refused(
      `Invalid authentication scheme: "${scheme}"`,
      'the scheme is spelled exactly "ApiKey" in this environment (assumption auth-scheme-case)'
    )
  }
  return environment
}

/** The environment that an `Authorization` header gives access to; undefined when it gives none. */
export function environmentOf(header: string | undefined, environments: EnvironmentService): Environment | undefined {
  try {
    return authenticate(header, environments)
  } catch {
    return undefined
  }
}

/**
 * Whether a first word is a scheme, and so may be repeated. It may also be the key, sent without a scheme, or hold it,
 * as in `ApiKey:<key>`. A scheme with no key after it is taken for one only if it is all letters.
 */
function isScheme(word: string, apiKey: string, environments: EnvironmentService): boolean {
  const shape = apiKey ? /^(?!apikey)[a-z][\w-]{0,23}$/i : /^(?!apikey)[a-z]{1,24}$/i
  return shape.test(word) && environments.resolve(word) === undefined
}

function refused(message: string, reason: string): DomainError {
  return new DomainError('unauthenticated', message, { reason })
}
