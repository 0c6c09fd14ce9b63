import { countOf } from '../../domain/count.js'
import type { Basis, CaseResult } from './case.js'
import type { ConformanceReport } from './run.js'
import { type OperationReport, type ProfileReport, UNEXPECTED } from './summary.js'

const LABELS = { passed: 'ok', failed: 'FAILED', noted: 'noted', skipped: 'skipped' } as const
const INDENT = ' '.repeat(9)

/**
 * Returns the report as text. It lists the failures grouped by cause and ends with the summary.
 * With `isVerbose`, it also lists all other cases.
 */
export function reportText(report: ConformanceReport, isVerbose = false): string {
  const failures = groupFailures(report.cases).flatMap(failureLines)
  const others = isVerbose ? report.cases.filter(({ outcome }) => outcome !== 'failed') : []
  const lines = [...failures, ...others.flatMap(resultLines)]
  const separator = lines.length > 0 ? [''] : []
  return [...lines, ...separator, ...summaryLines(report), ''].join('\n')
}

function failureLines({ first, ids }: FailureGroup): string[] {
  const count = ids.length > 1 ? `${ids.length} cases: ` : ''
  return [
    `${LABELS.failed}   ${count}${ids.join(', ')}`,
    `${INDENT}${first.reason}`,
    ...(first.requests ?? []).map((command) => `${INDENT}$ ${command}`),
    `${INDENT}${first.rule}`,
    `${INDENT}Based on ${basisText(first.basis)}`
  ]
}

function resultLines({ id, outcome, rule, reason, basis }: CaseResult): string[] {
  const lines = [`${LABELS[outcome].padEnd(7)}  ${id}  ${rule}`]
  if (reason) lines.push(`${INDENT}${reason}`)
  if (outcome === 'noted') lines.push(`${INDENT}Based on ${basisText(basis)}`)
  return lines
}

/**
 * Returns lines about the checked operations, the counts, the profile, and the changes to primary
 * integrations that the run couldn't undo.
 */
function summaryLines(report: ConformanceReport): string[] {
  const { target, counts, milliseconds, requests, ended } = report
  const { passed, failed, noted, skipped } = counts
  const outcomes = `${passed} passed, ${failed} failed, ${noted} noted, ${skipped} skipped`
  const seconds = (milliseconds / 1000).toFixed(1)
  const notes = report.cases.filter(
    ({ outcome, basis }) => outcome === 'noted' && !('assumption' in basis)
  )
  const notedIds = notes.map(({ id }) => id).join(', ')
  return [
    ...(ended ? [`Ended early: ${ended}`] : []),
    ...report.operations.flatMap(operationLines),
    `${target}: ${outcomes}; ${countOf(requests, 'request')} in ${seconds} s`,
    ...(notedIds
      ? [`Differs from the mock in behavior that the API reference doesn't define: ${notedIds}`]
      : []),
    ...profileLines(report.profile),
    ...report.notRestored.map((problem) => `Primary integration not restored: ${problem}`),
    ...report.newPrimaries.map(
      (channel) => `Channel ${channel} had no primary integration and has one now`
    )
  ]
}

function operationLines({
  operation,
  checked,
  cases,
  skipped,
  reasons
}: OperationReport): string[] {
  const extents = {
    yes: `checked by ${countOf(cases, 'case')}`,
    partly: `partly checked, by ${cases} of ${countOf(cases + skipped, 'case')}`,
    no: 'NOT CHECKED',
    'not requested': 'not checked, because it was not requested'
  }
  const reasonLines = reasons.flatMap(({ reason, command }) =>
    command ? [`  ${reason}`, `  $ ${command}`] : [`  ${reason}`]
  )
  return [`${operation}: ${extents[checked]}`, ...reasonLines]
}

/**
 * Returns a line with the profile and the number of assumptions that were detected, and one line
 * for each reason why assumptions weren't detected.
 */
