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

/** Returns the page of an answer. Throws `Failure` when it is none. */
export function pageOf(answer: Answer): Page {
  checkStatus(answer, 200)
  const json = answer.json as Partial<Page> | null
  const isPage = typeof json === 'object' && json !== null && Array.isArray(json.data)
  check(isPage, `${answer.request}: the answer is no page: it has no list data`)
  const { data = [], hasMore, pageSize, page, totalCount } = json
  const isList = data.every((each) => typeof each === 'object' && each !== null)
  check(isList, `${answer.request}: data has something that is no object`)
  return { answer, data, hasMore, pageSize, page, totalCount }
}

/** Throws `Failure` unless the answer has one of these statuses. */
export function checkStatus(answer: Answer, ...statuses: number[]): void {
  const { request, status, text } = answer
  if (statuses.includes(status)) return
  const said = messageIn(text)
  throw new Failure(`${request}: status ${status}${said && ` (${said})`}, must be ${statuses.join(' or ')}`)
}

function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message ?? '').slice(0, 200)
  } catch {
    return ''
  }
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
  const { json } = answer
  const record = isEnveloped(json) ? json.data : json
  const isObject = typeof record === 'object' && record !== null && !Array.isArray(record)
  check(isObject, `${answer.request}: the answer is no object`)
  return record as Record
}

export function isEnveloped(json: unknown): json is { data: unknown } {
  return typeof json === 'object' && json !== null && Object.keys(json).join() === 'data'
}
