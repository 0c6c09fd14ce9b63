import { invalidFields, noFieldErrors } from '../../core/errors.js'
import { pathOf } from '../../http/target.js'
import type { JournalEntry } from './entry.js'
import { isPatternMatch } from './patterns.js'
import { HIDDEN } from './redaction.js'
import { type RecordedRequest, RequestPattern, type Verification } from './schemas.js'

type MissingPattern = { pattern: RequestPattern; path: string }

export interface Verdict {
  holds: boolean
  final: boolean
  matched: number[]
  finding: string
  missing: MissingPattern | undefined
}

/**
 * Judges requests, oldest first, one in each step. The verdict is `final` when no later request can change it; `matched`
 * are sequences, `finding` is a sentence, and `missing` the pattern that too few requests match, if that is why it does
 * not hold.
 */
export function* verify(requests: readonly JournalEntry[], verification: Verification): Generator<void, Verdict> {
  const { count, atLeast, atMost, never, inOrder } = verification
  if (inOrder) return yield* verifyOrder(requests, inOrder)
  const matched: number[] = []
  for (const request of unchanged(requests)) {
    if (matches(request, verification)) matched.push(request.sequence)
    yield
  }
  const min = count ?? atLeast ?? (atMost === undefined && !never ? 1 : 0)
  const max = never ? 0 : (count ?? atMost ?? Number.POSITIVE_INFINITY)
  const tooMany = matched.length > max
  const tooFew = matched.length < min
  return {
    holds: !tooMany && !tooFew,
    // An upper bound alone holds only once the wait is over.
    final: tooMany || (!tooFew && min > 0),
    matched,
    finding: `${matched.length} ${matched.length === 1 ? 'request matches' : 'requests match'}, ${formatRange(min, max)} expected`,
    missing: tooFew ? { pattern: verification, path: '' } : undefined
  }
}

function* verifyOrder(
  requests: readonly JournalEntry[],
  patterns: readonly RequestPattern[]
): Generator<void, Verdict> {
  const matched: number[] = []
  for (const request of unchanged(requests)) {
    const pattern = patterns[matched.length]
    if (!pattern) break
    if (matches(request, pattern)) matched.push(request.sequence)
    yield
  }
  const path = `inOrder[${matched.length}]`
  const pattern = patterns[matched.length]
  let early: number | undefined
  for (const request of pattern ? unchanged(requests) : []) {
    if (pattern && matches(request, pattern)) early = request.sequence
    yield
  }
  const hint = early === undefined ? '' : `; ${path} came before, as request ${early}`
  return {
    holds: !pattern,
    final: !pattern,
    matched,
    finding: `${matched.length} of ${patterns.length} requests came in this order${hint}`,
    missing: pattern && { pattern, path: `${path}.` }
  }
}

function formatRange(min: number, max: number): string {
  if (min === max) return min === 0 ? 'none' : `exactly ${min}`
  if (max === Number.POSITIVE_INFINITY) return `at least ${min}`
  return min === 0 ? `at most ${max}` : `${min} to ${max}`
}

export type NearMiss = { request: RecordedRequest; differs: Difference[] }

/** Returns the three requests that come closest to what is missing: fewest mismatches first, then newest first. */
export function* nearMisses(requests: readonly JournalEntry[], { pattern, path }: MissingPattern) {
  const nearest: NearMiss[] = []
  for (const entry of unchanged(requests)) {
    const request = entry.toRecordedRequest()
    const differs = [...mismatches(request, pattern, path)]
    if (differs.length > 0) nearest.push({ request, differs })
    nearest.sort((a, b) => a.differs.length - b.differs.length || b.request.sequence - a.request.sequence).splice(3)
    yield
  }
  return nearest
}

/** Returns the requests, oldest first, without those that the journal replaces by later ones while they are looked at. */
export function* unchanged(requests: readonly JournalEntry[]): Generator<JournalEntry, void> {
  const last = requests.at(-1)?.sequence ?? 0
  for (const entry of requests) if (entry.sequence <= last) yield entry
}

