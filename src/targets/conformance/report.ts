import type { Basis, CaseResult } from './case.js'
import type { OperationReport } from './operations.js'
import { profileText } from './profile.js'
import type { ConformanceReport } from './run.js'

const SIGNS = { passed: 'ok', failed: 'FAILED', noted: 'note', skipped: 'skipped' } as const
const INDENT = ' '.repeat(9)

/** Failures that have probably one cause: the same problem in answers to the same kind of request. */
export interface Group {
  /** The first that was found. */
  first: CaseResult
  ids: string[]
}

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
    ...(reason ? [`${INDENT}${reason}${outcome === 'noted' ? `; rests on ${basisText(basis)}` : ''}`] : [])
  ])
  const shown = [...failures, ...lines]
  return [...shown, ...(shown.length > 0 ? [''] : []), summaryText(report)].join('\n')
}

/** Returns what was judged and what not, the counts, the profile, and what is left to be done. */
function summaryText(report: ConformanceReport): string {
  const { target, counts, operations, profile, milliseconds, requests, notRestored, newPrimaries, ended } = report
  const { passed, failed, noted, skipped } = counts
  const seconds = (milliseconds / 1000).toFixed(1)
  const notes = report.cases.filter(({ outcome, basis }) => outcome === 'noted' && !('assumption' in basis))
  return [
    ...(ended ? [`Ended: ${ended}`] : []),
    ...operations.flatMap(operationLines),
    `${target}: ${passed} passed, ${failed} failed, ${noted} noted, ${skipped} skipped; ${requests} requests in ${seconds} s`,
    ...(notes.length > 0 ? [`Differs where the contract is silent: ${notes.map(({ id }) => id).join(', ')}`] : []),
    profileText(profile),
    ...reasonsOf(Object.entries(profile.unknown)).map(
      ([reason, rows]) => `  not found out: ${rows.join(', ')}: ${reason}`
    ),
    ...notRestored.map((each) => `Not put back as primary: ${each}`),
    ...newPrimaries.map((channel) => `Has a primary integration now, and had none: channel ${channel}`),
    ''
  ].join('\n')
}

function operationLines({ operation, judged, cases, skipped, reasons }: OperationReport): string[] {
  const words = {
    yes: `judged, by ${cases} cases`,
    partly: `partly judged, by ${cases} of ${cases + skipped} cases`,
    no: 'NOT JUDGED',
    'not asked': 'not judged, as it was not asked for'
  }
  return [
    `${operation}: ${words[judged]}`,
    ...reasons.flatMap(({ reason, command }) => [`  ${reason}`, ...(command ? [`  $ ${command}`] : [])])
  ]
}

/** Returns the failures by their causes. */
export function groupsOf(cases: readonly CaseResult[]): Group[] {
  const groups = new Map<string, Group>()
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
  const [request = ''] = requests.slice(-1)
  const path = /https?:\/\/[^/]+(\/[^?']*)/.exec(request)?.[1] ?? ''
  const problem = reason
    .replace(/\b[0-9a-f]{24}\b/g, '…')
    .replace(/status \d+/, (status) => status.replaceAll(' ', '='))
  return `${path.replace(/(integrations|workflows|steps)\/[^/]+/g, '$1')} ${problem.replace(/\b\d+\b/g, '…')}`
}

/** Returns each reason once, with the names that have it. */
function reasonsOf(entries: readonly (readonly [name: string, reason: string])[]): [string, string[]][] {
  const names = new Map<string, string[]>()
  for (const [name, reason] of entries) names.set(reason, [...(names.get(reason) ?? []), name])
  return [...names]
}

/** Returns what a case rests on, in words. */
function basisText(basis: Basis): string {
  if ('contract' in basis) return `the contract: ${basis.contract}`
  if ('assumption' in basis) return `the register: ${basis.assumption}`
  return `the reference, as the contract is silent: ${basis.settled}`
}

/** Returns a report in Markdown, such as the summary of a job shows. */
export function reportMarkdown(report: ConformanceReport): string {
  const rows = report.cases.map(({ id, tier, outcome, rule, reason, requests = [] }) => {
    const commands = outcome === 'failed' ? requests.map((command) => `<code>${cell(command)}</code>`) : []
    const what = [rule, ...(reason ? [`*${cell(reason)}*`] : []), ...commands].join('<br>')
    return `| ${SIGNS[outcome]} | ${tier} | \`${id}\` | ${what.replaceAll('|', '\\|')} |`
  })
  return [
    '## Conformance\n',
    ...summaryText(report)
      .split('\n')
      .filter(Boolean)
      .map((line) => `- ${cell(line.trim())}`),
    '',
    '| outcome | tier | case | rule |',
    '|---|---|---|---|',
    ...rows,
    ''
  ].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('\n', ' ')
}

/** Returns a report in the XML that CI servers read: one suite, in which the class of a case is its tier. */
export function reportJunit({ target, cases, counts, milliseconds, date }: ConformanceReport): string {
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

function junitCase({ id, tier, rule, basis, outcome, reason = '', requests = [], milliseconds }: CaseResult): string {
  const head = `  <testcase classname="${tier}" name="${escaped(`${id}: ${rule}`)}" time="${milliseconds / 1000}"`
  const text = escaped([...requests, `rests on ${basisText(basis)}`].join('\n'))
  switch (outcome) {
    case 'passed':
      return `${head}/>`
    case 'noted':
      return `${head}><system-out>${escaped(`note: ${reason}`)}\n${text}</system-out></testcase>`
    case 'skipped':
      return `${head}><skipped message="${escaped(reason)}"/></testcase>`
    case 'failed':
      return `${head}><failure message="${escaped(reason)}">${text}</failure></testcase>`
  }
}

function escaped(text: string): string {
  const xml = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' } as Record<string, string>
  // Control characters can't be in XML at all.
  return text.replace(/[&<>"]/g, (character) => xml[character] ?? '').replace(/(?!\n)\p{Cc}|[\ufffe\uffff]/gu, '\ufffd')
}
