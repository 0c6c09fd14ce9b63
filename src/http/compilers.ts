import type { FastifyServerOptions } from 'fastify'

type CompilersFactory = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

/**
 * In place of what Fastify compiles of each route's schemas at start: we validate where the environment, and so its
 * assumptions, are known, and send documents as they are stored. The schemas describe the routes all the same.
 */
export const NO_COMPILERS = {
  buildValidator: () => () => () => true,
  buildSerializer: () => () => JSON.stringify
} as unknown as CompilersFactory
