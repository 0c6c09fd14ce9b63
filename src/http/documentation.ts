import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Assumptions } from '../assumptions.js'
import type { Clock } from '../clock.js'
import type { EnvironmentService } from '../environments/service.js'
import { Refusal } from '../errors.js'
import { authenticate } from './auth.js'
import { errorAnswers, JSON_TYPE } from './errors.js'
import { describedApp, openApiDocument } from './openapi.js'

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
    const path = url.replace(/\?.*$/s, '')
    throw new Refusal('not-found', `Cannot ${method} ${path}`, { reason: 'the page is at /docs' })
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
