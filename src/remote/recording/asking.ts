import { StartError } from '../../domain/errors.js'
import { type Answer, type Ask, isObject } from '../response-checks.js'
import { MAX_TRIES, type Target } from '../target.js'

/** How long a busy target may put off a request, in milliseconds: nobody waits for a recording. */
export const LONG_PATIENCE = 3_600_000

/**
 * Asks again, later each time, when an answer is a 429 or a 5xx, none at all, or not what was asked for. Rejects with
 * `StartError` when that does not help.
 */
export async function askFor(
  { url, askAgain }: Target,
  path: string,
  check?: Ask['check']
): Promise<Answer> {
  const { answer, problem, tries } = await askAgain(path, {
    tries: MAX_TRIES,
    ...(check && { check })
  })
  if (answer) refuseRedirect(answer)
  if (answer && problem === undefined) return answer
  throw new StartError(`GET ${url}${path}: ${problem}, ${tries} times; try again later`)
}

/** Throws `StartError` for an answer that names another server. */
export function refuseRedirect({ status, headers }: Answer): void {
  if (status < 300 || status >= 400) return
  throw new StartError(
    `the target sends on to ${headers.get('location') ?? 'another address'}: name that one`
  )
}

/** Returns the problem of an answer that is no object in JSON, as a proxy gives it in place of the service. */
export function notAnObject({ status, body }: Answer): string | undefined {
  return isObject(body) ? undefined : `answers ${status} and no JSON`
}

/** The same for an answer to the list of messages. One of 4xx is an answer: it is told as it is. */
export function notAPage(answer: Answer): string | undefined {
  const { status, body } = answer
  if (status !== 200 || !isObject(body)) return notAnObject(answer)
  return Array.isArray(body.data) && body.data.every(isObject)
    ? undefined
    : 'answers with no page of messages'
}
