import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { registerControl } from '../../src/control/index.js'
import { COMPILERS } from '../../src/http/validation.js'

test.each(['/extra', '/_mock/extra'])(
  'throws at startup for the undocumented route %s',
  async (url) => {
    const app = fastify({ schemaController: { compilersFactory: COMPILERS } })
    app.register(async (scope) => {
      registerControl(scope, {} as never)
      scope.get(url, () => '')
    })
    await expect(app.ready()).rejects.toThrow(
      `the route GET ${url} must be added with controlRoutes`
    )
  }
)
