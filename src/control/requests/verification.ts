import { invalidFields, noFieldErrors } from '../../core/errors.js'
import { pathOf } from '../../http/target.js'
import type { JournalEntry } from './entry.js'
import { isPatternMatch } from './patterns.js'
import { HIDDEN } from './redaction.js'
import { type RecordedRequest, RequestPattern, type Verification } from './schemas.js'

type MissingPattern = { pattern: RequestPattern; path: string }

export type Verdict = ReturnType<typeof verifyOrder>

/**
 * Judges requests, oldest first. The verdict is `final` when no later request can change it; `matched` are sequences,
 * `finding` is a sentence, and `missing` the pattern that too few requests match, if that is why it does not hold.
 */
export function verify(requests: readonly JournalEntry[], verification: Verification): Verdict {
  const { count, atLeast, atMost, never, inOrder } = verification
  if (inOrder) return verifyOrder(requests, inOrder)
  const matched = requests.filter((request) => matches(request, verification)).map(({ sequence }) => sequence)
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

function verifyOrder(requests: readonly JournalEntry[], patterns: readonly RequestPattern[]) {
  const matched: number[] = []
  for (const request of requests) {
    const pattern = patterns[matched.length]
    if (pattern && matches(request, pattern)) matched.push(request.sequence)
  }
  const path = `inOrder[${matched.length}]`
  const pattern = patterns[matched.length]
  const early = pattern && requests.findLast((request) => matches(request, pattern))
  const hint = early ? `; ${path} came before, as request ${early.sequence}` : ''
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

/** Returns the three requests that come closest to what is missing: fewest mismatches first, then newest first. */
export function nearMisses(requests: readonly JournalEntry[], { pattern, path }: MissingPattern) {
  return requests
    .map((entry) => entry.toRecordedRequest())
    .map((request) => ({ request, differs: mismatches(request, pattern, path) }))
    .filter(({ differs }) => differs.length > 0)
    .sort((a, b) => a.differs.length - b.differs.length || b.request.sequence - a.request.sequence)
    .slice(0, 3)
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
  return mismatches(request, pattern).length === 0
}

/** Returns each field of the pattern that the request does not match; `actual` is undefined if it lacks the field. */
function mismatches(request: RecordedRequest, pattern: RequestPattern, path = '') {
  const { query, headers } = request
  const found: { field: string; expected: unknown; actual: unknown }[] = []
  compare('operation', pattern.operation, request.operation)
  compare('method', pattern.method?.toUpperCase(), request.method)
  compare('path', pattern.path, request.path)
  for (const [name, expected] of Object.entries(pattern.query ?? {})) compare(`query.${name}`, expected, query[name])
  for (const [name, expected] of Object.entries(pattern.headers ?? {})) {
    compare(`headers.${name.toLowerCase()}`, expected, headers[name.toLowerCase()])
  }
  compare('body', pattern.body, request.body)
  compare('status', pattern.status, request.status)
  return found

  function compare(field: string, expected: Expected | undefined, actual: Actual): void {
    if (expected !== undefined && !isMatch(expected, actual)) found.push({ field: `${path}${field}`, expected, actual })
  }
}

type Expected = string | number | string[] | { matches: string }
type Actual = string | number | string[] | undefined

function isMatch(expected: Expected, actual: Actual): boolean {
  if (actual === undefined) return false
  if (Array.isArray(expected)) return setKey(expected) === setKey([actual].flat())
  if (typeof expected === 'object') {
    return [actual].flat().some((value) => isPatternMatch(expected.matches, String(value)))
  }
  return Array.isArray(actual) ? actual.includes(String(expected)) : actual === expected
}

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
