import { isDeepStrictEqual } from 'node:util'
import type { MessageResponse } from '../messages/schemas.js'
import { isObject, isTooDeep, MAX_DEPTH } from '../schema/validation.js'

/** A request that was sent, with everything needed to send it again. */
export interface SentRequest {
  path: string
  options: RequestOptions
}

/** How to send a request. The default is one GET with the API key. */
export interface RequestOptions {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** The `Authorization` header. Default: the scheme and the API key; `null` omits the header. */
  authorization?: string | null
  /** The authorization scheme before the API key. Default: `ApiKey`. */
  scheme?: string
  /**
   * Whether to complete the request, including any waiting before it, even if the target's signal
   * is aborted.
   */
  uninterrupted?: boolean
  /**
   * The maximum number of attempts if there is no response, the status is 5xx other than 501, or
   * `findProblem` rejects the response. Default: 1. If the target is busy, the maximum is
   * `MAX_ATTEMPTS`.
   */
  maxAttempts?: number
  /** Returns why a response can't be used, as the end of a sentence, such as `returned no JSON`. */
  findProblem?: (response: TargetResponse) => string | undefined
}

export interface TargetResponse extends SentRequest {
  status: number
  headers: Headers
  text: string
  /** The text parsed as JSON; undefined if it isn't JSON. */
  body: unknown
}

export interface Page extends Record<'hasMore' | 'pageSize' | 'page' | 'totalCount', unknown> {
  response: TargetResponse
  data: MessageResponse[]
}

/** The newest messages of an environment. */
export interface MessageSample {
  messages: MessageResponse[]
  /** Whether `messages` contains all messages of the environment. */
  isComplete: boolean
  /** The request for the first page of messages. */
  request: SentRequest | undefined
}

/**
 * Matches the error message of set-primary for a channel that doesn't support a primary
 * integration.
 */
export const NO_PRIMARY = /^Channel (in_app|chat|push) does not support primary$/

/** Returns the `message` of a response body; undefined if there is none. */
export function messageOf({ body }: TargetResponse): unknown {
  return isObject(body) ? body.message : undefined
}

export function isEnveloped(json: unknown): json is { data: unknown } {
  return isObject(json) && Object.keys(json).join() === 'data'
}

/** Thrown if the target breaks a rule. */
export class Failure extends Error {
  /** The request that got a wrong response. If undefined, it was the last request of the case. */
  readonly request: SentRequest | undefined

  constructor(message: string, request?: SentRequest) {
    super(message)
    this.request = request
  }
}

/** Thrown if a request got no complete response in time. */
export class NoResponse extends Failure {}

/**
 * Thrown for a problem that always fails the case. After other failures, the outcome can be `noted`
 * instead of `failed` if the rule isn't in the API reference.
 */
export class ContractViolation extends Failure {}

/** Thrown if a case can't be checked on this target. The message contains the reason. */
export class Skipped extends Error {
  /** Command-line flags that may make the check possible. */
  readonly flags: string

  constructor(message: string, flags = '') {
    super(message)
    this.flags = flags
  }
}

/** Throws `Failure` with the problem unless the condition holds. */
export function check(
  condition: boolean,
  problem: string,
  request?: SentRequest
): asserts condition {
  if (!condition) throw new Failure(problem, request)
}

/** Throws `Skipped` with the reason unless the condition holds. */
export function skipUnless(condition: boolean, reason: string, flags?: string): asserts condition {
  if (!condition) throw new Skipped(reason, flags)
}

/**
 * Throws `Failure` unless two JSON values are equal. The message contains the path of the first
 * difference but no values, because values may be private.
 */
export function checkSame(
  actual: unknown,
  expected: unknown,
  what: string,
  request?: SentRequest
): void {
  if (isDeepStrictEqual(actual, expected)) return
  const path = pathOfDifference(actual, expected)
  throw new Failure(path ? `${what}: ${path} differs` : `${what} differ`, request)
}

/** Returns the path of the first difference between two unequal values. */
function pathOfDifference(actual: unknown, expected: unknown): string {
  const actualFields = fieldsOf(actual)
  const expectedFields = fieldsOf(expected)
  const names = Object.keys({ ...actualFields, ...expectedFields })
  const name = names.find(
    (candidate) => !isDeepStrictEqual(actualFields[candidate], expectedFields[candidate])
  )
  if (name === undefined) return ''
  const rest = pathOfDifference(actualFields[name], expectedFields[name])
  return rest ? `${name}.${rest}` : name
}

const fieldsOf = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>

/** Throws `Failure` unless the response has one of these statuses. */
export function checkStatus(response: TargetResponse, ...statuses: number[]): void {
  const problem = `status ${response.status}, expected ${statuses.join(' or ')}`
  check(statuses.includes(response.status), problem, response)
}

/**
 * Throws `Failure` unless the content type is JSON in UTF-8. A type without a charset is accepted
 * unless `mustNameCharset` is set.
 */
export function checkJsonType(response: TargetResponse, mustNameCharset = false): void {
  const contentType = response.headers.get('content-type') ?? 'missing'
  const [type, charset] = contentType.toLowerCase().split(/;\s*/)
  const isUtf8 = charset === undefined ? !mustNameCharset : charset === 'charset=utf-8'
  const isJson = type === 'application/json' && isUtf8
  check(isJson, 'content-type must be application/json; charset=utf-8', response)
}

/** Returns the parsed body. Throws `Failure` if it isn't JSON or is nested too deeply. */
export function readJson(response: TargetResponse): unknown {
  const body = `the body of the ${response.status} response`
  check(response.body !== undefined, `${body} is not JSON`, response)
  const isShallow = !isTooDeep(response.body)
  check(isShallow, `${body} is nested more than ${MAX_DEPTH} levels deep`, response)
  return response.body
}

/** Returns the page of messages in a response. Throws `Failure` if the response isn't a page. */
export function readPage(response: TargetResponse): Page {
  checkStatus(response, 200)
  const json = readJson(response)
  const data = isObject(json) ? json.data : undefined
  check(Array.isArray(data), 'the response is not a page: `data` is not an array', response)
  check(data.every(isObject), '`data` has an item that is not an object', response)
  return { ...(json as Omit<Page, 'response'>), response }
}

/**
 * Returns the object in a response, without the envelope if there is one. Throws `Failure` if the
 * response doesn't contain an object.
 */
export function readRecord<Fields>(response: TargetResponse): Fields {
  checkStatus(response, 200)
  const json = readJson(response)
  const fields = isEnveloped(json) ? json.data : json
  check(isObject(fields), 'the response is not an object', response)
  return fields as Fields
}

/** Like `readRecord`, but returns undefined instead of throwing `Failure`. */
export function findRecord<Fields>(response: TargetResponse): Fields | undefined {
  try {
    return readRecord<Fields>(response)
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}
