import { Agent, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface Asked {
  status: number
  body: Buffer
  /** From sending to the last byte. */
  milliseconds: number
}

interface Details {
  headers?: Record<string, string>
  body?: object
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** One request, over a connection that is kept for the next. */
export async function ask(method: string, url: string, { headers = {}, body }: Details = {}): Promise<Asked> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const json = body && JSON.stringify(body)
    const content = json === undefined ? {} : { 'content-type': 'application/json', 'content-length': json.length }
    const sent = request(url, { method, agent, headers: { ...headers, ...content } }, (response) => {
      buffer(response).then((received) => {
        const milliseconds = performance.now() - startedAt
        resolve({ status: response.statusCode ?? 0, body: received, milliseconds })
      }, reject)
    })
    sent.on('error', reject).end(json)
  })
}

/** The same, and throws unless it is answered with a 2xx. */
export async function mustAsk(method: string, url: string, details: Details = {}): Promise<Asked> {
  const asked = await ask(method, url, details)
  if (asked.status >= 200 && asked.status < 300) return asked
  throw new Error(`${method} ${url} was answered with ${asked.status}: ${asked.body.toString().slice(0, 300)}`)
}
