import type { Basis, CaseResult } from './case.js'
import type { ConformanceReport } from './run.js'

const SIGNS = { passed: 'ok', failed: 'FAILED', noted: 'note', skipped: 'skipped' } as const
const INDENT = ' '.repeat(9)

/** Returns a report for people: failures by their causes, and a summary, which begins with what was not judged. */
export function reportText(report: ConformanceReport, isVerbose = false): string {
  const failures = groupsOf(report.cases).flatMap(({ first, ids }) => [
    `${SIGNS.failed}   ${ids.length > 1 ? `${ids.length} cases: ` : ''}${ids.join(', ')}`,
    `${INDENT}${first.reason}`,
    ...(first.requests ?? []).map((command) => `${INDENT}$ ${command}`),
    `${INDENT}${first.rule}`,
    `${INDENT}rests on ${basisText(first.basis)}`
  ])
  const others = report.cases.filter(({ outcome }) => isVerbose && outcome !== 'failed')
  const lines = others.flatMap(({ id, outcome, rule, reason, basis }) => [
    `${SIGNS[outcome].padEnd(7)}  ${id}  ${rule}`,
    ...(reason
      ? [`${INDENT}${reason}${outcome === 'noted' ? `; rests on ${basisText(basis)}` : ''}`]
      : [])
  ])
  const shown = [...failures, ...lines]
  return [...shown, ...(shown.length > 0 ? [''] : []), ...summaryLines(report), ''].join('\n')
}

/** Returns what was judged and what not, the counts, the profile, and what is left to be done. */
function summaryLines(report: ConformanceReport): string[] {
  const {
    target,
    counts,
    operations,
    profile,
    milliseconds,
    requests,
    notRestored,
    newPrimaries,
    ended
  } = report
  const { passed, failed, noted, skipped } = counts
  const seconds = (milliseconds / 1000).toFixed(1)
  const notes = report.cases.filter(
    ({ outcome, basis }) => outcome === 'noted' && !('assumption' in basis)
  )
  return [
    ...(ended ? [`Ended: ${ended}`] : []),
    ...operations.flatMap(operationLines),
    `${target}: ${passed} passed, ${failed} failed, ${noted} noted, ${skipped} skipped; ${requests} requests in ${seconds} s`,
    ...(notes.length > 0
      ? [`Differs where the contract is silent: ${notes.map(({ id }) => id).join(', ')}`]
      : []),
    ...profileLines(profile),
    ...notRestored.map((each) => `Not put back as primary: ${each}`),
    ...newPrimaries.map(
      (channel) => `Has a primary integration now, and had none: channel ${channel}`
    )
  ]
}

function operationLines(report: ConformanceReport['operations'][number]): string[] {
  const { operation, judged, cases, skipped, reasons } = report
  const words = {
    yes: `judged, by ${cases} cases`,
    partly: `partly judged, by ${cases} of ${cases + skipped} cases`,
    no: 'NOT JUDGED',
    'not asked': 'not judged, as it was not asked for'
  }
  return [
    `${operation}: ${words[judged]}`,
    ...reasons.flatMap(({ reason, command }) => [
      `  ${reason}`,
      ...(command ? [`  $ ${command}`] : [])
    ])
  ]
}

/** Returns which profile it is and how sure that is, and each reason once why a row was not found out. */
function profileLines({
  nearest,
  isExact,
  differing,
  known,
  unknown
}: ConformanceReport['profile']): string[] {
  const [count, reasons] = [Object.keys(known).length, Object.entries(unknown)]
  const all =
    count + reasons.length + differing.filter(({ position }) => position === 'neither').length
  const rows = differing.map(({ row, position }) => `${row}=${position}`).join(', ')
  const name =
    nearest === undefined ? 'not found out' : isExact ? nearest : `${nearest}, but for ${rows}`
  return [
    `Profile: ${name} (${count} of ${all} rows of the register found out)`,
    ...[...new Set(reasons.map(([, reason]) => reason))].map((reason) => {
      const own = reasons.filter((each) => each[1] === reason).map(([row]) => row)
      return `  not found out: ${own.join(', ')}: ${reason}`
    })
  ]
}

/** Returns failures that have probably one cause: the same problem in answers to the same kind of request. */
export function groupsOf(cases: readonly CaseResult[]) {
  const groups = new Map<string, { first: CaseResult; ids: string[] }>()
  for (const each of cases.filter(({ outcome }) => outcome === 'failed')) {
    const cause = causeOf(each)
    const group = groups.get(cause) ?? { first: each, ids: [] }
    group.ids.push(each.id)
    groups.set(cause, group)
  }
  return [...groups.values()]
}

/** Returns the problem and the kind of request, without ids, numbers and names that differ from case to case. */
function causeOf({ reason = '', requests = [] }: CaseResult): string {
  const path = /https?:\/\/[^/]+(\/[^?']*)/.exec(requests.at(-1) ?? '')?.[1] ?? ''
  const problem = reason.replace(/\b[0-9a-f]{24}\b|(?<!status )\b\d+\b/g, '…')
  return `${path.replace(/(integrations|workflows|steps)\/[^/]+/g, '$1')} ${problem}`
}

function basisText(basis: Basis): string {
  if ('contract' in basis) return `the contract: ${basis.contract}`
  if ('assumption' in basis) return `the register: ${basis.assumption}`
  return `the reference, as the contract is silent: ${basis.settled}`
}

/** Returns a report in the XML that CI servers read: one suite, in which the class of a case is what its id begins with. */
export function reportJunit({
  target,
  cases,
  counts,
  milliseconds,
  date
}: ConformanceReport): string {
  const figures = `tests="${cases.length}" failures="${counts.failed}" errors="0" skipped="${counts.skipped}"`
  const suite = `name="conformance of ${escaped(target)}" ${figures} time="${milliseconds / 1000}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite ${suite} timestamp="${date.slice(0, 19)}">`,
    ...cases.map(junitCase),
    '</testsuite>',
    ''
  ].join('\n')
}

function junitCase({
  id,
  rule,
  basis,
  outcome,
  reason = '',
  requests = [],
  milliseconds
}: CaseResult): string {
  const [group, name] = [id.split('.')[0], escaped(`${id}: ${rule}`)]
  const text = escaped([...requests, `rests on ${basisText(basis)}`].join('\n'))
  const inner = {
    passed: '',
    noted: `<system-out>${escaped(`note: ${reason}`)}\n${text}</system-out>`,
    skipped: `<skipped message="${escaped(reason)}"/>`,
    failed: `<failure message="${escaped(reason)}">${text}</failure>`
  }
  return `  <testcase classname="${group}" name="${name}" time="${milliseconds / 1000}">${inner[outcome]}</testcase>`
}

function escaped(text: string): string {
  const xml = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' } as Record<string, string>
  // Control characters can't be in XML at all.
  return text
    .replace(/[&<>"]/g, (character) => xml[character] ?? '')
    .replace(/(?!\n)\p{Cc}|[\ufffe\uffff]/gu, '\ufffd')
}
