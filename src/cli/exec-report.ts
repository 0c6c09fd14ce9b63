import type { ReportState } from '../client/control-api.js'
import { failingHints, type HintId, type StrictOptions } from '../client/hints.js'
import { type Report, type RunFacts, reportOf } from '../client/report.js'
import { isSecretName } from '../domain/credentials.js'
import { MASK, maskSecrets } from '../domain/masking.js'
import type { Mock, ReportOptions } from '../index.js'
import { requireWritable, rethrowWriteError } from '../platform/output-file.js'
import { printable } from '../platform/printable.js'
import { reportTemplate } from '../platform/report-template.js'
import { writeToStderr } from '../platform/stderr.js'
import { coverageShortfall, coverageText } from './coverage.js'
import { collectHints, runMarkdown } from './summary.js'
import { EXEC_PREFIX, messageOf, write } from './terminal.js'

/** The report flags of `exec`. An empty file name means that no file is written. */
export interface ReportFlags {
  coverage?: true
  min?: number
  coverageJson: string
  report: string
  reportState: ReportState
  summary: string
  strict?: true
  allow: readonly HintId[]
  failOn: readonly HintId[]
}

/** Prints a message to stderr. A prefix on each line distinguishes it from the command's output. */
export const print = (message: string) =>
  writeToStderr(message.replaceAll(/^/gm, EXEC_PREFIX).concat('\n'))

/**
 * Throws `StartError` if an output file can't be written. Also loads the report's template, because
 * the command may remove the template's file.
 */
export function checkOutputs({ coverageJson, report, summary }: ReportFlags): void {
  if (coverageJson !== '') requireWritable(coverageJson)
  if (report !== '') {
    requireWritable(report)
    reportTemplate()
  }
  if (summary !== '') requireWritable(summary, 'append')
}

/**
 * Prints or writes the reports that the flags select. If a report fails, prints a warning and
 * continues with the next one. Returns the reasons why the run fails `--min` or `--strict`, if any.
 */
export async function writeReports(
  mock: Mock,
  flags: ReportFlags,
  outcome: RunFacts
): Promise<string[]> {
  const { report: file, reportState: states, summary, strict, allow, failOn } = flags
  const facts: RunFacts = { ...outcome, ...(allow.length > 0 && { allowedHints: allow }) }
  const failures = await reportCoverage(mock, flags)
  const written =
    file === ''
      ? undefined
      : await warnOnFailure(() => writeHtmlReport(mock, file, { ...facts, states }))
  if (summary === '' && !strict) return failures
  const report =
    written ?? (await warnOnFailure(async () => reportOf(await mock.runRecord(), facts)))
  if (report && summary !== '') {
    await warnOnFailure(() => write(summary, runMarkdown(report), 'a'))
  }
  return strict ? [...failures, ...strictFailures(report, { allow, failOn })] : failures
}

/** Returns the result of `work`. If it fails, prints a warning and returns undefined. */
async function warnOnFailure<Result>(
  work: () => Result | Promise<Result>
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    print(`warning: ${messageOf(error)}`)
    return undefined
  }
}

async function writeHtmlReport(mock: Mock, file: string, options: ReportOptions): Promise<Report> {
  const report = await mock.report(file, options).catch(rethrowWriteError(file))
  print(`the report is in ${file}`)
  return report
}

/**
 * Returns the reasons why the run fails `--strict`, if any. Without a report, the run fails,
 * because its requests can't be checked.
 */
function strictFailures(report: Report | undefined, options: StrictOptions): string[] {
  if (!report) return ["--strict: can't check the requests; see the warning above"]
  const hints = failingHints(collectHints(report), options)
  if (hints.length === 0) return []
  const lines = hints.map(
    ({ id, message, source }) => `\n${printable(`${source}: ${message} (${id})`)}`
  )
  return [`--strict: found likely mistakes in the requests${lines.join('')}`]
}

/**
 * Prints the coverage, writes it to a file, or both. Returns the reason if the run fails `--min`.
 */
async function reportCoverage(
  mock: Mock,
  { coverage: isPrinted, min, coverageJson }: ReportFlags
): Promise<string[]> {
  if (!isPrinted && coverageJson === '') return []
  const coverage = await warnOnFailure(() => mock.coverage())
  if (!coverage) {
    return min === undefined ? [] : ["--min: can't check the coverage; see the warning above"]
  }
  if (isPrinted) {
    writeToStderr(coverageText(coverage, 'use --summary or --coverage-json to list everything'))
  }
  if (coverageJson !== '') {
    const json = `${JSON.stringify(coverage, null, 2)}\n`
    await warnOnFailure(() => write(coverageJson, json))
  }
  return [coverageShortfall(coverage, min)].filter((failure) => failure !== undefined)
}

/** Returns a command line with `***` instead of secrets. */
export function maskCommand(command: readonly string[], secrets: readonly string[]): string {
  const masked = command.map((argument, index) =>
    maskArgument(argument, command[index - 1] ?? '', secrets)
  )
  return masked.join(' ')
}

function maskArgument(argument: string, previous: string, secrets: readonly string[]): string {
  const [, name, value] = /^([\w-]+)=(.*)$/s.exec(argument) ?? []
  const isSecretAssignment =
    name !== undefined && value !== undefined && isSecretName(name.replace(/^-+/, ''))
  if (isSecretAssignment) return `${name}=${MASK}`
  const [, flag = ''] = /^--?([\w-]+)$/.exec(previous) ?? []
  const isSecret = isSecretName(flag) || secrets.some((secret) => argument.includes(secret))
  return isSecret ? MASK : maskSecrets(argument)
}
