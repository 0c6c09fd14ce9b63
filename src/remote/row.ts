import type { Profile } from '../domain/assumptions.js'
import { stepPath } from './paths.js'
import { type Answer, type Ask, Breach, Failure, isObject, messageIn } from './response-checks.js'
import type { Subject } from './service-under-test.js'

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
export interface Row {
  /** Returns the position that a target takes. Rejects with `Failure` when it takes none, `Skipped` when that can't be told. */
  probe(subject: Subject): Promise<Profile>
  /** Whether the row is why two servers have answered a request differently. */
  explains?(seen: SeenDifference): boolean
  /** Whether it is why a published document of an operation (`GET /v1/messages`) differs in something (`status 404`). */
  documented?(operation: string, what: string, change: { there?: unknown; here?: unknown }): boolean
}

/** Explains that one server answers an operation with this status, and the other with one of the others. */
export const differ =
  (operation: SeenDifference['operation'], status: number, ...others: number[]) =>
  ({ operation: asked, statuses }: Pick<SeenDifference, 'operation' | 'statuses'>) =>
    asked === operation &&
    statuses.includes(status) &&
    others.some((other) => statuses.includes(other))

/** Explains a difference of documents by its place. */
export const inDocument = (operation: RegExp, what: RegExp) => (of: string, difference: string) =>
  operation.test(of) && what.test(difference)

export const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0

/** Whether exactly one of the answers has the field. */
export const isOnOneSide = ({ target, ours }: SeenDifference['difference']) =>
  (target === undefined) !== (ours === undefined)

/** A status with a message, or with a body that passes a check. */
type Expected = readonly [status: number, what?: RegExp | ((body: unknown) => boolean)]

/**
 * Returns the position whose answer it is. A 200 that is of neither is a breach, unless it is one that the contract lets a
 * target give.
 */
export function positionOf(
  answer: Answer,
  positions: Partial<Record<Profile, Expected>>,
  mayBe200 = false
): Profile {
  for (const [position, [status, what]] of Object.entries(positions)) {
    const isRight =
      what instanceof RegExp ? what.test(String(messageIn(answer))) : (what?.(answer.body) ?? true)
    if (answer.status === status && isRight) return position as Profile
  }
  const statuses = [...new Set(Object.values(positions).map(([status]) => status))]
  const isOther = !statuses.includes(answer.status)
  const problem = `status ${answer.status}${isOther ? `, must be ${statuses.join(' or ')}` : ' with another body than documented'}`
  throw answer.status === 200 && !mayBe200 ? new Breach(problem, answer) : neither(problem, answer)
}

/** Returns a probe that tells the position by one request. */
export const probeOf =
  (path: string, positions: Record<Profile, Expected>, request?: Ask) =>
  async ({ ask }: Pick<Subject, 'ask'>) =>
    positionOf(await ask(path, request), positions)

/** Whether it is a page without messages. */
export const isEmptyPage = (body: unknown): boolean =>
  isObject(body) && Array.isArray(body.data) && body.data.length === 0 && body.hasMore === false

export const neither = (problem: string, answer?: Answer) =>
  new Failure(`neither position: ${problem}`, answer)

/** Asks for a step that is known, or for another of its workflow. */
export async function askStep({ ask, steps }: Subject, name?: string): Promise<Answer> {
  const [{ workflowId = '', stepId = '' } = {}] = await steps()
  return ask(stepPath(workflowId, name ?? stepId))
}
