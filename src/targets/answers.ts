import { randomUUID } from 'node:crypto'
import type { MessageResponse } from '../messages/schemas.js'
import { check, type Sent } from './outcome.js'
import type { Answer } from './target.js'

export interface Page {
  answer: Answer
  data: MessageResponse[]
  hasMore: unknown
  pageSize: unknown
  page: unknown
  totalCount: unknown
}

/** The newest messages. */
export interface Sample {
  messages: MessageResponse[]
  /** Whether these are all. */
  isComplete: boolean
  /** What the first of them were asked by. */
  request: Sent
}

/** How set-primary is refused for a channel that has no primary. */
export const NO_PRIMARY = /^Channel (in_app|chat|push) does not support primary$/

/** Of a query; a list of values is repeated as often. */
export type Parameters = Readonly<Record<string, string | number | readonly string[]>>

export function listPath(parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, values]) => [values].flat().map((value) => [name, value]))
  const query = pairs.map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `/v1/messages${query && `?${query}`}`
}

export function stepPath(workflowId: string, stepId: string): string {
  return `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
}

export function setPrimaryPath(id: string): string {
  return `/v1/integrations/${encodeURIComponent(id)}/set-primary`
}

/** Returns an id that no record has: of a time that none is of. */
export function unknownId(): string {
  return `ffffffff${randomUUID().replaceAll('-', '').slice(0, 16)}`
}

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
  const { data, hasMore, pageSize, page, totalCount } = json
  check(data.every(isObject), 'data has something that is no object', answer)
  return { answer, data: data as unknown as MessageResponse[], hasMore, pageSize, page, totalCount }
}

/** Throws `Failure` unless the answer has one of these statuses. */
export function checkStatus(answer: Answer, ...statuses: number[]): void {
  check(statuses.includes(answer.status), `status ${answer.status}, must be ${statuses.join(' or ')}`, answer)
}

/** Throws `Failure` unless the headers say that it is JSON, and in UTF-8 if they name a charset or it must be named. */
export function checkJsonType(answer: Answer, mustNameCharset = false): void {
  const type = answer.headers.get('content-type') ?? 'missing'
  const [what = '', charset = mustNameCharset ? '' : 'charset=utf-8'] = type.toLowerCase().split(/;\s*/)
  const isJson = what === 'application/json' && charset === 'charset=utf-8'
  check(isJson, 'content-type must be application/json; charset=utf-8', answer)
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
