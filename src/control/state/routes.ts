import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { isScalar, Scalar, visit, Document as YamlDocument } from 'yaml'
import { RESET_PARTS, type ResetPart } from '../../core/enums.js'
import { DomainError, type FieldErrors } from '../../core/errors.js'
import { ref } from '../../core/typebox.js'
import type { EnvironmentService } from '../../environments/service.js'
import { controlRoutes } from '../../http/control-route.js'
import { SeedError } from '../../seeds/errors.js'
import { loadGenerator, needsGenerator } from '../../seeds/generate/load.js'
import type { SeedService } from '../../seeds/service.js'
import { ResetDone, ResetRequest, SeedDocument, SeedLoaded, SeedQuery, SeedText } from './schemas.js'

interface Options {
  environments: EnvironmentService
  seeds: SeedService
}

/** The body limit of requests that carry a seed, in bytes. */
export const MAX_SEED = 64 * 1024 * 1024

const route = controlRoutes({ tag: 'State' })

/** Reads, replaces and resets the state of one environment. */
export const stateRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { environments, seeds }) => {
  app.route({
    ...route('GET', '/state', {
      id: 'exportState',
      summary: 'Export this environment as a seed',
      description:
        'In JSON, or in YAML if the Accept header asks for it. An environment with this seed answers byte for byte the same.',
      response: SeedDocument
    }),
    handler: async ({ environment, headers }, reply) => {
      const seed = seeds.export(environment)
      // What Accept names first counts.
      if (/json|yaml|\*/i.exec(headers.accept ?? '')?.[0].toLowerCase() !== 'yaml') return seed
      return reply.type('application/yaml; charset=utf-8').send(toYaml(seed))
    }
  })

  app.route({
    ...route('POST', '/seed', {
      id: 'loadSeed',
      summary: 'Load a seed into this environment',
      description:
        'JSON or YAML with one environment, whose own name, ids and keys are ignored. The whole seed is checked first, and nothing of it is loaded if it has an error.',
      querystring: SeedQuery,
      body: SeedText,
      textBody: true,
      response: SeedLoaded
    }),
    bodyLimit: MAX_SEED,
    handler: async ({ environment, body, query: { mode } }) => {
      if (needsGenerator(body)) await loadGenerator()
      withSeedErrors(() => seeds.load(environment, body, mode))
      return { mode }
    }
  })

  app.route({
    ...route('POST', '/reset', {
      id: 'resetEnvironment',
      summary: 'Reset this environment to its baseline',
      description: 'The baseline is the state in which the environment was created or seeded.',
      body: ref(ResetRequest),
      response: ref(ResetDone)
    }),
    handler: async ({ environment, body: { parts = [...RESET_PARTS] } }) =>
      timed(parts, () => environments.reset(environment, parts))
  })
}

/** Returns the seed as YAML without aliases and merge keys. */
function toYaml(seed: object): string {
  const document = new YamlDocument(seed, { aliasDuplicateObjects: false })
  visit(document, {
    // A bare << would merge its value into the object that it is a field of.
    Pair(_index, { key }) {
      if (isScalar(key) && key.value === '<<') key.type = Scalar.QUOTE_DOUBLE
    }
  })
  return document.toString()
}

/** Runs a reset and measures it. */
export function timed(parts: ResetPart[], reset: () => void): ResetDone {
  const started = performance.now()
  reset()
  return { parts, duration: Math.round((performance.now() - started) * 1000) / 1000 }
}

/** Rejects with `invalid` a seed that can't be loaded, each issue under its path in the seed. */
export function withSeedErrors<Result>(load: () => Result): Result {
  try {
    return load()
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    const errors: FieldErrors = {}
    for (const { location, path, message } of error.issues) {
      const field = path || 'seed'
      errors[field] ??= { messages: [] }
      errors[field].messages.push(`${location} ${message}`)
    }
    throw new DomainError('invalid', 'Validation Error', { reason: error.message.replaceAll('\n', '; '), errors })
  }
}
