import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'
import { DomainError } from '../domain/errors.js'
import { authenticate } from '../environments/plugin.js'
import type { EnvironmentService } from '../environments/service.js'
import { JSON_TYPE } from '../http/errors.js'
import { serversOf } from '../http/operation.js'
import { type ApiDocuments, renderDocsPage, renderTypePage } from './docs-page/page.js'
import { controlDocument, openApiDocument } from './documents.js'
import { pageHeaders, readPackageFile } from './package-files.js'

interface Options {
  environments: EnvironmentService
  /** Whether the server shows the inspector, which has a form to send requests. */
  inspector: boolean
}

/**
 * Serves the documentation:
 *
 * - `/openapi.json` describes the environment that the request's API key belongs to. If the request
 *   has no key, it describes the server's default assumptions.
 * - `/docs` shows the API reference with the server's default assumptions.
 * - `/llms.txt` and the Markdown pages that it links to are the manual.
 */
export const documentation: FastifyPluginAsync<Options> = async (app, options) => {
  registerDocuments(app, options.environments)
  registerPages(app, options)
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
}

function registerPages(app: FastifyInstance, { environments, inspector }: Options): void {
  const documents = async (): Promise<ApiDocuments> => ({
    api: await openApiDocument(environments.defaultAssumptions),
    control: await controlDocument()
  })
  // The links in the page are relative to `/docs`.
  app.get('/docs/', (_request, reply) => reply.redirect('../docs', 308))
  app.get<{ Querystring: { environment?: unknown } }>('/docs', async ({ query }, reply) => {
    const formUrl = inspector ? formUrlFor(query.environment) : undefined
    return sendPage(reply, renderDocsPage(await documents(), formUrl))
  })
  app.get<{ Params: { name: string } }>('/docs/types/:name', async ({ params }, reply) => {
    const page = renderTypePage(await documents(), params.name)
    if (page === undefined)
      throw new DomainError('not-found', 'There is no page here', {
        reason: 'no type has this name; open /docs for links to the types'
      })
    return sendPage(reply, page)
  })
  for (const [name, { path, mediaType }] of Object.entries(FILES)) {
    app.get(`/docs/${name}`, async (_request, reply) =>
      reply
        .headers(PAGE_HEADERS)
        .type(mediaType)
        .send(await readPackageFile(path))
    )
  }
}

/**
 * Returns a function that maps an operation's id to the URL of the inspector's form for this
 * operation. The form selects the environment that is named in the URL of the docs page.
 */
function formUrlFor(environment: unknown) {
  return (operationId: string): string => {
    const query = new URLSearchParams({ operation: operationId })
    if (typeof environment === 'string') query.set('environment', environment)
    return `./#/requests/new?${query}`
  }
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page)
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

/** The files that the pages load. */
const FILES = {
  'style.css': { path: 'dist/inspector/docs.css', mediaType: 'text/css; charset=utf-8' },
  'icon.svg': { path: 'dist/inspector/inspector.svg', mediaType: 'image/svg+xml' }
}

// The pages run no scripts and make no connections.
const PAGE_HEADERS = pageHeaders("'none'", "'none'")
