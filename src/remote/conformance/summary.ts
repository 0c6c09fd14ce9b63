import { type AssumptionId, describeAssumption, type Profile } from '../../domain/assumptions.js'
import { nearestProfile } from '../probes/index.js'
import type { ServiceOptions } from '../tested-integrations.js'
import type { CaseResult } from './case.js'

/** For each operation, a pattern that matches the ids of the cases that check it. */
const CASES_OF_OPERATION = {
  listMessages: /^(wire\.list|paging|filter)\./,
  retrieveWorkflowStep: /^(wire\.step|step)\./,
  setIntegrationAsPrimary: /^(wire\.integration|primary|idempotency)\./
}

/** How completely a run checked an operation. */
export interface OperationReport {
  operation: string
  /**
   * `not requested` means that no case of the operation was selected, or that the operation changes
   * data and the run isn't allowed to change data.
   */
  checked: 'yes' | 'partly' | 'no' | 'not requested'
  /** The number of cases that ran. */
  cases: number
  skipped: number
  /** Why cases were skipped. `command` repeats the run with flags that may let them run. */
  reasons: { reason: string; command?: string }[]
}

/** Returns how completely each operation was checked. */
export function operationsReport(
  results: readonly CaseResult[],
  options: ServiceOptions & { url: string }
): OperationReport[] {
  const command = commandOf(options)
  return Object.entries(CASES_OF_OPERATION).map(([operation, ids]) => {
    const operationResults = results.filter(({ id }) => ids.test(id))
    const skipped = operationResults.filter(({ outcome }) => outcome === 'skipped')
    const mayRun = options.allowChanges || operation !== 'setIntegrationAsPrimary'
    const flagsByReason = new Map(skipped.map(({ reason = '', flags }) => [reason, flags]))
    return {
      operation,
      checked: mayRun ? extentOf(operationResults.length, skipped.length) : 'not requested',
      cases: operationResults.length - skipped.length,
      skipped: skipped.length,
      reasons: [...flagsByReason].map(([reason, flags]) =>
        flags ? { reason, command: `${command} ${flags}` } : { reason }
      )
    }
  })
}

function extentOf(cases: number, skipped: number): OperationReport['checked'] {
  if (cases === 0) return 'not requested'
  if (skipped === cases) return 'no'
  return skipped > 0 ? 'partly' : 'yes'
}

/** Returns a command that repeats the run. Callers append more flags. */
function commandOf({
  url,
  allowChanges,
  workflows,
  steps,
  integrations
}: ServiceOptions & { url: string }): string {
  const flags = [
    ...(allowChanges ? ['--allow-changes'] : []),
    ...workflows.map((id) => `--workflow ${id}`),
    ...steps.map((id) => `--step ${id}`),
    ...integrations.map((id) => `--integration ${id}`)
  ]
  return ['notification-mock conformance --target', url, ...flags].join(' ')
}

/** The value reported for an assumption if none of its known values describes the target. */
export const UNEXPECTED = 'unexpected'

/** The profile that a target behaves like, according to the values that the run detected. */
export interface ProfileReport {
  /** The profile that most detected values belong to; undefined if no value was detected. */
  nearest: Profile | undefined
  /** Whether all detected values belong to the nearest profile. */
  isExact: boolean
  /**
   * The assumptions whose value differs from the nearest profile's value. If no known value
   * describes the target, `value` is `unexpected`, and `reason` says why.
   */
  differing: { assumption: AssumptionId; value: string; reason?: string }[]
  /** The detected values, by assumption. */
  known: Record<string, string>
  /** The reasons why values weren't detected, by assumption. */
  unknown: Record<string, string>
}

interface AssumptionResult {
  outcome: CaseResult['outcome']
  profile: Profile | undefined
  assumption: AssumptionId
  reason: string
  value?: string | undefined
}

/**
 * Returns the profile that a target behaves like, according to the cases that check assumptions.
 */
export function profileReport(results: readonly CaseResult[]): ProfileReport {
  const assumptions = results.flatMap(assumptionResult)
  const profiles = assumptions.flatMap(({ profile }) => profile ?? [])
  const nearest = profiles.length > 0 ? nearestProfile(profiles) : undefined
  const differing = assumptions.filter(({ profile, outcome }) =>
    profile ? profile !== nearest : outcome !== 'skipped'
  )
  const known = assumptions.flatMap(({ assumption, value }) => (value ? [[assumption, value]] : []))
  const unknown = assumptions.filter(({ outcome }) => outcome === 'skipped')
  return {
    nearest,
    isExact: nearest !== undefined && differing.length === 0,
    differing: differing.map(({ assumption, value, reason }) =>
      value ? { assumption, value } : { assumption, value: UNEXPECTED, reason }
    ),
    known: Object.fromEntries(known),
    unknown: Object.fromEntries(unknown.map(({ assumption, reason }) => [assumption, reason]))
  }
}

function assumptionResult({
  basis,
  outcome,
  profile,
  reason = ''
}: CaseResult): AssumptionResult | [] {
  if (!('assumption' in basis)) return []
  const { assumption } = basis
  const value = profile && describeAssumption(assumption)[profile]
  return { assumption, outcome, profile, reason, value }
}
