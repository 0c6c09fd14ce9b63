import type { Profile } from '../core/assumptions.js'
import { type Answer, isObject, messageIn } from './answers.js'
import { Breach, Failure } from './checks.js'
import { stepPath } from './paths.js'
import type { Evidence } from './row.js'

/** A status with a message, or with a body that passes a check. */
type Expected = readonly [status: number, what?: RegExp | ((body: unknown) => boolean)]

/**
 * Returns the position whose answer it is. A 200 that is of neither is a breach, unless it is one that the contract lets a
 * target give.
 */
export function positionOf(answer: Answer, positions: Partial<Record<Profile, Expected>>, mayBe200 = false): Profile {
  for (const [position, [status, what]] of Object.entries(positions)) {
    const isRight = what instanceof RegExp ? what.test(String(messageIn(answer))) : (what?.(answer.body) ?? true)
    if (answer.status === status && isRight) return position as Profile
  }
  const statuses = [...new Set(Object.values(positions).map(([status]) => status))]
  const isOther = !statuses.includes(answer.status)
  const problem = `status ${answer.status}${isOther ? `, must be ${statuses.join(' or ')}` : ' with another body than documented'}`
  throw answer.status === 200 && !mayBe200 ? new Breach(problem, answer) : neither(problem, answer)
}

/** Whether it is a page without messages. */
export const isEmptyPage = (body: unknown): boolean =>
  isObject(body) && Array.isArray(body.data) && body.data.length === 0 && body.hasMore === false

export const neither = (problem: string, answer?: Answer) => new Failure(`neither position: ${problem}`, answer)

/** Asks for a step that is known, or for another of its workflow. */
export async function askStep({ ask, steps }: Evidence, name?: string): Promise<Answer> {
  const [{ workflowId = '', stepId = '' } = {}] = await steps()
  return ask(stepPath(workflowId, name ?? stepId))
}
