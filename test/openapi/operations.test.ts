import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { coverageService } from '../../src/control/coverage/counts.js'
import { COMPILERS } from '../../src/http/validation.js'
import { registerOperations } from '../../src/openapi/operations.js'

test('a route beside the operations that serves no operation fails the start', async () => {
  const app = fastify({ schemaController: { compilersFactory: COMPILERS } })
  app.register(async (scope) => {
    registerOperations(scope, { coverage: coverageService({ profile: 'document', assumptions: {} }) } as never)
    scope.get('/v1/topics', () => '')
  })
  await expect(app.ready()).rejects.toThrow('the route GET /v1/topics serves no operation')
})