function profileLines(report: ProfileReport): string[] {
  const { differing, known, unknown } = report
  const detected = Object.keys(known).length
  const unexpected = differing.filter(({ value }) => value === UNEXPECTED).length
  const total = detected + unexpected + Object.keys(unknown).length
  const assumptionsByReason = new Map<string, string[]>()
  for (const [assumption, reason] of Object.entries(unknown)) {
    assumptionsByReason.set(reason, [...(assumptionsByReason.get(reason) ?? []), assumption])
  }
  return [
    `Profile: ${profileName(report)} (${detected} of ${countOf(total, 'assumption')} detected)`,
    ...[...assumptionsByReason].map(
      ([reason, assumptions]) => `  not detected: ${assumptions.join(', ')}: ${reason}`
    )
  ]
}

function profileName({ nearest, isExact, differing }: ProfileReport): string {
  if (nearest === undefined) return 'not detected'
  if (isExact) return nearest
  const values = differing.map(({ assumption, value }) => `${assumption}=${value}`)
  return `${nearest}, except ${values.join(', ')}`
}

export interface FailureGroup {
  first: CaseResult
  ids: string[]
}

/**
 * Groups failures that probably have the same cause: their last requests used the same route, and
 * the responses had the same problem.
 */
export function groupFailures(results: readonly CaseResult[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const result of results.filter(({ outcome }) => outcome === 'failed')) {
    const cause = causeOf(result)
    const group = groups.get(cause) ?? { first: result, ids: [] }
    group.ids.push(result.id)
    groups.set(cause, group)
  }
  return [...groups.values()]
}

/**
 * Returns the path of the last request and the problem. Omits ids and all numbers except statuses,
 * because they differ between cases.
 */
function causeOf({ reason = '', requests = [] }: CaseResult): string {
  const path = /https?:\/\/[^/]+(\/[^?']*)/.exec(requests.at(-1) ?? '')?.[1] ?? ''
  const problem = reason.replace(/\b[0-9a-f]{24}\b|(?<!status )\b\d+\b/g, '…')
  return `${path.replace(/(integrations|workflows|steps)\/[^/]+/g, '$1')} ${problem}`
}

function basisText(basis: Basis): string {
  if ('apiReference' in basis) return `the API reference: ${basis.apiReference}`
  if ('assumption' in basis) return `the assumption ${basis.assumption}`
  return `the mock's documented behavior: ${basis.behavior}`
}

/** Returns the report as JUnit XML with one test suite. Each case's `classname` is its topic. */
export function reportJunit(report: ConformanceReport): string {
  const { target, cases, counts, milliseconds, date } = report
  const attributes = [
    `name="conformance of ${escapeXml(target)}"`,
    `tests="${cases.length}" failures="${counts.failed}" errors="0" skipped="${counts.skipped}"`,
    `time="${milliseconds / 1000}" timestamp="${date.slice(0, 19)}"`
  ]
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite ${attributes.join(' ')}>`,
    ...cases.map(junitCase),
    '</testsuite>',
    ''
  ].join('\n')
}

function junitCase(result: CaseResult): string {
  const { id, rule, outcome, reason = '', milliseconds } = result
  const [topic] = id.split('.')
  const name = escapeXml(`${id}: ${rule}`)
  const details = escapeXml(
    [...(result.requests ?? []), `Based on ${basisText(result.basis)}`].join('\n')
  )
  const content = {
    passed: '',
    noted: `<system-out>${escapeXml(`noted: ${reason}`)}\n${details}</system-out>`,
    skipped: `<skipped message="${escapeXml(reason)}"/>`,
    failed: `<failure message="${escapeXml(reason)}">${details}</failure>`
  }
  const attributes = `classname="${topic}" name="${name}" time="${milliseconds / 1000}"`
  return `  <testcase ${attributes}>${content[outcome]}</testcase>`
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;'
}

function escapeXml(text: string): string {
  return (
    text
      .replace(/[&<>"]/g, (character) => XML_ENTITIES[character] ?? '')
      // XML doesn't allow control characters, not even escaped ones.
      .replace(/(?!\n)\p{Cc}|[\ufffe\uffff]/gu, '\ufffd')
  )
}
