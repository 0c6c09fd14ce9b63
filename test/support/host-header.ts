import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * Sends a request with any headers, including `Host`, which `fetch` doesn't allow. A POST has an
 * empty object as its body.
 */
export async function requestWithHost(
  headers: Record<string, string>,
  url: string,
  method = 'GET'
) {
  const outgoing = request(url, { method, headers, agent: false }).end(
    method === 'POST' ? '{}' : undefined
  )
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, text: await text(response) }
}
