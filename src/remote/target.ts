import { setTimeout as delay } from 'node:timers/promises'
import { attempt, StartError } from '../domain/errors.js'
import { type Answer, type Ask, Failure, NoAnswer } from './response-checks.js'

export interface TargetOptions {
  /** Without a slash at its end. */
  url: string
  apiKey: string
  /** How long an answer may take, to its last byte, in milliseconds. */
  timeout?: number
  /** Requests per second, at most. */
  rate?: number | undefined
  /** How long one request may be put off altogether, in milliseconds. */
  patience?: number
  /** Ends what waits and what is being read. A POST that is under way is waited for: it may change something. */
  signal?: AbortSignal | undefined
  /** Called before a request is sent again, with the milliseconds until then. */
  onRetry?: ((reason: string, wait: number) => void) | undefined
}

export type Target = ReturnType<typeof createTarget>

/** How often a request is sent at most to a target that is busy. */
export const MAX_TRIES = 10
/** In milliseconds. */
const TIMEOUT = 10_000
const PATIENCE = 120_000
const FIRST_PAUSE = 200
const MAX_PAUSE = 30_000
/** The least pause of a target that is busy: `Retry-After` counts whole seconds, and may be 0 or past. */
const BUSY_PAUSE = 1000
const MAX_BODY = 64 * 1024 * 1024

/**
 * Returns a caller of a server that others use too. It keeps to a rate, and waits when the server says that it is busy: by
 * 429, or by 503 with `Retry-After`. Redirects are not followed, so that the key goes to no other server. What it asks
 * rejects with `StartError` when the signal is aborted.
 */
export function createTarget(options: TargetOptions) {
  const { url, apiKey, timeout = TIMEOUT, rate, patience = PATIENCE, signal, onRetry } = options
  let next = 0
  let requests = 0
  return { url, requests: () => requests, ask, askAgain }

  /** Returns the answer, whatever its status. Throws `NoAnswer` when there is no whole one in time, `Failure` if it stays busy. */
  async function ask(path: string, request: Ask = {}): Promise<Answer> {
    const { answer, problem = '' } = await askAgain(path, request)
    if (answer && !isBusy(answer)) return answer
    throw new (answer ? Failure : NoAnswer)(problem, { path, ask: request })
  }

  /** Asks until the answer is of use, or asking again does not help: returns the last one, if any, and what is wrong. */
  async function askAgain(path: string, { tries: most = 1, check, ...request }: Ask) {
    for (let tries = 1, waited = 0; ; tries++) {
      await turn()
      const sent = await send(path, request)
      const answer = typeof sent === 'string' ? undefined : sent
      const problem = typeof sent === 'string' ? sent : problemOf(sent, check)
      if (problem === undefined) return { answer, tries }
      if (tries >= (answer && isBusy(answer) ? MAX_TRIES : most)) return { answer, problem, tries }
      const pause = pauseOf(answer, tries)
      waited += pause
      if (waited > patience)
        return { answer, problem: `${problem}, and to wait ${waited / 1000} s`, tries }
      onRetry?.(`${request.method ?? 'GET'} ${path}: ${problem}`, pause)
      await wait(pause)
    }

    /** Resolves when the rate allows another request. */
    async function turn(): Promise<void> {
      if (signal?.aborted && !request.uninterrupted) throw new StartError('interrupted')
      if (rate === undefined) return
      const now = performance.now()
      const at = Math.max(now, next)
      next = at + 1000 / rate
      if (at > now) await wait(at - now)
    }

    async function wait(milliseconds: number): Promise<void> {
      await delay(milliseconds, undefined, request.uninterrupted ? {} : { signal }).catch(() => {
        throw new StartError('interrupted')
      })
    }
  }

  /** Resolves to the answer, or to why there is none. */
  async function send(path: string, request: Ask): Promise<Answer | string> {
    const {
      method = 'GET',
      headers,
      body,
      authorization,
      scheme = 'ApiKey',
      uninterrupted = false
    } = request
    const credentials = authorization === undefined ? `${scheme} ${apiKey}` : authorization
    const limit = AbortSignal.timeout(timeout)
    const isEnded = signal !== undefined && method !== 'POST' && !uninterrupted
    requests++
    try {
      const key = credentials !== null && { authorization: credentials }
      const response = await fetch(url + path, {
        method,
        headers: { accept: 'application/json', ...key, ...headers },
        redirect: 'manual',
        signal: isEnded ? AbortSignal.any([signal, limit]) : limit,
        ...(body !== undefined && { body })
      })
      const { status, headers: answered } = response
      const text = await readText(response)
      return {
        path,
        ask: request,
        status,
        headers: answered,
        text,
        body: attempt((): unknown => JSON.parse(text))
      }
    } catch (error) {
      if (isEnded && signal.aborted) throw new StartError('interrupted')
      if (limit.aborted) return `no whole answer within ${timeout / 1000} s`
      if (error instanceof Failure) return error.message
      const { cause, message } = error as Error & { cause?: { code?: string; message?: string } }
      return `no answer: ${cause?.code ?? cause?.message ?? message}`
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

function isBusy({ status, headers }: Answer): boolean {
  return status === 429 || (status === 503 && headers.has('retry-after'))
}

/** Returns why an answer has to be asked for again, if it has. */
function problemOf(answer: Answer, check: Ask['check']): string | undefined {
  const { status } = answer
  if (status === 429 || (status >= 500 && status !== 501)) return `answers ${status}`
  return status >= 300 && status < 400 ? undefined : check?.(answer)
}

/** Returns for how many milliseconds to wait: as the answer says, or longer each time. */
function pauseOf(answer: Answer | undefined, tries: number): number {
  const least = answer && isBusy(answer) ? BUSY_PAUSE : FIRST_PAUSE
  const value = answer?.headers.get('retry-after') ?? ''
  const said = /^[\d.]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(said) ? Math.min(least * 2 ** (tries - 1), MAX_PAUSE) : Math.max(least, said)
}
