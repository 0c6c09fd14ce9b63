import { type AssumptionId, assumptionRow, type Profile } from '../../core/assumptions.js'
import { nearestProfile } from '../rows.js'
import type { CaseResult } from './case.js'

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
  const rows = cases.flatMap(({ basis, ...each }) => ('assumption' in basis ? { ...each, row: basis.assumption } : []))
  const found = rows.flatMap(({ row, position }) => (position ? { row, position } : []))
  const wrong = rows.filter(({ position, outcome }) => !position && outcome !== 'skipped')
  const other = rows.filter(({ outcome }) => outcome === 'skipped')
  const nearest = found.length === 0 ? undefined : nearestProfile(found.map(({ position }) => position))
  const differing = found.filter(({ position }) => position !== nearest)
  return {
    nearest,
    isExact: nearest !== undefined && differing.length + wrong.length === 0,
    differing: [
      ...differing.map(({ row, position }) => ({ row, position: assumptionRow(row)[position] })),
      ...wrong.map(({ row, reason = '' }) => ({ row, position: 'neither', reason }))
    ],
    known: Object.fromEntries(found.map(({ row, position }) => [row, assumptionRow(row)[position]])),
    unknown: Object.fromEntries(other.map(({ row, reason = '' }) => [row, reason]))
  }
}

/** Returns which profile it is and how sure that is, in a sentence. */
export function profileText({ nearest, isExact, differing, known, unknown }: ProfileReport): string {
  const count = Object.keys(known).length
  const all = count + Object.keys(unknown).length + differing.filter(({ position }) => position === 'neither').length
  if (nearest === undefined) return `Profile: not found out (0 of ${all} rows of the register)`
  const rows = differing.map(({ row, position }) => `${row}=${position}`).join(', ')
  const name = isExact ? nearest : `${nearest}, but for ${rows}`
  return `Profile: ${name} (${count} of ${all} rows of the register found out)`
}