export function matches(entry: JournalEntry, pattern: RequestPattern): boolean {
  if (!mayMatch(entry, pattern)) return false
  const { path, query, headers, body } = pattern
  return !(path || query || headers || body !== undefined) || isMatching(entry.toRecordedRequest(), pattern)
}

/** Whether what is known of a request without describing it matches: enough for all but path, query, headers, body. */
export function mayMatch(entry: JournalEntry, { operation, method, path, status }: RequestPattern): boolean {
  if (operation !== undefined && entry.operation?.id !== operation) return false
  if (status !== undefined && entry.status !== status) return false
  const isPath = typeof path === 'string' && !path.includes(HIDDEN)
  if (method === undefined && !isPath) return true
  const [sentMethod, url = ''] = entry.text.split('\n', 2)
  return (method === undefined || method.toUpperCase() === sentMethod) && (!isPath || path === pathOf(url))
}

export function isMatching(request: RecordedRequest, pattern: RequestPattern): boolean {
  return mismatches(request, pattern).next().done === true
}

/** A field of the pattern that the request does not match; `actual` is undefined if it lacks the field. */
type Difference = { field: string; expected: Expected; actual: Actual }

function* mismatches(request: RecordedRequest, pattern: RequestPattern, path = ''): Generator<Difference, void> {
  for (const [field, expected, actual] of comparisons(request, pattern)) {
    if (expected !== undefined && !isMatch(expected, actual)) yield { field: `${path}${field}`, expected, actual }
  }
}

type Comparison = [field: string, expected: Expected | undefined, actual: Actual]

function* comparisons({ query, headers, ...request }: RecordedRequest, pattern: RequestPattern): Generator<Comparison> {
  yield ['operation', pattern.operation, request.operation]
  yield ['method', pattern.method?.toUpperCase(), request.method]
  yield ['path', pattern.path, request.path]
  for (const [name, expected] of Object.entries(pattern.query ?? {})) yield [`query.${name}`, expected, query[name]]
  for (const [sent, expected] of Object.entries(pattern.headers ?? {})) {
    const name = sent.toLowerCase()
    yield [`headers.${name}`, expected, headers[name]]
  }
  yield ['body', pattern.body, request.body]
  yield ['status', pattern.status, request.status]
}

type Value = string | number | boolean
type Expected = Value | Value[] | { matches: string }
type Actual = string | number | string[] | undefined

function isMatch(expected: Expected, actual: Actual): boolean {
  if (actual === undefined) return false
  if (Array.isArray(expected)) {
    const key = setKeys.get(expected) ?? setKey(expected)
    setKeys.set(expected, key)
    return key === setKey([actual].flat())
  }
  if (typeof expected === 'object') {
    return [actual].flat().some((value) => isPatternMatch(expected.matches, String(value)))
  }
  return Array.isArray(actual) ? actual.includes(String(expected)) : String(actual) === String(expected)
}

/** Of lists in patterns, as thousands of requests are compared with each. */
const setKeys = new WeakMap<readonly unknown[], string>()
const setKey = (values: readonly unknown[]) => JSON.stringify([...new Set(values.map(String))].sort())

/** Throws `invalid` for bounds that contradict each other, and for a pattern beside `inOrder`. */
export function rejectContradictions(verification: Verification): void {
  const { atLeast, atMost, inOrder } = verification
  const errors = noFieldErrors()
  const bounds = ['count', 'atLeast', 'atMost', 'never', 'inOrder'].filter((name) => name in verification)
  const [, ...others] = bounds.join() === 'atLeast,atMost' ? [] : bounds
  for (const name of others) errors[name] = { messages: [`${name} can not be combined with ${bounds[0]}`] }
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) {
    errors.atMost = { messages: [`atMost must not be less than atLeast, which is ${atLeast}`], value: atMost }
  }
  for (const name of Object.keys(inOrder ? verification : {}).filter((name) => name in RequestPattern.properties)) {
    errors[name] = { messages: [`${name} can not be combined with inOrder: put it into its patterns`] }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}
