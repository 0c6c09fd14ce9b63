import { hash } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Assumptions } from '../domain/assumptions.js'
import { authenticate } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import { JSON_TYPE } from '../http/errors.js'
import { serversOf } from '../http/operation.js'
import { openApiDocument } from './documents.js'
import { pageHeaders, readPackaged } from './pages.js'

/**
 * Serves the published document at `/openapi.json`, that of the environment whose key is sent or of the server, a page to
 * read and try it at `/docs`, and the manual: a summary for agents at `/llms.txt`, and all that its pages link to.
 */
export const documentation: FastifyPluginAsync<{ environments: EnvironmentService }> = async (
  app,
  { environments }
) => {
  const { defaultAssumptions } = environments
  const sendDocument = async (reply: FastifyReply, assumed: Assumptions, changes?: object) =>
    reply.type(JSON_TYPE).send(JSON.stringify({ ...(await openApiDocument(assumed)), ...changes }))

  app.get('/openapi.json', async (request, reply) => {
    const { authorization } = request.headers
    const environment =
      authorization === undefined ? undefined : authenticate(authorization, environments)
    return sendDocument(reply, environment?.assumptions ?? defaultAssumptions, {
      servers: serversOf(request)
    })
  })

  app.get('/docs/json', (_request, reply) => sendDocument(reply, defaultAssumptions))

  for (const url of ['/docs', '/docs/']) {
    app.get(url, (_request, reply) =>
      reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(PAGE)
    )
  }

  for (const [name, type] of Object.entries(FILES)) {
    app.get(`/docs/static/${name}`, async (_request, reply) => {
      const file = await readPackaged(`dist/swagger-ui/${name}`)
      return reply.headers(PAGE_HEADERS).type(type).send(file)
    })
  }

  app.get('/llms.txt', (_request, reply) =>
    sendManual(reply, 'llms.txt', 'text/plain; charset=utf-8')
  )
  // One route, as each costs a start half a millisecond.
  app.get<{ Params: { page: string } }>(
    '/docs/:page(^[a-z\\d-]+\\.(?:md|png)$)',
    ({ params: { page } }, reply) =>
      sendManual(
        reply,
        `docs/${page}`,
        page.endsWith('.png') ? 'image/png' : 'text/markdown; charset=utf-8'
      )
  )
  app.get('/seeds/schema.json', (_request, reply) =>
    sendManual(reply, 'seeds/schema.json', JSON_TYPE)
  )
}

async function sendManual(reply: FastifyReply, name: string, type: string): Promise<FastifyReply> {
  return reply.type(type).send(await readPackaged(name, '/llms.txt lists the pages of the manual'))
}

/** The files that the page loads, with their content types. */
const FILES = {
  'index.css': 'text/css; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-16x16.png': 'image/png',
  'favicon-32x32.png': 'image/png'
}

const SCRIPT = `
SwaggerUIBundle({
  url: '/docs/json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  layout: 'BaseLayout',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true
})
`

/** What the page loads is from here, but for images that are in its style sheets. */
const PAGE_HEADERS = pageHeaders(
  `'self' 'sha256-${hash('sha256', SCRIPT, 'base64')}'`,
  // The document may name this server otherwise than the address by which the page was opened.
  "'self' http: https:"
)

/** Its base layout lacks the bar that loads documents from elsewhere. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>notification-mock</title>
<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/docs/static/index.css">
<link rel="icon" type="image/png" sizes="32x32" href="/docs/static/favicon-32x32.png">
<link rel="icon" type="image/png" sizes="16x16" href="/docs/static/favicon-16x16.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/static/swagger-ui-bundle.js"></script>
<script>${SCRIPT}</script>
</body>
</html>
`
