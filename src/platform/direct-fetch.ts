import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

// Keep the original functions, because a test may replace them later, as nock does.
const { Agent, request: requestOverHttp } = http
const { request: requestOverHttps } = https
const { toWeb } = Readable

// Node's global agent may use a proxy. A proxy can't reach this machine's loopback addresses.
const loopbackAgent = new Agent({ keepAlive: true })

const TEXT = { 'content-type': 'text/plain;charset=UTF-8' }

export interface DirectRequest {
  method?: string | undefined
  headers?: Record<string, string> | undefined
  body?: string | Uint8Array | undefined
  signal?: AbortSignal | undefined
}

/**
 * The parts of a `Response` that our clients read. `headers` is a plain map, because the global
 * class `Headers` doesn't exist in Jest's jsdom.
 */
export interface DirectResponse {
  ok: boolean
  status: number
  /** Maps lower-case header names to values. */
  headers: ReadonlyMap<string, string>
  readonly body: ReadableStream<Uint8Array>
  text(): Promise<string>
  json(): Promise<unknown>
}

/**
 * Sends a request like `fetch`, but over `node:http`, so that it works while a test replaces
 * `fetch` or the timers. A request to this machine never uses a proxy. Doesn't follow redirects.
 *
 * Rejects with the system's error if there is no response, and with the signal's reason if the
 * signal aborts.
 */
export async function directFetch(
  url: string,
  { method = 'GET', headers = {}, body, signal }: DirectRequest = {}
): Promise<DirectResponse> {
  const send = url.startsWith('https:') ? requestOverHttps : requestOverHttp
  const contentType = typeof body === 'string' ? TEXT : {}
  // Node doesn't add `content-length` to a GET or DELETE request. Without this header, the server
  // would ignore the body.
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const request = send(url, {
    method,
    headers: { ...contentType, ...length, ...headers },
    ...(signal && { signal }),
    ...(isLoopbackUrl(url) && { agent: loopbackAgent })
  })
  try {
    const [message]: IncomingMessage[] = await once(request.end(body), 'response')
    // If the connection breaks later, reading the response reports the error, so ignore it here.
    request.on('error', () => {})
    return responseOf(message as IncomingMessage)
  } catch (error) {
    throw signal?.aborted ? signal.reason : error
  }
}

function responseOf(message: IncomingMessage): DirectResponse {
  const { statusCode: status = 0 } = message
  const text = () => readText(message)
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: headersOf(message),
    get body() {
      return toWeb(message)
    },
    text,
    json: async () => JSON.parse(await text())
  }
}

function headersOf({ headersDistinct }: IncomingMessage): Map<string, string> {
  const headers = Object.entries(headersDistinct)
  return new Map(headers.map(([name, values = []]) => [name, values.join(', ')]))
}

async function readText(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8')) text += chunk
  return text
}

/** Returns whether the URL's host is this machine's loopback interface. */
export function isLoopbackUrl(url: string): boolean {
  return /^(([^.]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)
}
