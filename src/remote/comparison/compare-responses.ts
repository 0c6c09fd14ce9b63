import { ASSUMPTION_IDS, type AssumptionId } from '../../domain/assumptions.js'
import { isObject } from '../../schema/validation.js'
import type { ObservedDifference } from '../probes/assumption-probe.js'
import { assumptionProbes } from '../probes/index.js'
import { isEnveloped, type TargetResponse } from '../response-checks.js'
import type { ComparedRequest } from './requests-to-compare.js'

/**
 * A difference between two responses, in a field or in the status. `target` or `ours` is missing if
 * that response lacks the field.
 */
export interface ResponseDifference {
  /** `status`, or the path of the field in the body, such as `data[0].subscriber.email`. */
  field: string
  target?: unknown
  ours?: unknown
  explainedBy?: AssumptionId
}

type ComparedResponse = Pick<TargetResponse, 'status' | 'body'>

/** Parts of a response that aren't compared, because they differ every time. */
export const IGNORED = ['timestamp and path of errors', 'errorId', 'all headers']

/** Returns the differences between two responses, with the assumptions that explain them. */
export function compareResponses(
  request: ComparedRequest,
  target: ComparedResponse,
  ours: ComparedResponse
): ResponseDifference[] {
  const differences = [
    ...compareEnvelopes(target, ours),
    ...compareStatuses(target, ours),
    ...compareBodies(target, ours)
  ]
  return differences.map((difference) => {
    const explainedBy = difference.explainedBy ?? findExplanation(request, target, ours, difference)
    return explainedBy ? { ...difference, explainedBy } : difference
  })
}

function compareEnvelopes(target: ComparedResponse, ours: ComparedResponse): ResponseDifference[] {
  const isTargetEnveloped = contentOfEnvelope(target) !== undefined
  const isOursEnveloped = contentOfEnvelope(ours) !== undefined
  const areSuccessful = target.status < 300 && ours.status < 300
  if (isTargetEnveloped === isOursEnveloped || !areSuccessful) return []
  const form = (isEnveloped: boolean) => (isEnveloped ? '{"data": …}' : 'bare')
  return [
    {
      field: '',
      target: form(isTargetEnveloped),
      ours: form(isOursEnveloped),
      explainedBy: 'envelope'
    }
  ]
}

function compareStatuses(target: ComparedResponse, ours: ComparedResponse): ResponseDifference[] {
  if (target.status === ours.status) return []
  return [{ field: 'status', target: target.status, ours: ours.status }]
}

function compareBodies(target: ComparedResponse, ours: ComparedResponse): ResponseDifference[] {
  const targetContent = contentOfEnvelope(target)
  const ourContent = contentOfEnvelope(ours)
  const isError = target.status >= 400 || ours.status >= 400
  const haveSameForm = Boolean(targetContent) === Boolean(ourContent)
  return haveSameForm
    ? compareValues(target.body, ours.body, '', isError)
    : compareValues(targetContent ?? target.body, ourContent ?? ours.body, '', isError)
}

function contentOfEnvelope({ body }: ComparedResponse): Record<string, unknown> | undefined {
  return isEnveloped(body) && isObject(body.data) ? body.data : undefined
}

const IGNORED_IN_ERRORS = new Set(['timestamp', 'path', 'errorId'])

function compareValues(
  target: unknown,
  ours: unknown,
  path: string,
  isError = false
): ResponseDifference[] {
  if (Array.isArray(target) && Array.isArray(ours)) return compareLists(target, ours, path)
  if (isObject(target) && isObject(ours)) {
    const names = new Set([...Object.keys(target), ...Object.keys(ours)])
    return [...names]
      .filter((name) => !isError || !IGNORED_IN_ERRORS.has(name))
      .flatMap((name) => compareValues(target[name], ours[name], path ? `${path}.${name}` : name))
  }
  if (JSON.stringify(target) === JSON.stringify(ours)) return []
  return [
    { field: path, ...(target !== undefined && { target }), ...(ours !== undefined && { ours }) }
  ]
}

/** Compares records by id, so that one missing record doesn't make all later records differ. */
function compareLists(target: unknown[], ours: unknown[], path: string): ResponseDifference[] {
  const targetIds = target.map(idOf)
  const ourIds = ours.map(idOf)
  const haveIds = [...targetIds, ...ourIds].every((id) => typeof id === 'string')
  if (!haveIds) {
    const longer = target.length > ours.length ? target : ours
    return longer.flatMap((_, index) =>
      compareValues(target[index], ours[index], `${path}[${index}]`)
    )
  }
  const commonInTarget = targetIds.filter((id) => ourIds.includes(id))
  const commonInOurs = ourIds.filter((id) => targetIds.includes(id))
  const isReordered = commonInTarget.join() !== commonInOurs.join()
  const order = { field: `${path} (order)`, target: targetIds, ours: ourIds }
  const allIds = [...new Set([...targetIds, ...ourIds])]
  const records = allIds.flatMap((id) =>
    compareValues(target[targetIds.indexOf(id)], ours[ourIds.indexOf(id)], `${path}[${id}]`)
  )
  return isReordered ? [order, ...records] : records
}

const idOf = (record: unknown) => (isObject(record) ? record._id : undefined)

function findExplanation(
  { path }: ComparedRequest,
  target: ComparedResponse,
  ours: ComparedResponse,
  difference: ResponseDifference
): AssumptionId | undefined {
  const { pathname, searchParams } = new URL(path, 'http://server')
  const observed: ObservedDifference = {
    operation: operationOf(pathname),
    query: searchParams,
    statuses: [target.status, ours.status],
    bodies: [target, ours].map(fieldsOf),
    difference
  }
  return ASSUMPTION_IDS.find((id) => assumptionProbes[id].explainsResponse?.(observed))
}

function operationOf(pathname: string): ObservedDifference['operation'] {
  if (pathname.endsWith('/v1/messages')) return 'list'
  if (/\/v2\/workflows\/[^/]+\/steps\/[^/]+$/.test(pathname)) return 'step'
  return pathname.endsWith('/set-primary') ? 'set-primary' : 'none'
}

function fieldsOf(response: ComparedResponse): Record<string, unknown> {
  const { body } = response
  return contentOfEnvelope(response) ?? (isObject(body) ? body : {})
}
