import type { AssumptionId } from '../../core/assumptions.js'
import { CHANNELS } from '../../core/enums.js'
import { CONTEXT_KEY_PATTERN } from '../../core/ids.js'
import { VENDOR_NAMES } from '../../core/vendor-names.js'
import { isEnveloped, isObject } from '../answers.js'
import type { Answer } from '../target.js'
import type { Question } from './questions.js'

/** One field, or the status, that two answers to a question have otherwise. A value is absent where there is none. */
export interface Difference {
  /** `status`, or where the field is in the body: `data[0].subscriber.email`. */
  field: string
  target?: unknown
  ours?: unknown
  /** The row of the register that says why. */
  explainedBy?: AssumptionId
}

/** What is compared of an answer. */
type Answered = Pick<Answer, 'status' | 'body'>

/** Fields that are never the same twice, which are not compared. */
export const VOLATILE = ['timestamp and path of errors', 'errorId', 'all headers']

/** Returns the differences of two answers to a question, each with the row of the register that explains it. */
export function differencesOf(question: Question, target: Answered, ours: Answered): Difference[] {
  const [one, other] = [bodyOf(target), bodyOf(ours)]
  const found: Difference[] = []
  if (one.isWrapped !== other.isWrapped && target.status < 300 && ours.status < 300) {
    const wrapped = '{"data": …}'
    found.push({
      field: '',
      target: one.isWrapped ? wrapped : 'bare',
      ours: other.isWrapped ? wrapped : 'bare',
      explainedBy: 'envelope'
    })
  }
  if (target.status !== ours.status) found.push({ field: 'status', target: target.status, ours: ours.status })
  const isSame = one.isWrapped === other.isWrapped
  found.push(
    ...compare(
      isSame ? target.body : one.value,
      isSame ? ours.body : other.value,
      '',
      target.status >= 400 || ours.status >= 400
    )
  )
  return found.map((each) => {
    const explainedBy = each.explainedBy ?? explanationOf(question, target, ours, each)
    return explainedBy ? { ...each, explainedBy } : each
  })
}

function bodyOf({ body }: Answered): { isWrapped: boolean; value: unknown } {
  return isEnveloped(body) && isObject(body.data)
    ? { isWrapped: true, value: body.data }
    : { isWrapped: false, value: body }
}

const OF_ERRORS = new Set(['timestamp', 'path', 'errorId'])

