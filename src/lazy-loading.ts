import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { wallClock } from './domain/clock.js'
import { errorJson, JSON_TYPE, SERVER_ERROR } from './http/errors.js'
import { pathOf } from './http/target.js'

/**
 * Matches paths that start with `/v1/` or `/v2/`, in lower or upper case, and `/health`. The routes
 * for all other paths are loaded on first use.
 */
const EAGER_PATHS = /^\/([vV][12]\/|health(?![^?#]))/

/**
 * Makes the server of `app` pass every request that doesn't match `EAGER_PATHS` to a second Fastify
 * instance. The first of these requests calls `load` to create the instance. Creating it at startup
 * would delay the first response by 20% (540 → 651 ms, measured 2026-11-28). If `load` fails, the
 * requests that wait for it get a 500, and the next request calls `load` again.
 */
export function serveLazily(app: FastifyInstance, load: () => Promise<FastifyInstance>): void {
  let lazyApp: Promise<FastifyInstance> | undefined

  async function loadLazyApp(): Promise<FastifyInstance> {
    lazyApp ??= load()
    try {
      return await lazyApp
    } catch (error) {
      lazyApp = undefined
      throw error
    }
  }

  // Remove Fastify's own listener, which would route every request to `app`.
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    if (isEager(request.url ?? '')) return app.routing(request, response)
    loadLazyApp().then(
      ({ routing }) => routing(request, response),
      (error) => sendLoadError(app, error, request, response)
    )
  })
  app.addHook('onClose', async () => {
    const loaded = await lazyApp?.catch(() => undefined)
    await loaded?.close()
  })
}

/**
 * Returns whether the URL's path matches `EAGER_PATHS`. Accepts absolute-form and percent-encoded
 * URLs.
 */
function isEager(url: string): boolean {
  if (EAGER_PATHS.test(url)) return true
  const mayBeEncoded = /%|^h/i.test(url)
  return mayBeEncoded && EAGER_PATHS.test(decodedPath(url))
}

/** Returns the decoded path of a URL, or the URL itself if its percent-encoding is malformed. */
function decodedPath(url: string): string {
  try {
    return decodeURI(pathOf(url))
  } catch {
    return url
  }
}

function sendLoadError(
  app: FastifyInstance,
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse
): void {
  const errorId = randomUUID()
  const reason = `could not load the routes for this path; look for errorId ${errorId} in the log`
  app.log.error({ err: error, errorId, method: request.method }, 'routes could not be loaded')
  const body = errorJson(
    { status: 500, message: SERVER_ERROR, reason, errorId },
    request.url ?? '',
    {
      now: wallClock
    }
  )
  response.writeHead(500, { 'content-type': JSON_TYPE, 'x-mock-reason': reason })
  response.end(body)
}
