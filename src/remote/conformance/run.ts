import type { Profile } from '../../domain/assumptions.js'
import { StartError } from '../../domain/errors.js'
import { rejectUnauthorized } from '../patient-requests.js'
import {
  ContractViolation,
  Failure,
  NoResponse,
  type SentRequest,
  Skipped
} from '../response-checks.js'
import { createServiceUnderTest, type ServiceUnderTest, TargetGone } from '../service-under-test.js'
import { Target, type TargetOptions } from '../target.js'
import type { RestoreOutcome, ServiceOptions } from '../tested-integrations.js'
import type { Basis, CaseResult, ConformanceCase } from './case.js'
import { curlOf } from './case-curl.js'
import { CASES } from './cases/index.js'
import {
  type OperationReport,
  operationsReport,
  type ProfileReport,
  profileReport
} from './summary.js'

export interface RunOptions extends TargetOptions, Partial<ServiceOptions> {
  /**
   * The ids of the cases to run, or prefixes that end before a dot, such as `wire.list` for
   * `wire.list.shape`. Default: all cases.
   */
  only?: readonly string[] | undefined
  /**
   * The profile that the target must behave like. If it is set, problems that would otherwise only
   * be noted count as failures. Rules marked `strictly` fail only with the profile `document`.
   */
  profile?: Profile | undefined
  /**
   * Aborting the signal ends the run and cancels the current wait or GET request. The previous
   * primary integrations are still restored.
   */
  signal?: AbortSignal
}

export interface ConformanceReport extends RestoreOutcome {
  target: string
  /** The start of the run, in ISO 8601 and UTC. */
  date: string
  milliseconds: number
  requests: number
  counts: Record<CaseResult['outcome'], number>
  operations: OperationReport[]
  profile: ProfileReport
  cases: CaseResult[]
  /** Why the run ended, with the last request, if the target stopped responding. */
  ended?: string
}

/** The maximum number of times that a case is run if new messages keep arriving. */
const MAX_ATTEMPTS = 4
/** The maximum number of earlier POST requests that a failure shows. */
const MAX_SHOWN_CHANGES = 4

/**
 * Runs the cases against a target. The report never contains the key. Throws `StartError` if the
 * target can't be reached or rejects the key.
 */
export async function runConformance(options: RunOptions): Promise<ConformanceReport> {
  const { url, allowChanges = false, workflows = [], steps = [], integrations = [] } = options
  const target = new Target(options)
  const lists = { workflows, steps, integrations }
  const service = createServiceUnderTest(target, { ...options, allowChanges, ...lists })
  const hideKey = (text: string) => text.replaceAll(options.apiKey, '***')
  const date = new Date().toISOString()
  const started = performance.now()
  await checkAccess(service, url, hideKey)

  const chosenCases = CASES.filter((conformanceCase) => isChosen(conformanceCase, options))
  let run: Awaited<ReturnType<typeof runCases>>
  let restored: RestoreOutcome
  try {
    run = await runCases(chosenCases, service, options, hideKey)
  } finally {
    restored = await service.integrations.restore()
  }
  const { results, ended } = run
  const notRun = chosenCases.slice(results.length).map(notRunResult)
  return {
    target: url,
    date,
    milliseconds: Math.round(performance.now() - started),
    requests: target.requestCount,
    counts: countOutcomes(results),
    operations: operationsReport([...results, ...notRun], { ...service.options, url }),
    profile: profileReport(results),
    cases: results,
    ...(ended !== undefined && { ended }),
    notRestored: restored.notRestored.map(hideKey),
    newPrimaries: restored.newPrimaries
  }
}

/** Throws `StartError` unless the target responds and accepts the key. */
async function checkAccess(
  { send }: ServiceUnderTest,
  url: string,
  hideKey: (text: string) => string
): Promise<void> {
  const path = '/v1/messages?limit=1'
  const { status } = await send(path).catch((error: Error) => {
    const request = error instanceof Failure ? `GET ${path}: ` : ''
    throw new StartError(hideKey(`${url}: ${request}${error.message}`))
  })
  rejectUnauthorized(url, status)
}

function isChosen(conformanceCase: ConformanceCase, { only, profile }: RunOptions): boolean {
  if (conformanceCase.documentOnly && profile !== 'document') return false
  return only?.some((name) => isNamed(conformanceCase, name)) ?? true
}

/** Returns whether the name is the id of a case, or a prefix of it that ends before a dot. */
export function isCase(name: string): boolean {
  return CASES.some((conformanceCase) => isNamed(conformanceCase, name))
}

function isNamed({ id }: ConformanceCase, name: string): boolean {
  return id === name || id.startsWith(`${name}.`)
}

/** Runs the cases until the signal is aborted or the target stops responding. */
async function runCases(
  cases: readonly ConformanceCase[],
  service: ServiceUnderTest,
  options: RunOptions,
  hideKey: (text: string) => string
): Promise<{ results: CaseResult[]; ended?: string }> {
  const { signal } = options
  const results: CaseResult[] = []
  for (const conformanceCase of cases) {
    if (signal?.aborted) break
    const { isGone, ...result } = await runCase(conformanceCase, service, options)
    const { reason, requests } = result
    // Aborting the run may have caused the problem, so drop the result.
    if (signal?.aborted && reason !== undefined) break
    results.push(reason === undefined ? result : { ...result, reason: hideKey(reason) })
    if (isGone) {
      const last = requests?.at(-1)
      return { results, ended: hideKey(`the target stopped responding (${reason}) after ${last}`) }
    }
  }
  return { results }
}

