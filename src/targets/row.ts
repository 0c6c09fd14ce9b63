import type { Profile } from '../core/assumptions.js'
import type { Integration } from '../integrations/schemas.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { type Answer, Breach, Failure, isObject, messageIn, stepPath } from './answers.js'
import type { Ask } from './target.js'

/** The profile whose position in a row of the register it is. */
export type Position = Profile

/** What probes look at: a target, and what was found of its data. */
export interface Evidence {
  ask(path: string, ask?: Ask): Promise<Answer>
  /** The steps that are known. Rejects with `Skipped` when none is. */
  steps(): Promise<{ workflowId: string; stepId: string; step: Partial<WorkflowStep> }[]>
  /** The newest messages. Rejects with `Skipped` when there is none. */
  sample(): Promise<{ messages: readonly MessageResponse[] }>
}

/** What there is too where a target may be changed. */
export interface ChangingEvidence extends Evidence {
  options: { foreignIntegration?: string | undefined }
  integrations: {
    all(): Promise<{ answer: Answer; integration: Integration | undefined }[]>
    usable(): Promise<Integration[]>
    set(id: string, ask?: Ask): Promise<Answer>
  }
}

/** One field, or the status, that two servers have answered otherwise. */
export interface SeenDifference {
  operation: 'list' | 'step' | 'set-primary' | 'none'
  query: URLSearchParams
  statuses: number[]
  /** Of both answers, without what wraps them. */
  bodies: Record<string, unknown>[]
  difference: { field: string; target?: unknown; ours?: unknown }
}

/** A row of the register, as far as it shows in what a target answers. */
export interface Row<Source> {
  /** Returns the position that a target takes. Rejects with `Failure` when it takes none, `Skipped` when that can't be told. */
  probe(source: Source): Promise<Position>
  /** Whether the row is why two servers have answered a request differently. */
  explains?(seen: SeenDifference): boolean
  /** Whether it is why a published document of an operation (`GET /v1/messages`) differs in something (`status 404`). */
  documented?(operation: string, what: string, change: { there?: unknown; here?: unknown }): boolean
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

export function checkFacts(answer: Answer, facts: Record<string, string>): void {
  const { body } = answer
  for (const [name, value] of Object.entries(facts)) {
    const isTwice = isObject(body) && body[name] === value && isObject(body.ctx) && body.ctx[name] === value
    if (!isTwice) throw neither(`${name} is not there twice`, answer)
  }
}

export function neither(problem: string, answer?: Answer): Failure {
  return new Failure(`neither position: ${problem}`, answer)
}

export async function aStep({ ask, steps }: Evidence): Promise<Answer> {
  const [{ workflowId = '', stepId = '' } = {}] = await steps()
  return ask(stepPath(workflowId, stepId))
}

export function inDocument(operation: RegExp, what: RegExp) {
  return (of: string, difference: string) => operation.test(of) && what.test(difference)
}

export const hasOf = (statuses: number[], ...wanted: number[]) => wanted.every((status) => statuses.includes(status))
export const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0
/** Whether exactly one of the answers has the field. */
export const isOnOneSide = ({ target, ours }: SeenDifference['difference']) =>
  (target === undefined) !== (ours === undefined)
/** Whether one of the answers is a page without messages, and the other is refused with this status. */
export const isEmptyOrRefused = ({ operation, statuses, bodies }: SeenDifference, status: number) =>
  operation === 'list' &&
  hasOf(statuses, 200, status) &&
  bodies.some(({ data }) => Array.isArray(data) && data.length === 0)
