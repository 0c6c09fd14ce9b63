import { ASSUMPTION_IDS, type AssumptionId } from '../../domain/assumptions.js'
import { ROWS } from '../probes.js'
import { type Answer, isEnveloped, isObject } from '../response-checks.js'
import type { SeenDifference } from '../row.js'
import type { Question } from './questions.js'

/** One field, or the status, that two answers to a question have otherwise. A value is absent where there is none. */
export interface Difference {
  /** `status`, or where the field is in the body: `data[0].subscriber.email`. */
  field: string
  target?: unknown
  ours?: unknown
  explainedBy?: AssumptionId
}

type Answered = Pick<Answer, 'status' | 'body'>

/** Fields that are never the same twice, which are not compared. */
export const VOLATILE = ['timestamp and path of errors', 'errorId', 'all headers']

/** Returns the differences of two answers to a question, each with the row of the register that explains it. */
export function differencesOf(question: Question, target: Answered, ours: Answered): Difference[] {
  const [one, other] = [target, ours].map(inEnvelope)
  const isSame = Boolean(one) === Boolean(other)
  const [theirs, own] = isSame ? [target.body, ours.body] : [one ?? target.body, other ?? ours.body]
  const isError = target.status >= 400 || ours.status >= 400
  const found = compare(theirs, own, '', isError)
  if (target.status !== ours.status)
    found.unshift({ field: 'status', target: target.status, ours: ours.status })
  if (!isSame && target.status < 300 && ours.status < 300) {
    const [there, here] = [one, other].map((content) => (content ? '{"data": …}' : 'bare'))
    found.unshift({ field: '', target: there, ours: here, explainedBy: 'envelope' })
  }
  return found.map((each) => {
    const explainedBy = each.explainedBy ?? explanationOf(question, target, ours, each)
    return explainedBy ? { ...each, explainedBy } : each
  })
}

function inEnvelope({ body }: Answered): Record<string, unknown> | undefined {
  return isEnveloped(body) && isObject(body.data) ? body.data : undefined
}

const OF_ERRORS = new Set(['timestamp', 'path', 'errorId'])

function compare(target: unknown, ours: unknown, path: string, isError: boolean): Difference[] {
  if (Array.isArray(target) && Array.isArray(ours)) return compareLists(target, ours, path)
  if (!isObject(target) || !isObject(ours)) {
    if (JSON.stringify(target) === JSON.stringify(ours)) return []
    return [
      { field: path, ...(target !== undefined && { target }), ...(ours !== undefined && { ours }) }
    ]
  }
  const names = new Set([...Object.keys(target), ...Object.keys(ours)])
  return [...names]
    .filter((name) => !isError || !OF_ERRORS.has(name))
    .flatMap((name) => compare(target[name], ours[name], path ? `${path}.${name}` : name, false))
}

/** Records are compared by their ids, so that one that is missing does not move all others. */
function compareLists(target: unknown[], ours: unknown[], path: string): Difference[] {
  const idsOf = (list: unknown[]) => list.map((each) => (isObject(each) ? each._id : undefined))
  const [targetIds, ourIds] = [idsOf(target), idsOf(ours)]
  const haveIds = [...targetIds, ...ourIds].every((id) => typeof id === 'string')
  if (!haveIds) {
    const longer = target.length > ours.length ? target : ours
    return longer.flatMap((_, index) =>
      compare(target[index], ours[index], `${path}[${index}]`, false)
    )
  }
  const common = targetIds.filter((id) => ourIds.includes(id))
  const isMoved = common.join() !== ourIds.filter((id) => targetIds.includes(id)).join()
  return [
    ...(isMoved ? [{ field: `${path} (order)`, target: targetIds, ours: ourIds }] : []),
    ...[...new Set([...targetIds, ...ourIds])].flatMap((id) =>
      compare(target[targetIds.indexOf(id)], ours[ourIds.indexOf(id)], `${path}[${id}]`, false)
    )
  ]
}

function explanationOf(
  { path }: Question,
  target: Answered,
  ours: Answered,
  difference: Difference
) {
  const { pathname, searchParams: query } = new URL(path, 'http://server')
  const isStep = /\/v2\/workflows\/[^/]+\/steps\/[^/]+$/.test(pathname)
  const other = isStep ? 'step' : pathname.endsWith('/set-primary') ? 'set-primary' : 'none'
  const operation = pathname.endsWith('/v1/messages') ? 'list' : other
  const bodies = [target, ours].map(
    (each) => inEnvelope(each) ?? (isObject(each.body) ? each.body : {})
  )
  const seen: SeenDifference = {
    operation,
    query,
    statuses: [target.status, ours.status],
    bodies,
    difference
  }
  return ASSUMPTION_IDS.find((id) => ROWS[id].explains?.(seen))
}
