import { steadyClock } from '../domain/clock.js'
import { countOf, countWithVerb } from '../domain/count.js'
import { DomainError, invalidFields } from '../domain/errors.js'
import { MASK } from '../domain/masking.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { setTimeout } from '../platform/timers.js'
import type { JournalEntry } from './entry.js'
import type { Journal, JournalEvent } from './journal.js'
import {
  matches,
  mayMatch,
  mismatches,
  PATTERN_FIELDS,
  type PatternField,
  preparePatterns
} from './patterns.js'
import type {
  RecordedRequest,
  RequestPattern,
  Verification,
  VerificationResult
} from './schemas.js'
import type { JournalService } from './service.js'

interface VerificationServices {
  journals: JournalService
  environments: EnvironmentService
}

const NO_JOURNAL =
  'the server was started with --journal 0, so it records no requests; ' +
  'restart it without this option'
/** How long to wait between two checks of the journal, in milliseconds. */
const POLL_INTERVAL = 5
const MAX_NEAR_MISSES = 3

/**
 * Returns the sequence numbers of the requests that match the verification. Waits up to `within`
 * milliseconds for a final verdict. Stops waiting if the journal closes or the client disconnects.
 *
 * Throws `expectation-failed` with the most similar requests if the verification fails. Throws
 * `invalid` if the verification contradicts itself or contains an unsupported regular expression.
 * Throws `bad-request` if the journal is turned off.
 */
export async function verifyRequests(
  services: VerificationServices,
  environment: Environment,
  verification: Verification,
  isDisconnected: () => boolean
): Promise<VerificationResult> {
  const { after, inOrder = [] } = verification
  await preparePatterns([
    ['', verification],
    ...inOrder.map((pattern, index) => [`inOrder[${index}].`, pattern] as const)
  ])
  rejectContradictions(verification)
  // If the environment was removed while the patterns were prepared, `journals.of` would recreate
  // its journal.
  services.environments.assertExists(environment)
  const journal = services.journals.of(environment)
  if (journal.capacity === 0) {
    throw new DomainError('bad-request', 'The journal is turned off', { reason: NO_JOURNAL })
  }
  const verdict = await finalVerdict(journal, verification, isDisconnected)
  const lost = journal.lostCount(after)
  const { matched } = verdict
  if (!verdict.holds) throw expectationFailed(services, environment, verdict, { after, lost })
  return { matched: matched.length, requests: matched, ...(lost > 0 && { lost }) }
}

/**
 * Throws `invalid` if the verification has contradictory bounds. Also throws it if `inOrder` is
 * combined with a bound or with a top-level pattern field.
 */
function rejectContradictions(verification: Verification): void {
  const { atLeast = 0, atMost = Number.POSITIVE_INFINITY, inOrder } = verification
  const presentOf = (names: readonly string[]) => names.filter((name) => name in verification)
  const [bound, ...otherBounds] = presentOf(['count', 'atLeast', 'atMost', 'never', 'inOrder'])
  const isRange = bound === 'atLeast' && otherBounds.join() === 'atMost'
  const issues: [field: string, problem: string][] = []
  if (!isRange) {
    for (const field of otherBounds) issues.push([field, `can't be combined with ${bound}`])
  }
  if (atLeast > atMost) {
    issues.push(['atMost', `must not be less than atLeast (${atLeast})`])
  }
  if (inOrder) {
    for (const field of presentOf(PATTERN_FIELDS)) {
      issues.push([
        field,
        "can't be combined with inOrder; set it in the patterns of inOrder instead"
      ])
    }
  }
  if (issues.length === 0) return
  const errors = issues.map(([field, problem]) => [field, { messages: [`${field} ${problem}`] }])
  throw invalidFields(Object.fromEntries(errors))
}

/**
 * Returns the verdict as soon as it is final. If it doesn't become final, returns the verdict at
 * the end of the wait.
 */
async function finalVerdict(
  journal: Journal,
  verification: Verification,
  isDisconnected: () => boolean
): Promise<Verdict> {
  const { within = 0, after, inOrder = [verification] } = verification
  const deadline = steadyClock() + within
  let mayHaveChanged = true
  // Each evaluation reads the whole journal, so evaluate again only after a matching request.
  const listener = (event: JournalEvent) => {
    if (mayHaveChanged || event.kind !== 'request') return
    mayHaveChanged = inOrder.some((pattern) => matches(event.entry, pattern))
  }
  journal.listeners.add(listener)
  try {
    for (;;) {
      const isOver = steadyClock() >= deadline || journal.isClosed || isDisconnected()
      if (isOver || mayHaveChanged) {
        const verdict = evaluate(journal.requests(after), verification)
        if (verdict.isFinal || isOver) return verdict
      }
      mayHaveChanged = false
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL))
    }
  } finally {
    journal.listeners.delete(listener)
  }
}

interface Verdict {
  holds: boolean
  /**
   * Whether to stop waiting. If there is a lower bound, success is final as soon as the bound is
   * reached, even if later requests could exceed an upper bound.
   */
  isFinal: boolean
  /** The sequence numbers of the matching requests. */
  matched: number[]
  /** A description of the result, without a period at the end. */
  finding: string
  /**
   * A pattern that too few requests match. `path` is the prefix of its fields in the body of the
   * verification request, such as `inOrder[1].`.
   */
  missing?: { pattern: RequestPattern; path: string } | undefined
}

