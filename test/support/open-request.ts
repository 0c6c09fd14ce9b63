import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request as startRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface OpenRequest {
  request: ClientRequest
  /** Ends the body, and waits for the response. */
  finish(): Promise<{
    status: number | undefined
    headers: IncomingMessage['headers']
    text: string
  }>
}

/**
 * Starts a POST, but leaves its body open until `finish` is called. Resolves once the server has
 * started to handle the request. The server then waits for the end of the body.
 */
export async function startOpenRequest(
  url: string,
  headers: Record<string, string>
): Promise<OpenRequest> {
  const request = startRequest(url, {
    method: 'POST',
    agent: new Agent({ keepAlive: true }),
    // Node sends the response 100 (Continue) when it passes the request to the handlers.
    headers: { ...headers, 'transfer-encoding': 'chunked', expect: '100-continue' }
  })
  request.on('error', () => {})
  onTestFinished(() => {
    request.destroy()
  })
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
