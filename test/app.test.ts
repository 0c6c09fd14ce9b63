import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { registerOperations } from '../src/app.js'
import { CoverageService } from '../src/coverage/service.js'
import { COMPILERS } from '../src/http/validation.js'
import { useMock } from './support/mock.js'
import { SHOP, seedOf } from './support/shop.js'

test('the test client rejects a response that violates the OpenAPI document', async () => {
  const mock = await useMock({ seed: seedOf(SHOP) })
  mock.db.client.exec(`UPDATE messages SET document = json_set(document, '$.extra', 1)`)
  await expect(mock.get('/v1/messages')).rejects.toThrow('must NOT have additional properties')
  mock.db.client.exec(
    `UPDATE messages SET document = json_set(json_remove(document, '$.extra'), '$.status', 'lost')`
  )
  await expect(mock.get('/v1/messages')).rejects.toThrow(
    'must be equal to one of the allowed values'
  )
})

test('the app rejects a /v1 route that was not created with defineOperation', async () => {
  const app = fastify({ schemaController: { compilersFactory: COMPILERS } })
  app.register(async (scope) => {
    registerOperations(scope, {
      coverage: new CoverageService({ profile: 'document', assumptions: {} })
    } as never)
    scope.get('/v1/topics', () => '')
  })
  await expect(app.ready()).rejects.toThrow('the route GET /v1/topics serves no operation')
})
