import { isDeepStrictEqual } from 'node:util'
import type { MessageResponse } from '../messages/schemas.js'
import { isTooDeep, MAX_DEPTH } from '../schema/validation.js'

/** A request as it was sent, so that it can be sent again. */
export interface Sent {
  path: string
  ask: Ask
}

/** How a request is sent: by GET and with the key, if nothing else is said. */
export interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** The `Authorization` header in place of the key's; null sends none. */
  authorization?: string | null
  /** The scheme before the key, if not `ApiKey`. */
  scheme?: string
  /** Waits as long as the target asks for, also when the signal is aborted. */
  uninterrupted?: boolean
  /** How often it is sent at most when there is no answer, or one of 5xx, or one that `check` rejects. Once, if left out. */
  tries?: number
  /** Returns what is wrong with an answer that has to be asked for again, in words that follow the path. */
  check?: (answer: Answer) => string | undefined
}

export interface Answer extends Sent {
  status: number
  headers: Headers
  text: string
  /** The value of the text; undefined when that is not JSON. */
  body: unknown
}

export interface Page extends Record<'hasMore' | 'pageSize' | 'page' | 'totalCount', unknown> {
  answer: Answer
  data: MessageResponse[]
}

export interface Sample {
  messages: MessageResponse[]
  isComplete: boolean
  /** What the first of them were asked by. */
  request: Sent | undefined
}

/** How set-primary is refused for a channel that has no primary. */
export const NO_PRIMARY = /^Channel (in_app|chat|push) does not support primary$/

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the `message` of an answer; undefined when it has none. */
export function messageIn({ body }: Answer): unknown {
  return isObject(body) ? body.message : undefined
}

export function isEnveloped(json: unknown): json is { data: unknown } {
  return isObject(json) && Object.keys(json).join() === 'data'
}

/** What a target does is not what a rule says. */
export class Failure extends Error {
  /** The one whose answer is wrong; the last one that was sent, if it is left out. */
  readonly request: Sent | undefined

  constructor(message: string, request?: Sent) {
    super(message)
    this.request = request
  }
}

/** A request got no whole answer in time. */
export class NoAnswer extends Failure {}

/** What is wrong whatever the contract leaves open: something was done or shown that nobody asked for. */
export class Breach extends Failure {}

/** A case can't be judged on this target, and why. */
export class Skipped extends Error {
  /** What may let it be judged. */
  readonly flags: string

  constructor(message: string, flags = '') {
    super(message)
    this.flags = flags
  }
}

/** Throws `Failure` with what is wrong unless the condition holds. */
export function check(condition: boolean, problem: string, request?: Sent): asserts condition {
  if (!condition) throw new Failure(problem, request)
}

/** Throws `Skipped` with the reason unless the condition holds. */
export function needed(condition: boolean, reason: string, flags?: string): asserts condition {
  if (!condition) throw new Skipped(reason, flags)
}

/** Throws `Failure` unless two JSON values are the same. No value is repeated in it: it may be private. */
export function checkSame(actual: unknown, expected: unknown, what: string, request?: Sent): void {
  if (isDeepStrictEqual(actual, expected)) return
  const path = differenceOf(actual, expected)
  throw new Failure(`${what}${path ? `: ${path} differs` : ' differ'}`, request)
}

/** Returns the path of the first difference of two values that differ. */
function differenceOf(one: unknown, two: unknown): string {
  const [first, second] = [one, two].map(
    (each) => (typeof each === 'object' && each ? each : {}) as Record<string, unknown>
  )
  const names = Object.keys({ ...first, ...second })
  const name = names.find((each) => !isDeepStrictEqual(first?.[each], second?.[each]))
  if (name === undefined) return ''
  return [name, differenceOf(first?.[name], second?.[name])].filter(Boolean).join('.')
}

/** Throws `Failure` unless the answer has one of these statuses. */
export function checkStatus(answer: Answer, ...statuses: number[]): void {
  check(
    statuses.includes(answer.status),
    `status ${answer.status}, must be ${statuses.join(' or ')}`,
    answer
  )
}

/** Throws `Failure` unless the headers say that it is JSON, and in UTF-8 if they name a charset or it must be named. */
export function checkJsonType(answer: Answer, mustNameCharset = false): void {
  const type = answer.headers.get('content-type') ?? 'missing'
  const [what = '', charset = mustNameCharset ? '' : 'charset=utf-8'] = type
    .toLowerCase()
    .split(/;\s*/)
  const isJson = what === 'application/json' && charset === 'charset=utf-8'
  check(isJson, 'content-type must be application/json; charset=utf-8', answer)
}

/** Returns the value of an answer's body. Throws `Failure` when that is not JSON, or nested too deep to be read. */
export function jsonIn(answer: Answer): unknown {
  check(answer.body !== undefined, `the body of the ${answer.status} is not JSON`, answer)
  check(
    !isTooDeep(answer.body),
    `the body of the ${answer.status} is nested more than ${MAX_DEPTH} deep`,
    answer
  )
  return answer.body
}

/** Returns the page of an answer. Throws `Failure` when it is none. */
export function pageOf(answer: Answer): Page {
  checkStatus(answer, 200)
  const json = jsonIn(answer)
  check(
    isObject(json) && Array.isArray(json.data),
    'the answer is no page: it has no list data',
    answer
  )
  check(json.data.every(isObject), 'data has something that is no object', answer)
  return { ...(json as unknown as Page), answer }
}

/** Returns the object in an answer, out of the envelope that it may be in. Throws `Failure` when there is none. */
export function recordIn<Record>(answer: Answer): Record {
  checkStatus(answer, 200)
  const json = jsonIn(answer)
  const record = isEnveloped(json) ? json.data : json
  check(isObject(record), 'the answer is no object', answer)
  return record as Record
}
