import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen } from '../listen.js'

/** A request as it goes to the server. A mutant may change it. */
export interface ProxiedRequest {
  method: string
  /** Path and query string. */
  path: string
  headers: Record<string, string>
  body: Buffer
}

/** An answer as it goes to the client. A mutant may change it. */
export interface ProxiedAnswer {
  status: number
  headers: Record<string, string>
  text: string
  /** What is in `text`; what it is set to is written there. Undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: mutants break whatever an answer holds
  json: any
}

export interface Exchange {
  request: ProxiedRequest
  answer: ProxiedAnswer
  /** Sends another request to the server, with the same key. */
  ask(path: string, change?: Partial<ProxiedRequest>): Promise<ProxiedAnswer>
  /** What a mutant remembers from one request to the next. */
  memory: Map<string, unknown>
}

export interface Change {
  request?(exchange: Omit<Exchange, 'answer'>): void | Promise<void>
  answer?(exchange: Exchange): void | Promise<void>
}

/** What the server does not serve, and a target may: its integrations. */
const LISTING = '/v1/integrations'

/** Of a target that does not list integrations, neither as the deployed service does nor as this server. */
export const UNLISTED: Change = {
  answer({ request: { path }, answer }) {
    if (path === LISTING || path === '/_mock/integrations') answer.status = 404
  }
}

/**
 * A target in front of a server that passes everything on, or breaks one rule. It lists integrations beyond the contract,
 * as the deployed service does, so that what set-primary does to others can be seen.
 */
export async function startProxy(upstream: string, change: Change = {}) {
  const memory = new Map<string, unknown>()
  return listen((incoming, response) => {
    pass(incoming, response).catch((error: Error) => response.destroy(error))
  })

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = incoming
    const passed = Object.entries(headers).filter(
      ([name]) => !/^(host|connection|content-length|accept-encoding)$/.test(name)
    )
    const request = {
      method,
      path,
      headers: Object.fromEntries(passed) as Record<string, string>,
      body: await buffer(incoming)
    }
    const ask = (other: string, changes = {}) => forward({ ...request, path: other, ...changes })
    await change.request?.({ request, ask, memory })
    const answer = await forward(request)
    await change.answer?.({ request, answer, ask, memory })
    const {
      'content-length': _,
      'transfer-encoding': _t,
      connection: _c,
      'keep-alive': _k,
      ...sent
    } = answer.headers
    response.writeHead(answer.status, sent)
    response.end(request.method === 'HEAD' ? undefined : answer.text)
  }

  async function forward({ method, path, headers, body }: ProxiedRequest): Promise<ProxiedAnswer> {
    const isListing = method === 'GET' && path === LISTING
    const response = await fetch(upstream + (isListing ? '/_mock/integrations' : path), {
      method,
      headers,
      redirect: 'manual',
      ...(method !== 'GET' &&
        method !== 'HEAD' &&
        body.length > 0 && { body: new Uint8Array(body) })
    })
    const answer = answerOf(
      response.status,
      Object.fromEntries(response.headers),
      await response.text()
    )
    if (isListing && answer.status === 200) answer.json = { data: answer.json.integrations }
    return answer
  }
}

function answerOf(status: number, headers: Record<string, string>, text: string): ProxiedAnswer {
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
