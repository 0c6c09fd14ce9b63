import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen } from '../listen.js'

/** A request on its way to the server. A planted fault may change it. */
export interface ProxiedRequest {
  method: string
  /** Path and query string. */
  path: string
  headers: Record<string, string>
  body: Buffer
}

/** A response on its way to the client. A planted fault may change it. */
export interface ProxiedResponse {
  status: number
  headers: Record<string, string>
  text: string
  /**
   * The JSON in `text`, or undefined if `text` isn't JSON. Setting this property replaces `text`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: planted faults break any part of a response
  json: any
}

export interface ProxiedExchange {
  request: ProxiedRequest
  response: ProxiedResponse
  /** Sends another request to the server, with the same headers. */
  send(path: string, change?: Partial<ProxiedRequest>): Promise<ProxiedResponse>
  /** Values that a planted fault keeps between requests. */
  memory: Map<string, unknown>
}

export interface ProxyHooks {
  request?(exchange: Omit<ProxiedExchange, 'response'>): void | Promise<void>
  response?(exchange: ProxiedExchange): void | Promise<void>
}

/**
 * The path where Novu lists integrations. The mock has no such route, so the proxy requests
 * `/_mock/integrations` instead.
 */
const LISTING = '/v1/integrations'

/** Simulates a target that can't list integrations: both routes that list them return 404. */
export const UNLISTED: ProxyHooks = {
  response({ request: { path }, response }) {
    if (path === LISTING || path === '/_mock/integrations') response.status = 404
  }
}

/**
 * Starts a proxy that forwards requests. `hooks` can change the requests and their responses. The
 * proxy lists integrations as Novu does, so that the cases can check how set-primary changes other
 * integrations.
 */
export async function startProxy(upstream: string, hooks: ProxyHooks = {}) {
  const memory = new Map<string, unknown>()
  return listen((incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: Error) => outgoing.destroy(error))
  })

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await readRequest(incoming)
    const send = (path: string, change = {}) => forward(upstream, { ...request, path, ...change })
    await hooks.request?.({ request, send, memory })
    const response = await forward(upstream, request)
    await hooks.response?.({ request, response, send, memory })
    outgoing.writeHead(response.status, withoutConnectionHeaders(response.headers))
    outgoing.end(request.method === 'HEAD' ? undefined : response.text)
  }
}

async function readRequest(incoming: IncomingMessage): Promise<ProxiedRequest> {
  const { method = 'GET', url: path = '/', headers } = incoming
  const forwarded = Object.entries(headers).filter(
    ([name]) => !/^(host|connection|content-length|accept-encoding)$/.test(name)
  )
  return {
    method,
    path,
    headers: Object.fromEntries(forwarded) as Record<string, string>,
    body: await buffer(incoming)
  }
}

function withoutConnectionHeaders(headers: Record<string, string>): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => !/^(content-length|transfer-encoding|connection|keep-alive)$/.test(name)
  )
  return Object.fromEntries(kept)
}

async function forward(upstream: string, request: ProxiedRequest): Promise<ProxiedResponse> {
  const { method, path, headers, body } = request
  const isListing = method === 'GET' && path === LISTING
  const hasBody = method !== 'GET' && method !== 'HEAD' && body.length > 0
  const upstreamResponse = await fetch(upstream + (isListing ? '/_mock/integrations' : path), {
    method,
    headers,
    redirect: 'manual',
    ...(hasBody && { body: new Uint8Array(body) })
  })
  const response = proxiedResponse(
    upstreamResponse.status,
    Object.fromEntries(upstreamResponse.headers),
    await upstreamResponse.text()
  )
  if (isListing && response.status === 200) response.json = { data: response.json.integrations }
  return response
}

function proxiedResponse(
  status: number,
  headers: Record<string, string>,
  text: string
): ProxiedResponse {
  return {
    status,
    headers,
    text,
    get json() {
      try {
        return JSON.parse(this.text)
      } catch {
        return undefined
      }
    },
    set json(value) {
      this.text = JSON.stringify(value)
    }
  }
}
