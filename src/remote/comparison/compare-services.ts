import { isSecretName } from '../../domain/credentials.js'
import { StartError } from '../../domain/errors.js'
import { extrasOf, withoutExtras } from '../../messages/schemas.js'
import { isObject, isTooDeep, MAX_DEPTH } from '../../schema/validation.js'
import { objectProblem, rejectRedirect, rejectUnauthorized } from '../patient-requests.js'
import { fieldNamesIn } from '../recording/kept-field-names.js'
import { PersonalDataReplacement } from '../recording/personal-data.js'
import type { TargetResponse } from '../response-checks.js'
import type { Target } from '../target.js'
import { compareResponses, IGNORED, type ResponseDifference } from './compare-responses.js'
import type { ComparedRequest, RequestsToCompare } from './requests-to-compare.js'

export interface ServiceComparison {
  /** How many requests were compared. */
  compared: number
  /**
   * How many of the given requests were not sent, because they change data or aren't requests to
   * the service.
   */
  skipped: number
  /** How many requests got the same response from both servers. */
  same: number
  differences: (ComparedRequest & ResponseDifference)[]
  /** The parts of responses that were not compared. */
  ignored: readonly string[]
}

interface CompareOptions extends RequestsToCompare {
  target: Target
  ours: Target
  /**
   * The API key with which `record` replaced the personal data in the seed. Undefined if the
   * personal data wasn't replaced.
   */
  replacementKey?: string | undefined
  onProgress(compared: number): void
}

/** How many levels deep a record is nested in a response. */
const DEPTH_OF_RECORD = 3

/**
 * Sends the requests one at a time to both servers and returns the differences between the
 * responses. If a response can't be used, for example because a proxy sent it, retries the request
 * once and compares the second response. Throws `StartError` if a server can't be reached,
 * redirects requests or rejects the key.
 */
export async function compareServices(options: CompareOptions): Promise<ServiceComparison> {
  const { target, ours, requests, skipped, onProgress } = options
  await checkReachable(target)
  await checkReachable(ours)
  const differences: ServiceComparison['differences'] = []
  let same = 0
  for (const [index, request] of requests.entries()) {
    const responseDifferences = await compareRequest(request, options)
    if (responseDifferences.length === 0) same += 1
    for (const difference of responseDifferences)
      differences.push({ ...request, ...maskSecret(difference) })
    onProgress(index + 1)
  }
  return { compared: requests.length, skipped, same, differences, ignored: IGNORED }
}

/** Throws `StartError` unless the server responds and accepts the key. */
async function checkReachable(server: Target): Promise<void> {
  const path = '/v1/messages?limit=1'
  const { response, problem } = await server.sendWithRetries(path, { maxAttempts: 2 })
  if (!response) throw new StartError(`${server.url}: ${problem}; check that the server is running`)
  rejectRedirect(response)
  // If both servers rejected their keys, the comparison would find no differences.
  rejectUnauthorized(server.url, response.status)
}

async function compareRequest(
  request: ComparedRequest,
  { target, ours, replacementKey }: CompareOptions
): Promise<ResponseDifference[]> {
  const { method, path } = request
  const ourPath = replacementKey === undefined ? path : replacePath(path, replacementKey)
  const targetResponse = await requestResponse(target, request)
  const ourResponse = await requestResponse(ours, { method, path: ourPath })
  if (typeof targetResponse === 'string' || typeof ourResponse === 'string') {
    const difference = { target: statusOf(targetResponse), ours: statusOf(ourResponse) }
    return [{ field: 'status', ...difference }]
  }
  if (replacementKey === undefined) return compareResponses(request, targetResponse, ourResponse)
  // `record` kept the field names that are in the mock's response, so keep the same names in the
  // target's response.
  const names = fieldNamesIn(ourResponse.body)
  const replacement = new PersonalDataReplacement(replacementKey, 'nothing', (name) =>
    names.has(name)
  )
  const replaced = replaceResponse(targetResponse, replacement, ourPath)
  return compareResponses(request, replaced, ourResponse)
}

/** Resolves to the response, or to the reason why it can't be compared. */
async function requestResponse(
  server: Target,
  { method, path }: ComparedRequest
): Promise<TargetResponse | string> {
  const options = { method, findProblem: objectProblem, maxAttempts: 2 }
  const { response, problem = 'no response' } = await server.sendWithRetries(path, options)
  if (!response) return problem
  const isDeep = isTooDeep(response.body, MAX_DEPTH + DEPTH_OF_RECORD)
  return isDeep ? `the response is nested more than ${MAX_DEPTH} levels deep` : response
}

const statusOf = (response: TargetResponse | string) =>
  typeof response === 'string' ? response : response.status

/** Masks both values if any name in the field's path suggests a credential. */
function maskSecret(difference: ResponseDifference): ResponseDifference {
  const isSecret = difference.field.split(/[.[\]]/).some(isSecretName)
  if (!isSecret) return difference
  return {
    ...difference,
    ...('target' in difference && { target: '***' }),
    ...('ours' in difference && { ours: '***' })
  }
}

/** Replaces the personal data in a path's filters in the same way as `record` replaces it. */
function replacePath(path: string, replacementKey: string): string {
  const [pathname, query] = path.split('?', 2)
  if (query === undefined || !pathname?.endsWith('/v1/messages')) return path
  const replacement = new PersonalDataReplacement(replacementKey, 'nothing', () => false)
  const pairs = [...new URLSearchParams(query)].map(([name, value]): [string, string] => [
    name,
    replaceFilter(name, value, replacement)
  ])
  return `${pathname}?${new URLSearchParams(pairs)}`
}

function replaceFilter(name: string, value: string, replacement: PersonalDataReplacement): string {
  const [field] = name.split('[')
  if (field === 'subscriberId') return replacement.subscriberId(value)
  if (field === 'transactionId') return replacement.transactionId(value)
  // A malformed context key isn't personal data.
  const isContextKey = field === 'contextKeys' && /^[^:]+:.+$/.test(value)
  return isContextKey ? replacement.contextKey(value) : value
}

/** Replaces the personal data in a response from the target. */
function replaceResponse(
  response: TargetResponse,
  replacement: PersonalDataReplacement,
  ourPath: string
): TargetResponse {
  const { body, status, path } = response
  if (!isObject(body)) return response
  if (status !== 200) {
    const message = replaceInMessage(body.message, path, ourPath)
    return { ...response, body: { ...body, message } }
  }
  if (Array.isArray(body.data)) {
    // `PersonalDataReplacement` doesn't expect the fields of the assumption `message-extras`. They
    // contain no personal data, so keep them unchanged.
    const data = body.data.map((message) =>
      isObject(message)
        ? { ...replacement.message(withoutExtras(message) as never), ...extrasOf(message) }
        : message
    )
    return { ...response, body: { ...body, data } }
  }
  const step = replacement.step((isObject(body.data) ? body.data : body) as never)
  return { ...response, body: isObject(body.data) ? { data: step } : step }
}

/** Replaces the query values of `path` in an error message with the query values of `ourPath`. */
function replaceInMessage(message: unknown, path: string, ourPath: string): unknown {
  if (typeof message !== 'string') return message
  const ourValues = queryValuesOf(ourPath)
  let replaced = message
  for (const [index, value] of queryValuesOf(path).entries())
    if (value) replaced = replaced.replaceAll(value, ourValues[index] ?? value)
  return replaced
}

const queryValuesOf = (path: string) => [...new URLSearchParams(path.split('?')[1]).values()]
