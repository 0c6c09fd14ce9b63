import type { MessageResponse } from '../messages/schemas.js'
import { check, checkStatus } from './checks.js'

/** A request as it was sent, so that it can be sent again. */
export interface Sent {
  path: string
  ask: SentAs
}

/** How a request is sent: by GET and with the key, if nothing else is said. */
export interface SentAs {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** The `Authorization` header in place of the key's; null sends none. */
  authorization?: string | null
  /** The scheme before the key, if not `ApiKey`. */
  scheme?: string
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

/** Returns the value of an answer's body. Throws `Failure` when that is not JSON. */
export function jsonIn(answer: Answer): unknown {
  check(answer.body !== undefined, `the body of the ${answer.status} is not JSON`, answer)
  return answer.body
}

/** Returns the `message` of an answer; undefined when it has none. */
export function messageIn({ body }: Answer): unknown {
  return isObject(body) ? body.message : undefined
}

/** Returns the page of an answer. Throws `Failure` when it is none. */
export function pageOf(answer: Answer): Page {
  checkStatus(answer, 200)
  const json = jsonIn(answer)
  check(isObject(json) && Array.isArray(json.data), 'the answer is no page: it has no list data', answer)
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

export function isEnveloped(json: unknown): json is { data: unknown } {
  return isObject(json) && Object.keys(json).join() === 'data'
}
