import { setTimeout } from 'node:timers'
import type { RE2JS } from 're2js'
import { steadyClock } from '../domain/clock.js'
import { attempt, DomainError, type FieldErrors, invalidFields } from '../domain/errors.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { pathOf } from '../http/target.js'
import { HIDDEN } from './describe.js'
import type { JournalEntry } from './entry.js'
import type {
  RecordedRequest,
  RequestPattern,
  Verification,
  VerificationResult
} from './schemas.js'
import type { Journal, JournalEvent, JournalService } from './service.js'

type Services = { journals: JournalService; environments: EnvironmentService }

/**
 * Returns the requests that fulfil the verification, with `within` as soon as the verdict is final or the client has gone.
 * Throws `expectation-failed`, with the requests that came closest, when it does not hold in time; `invalid` when it
 * contradicts itself or has an impossible expression; `bad-request` when the server keeps no journal.
 */
export async function verifyRequests(
  services: Services,
  environment: Environment,
  verification: Verification,
  isGone: () => boolean
): Promise<VerificationResult> {
  const { after, inOrder = [] } = verification
  await preparePatterns([
    ['', verification],
    ...inOrder.map((each, index) => [`inOrder[${index}].`, each] as const)
  ])
  rejectContradictions(verification)
  // A removed environment must not get a new journal.
  services.environments.assertExists(environment)
  const journal = services.journals.of(environment)
  const reason =
    'the server was started without a journal (--journal 0), so it can not verify requests'
  if (journal.capacity === 0)
    throw new DomainError('bad-request', 'The journal is turned off', { reason })
  const { holds, matched, finding, missing } = await finalVerdict(journal, verification, isGone)
  const lost = journal.lost(after)
  if (holds) return { matched: matched.length, requests: matched, ...(lost > 0 && { lost }) }
  const nearest = missing ? nearMisses(journal.requests(after), missing) : []
  const elsewhere = missing ? findElsewhere(missing.pattern, environment, services) : []
  const forgotten = lost > 0 ? [`${lost} older requests are no longer in the journal`] : []
  throw new DomainError('expectation-failed', finding, {
    reason: [finding, ...elsewhere, ...nearest.slice(0, 1).map(formatNearMiss), ...forgotten].join(
      '; '
    ),
    ctx: { matched, nearest, elsewhere, ...(lost > 0 && { lost }) }
  })
}

/** Throws `invalid` for bounds that contradict each other, and for a pattern beside `inOrder`. */
function rejectContradictions(verification: Verification): void {
  const { atLeast = 0, atMost = Number.POSITIVE_INFINITY, inOrder } = verification
  const given = (names: readonly string[]) => names.filter((name) => name in verification)
  const [bound, ...others] = given(['count', 'atLeast', 'atMost', 'never', 'inOrder'])
  const isRange = bound === 'atLeast' && others.join() === 'atMost'
  const issues = [
    ...(isRange ? [] : others).map((name) => [name, `can not be combined with ${bound}`]),
    ...(atLeast > atMost ? [['atMost', `must not be less than atLeast, which is ${atLeast}`]] : []),
    ...(inOrder ? given(PATTERN_FIELDS) : []).map((name) => [
      name,
      'belongs into the patterns of inOrder'
    ])
  ]
  if (issues.length === 0) return
  throw invalidFields(
    Object.fromEntries(issues.map(([name = '', text]) => [name, { messages: [`${name} ${text}`] }]))
  )
}

