import type { IncomingMessage, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { type RecordOptions, recordService } from '../../../src/remote/recording/record-service.js'
import { listen } from '../listen.js'

/** Can respond to a request instead of the mock behind the proxy. Returns whether it did. */
export type Disturb = (
  request: IncomingMessage,
  response: ServerResponse,
  /** The number of requests for this path so far, including this request. */
  count: number
) => boolean | Promise<boolean>

/** Starts a proxy in front of a mock. `disturb` can respond instead of the mock. */
export async function startDisturbedProxy(
  upstream: string,
  disturb: Disturb
): Promise<{ url: string }> {
  const counts = new Map<string, number>()
  const server = await listen(async (request, response) => {
    const path = request.url ?? ''
    const count = (counts.get(path) ?? 0) + 1
    counts.set(path, count)
    if (await disturb(request, response, count)) return
    const { authorization = '', origin = '' } = request.headers
    const forwarded = await fetch(upstream + path, { headers: { authorization, origin } })
    // The probe for `cors` reads this header.
    const allowedOrigin = forwarded.headers.get('access-control-allow-origin')
    response
      .writeHead(forwarded.status, {
        'content-type': 'application/json',
        ...(allowedOrigin && { 'access-control-allow-origin': allowedOrigin })
      })
      .end(await forwarded.text())
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** Records the server at `url` into the file `out`, as fast as possible. */
export function recordFrom(url: string, out: string, options: Partial<RecordOptions> = {}) {
  return recordService({
    url,
    apiKey: 'development-key',
    out,
    workflows: [],
    steps: [],
    pageSize: 10,
    maximum: 1e9,
    rate: 10_000,
    timeout: 10_000,
    keepPersonalData: false,
    keepWorkflowTexts: false,
    name: 'Recorded',
    assumptions: {},
    onProgress: () => {},
    ...options
  } as RecordOptions)
}

/** Requests all pages of messages and all `stepPaths`. Returns the bodies of the responses. */
export async function responsesOf(
  url: string,
  key: string,
  stepPaths: readonly string[],
  limit = 100
): Promise<string[]> {
  const get = async (path: string) => {
    const response = await fetch(url + path, { headers: { authorization: `ApiKey ${key}` } })
    return response.text()
  }
  const pages: string[] = []
  for (let page = 0; ; page++) {
    const text = await get(`/v1/messages?page=${page}&limit=${limit}`)
    pages.push(text)
    if (JSON.parse(text).data.length === 0) break
  }
  return [...pages, ...(await Promise.all(stepPaths.map(get)))]
}