const notRunResult = ({ id, rule, basis }: ConformanceCase): CaseResult => ({
  id,
  rule,
  basis,
  outcome: 'skipped',
  reason: 'the run ended early',
  milliseconds: 0
})

function countOutcomes(results: readonly CaseResult[]): ConformanceReport['counts'] {
  const counts = { passed: 0, failed: 0, noted: 0, skipped: 0 }
  for (const { outcome } of results) counts[outcome] += 1
  return counts
}

interface CaseOutcome
  extends Pick<CaseResult, 'outcome' | 'reason' | 'flags' | 'requests' | 'profile'> {
  /** Whether the target stopped responding during the case. */
  isGone?: boolean
}

/**
 * Runs a case. If a case that reads messages finds a problem, runs it again, because new or
 * changed messages may be the cause.
 */
async function runCase(
  conformanceCase: ConformanceCase,
  service: ServiceUnderTest,
  options: RunOptions
): Promise<CaseResult & { isGone?: boolean }> {
  const { id, rule, basis } = conformanceCase
  const started = performance.now()
  const readsMessages = /^(paging|filter|wire\.list)\./.test(id)
  const outcome = readsMessages
    ? await runOnStableMessages(conformanceCase, service, options)
    : await runOnce(conformanceCase, service, options)
  return { id, rule, basis, ...outcome, milliseconds: Math.round(performance.now() - started) }
}

async function runOnStableMessages(
  conformanceCase: ConformanceCase,
  service: ServiceUnderTest,
  options: RunOptions
): Promise<CaseOutcome> {
  let outcome = await runOnce(conformanceCase, service, options)
  for (let attempt = 2; attempt <= MAX_ATTEMPTS; attempt++) {
    if (!isWrong(outcome)) return outcome
    service.forgetSample()
    const newest = await newestMessage(service)
    outcome = await runOnce(conformanceCase, service, options)
    if (newest === '' || newest === (await newestMessage(service))) return outcome
  }
  if (!isWrong(outcome)) return outcome
  const reason = `new messages kept arriving during the case; last problem: ${outcome.reason}`
  return { outcome: 'skipped', reason }
}

const isWrong = ({ outcome, isGone }: CaseOutcome) =>
  ['failed', 'noted'].includes(outcome) && !isGone

async function runOnce(
  { run, basis }: ConformanceCase,
  service: ServiceUnderTest,
  { url, profile: requiredProfile }: RunOptions
): Promise<CaseOutcome> {
  service.takeSentRequests()
  try {
    const profile = (await run(service)) ?? undefined
    if (!profile) return { outcome: 'passed' }
    if (requiredProfile === undefined || profile === requiredProfile)
      return { outcome: 'passed', profile }
    const reason = `the target behaves like the profile ${profile}, not ${requiredProfile}`
    return { outcome: 'failed', reason, profile }
  } catch (error) {
    if (error instanceof Skipped) return skippedOutcome(error)
    const requests = requestsToShow(error, service.takeSentRequests())
    return failedOutcome(
      error as Error,
      basis,
      requests.map((request) => curlOf(url, request)),
      requiredProfile
    )
  }
}

function skippedOutcome({ message, flags }: Skipped): CaseOutcome {
  return { outcome: 'skipped', reason: message, ...(flags && { flags }) }
}

function failedOutcome(
  error: Error,
  basis: Basis,
  requests: string[],
  requiredProfile: Profile | undefined
): CaseOutcome {
  // If the error isn't a `Failure`, a value in a response had an unexpected type, such as null.
  const reason =
    error instanceof Failure ? error.message : `a response has an unexpected form: ${error.message}`
  const isGone = error instanceof TargetGone
  const isAlwaysFailure =
    isGone || error instanceof NoResponse || error instanceof ContractViolation
  const outcome = isAlwaysFailure || isFailure(basis, requiredProfile) ? 'failed' : 'noted'
  return { outcome, reason, requests, ...(isGone && { isGone }) }
}

/**
 * Returns whether a case fails if the target breaks a rule with this basis. Otherwise, the case's
 * outcome is `noted`.
 */
function isFailure(basis: Basis, requiredProfile: Profile | undefined): boolean {
  if ('apiReference' in basis) return true
  const isStrict = 'behavior' in basis && basis.strictly === true
  return isStrict ? requiredProfile === 'document' : requiredProfile !== undefined
}

/**
 * Returns the requests that show the problem: the case's most recent POST requests, followed by the
 * request that got the wrong response.
 */
function requestsToShow(error: unknown, sentRequests: readonly SentRequest[]): SentRequest[] {
  const wrong = (error instanceof Failure ? error.request : undefined) ?? sentRequests.at(-1)
  if (wrong === undefined) return []
  const index = sentRequests.findLastIndex(
    ({ path, options }) => path === wrong.path && options === wrong.options
  )
  const changes = sentRequests
    .slice(0, Math.max(0, index))
    .filter(({ options }) => options.method === 'POST')
  return [...changes.slice(-MAX_SHOWN_CHANGES), wrong]
}

/**
 * Returns a string that changes when a message arrives: the newest message's id and the total
 * count. Returns an empty string if the request fails.
 */
async function newestMessage({ list }: ServiceUnderTest): Promise<string> {
  const page = await list({ limit: 1 }).catch(() => undefined)
  return page ? `${page.data[0]?._id} ${page.totalCount}` : ''
}
