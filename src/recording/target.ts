import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '../core/errors.js'

export interface TargetOptions {
  url: string
  apiKey: string
  /** Requests a second, at most. */
  rate: number
  /** How long an answer may take, in milliseconds. */
  timeout: number
  signal?: AbortSignal | undefined
  /** Called before a request is sent again. */
  onRetry?: ((reason: string, wait: number) => void) | undefined
}

export interface TargetAnswer {
  status: number
  headers: Headers
  text: string
  /** The value of the text, if that is JSON. */
  body: unknown
}

interface Request {
  method?: string
  headers?: Record<string, string>
  /** Returns what is wrong with an answer that has to be asked for again, in words that follow the path. */
  check?: (answer: TargetAnswer) => string | undefined
}

export type Target = ReturnType<typeof createTarget>

/** How often a request is sent at most, and one of which any answer is of use. */
const MAX_TRIES = 10
const FEW_TRIES = 2
/** In milliseconds. */
const FIRST_PAUSE = 200
const MAX_PAUSE = 30_000
/** The longest `Retry-After` that is obeyed. */
const MAX_RETRY_AFTER = 3_600_000

/**
 * Returns a caller of a server that others use too: it keeps to a rate, obeys `Retry-After`, and asks again, later each
 * time, when an answer is a 429 or a 5xx, none at all, or not what was asked for. Redirects are not followed, so that
 * the key goes to no other server. Rejects with `StartError` when that does not help, and for a refused key.
 */
export function createTarget({ url, apiKey, rate, timeout, signal, onRetry }: TargetOptions) {
  let nextTurn = 0
  return { url, ask, askForAny }

  async function ask(path: string, request: Request = {}): Promise<TargetAnswer> {
    const { answer, problem, tries } = await tryFor(path, request, MAX_TRIES)
    if (answer) refuseRedirect(answer)
    if (answer && problem === undefined) return answer
    throw new StartError(`${request.method ?? 'GET'} ${url}${path}: ${problem}, ${tries} times; try again later`)
  }

  /** Resolves to the answer as it is when asking again does not help, and to undefined when there is none. */
  async function askForAny(path: string, request: Request = {}): Promise<TargetAnswer | undefined> {
    const { answer } = await tryFor(path, request, FEW_TRIES)
    return answer
  }

  async function tryFor(path: string, { method = 'GET', headers = {}, check }: Request, most: number) {
    for (let tries = 1; ; tries++) {
      await turn()
      const sent = await send(path, method, headers)
      const answer = typeof sent === 'string' ? undefined : sent
      const problem = typeof sent === 'string' ? sent : problemOf(sent, check)
      const wait = waitFor(answer, tries)
      const isLast = tries >= (answer?.status === 429 ? MAX_TRIES : most) || wait > MAX_RETRY_AFTER
      if (problem === undefined || isLast) return { answer, problem, tries }
      onRetry?.(`${method} ${path}: ${problem}`, wait)
      await pause(wait)
    }
  }

  /** Waits for its turn by the rate. */
  async function turn(): Promise<void> {
    signal?.throwIfAborted()
    const now = performance.now()
    nextTurn = Math.max(now, nextTurn + 1000 / rate)
    if (nextTurn > now) await pause(nextTurn - now)
  }

  async function pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted())
  }

  /** Resolves to the answer, or to why there is none. */
  async function send(path: string, method: string, more: Record<string, string>): Promise<TargetAnswer | string> {
    const limit = AbortSignal.timeout(timeout)
    const headers = { authorization: `ApiKey ${apiKey}`, accept: 'application/json', ...more }
    const either = signal ? AbortSignal.any([signal, limit]) : limit
    try {
      const response = await fetch(url + path, { method, headers, redirect: 'manual', signal: either })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: parsed(text) }
    } catch (error) {
      signal?.throwIfAborted()
      if (limit.aborted) return `no answer within ${timeout / 1000} s`
      const { cause, message } = error as Error & { cause?: { code?: string; message?: string } }
      return `no answer (${cause?.code ?? cause?.message ?? message})`
    }
  }
}

/** Throws `StartError` for an answer that names another server. */
export function refuseRedirect({ status, headers }: TargetAnswer): void {
  if (status < 300 || status >= 400) return
  throw new StartError(`the target sends on to ${headers.get('location') ?? 'another address'}: name that one`)
}

/** Returns why an answer has to be asked for again, if it has. */
function problemOf(answer: TargetAnswer, check: Request['check']): string | undefined {
  const { status } = answer
  if (status >= 300 && status < 400) return undefined
  if (status === 429 || (status >= 500 && status !== 501)) return `answered with ${status}`
  return check?.(answer)
}

/** Returns for how many milliseconds to wait: as the answer says, or longer each time. */
function waitFor(answer: TargetAnswer | undefined, tries: number): number {
  const told = answer?.headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(told)) return Number(told) * 1000
  const until = told === '' ? Number.NaN : Date.parse(told)
  return Number.isNaN(until) ? Math.min(FIRST_PAUSE * 2 ** (tries - 1), MAX_PAUSE) : Math.max(0, until - Date.now())
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the problem of an answer that is no object in JSON, as a proxy gives it in place of the service. */
export function notAnObject({ status, body }: TargetAnswer): string | undefined {
  return isObject(body) ? undefined : `answered with ${status} and no JSON`
}

/** The same for an answer to the list of messages. One of 4xx is an answer: it is told as it is. */
export function notAPage(answer: TargetAnswer): string | undefined {
  const { status, body } = answer
  if (status !== 200 || !isObject(body)) return notAnObject(answer)
  return Array.isArray(body.data) && body.data.every(isObject) ? undefined : 'answered with no page of messages'
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
