import { STATUS_CODES } from 'node:http'
import { StartError } from '../domain/errors.js'
import { maskSecrets } from '../domain/masking.js'
import { isObject } from '../schema/validation.js'
import type { RequestOptions, TargetResponse } from './response-checks.js'
import { MAX_ATTEMPTS, type Target } from './target.js'

/** The `patience`, in milliseconds, of commands that send many requests and may run for hours. */
export const LONG_PATIENCE = 3_600_000

/**
 * Sends a GET request until it gets a usable response, with increasing pauses between attempts.
 * Throws `StartError` if all attempts fail or the target redirects.
 */
export async function requestUntilUsable(
  target: Target,
  path: string,
  findProblem?: RequestOptions['findProblem']
): Promise<TargetResponse> {
  const { response, problem, attempts } = await target.sendWithRetries(path, {
    maxAttempts: MAX_ATTEMPTS,
    ...(findProblem && { findProblem })
  })
  if (response) rejectRedirect(response)
  if (response && problem === undefined) return response
  const url = target.url + target.maskSecrets(path)
  throw new StartError(`GET ${url}: ${problem} after ${attempts} attempts; try again later`)
}

/** Throws `StartError` if the response is a redirect. */
export function rejectRedirect({ status, headers }: TargetResponse): void {
  if (status < 300 || status >= 400) return
  const location = headers.get('location')
  const problem =
    location === null
      ? `returned ${status} without a Location header; check its URL`
      : `redirects to ${maskSecrets(location)}; use that URL as the target`
  throw new StartError(`the target ${problem}`)
}

/** Throws `StartError` if the status means that the server rejects the key. */
export function rejectUnauthorized(url: string, status: number): void {
  if (status === 401 || status === 403)
    throw new StartError(`${url} rejects the key: ${status} ${STATUS_CODES[status]}`)
}

/** Returns a problem unless the body is a JSON object. A proxy may have sent an HTML page. */
export function objectProblem({ status, body }: TargetResponse): string | undefined {
  return isObject(body) ? undefined : `returned ${status} without a JSON object`
}

/** Returns a problem unless the response is a page of messages or an error in JSON. */
export function pageProblem(response: TargetResponse): string | undefined {
  const { status, body } = response
  if (status !== 200 || !isObject(body)) return objectProblem(response)
  const isPage = Array.isArray(body.data) && body.data.every(isObject)
  return isPage ? undefined : 'returned something other than a page of messages'
}
