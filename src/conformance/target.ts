import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from './outcome.js'

export interface TargetOptions {
  /** Without a slash at its end. */
  url: string
  apiKey: string
  /** How long an answer may take, to its last byte, in milliseconds. */
  timeout?: number
  /** Requests per second, at most. */
  rate?: number | undefined
  /** How long one request may be put off by `Retry-After` altogether, in milliseconds. */
  patience?: number
  /** Ends what waits for the target or for the rate; not what is under way. */
  signal?: AbortSignal
}

export interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** The `Authorization` header in place of the key's; null sends none. */
  authorization?: string | null
  /** The scheme before the key, if not `ApiKey`. */
  scheme?: string
  /** Waits as long as the target asks for, also when the run is interrupted. */
  uninterrupted?: boolean
}

export interface Answer {
  /** Of the request, such as `GET /v1/messages?page=1`. */
  request: string
  path: string
  status: number
  headers: Headers
  text: string
  /** Throws `Failure` when the body is not JSON. */
  readonly json: unknown
}

export type Target = ReturnType<typeof createTarget>

/** In milliseconds. */
const TIMEOUT = 10_000
const PATIENCE = 120_000
/** The least time between two tries: `Retry-After` counts whole seconds, and may be 0 or past. */
const MIN_PAUSE = 1000
const MAX_BODY = 64 * 1024 * 1024

/** A target as cases ask it: over HTTP, within time, no faster than allowed, and again when it asks to wait. */
export function createTarget(options: TargetOptions) {
  const { url, apiKey, timeout = TIMEOUT, rate, patience = PATIENCE, signal } = options
  let next = 0
  let requests = 0

  return {
    url,
    /** How many requests have been sent. */
    requests: () => requests,
    /**
     * Sends a request and returns the answer, whatever its status; a redirect is one too. An answer with 429, or 503 with
     * `Retry-After`, is waited out. Throws `Failure` when there is no whole answer in time.
     */
    async ask(
      path: string,
      { method = 'GET', headers = {}, body, authorization, scheme = 'ApiKey', uninterrupted = false }: Ask = {}
    ): Promise<Answer> {
      const request = `${method} ${path}`
      const credentials = authorization === undefined ? `${scheme} ${apiKey}` : authorization
      const init: RequestInit = {
        method,
        headers: { ...(credentials !== null && { authorization: credentials }), ...headers },
        redirect: 'manual',
        ...(body !== undefined && { body })
      }
      for (let waited = 0; ; ) {
        await turn(uninterrupted)
        requests++
        const response = await send(request, path, init)
        const pause = pauseOf(response)
        if (pause === undefined) return response
        waited += pause
        if (waited > patience)
          throw new Failure(`${request}: answers ${response.status}, and to wait ${waited / 1000} s`)
        await wait(pause, uninterrupted)
      }
    }
  }

  /** Resolves when the rate allows another request. */
  async function turn(uninterrupted: boolean): Promise<void> {
    if (rate === undefined) return
    const now = performance.now()
    const at = Math.max(now, next)
    next = at + 1000 / rate
    if (at > now) await wait(at - now, uninterrupted)
  }

  async function wait(milliseconds: number, uninterrupted: boolean): Promise<void> {
    await delay(milliseconds, undefined, uninterrupted ? {} : { signal }).catch(() => {
      throw new Failure('interrupted')
    })
  }

  async function send(request: string, path: string, init: RequestInit): Promise<Answer> {
    try {
      const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(timeout) })
      return answerOf(request, path, response, await readText(response))
    } catch (error) {
      if (error instanceof Failure) throw new Failure(`${request}: ${error.message}`)
      const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
      const problem = name === 'TimeoutError' ? `no whole answer within ${timeout / 1000} s` : undefined
      throw new Failure(`${request}: ${problem ?? `no answer: ${cause?.code ?? cause?.message ?? message}`}`)
    }
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BODY) throw new Failure(`the answer has more than ${MAX_BODY / 1024 / 1024} MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function answerOf(request: string, path: string, { status, headers }: Response, text: string): Answer {
  return {
    request,
    path,
    status,
    headers,
    text,
    get json() {
      try {
        return JSON.parse(text)
      } catch {
        throw new Failure(`${request}: the body of the ${status} is not JSON`)
      }
    }
  }
}

/** Returns for how many milliseconds the target asks to wait; undefined when it does not. */
function pauseOf({ status, headers }: Answer): number | undefined {
  const value = headers.get('retry-after')
  if (status !== 429 && (status !== 503 || value === null)) return undefined
  const seconds = Number(value ?? '1')
  const milliseconds = Number.isNaN(seconds) ? Date.parse(value ?? '') - Date.now() : seconds * 1000
  return Number.isNaN(milliseconds) ? MIN_PAUSE : Math.max(MIN_PAUSE, milliseconds)
}
