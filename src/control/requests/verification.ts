import { type FieldErrors, invalidFields } from '../../core/errors.js'
import type { Mismatch, NearMiss, RecordedRequest, RequestPattern, Verification } from './schemas.js'

export interface Verdict {
  holds: boolean
  /** Whether no later request can change it, so that there is no need to wait any longer. */
  final: boolean
  matched: RecordedRequest[]
  /** A sentence that says what was expected and what was found. */
  finding: string
  /** The pattern that too few requests match, when that is why the verification fails. */
  missing?: { pattern: RequestPattern; path: string }
}

const MAX_NEAR_MISSES = 3

/** Judges requests, oldest first. */
export function verify(requests: readonly RecordedRequest[], verification: Verification): Verdict {
  return verification.inOrder ? verifyOrder(requests, verification.inOrder) : verifyCount(requests, verification)
}

function verifyOrder(requests: readonly RecordedRequest[], patterns: readonly RequestPattern[]): Verdict {
  const matched: RecordedRequest[] = []
  for (const request of requests) {
    const pattern = patterns[matched.length]
    if (pattern && matches(request, pattern)) matched.push(request)
  }
  const missing = patterns[matched.length]
  const finding = `${matched.length} of ${patterns.length} requests came in this order`
  if (!missing) return { holds: true, final: true, matched, finding }

  const path = `inOrder[${matched.length}]`
  const early = requests.findLast((request) => matches(request, missing))
  return {
    holds: false,
    final: false,
    matched,
    finding: early ? `${finding}; ${path} came before, as request ${early.sequence}` : finding,
    missing: { pattern: missing, path: `${path}.` }
  }
}

function verifyCount(requests: readonly RecordedRequest[], verification: Verification): Verdict {
  const { count, atLeast, atMost, never } = verification
  const matched = requests.filter((request) => matches(request, verification))
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
    ...(tooFew && { missing: { pattern: verification, path: '' } })
  }
}

function formatRange(min: number, max: number): string {
  if (min === max) return min === 0 ? 'none' : `exactly ${min}`
  if (max === Number.POSITIVE_INFINITY) return `at least ${min}`
  return min === 0 ? `at most ${max}` : `${min} to ${max}`
}

/** Returns the requests that come closest to what is missing: fewest mismatches first, then newest first. */
export function nearMisses(requests: readonly RecordedRequest[], { missing }: Verdict): NearMiss[] {
  if (!missing) return []
  return requests
    .map((request) => ({ request, differs: mismatches(request, missing.pattern, missing.path) }))
    .filter(({ differs }) => differs.length > 0)
    .sort((a, b) => a.differs.length - b.differs.length || b.request.sequence - a.request.sequence)
    .slice(0, MAX_NEAR_MISSES)
}

export function matches(request: RecordedRequest, pattern: RequestPattern): boolean {
  return mismatches(request, pattern).length === 0
}

/** Returns each field of the pattern that the request does not match. */
function mismatches(request: RecordedRequest, pattern: RequestPattern, path = ''): Mismatch[] {
  const { query, headers } = request
  const fields: [name: string, expected: Expected | undefined, actual: Actual][] = [
    ['operation', pattern.operation, request.operation],
    ['method', pattern.method?.toUpperCase(), request.method],
    ['path', pattern.path, request.path]
  ]
  for (const [name, expected] of Object.entries(pattern.query ?? {})) {
    fields.push([`query.${name}`, expected, query[name]])
  }
  for (const [name, expected] of Object.entries(pattern.headers ?? {})) {
    fields.push([`headers.${name.toLowerCase()}`, expected, headers[name.toLowerCase()]])
  }
  fields.push(['body', pattern.body, request.body], ['status', pattern.status, request.status])
  return fields.flatMap(([name, expected, actual]) =>
    expected === undefined || isMatch(expected, actual)
      ? []
      : [{ field: `${path}${name}`, expected, ...(actual !== undefined && { actual }) }]
  )
}

type Expected = string | number | string[] | { matches: string }
type Actual = string | number | string[] | undefined

function isMatch(expected: Expected, actual: Actual): boolean {
  if (actual === undefined) return false
  if (Array.isArray(expected)) return setKey(expected) === setKey([actual].flat())
  if (typeof expected === 'object') {
    const pattern = new RegExp(expected.matches)
    return [actual].flat().some((value) => pattern.test(String(value)))
  }
  return Array.isArray(actual) ? actual.includes(String(expected)) : actual === expected
}

function setKey(values: readonly unknown[]): string {
  return JSON.stringify(values.map(String).sort())
}

/** Throws `invalid` for bounds that contradict each other and for malformed regular expressions. */
export function rejectContradictions(verification: Verification): void {
  const { count, atLeast, atMost, never, inOrder, after: _after, within: _within, ...pattern } = verification
  const errors: FieldErrors = findPatternErrors(pattern, '')
  for (const [index, each] of (inOrder ?? []).entries()) {
    Object.assign(errors, findPatternErrors(each, `inOrder[${index}].`))
  }
  const bounds = Object.entries({ count, atLeast, atMost, never, inOrder }).flatMap(([name, value]) =>
    value === undefined ? [] : [name]
  )
  const [, ...others] = bounds.join() === 'atLeast,atMost' ? [] : bounds
  for (const name of others) {
    errors[name] = { messages: [`${name} can not be combined with ${bounds[0]}`] }
  }
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) {
    errors.atMost = { messages: [`atMost must not be less than atLeast, which is ${atLeast}`], value: atMost }
  }
  for (const name of inOrder ? Object.keys(pattern) : []) {
    errors[name] = { messages: [`${name} can not be combined with inOrder: put it into its patterns`] }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

/** Returns an error for each malformed regular expression, by the path of its field. */
export function findPatternErrors({ path, query, headers, body }: RequestPattern, prefix: string): FieldErrors {
  const fields: [string, Expected | undefined][] = [
    ['path', path],
    ['body', body],
    ...Object.entries(query ?? {}).map(([name, value]): [string, Expected] => [`query.${name}`, value]),
    ...Object.entries(headers ?? {}).map(([name, value]): [string, Expected] => [`headers.${name}`, value])
  ]
  const errors: FieldErrors = {}
  for (const [name, expected] of fields) {
    if (typeof expected !== 'object' || Array.isArray(expected)) continue
    const field = `${prefix}${name}.matches`
    try {
      new RegExp(expected.matches)
    } catch (error) {
      const messages = [`${field} must be a regular expression: ${(error as Error).message}`]
      errors[field] = { messages, value: expected.matches }
    }
  }
  return errors
}
