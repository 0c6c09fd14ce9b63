import type { Basis } from './case.js'
import { profileText } from './profile.js'
import type { CaseResult, ConformanceReport } from './run.js'

const SIGNS = { passed: 'ok', failed: 'FAILED', skipped: 'skipped' } as const

/** Returns a report for people: a line for each case that did not pass, of those of one reason together, and a summary. */
export function reportText(report: ConformanceReport, isVerbose = false): string {
  const shown = report.cases.filter(({ outcome }) => isVerbose || outcome === 'failed')
  const width = Math.max(0, ...shown.map(({ id }) => id.length))
  const lines = shown.map(({ id, outcome, rule, reason, basis }) => {
    const head = `${SIGNS[outcome].padEnd(7)}  ${id.padEnd(width)}  `
    if (outcome !== 'failed') return `${head}${reason ?? rule}`.trimEnd()
    const indent = ' '.repeat(9)
    return [`${head}${rule}`, `${indent}${reason}`, `${indent}rests on ${basisText(basis)}`].join('\n')
  })
  const skipped = isVerbose ? [] : skippedLines(report.cases)
  return [...lines, ...skipped, ...(lines.length + skipped.length > 0 ? [''] : []), summaryText(report)].join('\n')
}

/** Returns the counts, the profile, and what is left to be done. */
function summaryText({
  target,
  counts,
  profile,
  milliseconds,
  requests,
  notRestored,
  newPrimaries
}: ConformanceReport): string {
  const { passed, failed, skipped } = counts
  const seconds = (milliseconds / 1000).toFixed(1)
  return [
    `${target}: ${passed} passed, ${failed} failed, ${skipped} skipped; ${requests} requests in ${seconds} s`,
    profileText(profile),
    ...reasonsOf(Object.entries(profile.unknown)).map(
      ([reason, rows]) => `  not found out: ${rows.join(', ')}: ${reason}`
    ),
    ...notRestored.map((each) => `Not put back as primary: ${each}`),
    ...newPrimaries.map((channel) => `Has a primary integration now, and had none: channel ${channel}`),
    ''
  ].join('\n')
}

function skippedLines(cases: readonly CaseResult[]): string[] {
  const skipped = cases.filter(({ outcome }) => outcome === 'skipped')
  const entries = skipped.map(({ id, reason = '' }): [string, string] => [id, reason])
  return reasonsOf(entries).map(([reason, ids]) => `skipped  ${ids.length}: ${reason}`)
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
  const rows = report.cases.map(({ id, tier, outcome, rule, reason }) => {
    const what = [rule, ...(reason ? [`*${cell(reason)}*`] : [])].join('<br>')
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

/** Returns a report in the XML that CI servers read: a suite for each tier. */
export function reportJunit(report: ConformanceReport): string {
  const tiers = [...new Set(report.cases.map(({ tier }) => tier))]
  const xml = tiers.map((tier) => {
    const cases = report.cases.filter((each) => each.tier === tier)
    const failures = cases.filter(({ outcome }) => outcome === 'failed').length
    const skipped = cases.filter(({ outcome }) => outcome === 'skipped').length
    const seconds = cases.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000
    const counts = `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds}"`
    const head = `  <testsuite name="${tier}" ${counts} timestamp="${report.date.slice(0, 19)}">`
    return [head, ...cases.map(junitCase), '  </testsuite>'].join('\n')
  })
  const { failed, skipped } = report.counts
  const counts = `tests="${report.cases.length}" failures="${failed}" skipped="${skipped}"`
  const time = `time="${report.milliseconds / 1000}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="conformance of ${escaped(report.target)}" ${counts} ${time}>`,
    ...xml,
    '</testsuites>',
    ''
  ].join('\n')
}

function junitCase({ id, tier, rule, basis, outcome, reason = '', milliseconds }: CaseResult): string {
  const head = `    <testcase classname="${tier}" name="${escaped(`${id}: ${rule}`)}" time="${milliseconds / 1000}"`
  if (outcome === 'passed') return `${head}/>`
  const message = `message="${escaped(reason)}"`
  const inner =
    outcome === 'skipped'
      ? `<skipped ${message}/>`
      : `<failure ${message}>rests on ${escaped(basisText(basis))}</failure>`
  return `${head}>${inner}</testcase>`
}

function escaped(text: string): string {
  const xml = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' } as Record<string, string>
  // Control characters can't be in XML at all.
  return text.replace(/[&<>"]/g, (character) => xml[character] ?? '').replace(/\p{Cc}|[\ufffe\uffff]/gu, '\ufffd')
}
