import { StartError } from '../domain/errors.js'
import { isObject } from '../schema/validation.js'
import type { RequestOptions, TargetResponse } from './response-checks.js'
import { MAX_ATTEMPTS, type Target } from './target.js'

/** How long a busy target may delay a request, in milliseconds. A recording may take long. */
export const LONG_PATIENCE = 3_600_000

/**
 * Sends a GET and repeats it, with growing pauses, until the response can be used. Throws
 * `StartError` if that doesn't help.
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
  const url = target.url + path
  throw new StartError(`GET ${url}: ${problem} after ${attempts} attempts; try again later`)
}

/** Throws `StartError` if the response redirects to another server. */
export function rejectRedirect({ status, headers }: TargetResponse): void {
  if (status < 300 || status >= 400) return
  const location = headers.get('location') ?? 'another URL'
  throw new StartError(`the target redirects to ${location}: use that URL`)
}

/**
 * Returns the problem of a response that isn't a JSON object, such as the HTML page of a proxy.
 */
export function objectProblem({ status, body }: TargetResponse): string | undefined {
  return isObject(body) ? undefined : `returned ${status} and no JSON object`
}

/** Returns the problem of a response to the list of messages. An error in JSON has no problem. */
export function pageProblem(response: TargetResponse): string | undefined {
  const { status, body } = response
  if (status !== 200 || !isObject(body)) return objectProblem(response)
  const isPage = Array.isArray(body.data) && body.data.every(isObject)
  return isPage ? undefined : 'returned no page of messages'
}
