import { describeAssumption } from '../../domain/assumptions.js'
import type { SubjectOptions } from '../integrations.js'
import { nearestProfile } from '../probes.js'
import type { CaseResult } from './case.js'

/** The cases that are about an operation's answers to what it finds. */
const CASES_OF = {
  listMessages: /^(wire\.list|paging|filter)\./,
  retrieveWorkflowStep: /^(wire\.step|step)\./,
  setIntegrationAsPrimary: /^(wire\.integration|primary|idempotency)\./
}

/** Returns how far each operation was judged. */
export function operationsReport(
  cases: readonly CaseResult[],
  { url, allowChanges, workflows, steps, integrations }: SubjectOptions & { url: string }
) {
  const given = [
    ...(allowChanges ? ['--allow-changes'] : []),
    ...workflows.map((id) => `--workflow ${id}`),
    ...steps.map((id) => `--step ${id}`),
    ...integrations.map((id) => `--integration ${id}`)
  ]
  return Object.entries(CASES_OF).map(([operation, ids]) => {
    const own = cases.filter(({ id }) => ids.test(id))
    const skipped = own.filter(({ outcome }) => outcome === 'skipped')
    const isAsked = own.length > 0 && (allowChanges || operation !== 'setIntegrationAsPrimary')
    const some = skipped.length === own.length ? 'no' : skipped.length > 0 ? 'partly' : 'yes'
    const flagsOf = new Map(skipped.map(({ reason = '', flags }) => [reason, flags]))
    const command = ['notification-mock conformance --target', url, ...given].join(' ')
    const reasonOf = (reason: string, flags = '') => ({
      reason,
      ...(flags && { command: `${command} ${flags}` })
    })
    return {
      operation,
      /** `not asked`: the run was not to judge it, or only cases of others were chosen. */
      judged: isAsked ? some : 'not asked',
      cases: own.length - skipped.length,
      skipped: skipped.length,
      /** Why cases of it were not judged, and the command that lets more of them be. */
      reasons: [...flagsOf].map((each) => reasonOf(...each))
    } as const
  })
}

/** Returns which profile a target is, as far as it could be found out. */
export function profileReport(cases: readonly CaseResult[]) {
  const rows = cases.flatMap(({ basis, outcome, position, reason = '' }) => {
    if (!('assumption' in basis)) return []
    const { assumption: row } = basis
    return { row, outcome, position, reason, name: position && describeAssumption(row)[position] }
  })
  const positions = rows.flatMap(({ position }) => position ?? [])
  const nearest = positions.length > 0 ? nearestProfile(positions) : undefined
  const differing = rows.filter(({ position, outcome }) =>
    position ? position !== nearest : outcome !== 'skipped'
  )
  return {
    /** The profile that it is in all rows that were found out, or the nearer one. Undefined when none was. */
    nearest,
    /** Whether no row that was found out is in another position. */
    isExact: nearest !== undefined && differing.length === 0,
    /** The rows that are in the position of the other profile, or in none. */
    differing: differing.map(({ row, name, reason }) =>
      name ? { row, position: name } : { row, position: 'neither', reason }
    ),
    known: Object.fromEntries(rows.flatMap(({ row, name }) => (name ? [[row, name]] : []))),
    /** The rows that were not found out, and why. */
    unknown: Object.fromEntries(
      rows.filter(({ outcome }) => outcome === 'skipped').map(({ row, reason }) => [row, reason])
    )
  }
}
