import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request as startRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface OpenRequest {
  request: ClientRequest
  /** Sends the rest, and waits for the answer. */
  finish(): Promise<{
    status: number | undefined
    headers: IncomingMessage['headers']
    text: string
  }>
}

/** A POST that the server has begun to handle, and whose body it waits for until `finish`. */
export async function startOpenRequest(
  url: string,
  headers: Record<string, string>
): Promise<OpenRequest> {
  const request = startRequest(url, {
    method: 'POST',
    agent: new Agent({ keepAlive: true }),
    // Node answers 100 when it hands the request on: so we know when that is.
    headers: { ...headers, 'transfer-encoding': 'chunked', expect: '100-continue' }
  })
  request.on('error', () => {})
  onTestFinished(() => void request.destroy())
  request.flushHeaders()
  await once(request, 'continue')
  return {
    request,
    async finish() {
      request.end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      return { status: response.statusCode, headers: response.headers, text: await text(response) }
    }
  }
}
