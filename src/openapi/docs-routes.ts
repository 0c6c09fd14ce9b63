import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'
import { authenticate } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import { JSON_TYPE } from '../http/errors.js'
import { serversOf } from '../http/operation.js'
import { openApiDocument } from './documents.js'
import { pageHeaders, readPackageFile } from './package-files.js'

/**
 * Serves the OpenAPI document at `/openapi.json`, Swagger UI at `/docs`, and the manual. The
 * document describes the environment of the request's API key. Without a key, it describes an
 * environment with the server's default assumptions. The manual consists of `/llms.txt` and the
 * Markdown pages that it links to.
 */
export const documentation: FastifyPluginAsync<{ environments: EnvironmentService }> = async (
  app,
  { environments }
) => {
  registerDocuments(app, environments)
  registerSwaggerUi(app)
  registerManual(app)
}

function registerDocuments(app: FastifyInstance, environments: EnvironmentService): void {
  const { defaultAssumptions } = environments
  app.get('/openapi.json', async (request, reply) => {
    const { authorization } = request.headers
    const assumptions =
      authorization === undefined
        ? defaultAssumptions
        : authenticate(authorization, environments).assumptions
    const document = await openApiDocument(assumptions)
    return sendJson(reply, { ...document, servers: serversOf(request) })
  })

  app.get('/docs/json', async (_request, reply) =>
    sendJson(reply, await openApiDocument(defaultAssumptions))
  )
}

function registerSwaggerUi(app: FastifyInstance): void {
  for (const url of ['/docs', '/docs/']) {
    app.get(url, (_request, reply) =>
      reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(PAGE)
    )
  }
  for (const [name, mediaType] of Object.entries(SWAGGER_UI_FILES)) {
    app.get(`/docs/static/${name}`, async (_request, reply) => {
      const file = await readPackageFile(`dist/swagger-ui/${name}`)
      return reply.headers(PAGE_HEADERS).type(mediaType).send(file)
    })
  }
}

function registerManual(app: FastifyInstance): void {
  app.get('/llms.txt', (_request, reply) =>
    sendManual(reply, 'llms.txt', 'text/plain; charset=utf-8')
  )
  for (const folder of ['docs', 'docs/contributing']) {
    app.get<{ Params: { page: string } }>(
      `/${folder}/:page(^[\\w-]+\\.md$)`,
      ({ params: { page } }, reply) =>
        sendManual(reply, `${folder}/${page}`, 'text/markdown; charset=utf-8')
    )
  }
  app.get('/seeds/schema.json', (_request, reply) =>
    sendManual(reply, 'seeds/schema.json', JSON_TYPE)
  )
}

function sendJson(reply: FastifyReply, value: object): FastifyReply {
  return reply.type(JSON_TYPE).send(JSON.stringify(value))
}

async function sendManual(
  reply: FastifyReply,
  path: string,
  mediaType: string
): Promise<FastifyReply> {
  const file = await readPackageFile(path, '/llms.txt lists the pages of the manual')
  return reply.type(mediaType).send(file)
}

/** The files that Swagger UI's page loads, with their media types. */
const SWAGGER_UI_FILES = {
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

const PAGE_HEADERS = pageHeaders(
  `'self' 'sha256-${hash('sha256', SCRIPT, 'base64')}'`,
  // Allow requests to any host, because the document's server URL may have a different host name
  // than the page.
  "'self' http: https:"
)

/** The Swagger UI page. It uses the base layout, which has no field for loading other documents. */
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
