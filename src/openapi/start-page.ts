import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { isLoopback, strangerIn } from '../control/access.js'
import { DomainError } from '../core/errors.js'
import { VERSION } from '../core/package.js'
import { JSON_TYPE } from '../http/errors.js'
import { sendBuilt } from './built-file.js'
import { pageHeaders } from './page-headers.js'

/** Where to go from here. */
const LINKS = {
  docs: '/docs',
  openapi: '/openapi.json',
  control: '/_mock/openapi.json',
  health: '/health',
  manual: '/llms.txt'
}

interface Options {
  /** Whether browsers get the inspector. */
  inspector: boolean
  adminToken: string | undefined
}

/**
 * Serves at `/` what the server is and where to go on, as JSON, and where the Accept header names HTML, as browsers do,
 * the inspector. It is there from the first moment, so that whatever waits for the bare address of a server finds this one
 * ready. Nothing of the page is read before it is asked for. No page of another site gets it, neither by its own request
 * nor by a name that it lets point here.
 */
export const startPage: FastifyPluginAsync<Options> = async (app, { inspector, adminToken }) => {
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

  function sendPage(request: FastifyRequest, reply: FastifyReply, name: keyof typeof TYPES) {
    for (const each of Object.keys(reply.getHeaders())) if (each.startsWith('access-control-')) reply.removeHeader(each)
    const stranger = strangerIn(request.headers)
    if (stranger && isForThisMachine()) {
      throw new DomainError('forbidden', 'The page is not shown here', {
        reason: `${stranger}: open it by 127.0.0.1, or start the server with an admin token`
      })
    }
    return sendBuilt(request, reply.headers(PAGE_HEADERS).type(TYPES[name]), `inspector/${name}`)
  }

  /** Others reach it by other names, and sign in. */
  function isForThisMachine(): boolean {
    const address = app.server.address()
    return adminToken === undefined && typeof address === 'object' && isLoopback(address?.address)
  }
}

const SUMMARY = JSON.stringify({ name: 'notification-mock', version: VERSION, ...LINKS })

/** The files of the page, which the build puts into dist/inspector/, with their content types. */
const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'inspector.css': 'text/css; charset=utf-8',
  'inspector.js': 'text/javascript; charset=utf-8',
  'inspector.svg': 'image/svg+xml'
}

const PAGE_HEADERS = {
  // Frames inherit this policy: without inline styles an email would look like none of its kind.
  ...pageHeaders([
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'"
  ]),
  // Another version of the package may be next at this address.
  'cache-control': 'no-cache'
}