/** Resolves with the verdict once it is final, `within` is over, the journal closes or the client has gone. */
async function finalVerdict(
  journal: Journal,
  verification: Verification,
  isGone: () => boolean
): Promise<Verdict> {
  const { within = 0, after, inOrder = [verification] } = verification
  const deadline = steadyClock() + within
  let mayDiffer = true
  // To judge is to look at the whole journal: only when a request has come that counts.
  const note = ({ entry }: JournalEvent) => {
    mayDiffer ||= entry !== undefined && inOrder.some((pattern) => matches(entry, pattern))
  }
  journal.listeners.add(note)
  try {
    for (;;) {
      const isOver = steadyClock() >= deadline || journal.closed || isGone()
      const verdict = isOver || mayDiffer ? judge(journal.requests(after), verification) : undefined
      if (verdict && (verdict.final || isOver)) return verdict
      mayDiffer = false
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  } finally {
    journal.listeners.delete(note)
  }
}

interface Verdict {
  holds: boolean
  /** Whether no later request can change it. */
  final: boolean
  /** Sequences. */
  matched: number[]
  /** A sentence. */
  finding: string
  /** The pattern that too few requests match, if that is why it does not hold, and its path. */
  missing: { pattern: RequestPattern; path: string } | undefined
}

function judge(requests: readonly JournalEntry[], verification: Verification): Verdict {
  const { count, atLeast, atMost, never, inOrder } = verification
  if (inOrder) return judgeOrder(requests, inOrder)
  const matched = requests
    .filter((entry) => matches(entry, verification))
    .map(({ sequence }) => sequence)
  const min = count ?? atLeast ?? (atMost === undefined && !never ? 1 : 0)
  const max = never ? 0 : (count ?? atMost ?? Number.POSITIVE_INFINITY)
  const [tooFew, tooMany] = [matched.length < min, matched.length > max]
  return {
    holds: !tooMany && !tooFew,
    // An upper bound alone holds only once the wait is over.
    final: tooMany || (!tooFew && min > 0),
    matched,
    finding: `${matched.length} ${matched.length === 1 ? 'request matches' : 'requests match'}, ${formatRange(min, max)} expected`,
    missing: tooFew ? { pattern: verification, path: '' } : undefined
  }
}

function formatRange(min: number, max: number): string {
  if (min === max) return min === 0 ? 'none' : `exactly ${min}`
  if (max === Number.POSITIVE_INFINITY) return `at least ${min}`
  return min === 0 ? `at most ${max}` : `${min} to ${max}`
}

function judgeOrder(
  requests: readonly JournalEntry[],
  patterns: readonly RequestPattern[]
): Verdict {
  const matched: number[] = []
  const isNext = (entry: JournalEntry, pattern = patterns[matched.length]) =>
    pattern && matches(entry, pattern)
  for (const entry of requests) if (isNext(entry)) matched.push(entry.sequence)
  const pattern = patterns[matched.length]
  const path = `inOrder[${matched.length}]`
  const early = pattern && requests.findLast((entry) => matches(entry, pattern))
  const hint = early ? `; ${path} came before, as request ${early.sequence}` : ''
  const finding = `${matched.length} of ${patterns.length} requests came in this order${hint}`
  return {
    holds: !pattern,
    final: !pattern,
    matched,
    finding,
    missing: pattern && { pattern, path: `${path}.` }
  }
}

type NearMiss = { request: RecordedRequest; differs: Field[] }

/** Returns the three requests that come closest to what is missing: fewest differences first, then newest first. */
function nearMisses(
  requests: readonly JournalEntry[],
  { pattern, path }: NonNullable<Verdict['missing']>
): NearMiss[] {
  return requests
    .map((entry) => entry.journal.describe(entry))
    .map((request) => ({ request, differs: differences(request, pattern, path) }))
    .filter(({ differs }) => differs.length > 0)
    .sort((a, b) => a.differs.length - b.differs.length || b.request.sequence - a.request.sequence)
    .slice(0, 3)
}

function formatNearMiss({ request, differs }: NearMiss): string {
  const fields = differs.map(
    ({ field, actual }) => `${field} is ${JSON.stringify(actual) ?? 'missing'}`
  )
  const unread = [...request.unknown.query, ...request.unknown.headers].join(', ')
  const hint = unread && `; it has parameters or headers that are not read: ${unread}`
  return `nearest is request ${request.sequence}, where ${fields.join(' and ')}${hint}`
}

/** Returns sentences on requests with the operation, method, path and status of the pattern that came with another key. */
function findElsewhere(
  missing: RequestPattern,
  own: Environment,
  { journals, environments }: Services
): string[] {
  const { headers: _headers, ...outer } = missing
  const { operation, method, path, status } = outer
  if (
    !(operation ?? method ?? status ?? path) ||
    typeof path === 'object' ||
    path?.includes(HIDDEN)
  )
    return []
  const hasMet = (owner?: Environment) =>
    journals
      .of(owner)
      .requests()
      .some((entry) => mayMatch(entry, outer))
  const found = [...environments.list(), undefined]
    .filter((owner) => owner !== own && hasMet(owner))
    .map((owner) => {
      if (!owner) return 'without a valid key'
      const isForeign = owner.organizationId !== own.organizationId
      return `with the key of ${isForeign ? 'an environment of another organization' : `environment ${owner.name}`}`
    })
  return [...new Set(found)].map((how) => `such a request came ${how}`)
}

/** Whether a request has all properties of a pattern, of which `preparePatterns` must have prepared the expressions. */
export function matches(entry: JournalEntry, pattern: RequestPattern): boolean {
  if (!mayMatch(entry, pattern)) return false
  const { path, query, headers, body } = pattern
  const isKnown = path === undefined && !query && !headers && body === undefined
  return isKnown || differences(entry.journal.describe(entry), pattern).length === 0
}

/** Whether what is known of a request without describing it matches. */
function mayMatch(
  entry: JournalEntry,
  { operation, method, path, status, headers = {} }: RequestPattern
): boolean {
  if (operation !== undefined && entry.operation?.id !== operation) return false
  if (method !== undefined && method.toUpperCase() !== entry.method) return false
  if (status !== undefined && entry.status !== status) return false
  if (typeof path === 'string' && !path.includes(HIDDEN) && path !== pathOf(entry.url)) return false
  const sent = `\n${entry.rawHeaders}\n`.toLowerCase()
  return Object.entries(headers).every(([name, expected]) => {
    // What is shown differs from what was sent only where it hides a secret.
    const line = `\n${name}\n${typeof expected === 'object' ? '' : `${expected}\n`}`
    return line.includes(HIDDEN) || sent.includes(line.toLowerCase())
  })
}

/** A field of a pattern and what a request has there: undefined if it lacks the field. */
type Field = {
  field: string
  expected: NonNullable<RequestPattern['query']>[string]
  actual: string | number | string[] | undefined
}

const PATTERN_FIELDS = [
  'operation',
  'method',
  'path',
  'query',
  'headers',
  'body',
  'status'
] as const

/** Returns the fields of a pattern that a request does not match, each after the path of the pattern. */
const differences = (request: RecordedRequest, pattern: RequestPattern, path = ''): Field[] =>
  fieldsOf(pattern, path, request).filter((field) => !isMatch(field))

/** Returns the fields of a pattern, beside those of a request. */
function fieldsOf(pattern: RequestPattern, path: string, request?: RecordedRequest): Field[] {
  return PATTERN_FIELDS.flatMap((name): Field[] => {
    const field = `${path}${name}`
    if (name === 'query' || name === 'headers') {
      return Object.entries(pattern[name] ?? {}).map(([key, expected]) => {
        // Names of headers are listed in lower case.
        const listed = name === 'headers' && request ? key.toLowerCase() : key
        return { field: `${field}.${listed}`, expected, actual: request?.[name][listed] }
      })
    }
    const expected = name === 'method' ? pattern.method?.toUpperCase() : pattern[name]
    return expected === undefined ? [] : [{ field, expected, actual: request?.[name] }]
  })
}

function isMatch({ expected, actual }: Field): boolean {
  if (actual === undefined) return false
  const sent = [actual].flat().map(String)
  if (Array.isArray(expected)) {
    const wanted = expected.map(String)
    return (
      wanted.every((value) => sent.includes(value)) && sent.every((value) => wanted.includes(value))
    )
  }
  if (typeof expected !== 'object') return sent.includes(String(expected))
  const expression = compiled.get(expected)
  if (!expression) throw new Error('preparePatterns() must be awaited before patterns are matched')
  return sent.some((value) => expression.test(value))
}

/** The expressions of patterns that were prepared. */
const compiled = new WeakMap<object, RE2JS>()

/** How many expressions one body can have. */
const MAX_EXPRESSIONS = 20
const IMPOSSIBLE =
  'must do without lookarounds and backreferences, and repeat nothing more than 1,000 times'
const TOO_MANY = `is one of more than ${MAX_EXPRESSIONS} patterns: use fewer`

/**
 * Compiles the expressions of patterns, each given with its path in the body, by an engine that takes linear time: Node's
 * own could keep the server for ever. Rejects with `invalid` what that engine does not have.
 */
export async function preparePatterns(
  patterns: readonly (readonly [path: string, RequestPattern])[]
): Promise<void> {
  const fields = patterns.flatMap(([path, pattern]) => fieldsOf(pattern, path))
  const found = fields.flatMap(({ field, expected }) =>
    typeof expected === 'object' && 'matches' in expected
      ? [{ field: `${field}.matches`, expected }]
      : []
  )
  if (found.length === 0) return
  const { RE2JS } = await import('re2js')
  const errors: FieldErrors = {}
  for (const [index, { field, expected }] of found.entries()) {
    const isTooMany = index >= MAX_EXPRESSIONS
    const expression = isTooMany
      ? undefined
      : attempt(() => RE2JS.compile(RE2JS.translateRegExp(expected.matches)))
    if (expression) compiled.set(expected, expression)
    else
      errors[field] = {
        messages: [`${field} ${isTooMany ? TOO_MANY : IMPOSSIBLE}`],
        value: expected.matches
      }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}
