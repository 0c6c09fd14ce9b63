import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { isLoopback, strangerIn } from '../control/access.js'
import { DomainError } from '../domain/errors.js'
import { JSON_TYPE } from '../http/errors.js'
import { packageRoot, VERSION } from '../platform/package.js'

interface Options {
  /** Whether browsers get the inspector. */
  inspector: boolean
  adminToken: string | undefined
  /** Returns the address that the server listens on. */
  address: () => string | AddressInfo | null
}

/**
 * Serves at `/` what the server is and where to go on, as JSON, and where the Accept header names HTML, as browsers do,
 * the inspector. No page of another site gets that, neither by its own request nor by a name that it lets point here.
 */
export const startPage: FastifyPluginAsync<Options> = async (
  app,
  { inspector, adminToken, address }
) => {
  app.get('/', (request, reply) => {
    if (!inspector) return reply.type(JSON_TYPE).send(SUMMARY)
    reply.header('vary', 'Accept')
    const wantsPage = /\btext\/html\b/i.test(request.headers.accept ?? '')
    return wantsPage ? sendPage(request, reply, 'index.html') : reply.type(JSON_TYPE).send(SUMMARY)
  })
  if (!inspector) return
  // One route, as each costs a start half a millisecond. The page itself finds its files only from `/`.
  const files = Object.keys(TYPES).filter((name) => name !== 'index.html')
  app.get<{ Params: { file: keyof typeof TYPES } }>(
    `/inspector/:file(^${files.join('$|^').replaceAll('.', '[.]')}$)`,
    (request, reply) => sendPage(request, reply, request.params.file)
  )

  async function sendPage(
    { headers }: FastifyRequest,
    reply: FastifyReply,
    name: keyof typeof TYPES
  ) {
    for (const each of Object.keys(reply.getHeaders()))
      if (each.startsWith('access-control-')) reply.removeHeader(each)
    const stranger = strangerIn(headers)
    const own = address()
    // Others reach it by other names, and sign in.
    const isForThisMachine =
      adminToken === undefined && typeof own === 'object' && isLoopback(own?.address)
    if (stranger && isForThisMachine) {
      throw new DomainError('forbidden', 'The page is not shown here', {
        reason: `${stranger}: open it by 127.0.0.1, or start the server with an admin token`
      })
    }
    const file = await readPackaged(`dist/inspector/${name}`)
    return reply.headers(PAGE_HEADERS).type(TYPES[name]).send(file)
  }
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

/** The files of the page, which the build puts into dist/inspector/, with their content types. */
const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'inspector.css': 'text/css; charset=utf-8',
  'inspector.js': 'text/javascript; charset=utf-8',
  'inspector.svg': 'image/svg+xml'
}

const PAGE_HEADERS = {
  // Frames inherit this policy: without inline styles an email would look like none of its kind.
  ...pageHeaders("'self'", "'self'"),
  // Another version of the package may be next at this address.
  'cache-control': 'no-cache'
}

/** The headers of a page of ours, which runs and asks nothing but these sources, and which no other site shows. */
export function pageHeaders(scripts: string, connections: string): Record<string, string> {
  const looks = ["style-src 'self' 'unsafe-inline'", "img-src 'self' data:"]
  const own = [
    "default-src 'none'",
    `script-src ${scripts}`,
    ...looks,
    `connect-src ${connections}`
  ]
  const policy = [...own, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join(
    '; '
  )
  return { 'content-security-policy': policy, 'x-content-type-options': 'nosniff' }
}

/** Reads a file of this package, most of which the build has put into `dist/`. Rejects with `not-found` when it is not there. */
export async function readPackaged(path: string, reason = NOT_BUILT): Promise<Buffer> {
  return readFile(join(packageRoot(), path)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new DomainError('not-found', 'There is no page here', { reason })
      : error
  })
}

const NOT_BUILT = 'it is built into dist/ by `npm run build`; what programs ask for needs no build'
