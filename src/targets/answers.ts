import { randomUUID } from 'node:crypto'
import type { MessageResponse } from '../messages/schemas.js'
import { check, Failure } from './outcome.js'
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
  /** How many there are, if the target says so. */
  total: number | undefined
}

export type Parameters = readonly (readonly [name: string, value: string | number])[]

export function listPath(parameters: Parameters): string {
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
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
export function jsonIn({ body, request, status }: Answer): unknown {
  check(body !== undefined, `${request}: the body of the ${status} is not JSON`)
  return body
}

/** Returns the page of an answer. Throws `Failure` when it is none. */
export function pageOf(answer: Answer): Page {
  checkStatus(answer, 200)
  const json = jsonIn(answer)
  check(isObject(json) && Array.isArray(json.data), `${answer.request}: the answer is no page: it has no list data`)
  const { data, hasMore, pageSize, page, totalCount } = json
  check(data.every(isObject), `${answer.request}: data has something that is no object`)
  return { answer, data: data as unknown as MessageResponse[], hasMore, pageSize, page, totalCount }
}

/** Throws `Failure` unless the answer has one of these statuses. */
export function checkStatus(answer: Answer, ...statuses: number[]): void {
  const { request, status, body } = answer
  if (statuses.includes(status)) return
  const said = isObject(body) ? String(body.message ?? '').slice(0, 200) : ''
  throw new Failure(`${request}: status ${status}${said && ` (${said})`}, must be ${statuses.join(' or ')}`)
}

/** Throws `Failure` unless the headers say that it is JSON in UTF-8. */
export function checkJsonType(headers: Headers, what: string): void {
  const type = headers.get('content-type') ?? 'missing'
  const isJson = /^application\/json;\s*charset=utf-8$/i.test(type)
  check(isJson, `${what}: content-type is ${type}, must be application/json; charset=utf-8`)
}

/** Returns the object in an answer, out of the envelope that it may be in. Throws `Failure` when there is none. */
export function recordIn<Record>(answer: Answer): Record {
  checkStatus(answer, 200)
  const json = jsonIn(answer)
  const record = isEnveloped(json) ? json.data : json
  check(isObject(record), `${answer.request}: the answer is no object`)
  return record as Record
}

export function isEnveloped(json: unknown): json is { data: unknown } {
  return isObject(json) && Object.keys(json).join() === 'data'
}
