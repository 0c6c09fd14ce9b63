import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Calls with any headers, also with a Host of its own, which fetch does not send; a POST with an empty object. */
export async function requestWithHost(
  headers: Record<string, string>,
  url: string,
  method = 'GET'
) {
  const sent = request(url, { method, headers, agent: false }).end(
    method === 'POST' ? '{}' : undefined
  )
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, text: await text(response) }
}
