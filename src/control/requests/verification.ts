import { type FieldErrors, invalidFields } from '../../core/errors.js'
import type { Mismatch, NearMiss, RecordedRequest, RequestPattern, Verification } from './schemas.js'

export interface Verdict {
  holds: boolean
  /** Whether nothing that may still come can change it: it need not be waited for any longer. */
  final: boolean
  matched: RecordedRequest[]
  /** In words, what was expected and what was found. */
  finding: string
  /** What there is too little of, if that is why it does not hold. */
  missing?: { pattern: RequestPattern; place: string }
}

const MAX_NEAR_MISSES = 3

/** Whether what was asked holds of these requests, oldest first. */
export function verify(entries: readonly RecordedRequest[], verification: Verification): Verdict {
  return verification.inOrder ? verifyOrder(entries, verification.inOrder) : verifyCount(entries, verification)
}

/** What each request is held against. */
export function patternsOf({ inOrder, ...pattern }: Verification): readonly RequestPattern[] {
  return inOrder ?? [pattern]
}

function verifyOrder(entries: readonly RecordedRequest[], patterns: readonly RequestPattern[]): Verdict {
  const matched: RecordedRequest[] = []
  for (const entry of entries) {
    const pattern = patterns[matched.length]
    if (pattern && mismatches(entry, pattern).length === 0) matched.push(entry)
  }
  const missing = patterns[matched.length]
  const came = `${matched.length} of ${patterns.length} requests came in this order`
  if (!missing) return { holds: true, final: true, matched, finding: came }

  const place = `inOrder[${matched.length}]`
  const early = entries.findLast((entry) => mismatches(entry, missing).length === 0)
  return {
    holds: false,
    final: false,
    matched,
    finding: early ? `${came}; ${place} came before, as request ${early.n}` : came,
    missing: { pattern: missing, place: `${place}.` }
  }
}

function verifyCount(entries: readonly RecordedRequest[], verification: Verification): Verdict {
  const { count, atLeast, atMost, never } = verification
  const matched = entries.filter((entry) => mismatches(entry, verification).length === 0)
  const least = count ?? atLeast ?? (atMost === undefined && !never ? 1 : 0)
  const most = never ? 0 : (count ?? atMost ?? Number.POSITIVE_INFINITY)
  const tooMany = matched.length > most
  const tooFew = matched.length < least
  return {
    holds: !tooMany && !tooFew,
    // Of an upper bound that nothing asks to be reached, only the end of the wait can say that it held.
    final: tooMany || (!tooFew && least > 0),
    matched,
    finding: `${matched.length} ${matched.length === 1 ? 'request matches' : 'requests match'}, ${inWords(least, most)} expected`,
    ...(tooFew && { missing: { pattern: verification, place: '' } })
  }
}

function inWords(least: number, most: number): string {
  if (least === most) return least === 0 ? 'none' : `exactly ${least}`
  if (most === Number.POSITIVE_INFINITY) return `at least ${least}`
  return least === 0 ? `at most ${most}` : `${least} to ${most}`
}

/** The requests that came closest to what is missing: those with the fewest differences first, of those the newest. */
export function nearMisses(entries: readonly RecordedRequest[], { missing }: Verdict): NearMiss[] {
  if (!missing) return []
  return entries
    .map((request) => ({ request, differs: mismatches(request, missing.pattern, missing.place) }))
    .filter(({ differs }) => differs.length > 0)
    .sort((a, b) => a.differs.length - b.differs.length || b.request.n - a.request.n)
    .slice(0, MAX_NEAR_MISSES)
}

/** Field by field, what keeps a request from being as wanted. */
export function mismatches(entry: RecordedRequest, wanted: RequestPattern, place = ''): Mismatch[] {
  return [
    ...differs(`${place}operation`, wanted.operation, entry.operation),
    ...differs(`${place}method`, wanted.method?.toUpperCase(), entry.method),
    ...differs(`${place}path`, wanted.path, entry.path),
    ...Object.entries(wanted.query ?? {}).flatMap(([name, value]) =>
      differs(`${place}query.${name}`, value, entry.query[name])
    ),
    ...Object.entries(wanted.headers ?? {}).flatMap(([name, value]) =>
      differs(`${place}headers.${name.toLowerCase()}`, value, entry.headers[name.toLowerCase()])
    ),
    ...differs(`${place}body`, wanted.body, entry.body),
    ...differs(`${place}status`, wanted.status, entry.status)
  ]
}

type Wanted = string | number | string[] | { matches: string } | undefined

function differs(field: string, expected: Wanted, actual: string | number | string[] | undefined): Mismatch[] {
  if (expected === undefined || isAsWanted(expected, actual)) return []
  return [{ field, expected, ...(actual !== undefined && { actual }) }]
}

function isAsWanted(expected: Exclude<Wanted, undefined>, actual: string | number | string[] | undefined): boolean {
  if (actual === undefined) return false
  if (Array.isArray(expected)) return asSet(expected) === asSet([actual].flat())
  if (typeof expected === 'object') {
    const pattern = new RegExp(expected.matches)
    return [actual].flat().some((value) => pattern.test(String(value)))
  }
  return Array.isArray(actual) ? actual.includes(String(expected)) : actual === expected
}

function asSet(values: readonly unknown[]): string {
  return JSON.stringify(values.map(String).sort())
}

/** Refuses with `invalid` bounds that exclude each other, and regular expressions that are none. */
export function refuseImpossible(verification: Verification): void {
  const { count, atLeast, atMost, never, inOrder, after: _after, within: _within, ...pattern } = verification
  const bounds = Object.entries({ count, atLeast, atMost, never, inOrder }).flatMap(([name, value]) =>
    value === undefined ? [] : [name]
  )
  const errors: FieldErrors = patternComplaints(pattern, '')
  for (const [place, each] of (inOrder ?? []).entries()) {
    Object.assign(errors, patternComplaints(each, `inOrder[${place}].`))
  }
  const [, ...others] = bounds.join() === 'atLeast,atMost' ? [] : bounds
  for (const name of others) {
    errors[name] = { messages: [`${name} can not stand beside ${bounds[0]}`] }
  }
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) {
    errors.atMost = { messages: [`atMost must not be less than atLeast, which is ${atLeast}`], value: atMost }
  }
  for (const name of inOrder ? Object.keys(pattern) : []) {
    errors[name] = { messages: [`${name} can not stand beside inOrder: put it into its patterns`] }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

/** The regular expressions of a pattern that are none, by field. */
export function patternComplaints({ path, query, headers, body }: RequestPattern, place: string): FieldErrors {
  const fields: [string, Wanted][] = [
    ['path', path],
    ['body', body],
    ...Object.entries(query ?? {}).map(([name, value]): [string, Wanted] => [`query.${name}`, value]),
    ...Object.entries(headers ?? {}).map(([name, value]): [string, Wanted] => [`headers.${name}`, value])
  ]
  const errors: FieldErrors = {}
  for (const [name, wanted] of fields) {
    if (typeof wanted !== 'object' || Array.isArray(wanted)) continue
    const field = `${place}${name}.matches`
    try {
      new RegExp(wanted.matches)
    } catch (error) {
      const messages = [`${field} must be a regular expression: ${(error as Error).message}`]
      errors[field] = { messages, value: wanted.matches }
    }
  }
  return errors
}