function compare(target: unknown, ours: unknown, path: string, isError: boolean): Difference[] {
  if (Array.isArray(target) && Array.isArray(ours)) return compareLists(target, ours, path)
  if (!isObject(target) || !isObject(ours)) {
    if (JSON.stringify(target) === JSON.stringify(ours)) return []
    return [{ field: path, ...(target !== undefined && { target }), ...(ours !== undefined && { ours }) }]
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
    return Array.from({ length: Math.max(target.length, ours.length) }, (_, index) =>
      compare(target[index], ours[index], `${path}[${index}]`, false)
    ).flat()
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

/** Whether a row explains a difference. */
type Explanation = (seen: {
  url: URL
  statuses: number[]
  /** Of both answers, without what wraps them. */
  bodies: Record<string, unknown>[]
  difference: Difference
}) => boolean

const isList = (url: URL) => url.pathname.endsWith('/v1/messages')
const isStep = (url: URL) => /\/v2\/workflows\/[^/]+\/steps\/[^/]+$/.test(url.pathname)
const isSetPrimary = (url: URL) => url.pathname.endsWith('/set-primary')
const hasOf = (statuses: number[], ...wanted: number[]) => wanted.every((status) => statuses.includes(status))

/** Whether exactly one of the answers has the field. */
const isOnOneSide = ({ target, ours }: Pick<Difference, 'target' | 'ours'>) =>
  (target === undefined) !== (ours === undefined)
const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0
/** Whether the answer that is a page has no messages. */
const hasNoMessages = (bodies: Record<string, unknown>[]) =>
  bodies.some(({ data }) => Array.isArray(data) && data.length === 0)
const unknownWorkflow = [/^Workflow with id .* not found$/, /^Workflow cannot be found$/]

const EXPLANATIONS: Partial<Record<AssumptionId, Explanation>> = {
  'total-count': ({ url, bodies, difference: { field } }) =>
    isList(url) &&
    bodies.filter(({ totalCount }) => totalCount === undefined).length === 1 &&
    // Without a total, it says so whenever the page is full.
    (field === 'totalCount' ||
      (field === 'hasMore' && bodies.some(({ totalCount, hasMore }) => totalCount === undefined && hasMore === true))),
  'vendor-names': ({ difference: { field, target, ours } }) =>
    /(^|[.])(origin|providerId)$/.test(field) &&
    Object.entries(VENDOR_NAMES).some((names) => names.includes(String(target)) && names.includes(String(ours))),
  'control-values': ({ url, difference }) =>
    isStep(url) &&
    isOnOneSide(difference) &&
    (/^(data[.])?controls[.]values$/.test(difference.field) ||
      (/^(data[.])?controlValues$/.test(difference.field) && isEmpty(difference.target ?? difference.ours))),
  'unknown-channel-filter': ({ url, statuses, bodies }) =>
    isList(url) &&
    hasNoMessages(bodies) &&
    url.searchParams.getAll('channel').some((each) => each !== '' && !CHANNELS.includes(each as never)) &&
    hasOf(statuses, 200, 422),
  'unknown-subscriber-filter': ({ url, statuses, bodies }) =>
    isList(url) && url.searchParams.has('subscriberId') && hasOf(statuses, 200, 404) && hasNoMessages(bodies),
  'malformed-context-key': ({ url, statuses, bodies }) =>
    isList(url) &&
    hasNoMessages(bodies) &&
    [...url.searchParams].some(
      ([name, value]) => /^contextKeys(\[\d*\])?$/.test(name) && !new RegExp(CONTEXT_KEY_PATTERN).test(value)
    ) &&
    hasOf(statuses, 200, 422),
  'paging-bounds': ({ url, statuses }) =>
    isList(url) &&
    !/^([1-9]\d{0,2}|1000)$/.test(url.searchParams.get('limit') ?? '10') &&
    (hasOf(statuses, 400, 422) || hasOf(statuses, 200, 422)),
  'unknown-step': ({ url, statuses }) => isStep(url) && hasOf(statuses, 400, 404),
  'unknown-workflow': ({ url, statuses, bodies, difference: { field } }) =>
    isStep(url) &&
    statuses.every((status) => status === 404) &&
    unknownWorkflow.every((pattern) => bodies.some(({ message }) => pattern.test(String(message)))) &&
    /^(message|workflowId|ctx([.]workflowId)?)$/.test(field),
  'unserved-route': ({ url, statuses }) =>
    !isList(url) && !isStep(url) && !isSetPrimary(url) && (hasOf(statuses, 404, 501) || hasOf(statuses, 404, 405)),
  'primary-channels': ({ url, statuses }) => isSetPrimary(url) && hasOf(statuses, 200, 400),
  'integration-lookup': ({ url, statuses }) =>
    isSetPrimary(url) && (hasOf(statuses, 200, 422) || hasOf(statuses, 404, 422)),
  'foreign-integration': ({ url, statuses }) => isSetPrimary(url) && hasOf(statuses, 403, 404),
  credentials: ({ url, bodies, difference }) =>
    isSetPrimary(url) &&
    isOnOneSide(difference) &&
    (/^(data[.])?configurations[.]inboundWebhookSigningKey$/.test(difference.field) ||
      (/^(data[.])?credentials\b/.test(difference.field) && bodies.some(({ credentials }) => isEmpty(credentials))))
}

function explanationOf(question: Question, target: Answered, ours: Answered, difference: Difference) {
  const url = new URL(question.path, 'http://server')
  const bodies = [target, ours].map((each) => bodyOf(each).value).map((value) => (isObject(value) ? value : {}))
  const seen = { url, statuses: [target.status, ours.status], bodies, difference }
  const rows = Object.entries(EXPLANATIONS) as [AssumptionId, Explanation][]
  return rows.find(([, explains]) => explains(seen))?.[0]
}
