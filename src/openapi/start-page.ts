import type { AddressInfo } from 'node:net'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../domain/errors.js'
import { removeCorsHeaders } from '../http/cors.js'
import { JSON_TYPE } from '../http/errors.js'
import { isLoopback, untrustedOrigin } from '../http/loopback.js'
import { VERSION } from '../platform/package.js'
import { pageHeaders, readPackageFile } from './package-files.js'

interface Options {
  /** Whether the server shows the inspector to browsers. */
  inspector: boolean
  adminToken: string | undefined
  /** Returns the address that the server listens on. */
  address: () => string | AddressInfo | null
}

/**
 * Serves the inspector at `/` to browsers. Other clients get a JSON object with links. If the
 * server listens on a loopback address and has no admin token, pages of other sites can't load the
 * inspector or its files.
 */
export const startPage: FastifyPluginAsync<Options> = async (app, options) => {
  app.get('/', (request, reply) => {
    if (!options.inspector) return reply.type(JSON_TYPE).send(SUMMARY)
    reply.header('vary', 'Accept')
    const isBrowser = /\btext\/html\b/i.test(request.headers.accept ?? '')
    if (!isBrowser) return reply.type(JSON_TYPE).send(SUMMARY)
    return sendInspectorFile('index.html', request, reply, options)
  })
  if (!options.inspector) return
  // Use one route for all files, because each route makes startup half a millisecond slower.
  app.get<{ Params: { file: InspectorFile } }>(
    `/inspector/:file(${ASSET_PATTERN})`,
    (request, reply) => sendInspectorFile(request.params.file, request, reply, options)
  )
}

const SUMMARY = JSON.stringify({
  name: 'notification-mock',
  version: VERSION,
  docs: '/docs',
  openapi: '/openapi.json',
  control: '/_mock/openapi.json',
  health: '/health',
  manual: '/llms.txt'
})

/** The inspector's files, which the build writes to dist/inspector/, with their media types. */
const MEDIA_TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'inspector.css': 'text/css; charset=utf-8',
  'inspector.js': 'text/javascript; charset=utf-8',
  'inspector.svg': 'image/svg+xml'
}
type InspectorFile = keyof typeof MEDIA_TYPES

/** Matches the files that the inspector's page loads. The page itself is served only at `/`. */
const ASSET_PATTERN = Object.keys(MEDIA_TYPES)
  .filter((name) => name !== 'index.html')
  .map((name) => `^${name.replace('.', '[.]')}$`)
  .join('|')

const HEADERS = {
  ...pageHeaders("'self'", "'self'"),
  // Browsers must revalidate, because a later server at this URL may run another version of the
  // package.
  'cache-control': 'no-cache'
}

async function sendInspectorFile(
  name: InspectorFile,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { adminToken, address }: Options
): Promise<FastifyReply> {
  removeCorsHeaders(reply)
  const listening = address()
  const isLocalOnly =
    adminToken === undefined && typeof listening === 'object' && isLoopback(listening?.address)
  const problem = untrustedOrigin(headers)
  if (problem && isLocalOnly) {
    throw new DomainError('forbidden', 'The inspector is not shown here', {
      reason: `${problem}; open the inspector at 127.0.0.1, or start the server with an admin token`
    })
  }
  const file = await readPackageFile(`dist/inspector/${name}`)
  return reply.headers(HEADERS).type(MEDIA_TYPES[name]).send(file)
}
