import type { MessageResponse } from '../messages/schemas.js'

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

/** Returns the `message` of an answer; undefined when it has none. */
export function messageIn({ body }: Answer): unknown {
  return isObject(body) ? body.message : undefined
}

export function isEnveloped(json: unknown): json is { data: unknown } {
  return isObject(json) && Object.keys(json).join() === 'data'
}
