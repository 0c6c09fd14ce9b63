import type { Profile } from '../core/assumptions.js'
import { isObject, messageIn } from './answers.js'
import { Breach, Failure } from './outcome.js'
import type { Answer } from './target.js'

/** The profile whose position in a row of the register it is. */
export type Position = Profile

/** One field, or the status, that two servers have answered otherwise. */
export interface SeenDifference {
  url: URL
  statuses: number[]
  /** Of both answers, without what wraps them. */
  bodies: Record<string, unknown>[]
  difference: { field: string; target?: unknown; ours?: unknown }
}

/** Returns the profile that most of the positions are of: `document`, when as many are of either. */
export function nearestProfile(positions: readonly Position[]): Position {
  const live = positions.filter((position) => position === 'live').length
  return live > positions.length - live ? 'live' : 'document'
}

/** That the answer is a page without messages. */
export const EMPTY = Symbol('an empty page')
type Expected = readonly [status: number, what?: RegExp | typeof EMPTY]

/**
 * Returns the position whose answer it is: of its status, and its message or an empty page. A 200 of neither is a breach,
 * unless it is one that the contract lets a target give.
 */
export function positionOf(answer: Answer, positions: Partial<Record<Position, Expected>>, mayBe200 = false): Position {
  for (const [position, [status, what]] of Object.entries(positions)) {
    if (answer.status === status && matches(answer, what)) return position as Position
  }
  const statuses = [...new Set(Object.values(positions).map(([status]) => status))]
  const isOther = !statuses.includes(answer.status)
  const problem = `status ${answer.status}${isOther ? `, must be ${statuses.join(' or ')}` : ' with another body than documented'}`
  throw answer.status === 200 && !mayBe200 ? new Breach(problem, answer) : neither(problem, answer)
}

function matches(answer: Answer, what: Expected[1]): boolean {
  if (what === undefined) return true
  if (what !== EMPTY) return what.test(String(messageIn(answer)))
  const { body } = answer
  return isObject(body) && Array.isArray(body.data) && body.data.length === 0 && body.hasMore === false
}

/** Throws `Failure` unless an error body has these facts at the top level and in `ctx`. */
export function checkFacts(answer: Answer, facts: Record<string, string>): void {
  const { body } = answer
  for (const [name, value] of Object.entries(facts)) {
    const isTwice = isObject(body) && body[name] === value && isObject(body.ctx) && body.ctx[name] === value
    if (!isTwice) throw neither(`${name} is not there twice`, answer)
  }
}

/** Returns the error for an answer of neither position. */
export function neither(problem: string, answer?: Answer): Failure {
  return new Failure(`neither position: ${problem}`, answer)
}

export const isList = (url: URL) => url.pathname.endsWith('/v1/messages')
export const isStep = (url: URL) => /\/v2\/workflows\/[^/]+\/steps\/[^/]+$/.test(url.pathname)
export const isSetPrimary = (url: URL) => url.pathname.endsWith('/set-primary')
export const hasOf = (statuses: number[], ...wanted: number[]) => wanted.every((status) => statuses.includes(status))
export const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0
/** Whether exactly one of the answers has the field. */
export const isOnOneSide = ({ target, ours }: SeenDifference['difference']) =>
  (target === undefined) !== (ours === undefined)
/** Whether the answer that is a page has no messages. */
export const hasNoMessages = (bodies: Record<string, unknown>[]) =>
  bodies.some(({ data }) => Array.isArray(data) && data.length === 0)
