import fp from 'fastify-plugin'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { Refusal } from '../errors.js'

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
    app.addHook('onRequest', async (request) => {
      request.environment = authenticate(request.headers.authorization, environments)
    })
  },
  { name: 'authentication' }
)

/** The environment that an `Authorization` header gives access to. Refuses with `unauthenticated`. */
export function authenticate(header: string | undefined, environments: EnvironmentService): Environment {
  const [scheme = '', ...rest] = (header ?? '').trim().split(/[ \t]+/)
  const apiKey = rest.join(' ')
  if (scheme === '') {
    throw refused('Missing authorization header', 'send the header "Authorization: ApiKey <key>"')
  }
  if (scheme.toLowerCase() !== 'apikey') {
    const word = isTellable(scheme, environments) ? scheme : '***'
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

/** A first word that is itself a key, or as long as one, stems from a forgotten scheme and is not repeated. */
function isTellable(word: string, environments: EnvironmentService): boolean {
  return word.length <= 24 && environments.resolve(word) === undefined
}

function refused(message: string, reason: string): Refusal {
  return new Refusal('unauthenticated', message, { reason })
}
