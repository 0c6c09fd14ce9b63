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

/** Returns for each operation how far it was judged. */
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
    const reasons = new Map(skipped.map(({ reason = '', flags }) => [reason, flags]))
    return {
      operation,
      judged: isAsked ? some : 'not asked',
      cases: own.length - skipped.length,
      skipped: skipped.length,
      reasons: [...reasons].map(([reason, flags]) => {
        const command = ['notification-mock conformance --target', url, ...given, flags].join(' ')
        return { reason, ...(flags && { command }) }
      })
    }
  })
}
