import { request as sendOverHttp } from 'node:http'
import { MASK } from '../domain/masking.js'
import type { RecordedExchange } from '../journal/schemas.js'

/** A request to repeat. */
export interface RequestToSend {
  method: string
  target: string
  headers: Record<string, string | string[]>
  body?: string | undefined
}

/** Headers of the recorded connection. Node sets its own headers for the new connection. */
const NOT_REPEATED = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'te',
  'upgrade',
  'expect'
])

/** Returns the request to send, with the API key instead of its mask in `authorization`. */
export function toRequest(
  { method, headers, body }: RecordedExchange,
  target: string,
  apiKey: string
): RequestToSend {
  const kept = Object.entries(headers).filter(([name]) => !NOT_REPEATED.has(name))
  const recorded = String(headers.authorization ?? `ApiKey ${MASK}`)
  const authorization = recorded.replace(MASK, apiKey)
  return { method, target, headers: { ...Object.fromEntries(kept), authorization }, body }
}

/**
 * Sends a request. Resolves to the status when the response has ended or the connection is lost, or
 * to undefined if there was no response.
 */
export function sendRequest(
  url: string,
  { method, target, headers, body = '' }: RequestToSend
): Promise<number | undefined> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) }
    const sent = sendOverHttp(
      { hostname, port, method, path: target, headers: { ...headers, ...length }, agent: false },
      (response) => {
        response.resume()
        response.on('close', () => resolve(response.statusCode))
        response.on('error', () => resolve(response.statusCode))
      }
    )
    // A fault may close the connection without a response.
    sent.on('error', () => resolve(undefined))
    sent.end(body)
  })
}
