import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Assumptions } from '../core/assumptions.js'
import type { Clock } from '../core/clock.js'
import { DomainError } from '../core/errors.js'
import { authenticate } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import { errorAnswers, JSON_TYPE } from '../http/errors.js'
import { pathOf } from '../http/target.js'
import { describedApp, openApiDocument } from './documents.js'

interface Options {
  environments: EnvironmentService
  /** For requests that carry no key. */
  assumptions: Assumptions
  clock: Clock
}

/**
 * The published document, and a page to read and try it. Both are made when first asked for.
 *
 * The document is that of the environment whose key is sent, since assumptions change the wire; without a key that of
 * the server's own profile.
 */
export const documentation: FastifyPluginAsync<Options> = async (app, { environments, assumptions, clock }) => {
  const documents = new Map<string, Promise<string>>()
  let page: Promise<FastifyInstance> | undefined

  app.get('/openapi.json', async (request, reply) => {
    const { authorization } = request.headers
    const shown = authorization === undefined ? assumptions : authenticate(authorization, environments).assumptions
    const key = JSON.stringify(shown)
    const document = documents.get(key) ?? openApiDocument(shown).then((made) => JSON.stringify(made))
    documents.set(key, document)
    return reply.type(JSON_TYPE).send(await document)
  })

  for (const url of ['/docs', '/docs/*']) {
    app.get(url, async (request, reply) => {
      page ??= readingPage(assumptions, clock)
      const { routing } = await page
      // What hooks have set, such as the name of the request, would be lost otherwise.
      for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value ?? [])
      reply.hijack()
      routing(request.raw, reply.raw)
    })
  }

  app.addHook('onClose', async () => {
    await page?.then((made) => made.close())
  })
}

async function readingPage(assumptions: Assumptions, clock: Clock): Promise<FastifyInstance> {
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  const app = await describedApp(assumptions)
  await app.register(errorAnswers, { clock })
  app.setNotFoundHandler(async ({ method, url }) => {
    throw new DomainError('not-found', `Cannot ${method} ${pathOf(url)}`, { reason: 'the page is at /docs' })
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'notification-mock' },
    uiConfig: {
      // Without the bar to load documents from elsewhere.
      layout: 'BaseLayout',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      persistAuthorization: true,
      tryItOutEnabled: true
    }
  })
  await app.ready()
  return app
}