function evaluate(requests: readonly JournalEntry[], verification: Verification): Verdict {
  if (verification.inOrder) return evaluateOrder(requests, verification.inOrder)
  const matched = requests
    .filter((entry) => matches(entry, verification))
    .map(({ sequence }) => sequence)
  const { min, max } = boundsOf(verification)
  const isTooFew = matched.length < min
  const isTooMany = matched.length > max
  const found = `${matched.length} ${matched.length === 1 ? 'request matches' : 'requests match'}`
  return {
    holds: !isTooMany && !isTooFew,
    // If there is only an upper bound, success isn't final before the end of the wait, because
    // later requests could exceed the bound.
    isFinal: isTooMany || (!isTooFew && min > 0),
    matched,
    finding: `${found}, ${formatBounds(min, max)} expected`,
    missing: isTooFew ? { pattern: verification, path: '' } : undefined
  }
}

function boundsOf({ count, atLeast, atMost, never }: Verification): { min: number; max: number } {
  if (never) return { min: 0, max: 0 }
  if (count !== undefined) return { min: count, max: count }
  const defaultMin = atMost === undefined ? 1 : 0
  return { min: atLeast ?? defaultMin, max: atMost ?? Number.POSITIVE_INFINITY }
}

function formatBounds(min: number, max: number): string {
  if (min === max) return min === 0 ? 'none' : `exactly ${min}`
  if (max === Number.POSITIVE_INFINITY) return `at least ${min}`
  return min === 0 ? `at most ${max}` : `${min} to ${max}`
}

function evaluateOrder(
  requests: readonly JournalEntry[],
  patterns: readonly RequestPattern[]
): Verdict {
  const matched: number[] = []
  for (const entry of requests) {
    const next = patterns[matched.length]
    if (next && matches(entry, next)) matched.push(entry.sequence)
  }
  const pattern = patterns[matched.length]
  const finding = `inOrder: ${matched.length} of ${countOf(patterns.length, 'pattern')} matched`
  if (!pattern) return { holds: true, isFinal: true, matched, finding }
  const path = `inOrder[${matched.length}]`
  const early = requests.findLast((entry) => matches(entry, pattern))
  const hint = early ? `; request ${early.sequence} matches ${path}, but came too early` : ''
  return {
    holds: false,
    isFinal: false,
    matched,
    finding: `${finding}${hint}`,
    missing: { pattern, path: `${path}.` }
  }
}

function expectationFailed(
  services: VerificationServices,
  environment: Environment,
  { finding, missing, matched }: Verdict,
  { after, lost }: { after: number | undefined; lost: number }
): DomainError {
  const requests = services.journals.of(environment).requests(after)
  const nearest = missing ? findNearMisses(requests, missing) : []
  const elsewhere = missing ? findElsewhere(missing.pattern, environment, services) : []
  const [nearMiss] = nearest
  const reasons = [
    finding,
    ...elsewhere,
    ...(nearMiss ? [formatNearMiss(nearMiss)] : []),
    ...(lost > 0 ? [`${countWithVerb(lost, 'older request')} no longer in the journal`] : [])
  ]
  return new DomainError('expectation-failed', finding, {
    reason: reasons.join('; '),
    ctx: {
      matched,
      nearest: nearest.map(toNearestJson),
      elsewhere,
      ...(lost > 0 && { lost })
    }
  })
}

interface NearMiss {
  request: RecordedRequest
  mismatches: PatternField[]
}

/**
 * Returns up to three requests: the ones that differ from the missing pattern in the fewest fields,
 * most similar first. On a tie, newer requests come first.
 */
function findNearMisses(
  requests: readonly JournalEntry[],
  { pattern, path }: NonNullable<Verdict['missing']>
): NearMiss[] {
  return requests
    .map((entry): NearMiss => {
      const request = entry.journal.describer.request(entry)
      return { request, mismatches: mismatches(request, pattern, path) }
    })
    .filter((nearMiss) => nearMiss.mismatches.length > 0)
    .sort(
      (one, other) =>
        one.mismatches.length - other.mismatches.length ||
        other.request.sequence - one.request.sequence
    )
    .slice(0, MAX_NEAR_MISSES)
}

function toNearestJson(nearMiss: NearMiss) {
  const differs = nearMiss.mismatches.map(({ path, expected, actual }) => {
    return { field: path, expected, actual }
  })
  return { request: nearMiss.request, differs }
}

function formatNearMiss(nearMiss: NearMiss): string {
  const { sequence, unknown } = nearMiss.request
  const fields = nearMiss.mismatches.map(
    ({ path, actual }) => `${path} is ${JSON.stringify(actual) ?? 'missing'}`
  )
  const names = [...unknown.query, ...unknown.headers].join(', ')
  const hint = names && `; the server doesn't know these parameters or headers: ${names}`
  return `nearest is request ${sequence}, where ${fields.join(' and ')}${hint}`
}

/**
 * Looks for similar requests that were sent with another environment's API key or without a valid
 * key. Compares only the operation, method, path and status. Returns distinct sentences that
 * describe the senders.
 */
function findElsewhere(
  missing: RequestPattern,
  environment: Environment,
  { journals, environments }: VerificationServices
): string[] {
  const { headers: _headers, ...pattern } = missing
  const { operation, method, path, status } = pattern
  const isSpecific = operation ?? method ?? status ?? path
  const isUndecidable = typeof path === 'object' || path?.includes(MASK)
  if (!isSpecific || isUndecidable) return []
  const senders = [...environments.list(), undefined]
    .filter((owner) => owner !== environment)
    .filter((owner) => {
      const requests = journals.of(owner).requests()
      return requests.some((entry) => mayMatch(entry, pattern))
    })
    .map((owner) => describeSender(owner, environment))
  return [...new Set(senders)].map((sender) => `a similar request came ${sender}`)
}

function describeSender(owner: Environment | undefined, environment: Environment): string {
  if (!owner) return 'without a valid key'
  // Don't reveal names of environments in other organizations.
  const isForeign = owner.organizationId !== environment.organizationId
  const name = isForeign ? 'an environment of another organization' : `environment ${owner.name}`
  return `with the key of ${name}`
}
