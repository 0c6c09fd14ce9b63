import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { coverageService } from '../../src/control/coverage/counts.js'
import { OPERATION_IDS } from '../../src/core/enums.js'
import { COMPILERS } from '../../src/http/validation.js'
import { OPERATIONS, registerOperations } from '../../src/openapi/operations.js'

const coverage = coverageService({ profile: 'document', assumptions: {} })
const NO_SERVICES = { coverage } as never

test('every operation is registered once, and described', async () => {
  const app = fastify({ schemaController: { compilersFactory: COMPILERS } })
  const ids: unknown[] = []
  app.addHook('onRoute', ({ method, config }) => {
    if (method !== 'HEAD') ids.push(config?.operation?.id)
  })
  app.register(async (scope) => registerOperations(scope, NO_SERVICES))
  await app.ready()
  expect(ids.sort()).toEqual([...OPERATION_IDS].sort())
  expect(OPERATIONS.map(({ id }) => id)).toEqual(OPERATION_IDS)
})

test('a route beside the operations that serves no operation fails the start', async () => {
  const app = fastify({ schemaController: { compilersFactory: COMPILERS } })
  app.register(async (scope) => {
    registerOperations(scope, NO_SERVICES)
    scope.get('/v1/topics', () => '')
  })
  await expect(app.ready()).rejects.toThrow('the route GET /v1/topics serves no operation')
})
