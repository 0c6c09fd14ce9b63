import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '../domain/errors.js'
import { parseJsonOrUndefined } from '../domain/json.js'
import { MASK, maskSecrets } from '../domain/masking.js'
import { directFetch, isLoopbackUrl } from '../platform/direct-fetch.js'
import { Failure, NoResponse, type RequestOptions, type TargetResponse } from './response-checks.js'

export interface TargetOptions {
  /** The base URL, without a slash at the end. */
  url: string
  apiKey: string
  /** The maximum time until a response is complete, in milliseconds. */
  timeout?: number
  /** The maximum number of requests per second. */
  rate?: number | undefined
  /** The maximum total time that one request waits between its attempts, in milliseconds. */
  patience?: number
  /**
   * Aborts waits and requests. A POST in progress is still completed, because it may already have
   * changed something.
   */
  signal?: AbortSignal | undefined
  /** Called when a retry is scheduled. `wait` is the pause before the retry, in milliseconds. */
  onRetry?: ((reason: string, wait: number) => void) | undefined
}

/** The outcome of a request and its retries. */
export interface RetriedResponse {
  /** The last response; undefined if the last attempt got no response. */
  response?: TargetResponse | undefined
  /** Why the last attempt failed; undefined if it succeeded. */
  problem?: string
  attempts: number
}

/** The maximum number of attempts when the target is busy. */
export const MAX_ATTEMPTS = 10
// All times below are in milliseconds.
const TIMEOUT = 10_000
const PATIENCE = 120_000
const FIRST_PAUSE = 200
const MAX_PAUSE = 30_000
/** The minimum pause if the target is busy, even if `Retry-After` is 0 or in the past. */
const BUSY_PAUSE = 1000
const MIB = 1024 * 1024
const MAX_BODY = 64 * MIB

/**
 * Sends requests to a server that other people may be using. Doesn't send more requests per second
 * than the rate allows. If the server is busy (429, or 503 with `Retry-After`), waits and tries
 * again. Doesn't follow redirects, so that no other server gets the key. After the signal is
 * aborted, requests reject with `StartError`.
 */
export class Target {
  readonly url: string
  readonly #options: TargetOptions
  #nextTurn = 0
  #requestCount = 0

  constructor(options: TargetOptions) {
    this.url = options.url
    this.#options = options
  }

  get requestCount(): number {
    return this.#requestCount
  }

  /** Masks the API key and other secrets in a text from the server. */
  maskSecrets(text: string): string {
    const { apiKey } = this.#options
    return maskSecrets(text, { maskKnown: (plain) => plain.replaceAll(apiKey, MASK) })
  }

  /**
   * Sends a request and returns the response, whatever its status. Throws `NoResponse` if there is
   * no complete response in time, and `Failure` if the target stays busy.
   */
  async send(path: string, options: RequestOptions = {}): Promise<TargetResponse> {
    const { response, problem = '' } = await this.sendWithRetries(path, options)
    if (response && !isBusy(response)) return response
    const request = { path, options }
    throw response ? new Failure(problem, request) : new NoResponse(problem, request)
  }

  /**
   * Retries the request until its response can be used, or until the limit on attempts or on
   * waiting time is reached.
   */
  async sendWithRetries(path: string, options: RequestOptions): Promise<RetriedResponse> {
    const { method = 'GET', maxAttempts = 1, findProblem } = options
    const { patience = PATIENCE, onRetry } = this.#options
    let waited = 0
    for (let attempts = 1; ; attempts++) {
      await this.#waitForTurn(options)
      const sent = await this.#sendOnce(path, options)
      const response = typeof sent === 'string' ? undefined : sent
      const problem = typeof sent === 'string' ? sent : problemOf(sent, findProblem)
      if (problem === undefined) return { response, attempts }
      const most = response && isBusy(response) ? MAX_ATTEMPTS : maxAttempts
      if (attempts >= most) return { response, problem, attempts }
      const pause = pauseBefore(response, attempts)
      waited += pause
      if (waited > patience) {
        const waits = `waiting ${waited / 1000} s, but the maximum is ${patience / 1000} s`
        return { response, problem: `${problem}; a retry requires ${waits}`, attempts }
      }
      onRetry?.(`${method} ${path}: ${problem}`, pause)
      await this.#wait(pause, options)
    }
  }

