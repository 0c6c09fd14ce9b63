import { type AssumptionId, assumptionRow, type Profile } from '../../core/assumptions.js'
import { nearestProfile } from '../rows.js'
import type { CaseResult } from './case.js'
import type { SubjectOptions } from './integrations.js'

/** How far an operation was judged. */
export interface OperationReport {
  operation: keyof typeof CASES_OF
  /** `not asked`: the run was not to judge it, or only cases of others were chosen. */
  judged: 'yes' | 'partly' | 'no' | 'not asked'
  /** How many cases about it were judged, and how many not. */
  cases: number
  skipped: number
  /** Why cases of it were not judged, and the command that lets more of them be. */
  reasons: { reason: string; command?: string }[]
}

/** The cases that are about an operation's answers to what it finds. */
const CASES_OF = {
  listMessages: /^(wire\.list|paging|filter)\./,
  retrieveWorkflowStep: /^(wire\.step|step)\./,
  setIntegrationAsPrimary: /^(wire\.integration|primary|idempotency)\./
}

export function operationsReport(
  cases: readonly CaseResult[],
  { url, allowChanges, workflows, steps, integrations }: SubjectOptions & { url: string }
): OperationReport[] {
  const given = [
    ...(allowChanges ? ['--allow-changes'] : []),
    ...workflows.map((id) => `--workflow ${id}`),
    ...steps.map((id) => `--step ${id}`),
    ...integrations.map((id) => `--integration ${id}`)
  ]
  return (Object.keys(CASES_OF) as OperationReport['operation'][]).map((operation) => {
    const own = cases.filter(({ id }) => CASES_OF[operation].test(id))
    const skipped = own.filter(({ outcome }) => outcome === 'skipped')
    const isAsked = own.length > 0 && (allowChanges || operation !== 'setIntegrationAsPrimary')
    const some = skipped.length === own.length ? 'no' : skipped.length > 0 ? 'partly' : 'yes'
    const flagsOf = new Map(skipped.map(({ reason = '', flags }) => [reason, flags]))
    const reasons = [...flagsOf].map(([reason, flags]) => {
      const command = ['notification-mock conformance --target', url, ...given, flags].join(' ')
      return { reason, ...(flags && { command }) }
    })
    const judged = isAsked ? some : 'not asked'
    return { operation, judged, cases: own.length - skipped.length, skipped: skipped.length, reasons }
  })
}

/** Which profile a target is, as far as it could be found out. */
export interface ProfileReport {
  /** The profile that it is in all rows that were found out, or the nearer one. Undefined when none was. */
  nearest: Profile | undefined
  /** Whether no row that was found out is in another position. */
  isExact: boolean
  /** The rows that are in the position of the other profile, or in none. */
  differing: { row: AssumptionId; position: string; reason?: string }[]
  /** The positions that were found out. */
  known: Partial<Record<AssumptionId, string>>
  /** The rows that were not found out, and why. */
  unknown: Partial<Record<AssumptionId, string>>
}

export function profileReport(cases: readonly CaseResult[]): ProfileReport {
  const rows = cases.flatMap(({ basis, outcome, position, reason = '' }) => {
    if (!('assumption' in basis)) return []
    const row = basis.assumption
    const name = position && assumptionRow(row)[position]
    return { row, outcome, position, reason, name }
  })
  const positions = rows.flatMap(({ position }) => position ?? [])
  const nearest = positions.length > 0 ? nearestProfile(positions) : undefined
  const differing = rows.filter(({ position, outcome }) => (position ? position !== nearest : outcome !== 'skipped'))
  return {
    nearest,
    isExact: nearest !== undefined && differing.length === 0,
    differing: differing.map(({ row, name, reason }) =>
      name ? { row, position: name } : { row, position: 'neither', reason }
    ),
    known: Object.fromEntries(rows.flatMap(({ row, name }) => (name ? [[row, name]] : []))),
    unknown: Object.fromEntries(
      rows.flatMap(({ row, outcome, reason }) => (outcome === 'skipped' ? [[row, reason]] : []))
    )
  }
}