  /** Resolves when the rate allows another request. */
  async #waitForTurn(request: RequestOptions): Promise<void> {
    const { rate, signal } = this.#options
    if (signal?.aborted && !request.uninterrupted) throw new StartError('interrupted')
    if (rate === undefined) return
    const now = performance.now()
    const turn = Math.max(now, this.#nextTurn)
    this.#nextTurn = turn + 1000 / rate
    if (turn > now) await this.#wait(turn - now, request)
  }

  async #wait(milliseconds: number, { uninterrupted }: RequestOptions): Promise<void> {
    const { signal } = this.#options
    if (uninterrupted || !signal) {
      await delay(milliseconds)
      return
    }
    await delay(milliseconds, undefined, { signal }).catch(() => {
      throw new StartError('interrupted')
    })
  }

  /** Resolves to the response, or to the reason why there is no response. */
  async #sendOnce(path: string, request: RequestOptions): Promise<TargetResponse | string> {
    const { method = 'GET', uninterrupted = false } = request
    const { timeout = TIMEOUT, signal } = this.#options
    const limit = AbortSignal.timeout(timeout)
    const canInterrupt = signal !== undefined && method !== 'POST' && !uninterrupted
    try {
      const ended = canInterrupt ? AbortSignal.any([signal, limit]) : limit
      return await this.#fetch(path, request, ended)
    } catch (error) {
      if (canInterrupt && signal.aborted) throw new StartError('interrupted')
      if (limit.aborted) return `no complete response within ${timeout / 1000} s`
      return networkProblem(error)
    }
  }

  async #fetch(
    path: string,
    request: RequestOptions,
    signal: AbortSignal
  ): Promise<TargetResponse> {
    const { method = 'GET', headers, body, scheme = 'ApiKey' } = request
    const { authorization = `${scheme} ${this.#options.apiKey}` } = request
    this.#requestCount += 1
    // `fetch` may use a proxy, and a proxy can't reach this machine's loopback addresses.
    const send = isLoopbackUrl(this.url) ? directFetch : fetch
    const response = await send(this.url + path, {
      method,
      headers: {
        accept: 'application/json',
        ...(authorization !== null && { authorization }),
        ...headers
      },
      redirect: 'manual',
      signal,
      ...(body !== undefined && { body })
    })
    const text = await readText(response)
    return {
      path,
      options: request,
      status: response.status,
      headers: new Headers([...response.headers]),
      text,
      body: parseJsonOrUndefined(text)
    }
  }
}

async function readText(response: Pick<Response, 'body'>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BODY) throw new Failure(`the response is larger than ${MAX_BODY / MIB} MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function networkProblem(error: unknown): string {
  if (error instanceof Failure) return error.message
  // `fetch` wraps the system's error, but `directFetch` doesn't.
  const { cause, code, message } = error as NodeJS.ErrnoException & {
    cause?: { code?: string; message?: string }
  }
  return `no response: ${code ?? cause?.code ?? cause?.message ?? message}`
}

function isBusy({ status, headers }: TargetResponse): boolean {
  return status === 429 || (status === 503 && headers.has('retry-after'))
}

/** Returns why the request must be repeated, or undefined if the response can be used. */
function problemOf(
  response: TargetResponse,
  findProblem: RequestOptions['findProblem']
): string | undefined {
  const { status } = response
  if (status === 429 || (status >= 500 && status !== 501)) return `returned ${status}`
  const isRedirect = status >= 300 && status < 400
  return isRedirect ? undefined : findProblem?.(response)
}

/**
 * Returns the pause before the next attempt, in milliseconds. Without `Retry-After`, the pause
 * doubles with every attempt.
 */
function pauseBefore(response: TargetResponse | undefined, attempts: number): number {
  const shortest = response && isBusy(response) ? BUSY_PAUSE : FIRST_PAUSE
  const requested = retryAfter(response?.headers.get('retry-after') ?? '')
  return requested === undefined
    ? Math.min(shortest * 2 ** (attempts - 1), MAX_PAUSE)
    : Math.max(shortest, requested)
}

/** Converts a `Retry-After` header, which contains seconds or a date, to milliseconds from now. */
function retryAfter(value: string): number | undefined {
  const milliseconds = /^[\d.]+$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.now()
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}
